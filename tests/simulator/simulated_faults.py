"""What goes wrong in a history: drawn from its seed, told in its story. Open this to add a kind of fault."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from database_double import Trap
from table_company import Company, ServiceProcess
from virtual_loop import Process

# Beside the table's creation, which is at about 0.3 s; a round without faults is over two seconds later.
FIRST_SECONDS, LAST_SECONDS, LAST_SECONDS_OF_SHORT = 0.1, 2.0, 1.8
COUNTS = (0, 1, 1, 1, 2, 2, 3, 4)


class Fault(NamedTuple):
    """At a time, something happens; `seconds` is for how long."""

    at: float
    kind: str
    seconds: float
    number: int

    @property
    def over_at(self) -> float:
        return self.at + self.seconds


def draw(dice: random.Random, *, last_seconds: float = LAST_SECONDS) -> list[Fault]:
    """The faults of one history."""
    return [
        Fault(
            dice.uniform(FIRST_SECONDS, last_seconds),
            dice.choice(tuple(KINDS)),
            dice.choice((0.05, 0.3, 1.0, 3.0)) * (0.5 + dice.random()),
            dice.randrange(1000),
        )
        for _ in range(dice.choice(COUNTS))
    ]


def arrange(company: Company, faults: list[Fault]) -> None:
    """Each happens in its time."""
    loop = company.loop
    for fault in faults:
        loop.call_in(loop.world, fault.at, KINDS[fault.kind], company, fault)


def _table_process(company: Company, fault: Fault) -> ServiceProcess:
    """The owner more often than the other one."""
    owner = company.owner()
    if owner is not None and fault.number % 3:
        return owner
    return company.table_processes[fault.number % len(company.table_processes)]


def _any_process(company: Company, fault: Fault) -> ServiceProcess:
    return _table_process(company, fault) if fault.number % 4 else company.wallets[0]


def _crash_table(company: Company, fault: Fault) -> None:
    _table_process(company, fault).crash(down_seconds=fault.seconds)


def _crash_wallet(company: Company, fault: Fault) -> None:
    company.wallets[0].crash(down_seconds=fault.seconds)


def _crash_at_a_step(company: Company, fault: Fault) -> None:
    """At any await: so many steps of its loop from now."""
    target = _any_process(company, fault)
    process = target.process
    process.steps_to_live = 1 + fault.number % 60
    process.dies = lambda: target.crash(down_seconds=fault.seconds)


def _stall(company: Company, fault: Fault) -> None:
    _any_process(company, fault).stall(fault.seconds)


def _stall_for_a_lease(company: Company, fault: Fault) -> None:
    """Long enough for another one to take over before it wakes."""
    _table_process(company, fault).stall(4.0 + fault.seconds)


def _stop(company: Company, fault: Fault) -> None:
    _any_process(company, fault).stop()


def _cut_database(company: Company, fault: Fault) -> None:
    target = _any_process(company, fault)
    company.tell(f"{target.name} loses its connections to the database")
    company.server.cut(target.process)


def _cut_at_a_commit(company: Company, fault: Fault) -> None:
    """The answer is lost, and nobody knows whether it is stored."""
    target = _any_process(company, fault)
    process = target.process

    def spring() -> None:
        company.tell(f"{target.name} loses its connections to the database at a commit")
        company.server.cut(process)

    company.server.trap = _trap(process, fault, spring)


def _crash_at_a_commit(company: Company, fault: Fault) -> None:
    """It is stored or not, and nobody has been told."""
    target = _any_process(company, fault)
    process = target.process

    def spring() -> None:
        if process is target.process:
            target.crash(down_seconds=fault.seconds)

    company.server.trap = _trap(process, fault, spring)


def _trap(process: Process, fault: Fault, spring: Callable[[], None]) -> Trap:
    return Trap(process, commits=fault.number % 7, is_before=bool(fault.number & 1), spring=spring)


def _hold(company: Company, fault: Fault) -> None:
    """A machine on the way sleeps: what the process has sent arrives when others may have taken over."""
    target = _any_process(company, fault)
    seconds = 4.0 + fault.seconds
    company.tell(f"what {target.name} sends to the database arrives {seconds:.2f} s later")
    company.server.held_until[target.process] = company.loop.now + seconds


def _database_away(company: Company, fault: Fault) -> None:
    company.tell(f"the database is away for {fault.seconds:.2f} s")
    company.server.is_away = True
    company.server.cut()

    def back() -> None:
        company.server.is_away = False

    _afterwards(company, fault, back)


def _cut_bus(company: Company, fault: Fault) -> None:
    target = _any_process(company, fault)
    company.tell(f"{target.name} loses NATS for {fault.seconds:.2f} s")
    company.broker.cut(target.process, seconds=fault.seconds)


def _bus_away(company: Company, fault: Fault) -> None:
    company.tell(f"NATS is away for {fault.seconds:.2f} s")
    company.broker.is_away = True
    company.broker.cut()

    def back() -> None:
        company.broker.is_away = False

    _afterwards(company, fault, back)


def _slow(company: Company, fault: Fault) -> None:
    factor = 20.0 + fault.number % 200
    company.tell(f"everything on the way takes {factor:.0f} times as long for {fault.seconds:.2f} s")
    company.server.slowness = company.broker.slowness = factor

    def back() -> None:
        company.server.slowness = company.broker.slowness = 1.0

    _afterwards(company, fault, back)


def _lossy(company: Company, fault: Fault) -> None:
    company.broker.losses = 0.02 + fault.number % 20 / 100
    company.tell(f"{company.broker.losses:.2f} of all messages are lost for {fault.seconds:.2f} s")
    _afterwards(company, fault, lambda: setattr(company.broker, "losses", 0.0))


def _doubling(company: Company, fault: Fault) -> None:
    company.broker.doubles = 0.05 + fault.number % 30 / 100
    company.tell(f"{company.broker.doubles:.2f} of all messages arrive twice for {fault.seconds:.2f} s")
    _afterwards(company, fault, lambda: setattr(company.broker, "doubles", 0.0))


def _lose_players(company: Company, fault: Fault) -> None:
    for number, player in enumerate(company.players):
        if fault.number >> number & 1:
            company.tell(f"{player.person.account_id} loses the connection")
            company.loop.call_in(company.clients, company.loop.now, player.lose)


def _afterwards(company: Company, fault: Fault, back: Callable[[], None]) -> None:
    company.loop.call_in(company.loop.world, fault.over_at, back)


KINDS: dict[str, Callable[[Company, Fault], None]] = {
    "crash_table": _crash_table,
    "crash_wallet": _crash_wallet,
    "crash_at_a_step": _crash_at_a_step,
    "stall": _stall,
    "stall_for_a_lease": _stall_for_a_lease,
    "stop": _stop,
    "cut_database": _cut_database,
    "cut_at_a_commit": _cut_at_a_commit,
    "crash_at_a_commit": _crash_at_a_commit,
    "hold": _hold,
    "database_away": _database_away,
    "cut_bus": _cut_bus,
    "bus_away": _bus_away,
    "slow": _slow,
    "lossy": _lossy,
    "doubling": _doubling,
    "lose_players": _lose_players,
}

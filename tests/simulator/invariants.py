"""What has to be true of every history. Open this when one has failed, beside its story."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
from table_company import Company

from darbar_rules.games import BY_NAME
from darbar_table.domain import events
from darbar_table.domain.evolve import evolve
from darbar_table.domain.seat_view import seat_frames
from darbar_table.domain.state import Phase, Table, unopened
from darbar_table.store.codec import Codecs
from darbar_table.store.replay import chain_fault, decode
from darbar_table.store.store import StoredEvent

CODECS = Codecs()


def violations(company: Company, *, is_over: bool) -> list[str]:
    """A sentence for each broken promise."""
    found = list(company.notebook.faults)
    if not is_over:
        found.append(f"every game ends: at {company.loop.now:.1f} s this one has not")
    found += _one_writer(company)
    found += _coins(company, is_over=is_over)
    log = [StoredEvent(*row) for row in sorted(company.tables.events.get(company.table_id, ()))]
    if not log:
        return found
    fault = chain_fault(company.table_id, log)
    if fault is not None:
        found.append(f"one writer: the chain breaks at version {fault}")
        return found
    states = list(_states(company, log))
    found += _acknowledged(company, states)
    found += _decided_once(states)
    found += _shown(company, states)
    found += _milestones(company, is_over=is_over)
    if is_over and states[-1][2].phase is not Phase.CLOSED:
        found.append(f"every game ends: the table is {states[-1][2].phase}")
    return found


Step = tuple[Table, events.TableEvent, Table]


def _states(company: Company, log: list[StoredEvent]) -> Iterator[Step]:
    rules, codec = CODECS.of(company.rules.name)
    table = unopened(str(company.table_id), BY_NAME[rules.name])
    for event in decode(log, codec):
        before, table = table, evolve(table, event)
        yield before, event, table


def _one_writer(company: Company) -> Iterator[str]:
    for append in company.tables.appends:
        if not append.had_row or append.owner != append.process_id:
            yield (
                f"one writer: {append.process_id} has stored version {append.version} "
                f"while the table was {append.owner}'s"
            )


def _acknowledged(company: Company, states: list[Step]) -> Iterator[str]:
    """Acknowledged means stored: the version is there, and was made by this command."""
    ids = Counter(
        event.id for _, event, _ in states if isinstance(event, events.Played | events.SeatEvent) and event.id
    )
    for command_id, count in ids.items():
        if count > 1:
            yield f"acknowledged = stored: {command_id} was done {count} times"
    for account_id, command, version in company.notebook.answers:
        command_id = getattr(command, "id")  # noqa: B009
        if version > len(states):
            yield f"acknowledged = stored: {account_id} was told version {version} of {len(states)}"
        elif ids[command_id] == 0 and not _did_nothing(states[version - 1][2], command):
            yield f"acknowledged = stored: {account_id}'s {command_id} is nowhere ({type(command).__name__})"
    for account_id, command, code in company.notebook.refused:
        if ids[getattr(command, "id")]:  # noqa: B009
            yield f"refused = not stored: {account_id}'s {type(command).__name__} was refused as {code}"


def _did_nothing(table: Table, command: object) -> bool:
    """Leaving again, while the seat is given up already, is answered without an event."""
    return type(command).__name__ == "Leave"


def _decided_once(states: list[Step]) -> Iterator[str]:
    """One decision a turn and seat, in a turn that was due."""
    seen: set[tuple[int, int, int, int | None, str]] = set()
    for before, event, _ in states:
        if not isinstance(event, events.Played) or event.seat is None or before.phase is not Phase.PLAYING:
            continue
        turn = before.rules.turn(before.state)
        key = (before.game, turn.round, turn.turn, event.seat, before.rules.kind_of(event.event))
        if key in seen:
            yield f"one decision a turn: {key} was decided twice"
        seen.add(key)


def _shown(company: Company, states: list[Step]) -> Iterator[str]:
    """Whoever was shown a version was shown what is stored, after it was stored, and as their seat may see it."""
    made: dict[int, tuple[bytes, dict[int | None, bytes]]] = {}
    for seen in company.notebook.seen:
        if not seen.was_stored:
            yield f"stored before shown: {seen.account_id} saw version {seen.version} too early"
        if seen.version > len(states):
            yield f"stored before shown: {seen.account_id} saw version {seen.version}, which is not stored"
            continue
        if seen.version not in made:
            before, event, after = states[seen.version - 1]
            frames = seat_frames(before, event, after, None)
            made[seen.version] = (frames.head, dict(frames.tails))
        head, tails = made[seen.version]
        if not seen.frame.startswith(head):
            yield f"shown = stored: {seen.account_id} saw another version {seen.version}"
            continue
        own = tails.get(seen.seat, b"")
        for seat, tail in tails.items():
            if seat != seen.seat and tail not in own and _secret(tail) and _secret(tail) in seen.frame:
                yield f"nothing hidden is shown: {seen.account_id} saw seat {seat}'s part of version {seen.version}"


def _secret(tail: bytes) -> bytes:
    """The secret part of a tail, without what may be decided next."""
    return tail.partition(b',"legal":')[0].partition(b',"id":')[0]


def _coins(company: Company, *, is_over: bool) -> Iterator[str]:
    wallet = company.wallet
    total = sum(account.balance_coins for account in wallet.accounts.values())
    if total != 0:
        yield f"coins are conserved: {total} have appeared"
    for account in wallet.accounts.values():
        lines = sum(
            line.coins for lines in wallet.entries.values() for line in lines if line.account_number == account.number
        )
        if lines != account.balance_coins:
            yield f"coins are conserved: {account.account} has {account.balance_coins}, its lines say {lines}"
        if is_over and account.account.startswith(("pot:", "reserve:")) and account.balance_coins:
            yield f"coins are conserved: {account.balance_coins} are left in {account.account}"
    if is_over:
        granted = [key for key, one in wallet.transfers.items() if one.kind == "stake" and one.done]
        open_stakes = [key for key in granted if key not in wallet.closed]
        if open_stakes:
            yield f"coins are conserved: the stakes {open_stakes} have not ended"


def _milestones(company: Company, *, is_over: bool) -> Iterator[str]:
    """Each number once or again, none missing."""
    numbers = {msgspec.json.decode(kept.data)["number"] for kept in company.broker.stream}
    if is_over and numbers != set(range(1, max(numbers, default=0) + 1)):
        yield f"milestones have no gaps: {sorted(numbers)}"

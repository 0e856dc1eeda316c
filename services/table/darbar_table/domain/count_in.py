"""The count-in: seeds committed, zero, the deal. Open this when a round does not begin."""

from __future__ import annotations

import hashlib
import re

from darbar_contracts.frames import SEED_STRING_CHARACTERS_MAX, Deal, Ready, SeedCommit, SeedOpen, TableReason
from darbar_kit.text import clean
from darbar_rules.deal import commitment
from darbar_rules.game import Refusal
from darbar_table.domain import events
from darbar_table.domain.commands import Act, Draft
from darbar_table.domain.refusals import refused
from darbar_table.domain.stakes import ask_stakes
from darbar_table.domain.state import Phase, Table

_SHA256_HEX = re.compile(r"[0-9a-f]{64}")


def start(draft: Draft) -> None:
    """TL-9: the count-in of the next round, or of the same one again; a fresh seed each time."""
    table = draft.table
    again = table.phase is Phase.WAITING and table.attempt > 0 and not _round_is_over(table)
    round_number, attempt = (table.round, table.attempt + 1) if again else (table.round + 1, 1)
    if table.bag is None or table.bag.empty:
        _open_bag(draft)
    seed = draft.context.fresh_seed()
    draft.add(
        events.CountInStarted(
            game=table.game,
            round=round_number,
            attempt=attempt,
            seconds=draft.context.settings.count_in_seconds,
            commitment=commitment(bytes.fromhex(seed)),
            server_seed=seed,
        )
    )


def stop_if_broken(draft: Draft, reason: str) -> None:
    """TL-13: a seat emptied during a count-in stops it, and its seed is burnt."""
    draft.add(events.CountInStopped(reason=reason))  # type: ignore[arg-type]


def zero(draft: Draft) -> None:
    """TL-12: there is no deal while a seat is empty. Then committed strings are opened, or the stakes asked at once."""
    table = draft.table
    if any(seat.away for seat in table.seats):
        draft.add(events.CountInStopped(reason="seat_offline"))
        return
    committed = tuple(number for number, seat in enumerate(table.seats) if seat.committed is not None)
    if committed:
        draft.add(events.SeedsAsked(seats=committed))
    else:
        ask_stakes(draft)


def everyone_is_ready(table: Table) -> bool:
    """TL-9: later rounds begin at once when everyone present says so; the first when somebody asks. TL-10: the host."""
    if table.deal_asked or (table.start_asked and table.round == 1):
        return True
    people = table.people
    return bool(people) and all(table.seats[number].ready for number in people)


def deal(draft: Draft, seat: int, act: Act, frame: Deal) -> None:
    """TL-10: the host's button."""
    if draft.table.phase is not Phase.COUNTING_IN or not draft.table.rules.host_deals:
        raise refused(Refusal.NOT_NOW)
    if seat != draft.table.host:
        raise refused(TableReason.NOT_HOST)
    draft.add(events.DealAsked(seat=seat, id=frame.id, digest=act.digest))


def ready(draft: Draft, seat: int, act: Act, frame: Ready) -> None:
    if draft.table.phase is not Phase.COUNTING_IN:
        raise refused(Refusal.NOT_NOW)
    draft.add(events.SeatReady(seat=seat, id=frame.id, digest=act.digest))


def seed_commit(draft: Draft, seat: int, act: Act, frame: SeedCommit) -> None:
    """One commitment a seat and count-in."""
    if draft.table.phase is not Phase.COUNTING_IN or draft.table.seats[seat].committed is not None:
        raise refused(TableReason.SEED_LATE)
    if not _SHA256_HEX.fullmatch(frame.sha256):
        raise refused(TableReason.SEED_MISMATCH)
    draft.add(events.SeedCommitted(seat=seat, sha256=frame.sha256, id=frame.id, digest=act.digest))


def seed_open(draft: Draft, seat: int, act: Act, frame: SeedOpen) -> None:
    """At zero; the last one to open lets the deal go on."""
    held = draft.table.seats[seat]
    if draft.table.phase is not Phase.OPENING_SEEDS or held.committed is None or held.string is not None:
        raise refused(TableReason.SEED_LATE)
    string = clean(frame.string, characters_max=SEED_STRING_CHARACTERS_MAX)
    if hashlib.sha256(string.encode()).hexdigest() != held.committed:
        raise refused(TableReason.SEED_MISMATCH)
    draft.add(events.SeedOpened(seat=seat, string=string, id=frame.id, digest=act.digest))
    if not any(other.committed is not None and other.string is None for other in draft.table.seats):
        ask_stakes(draft)


def seeds_time_is_up(draft: Draft) -> None:
    """Who has not opened within the time is left out and named."""
    seats = draft.table.seats
    ask_stakes(draft, left_out=tuple(n for n, s in enumerate(seats) if s.committed is not None and s.string is None))


def _round_is_over(table: Table) -> bool:
    """Whether the round of `table.round` has been played, so that the next count-in is for another one."""
    return table.state is not None and table.rules.turn(table.state).round >= table.round


def _open_bag(draft: Draft) -> None:
    seed = draft.context.fresh_seed()
    bag = draft.table.bag
    number = 1 if bag is None else bag.number + 1
    draft.add(events.BagOpened(bag=number, commitment=commitment(bytes.fromhex(seed)), seed=seed))

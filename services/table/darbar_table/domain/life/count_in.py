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
from darbar_table.domain.life import rounds, seats
from darbar_table.domain.refusals import refused
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


def stop_if_broken(draft: Draft) -> None:
    """TL-13: a seat emptied during a count-in stops it, and its seed is burnt."""
    sent_away = [event for event in draft.events if isinstance(event, events.SentAwayEvent)]
    if sent_away:
        reason: events.StopReason = "bot_sent_away" if isinstance(sent_away[-1], events.BotSentAway) else "sent_away"
        _stop(draft, reason, draft.table.accounts[sent_away[-1].actor])
    else:
        freed = [event for event in draft.events if isinstance(event, events.SeatFreed)][-1]
        _stop(draft, "seat_freed", freed.account_id)


def zero(draft: Draft) -> None:
    """TL-12: refuses to deal while a player is away. Then committed strings are opened, or the stakes asked at once."""
    table = draft.table
    away = next((seat for seat in table.seats if seat.away), None)
    if away is not None:
        _stop(draft, "seat_offline", None if away.player is None else away.player.account_id)
    elif table.count_in is not None and table.count_in.committed:
        draft.add(events.SeedsAsked(seats=tuple(sorted(table.count_in.committed))))
    else:
        rounds.begin(draft)


def _stop(draft: Draft, reason: events.StopReason, account_id: str | None) -> None:
    """TL-13: its seed is never used. Every stop is somebody's."""
    assert account_id is not None
    draft.add(events.CountInStopped(reason=reason, account_id=account_id))
    seats.pause_the_stopper(draft, account_id)


def everyone_is_ready(table: Table) -> bool:
    """TL-9: later rounds begin at once when everyone present says so; the first when somebody asks. TL-10: the host."""
    count_in = table.count_in
    if count_in is None:
        return False
    if count_in.deal_asked or count_in.start_asked:
        return True
    return bool(table.people) and set(table.people) <= set(count_in.ready)


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
    count_in = draft.table.count_in
    if count_in is None or draft.table.phase is not Phase.COUNTING_IN or seat in count_in.committed:
        raise refused(TableReason.SEED_LATE)
    if not _SHA256_HEX.fullmatch(frame.sha256):
        raise refused(TableReason.SEED_MISMATCH)
    draft.add(events.SeedCommitted(seat=seat, sha256=frame.sha256, id=frame.id, digest=act.digest))


def seed_open(draft: Draft, seat: int, act: Act, frame: SeedOpen) -> None:
    """At zero; the last one to open lets the deal go on."""
    count_in = draft.table.count_in
    if count_in is None or draft.table.phase is not Phase.OPENING_SEEDS or seat not in count_in.unopened:
        raise refused(TableReason.SEED_LATE)
    string = clean(frame.string, characters_max=SEED_STRING_CHARACTERS_MAX)
    if hashlib.sha256(string.encode()).hexdigest() != count_in.committed[seat]:
        raise refused(TableReason.SEED_MISMATCH)
    draft.add(events.SeedOpened(seat=seat, string=string, id=frame.id, digest=act.digest))
    if count_in.unopened == (seat,):
        rounds.begin(draft)


def _round_is_over(table: Table) -> bool:
    """Whether the round of `table.round` has been played, so that the next count-in is for another one."""
    return table.state is not None and table.rules.turn(table.state).round >= table.round


def _open_bag(draft: Draft) -> None:
    seed = draft.context.fresh_seed()
    bag = draft.table.bag
    number = 1 if bag is None else bag.number + 1
    draft.add(events.BagOpened(bag=number, commitment=commitment(bytes.fromhex(seed)), seed=seed))

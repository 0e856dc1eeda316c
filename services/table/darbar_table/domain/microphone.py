"""Who records at a table, and who has had the voice note of a round (TL-46, TL-47). No events: see decision 15."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from darbar_contracts.refusals import Reason
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import Table

# A recording that became no note may be made again; somebody who keeps the microphone for nothing may not.
GRANTS_A_ROUND_MAX = 3

# An account, a game of the table, a round of it.
Turn = tuple[str, int, int]


class Grant(msgspec.Struct, frozen=True):
    """The microphone, until then: until the first byte of the recording has come, then until the last one."""

    grant_id: str
    account_id: str
    seat: int
    game: int
    round: int
    until: datetime

    @property
    def turn(self) -> Turn:
        return self.account_id, self.game, self.round


class Sent(msgspec.Struct, frozen=True):
    """The note that was sent last: who was seated then."""

    grant: Grant
    listeners: tuple[str, ...]
    sent_at: datetime


class Microphone(msgspec.Struct, frozen=True):
    """One at a table. `granted` and `used` hold what is of the present round."""

    grant: Grant | None = None
    sent: Sent | None = None
    granted: tuple[Turn, ...] = ()
    used: tuple[Turn, ...] = ()


FREE = Microphone()


def refuse_to_record(microphone: Microphone, table: Table, account_id: str) -> None:
    """Raises Refused: not_seated, notes_not_here, note_used, microphone_taken."""
    seat, turn = table.seat_of(account_id), (account_id, table.game, table.round)
    if seat is None:
        raise refused(Reason.NOT_SEATED)
    if not (table.started and table.counted):
        raise refused(Reason.NOTES_NOT_HERE)
    if microphone.grant is not None and microphone.grant.account_id != account_id:
        raise refused(Reason.MICROPHONE_TAKEN, seat=table.seat_of(microphone.grant.account_id))
    if turn in microphone.used or (microphone.grant is None and microphone.granted.count(turn) >= GRANTS_A_ROUND_MAX):
        raise refused(Reason.NOTE_USED)


def granted(
    microphone: Microphone, table: Table, account_id: str, *, grant_id: str, now: datetime, seconds: float
) -> Microphone:
    """Whoever has it already keeps what they have. Raises Refused like `refuse_to_record`."""
    refuse_to_record(microphone, table, account_id)
    if microphone.grant is not None:
        return microphone
    seat = table.seat_of(account_id)
    assert seat is not None
    grant = Grant(grant_id, account_id, seat, table.game, table.round, now + timedelta(seconds=seconds))
    of_now = grant.turn[1:]
    return replace(
        microphone,
        grant=grant,
        granted=(*(turn for turn in microphone.granted if turn[1:] == of_now), grant.turn),
        used=tuple(turn for turn in microphone.used if turn[1:] == of_now),
    )


def began(microphone: Microphone, table: Table, grant_id: str, *, now: datetime, seconds: float) -> Microphone:
    """The first byte is here. Raises Refused microphone_not_held."""
    grant = _held(microphone, table, grant_id)
    return replace(microphone, grant=replace(grant, until=now + timedelta(seconds=seconds)))


def ended(microphone: Microphone, table: Table, grant_id: str, *, now: datetime) -> Microphone:
    """The last byte is here: `sent` says to whom. Raises Refused microphone_not_held."""
    if microphone.sent is not None and microphone.sent.grant.grant_id == grant_id:
        return microphone
    grant = _held(microphone, table, grant_id)
    listeners = tuple(account_id for account_id in table.accounts if account_id is not None)
    return replace(_freed(microphone, grant), sent=Sent(grant, listeners, now))


def cancelled(microphone: Microphone, account_id: str) -> Microphone:
    """Raises Refused microphone_not_held."""
    if microphone.grant is None or microphone.grant.account_id != account_id:
        raise refused(Reason.MICROPHONE_NOT_HELD)
    return _freed(microphone, microphone.grant)


def ran_out(microphone: Microphone, *, now: datetime) -> Microphone:
    """The time of whoever has it may be over."""
    grant = microphone.grant
    return microphone if grant is None or grant.until > now else _freed(microphone, grant)


def became_nothing(microphone: Microphone, grant_id: str) -> Microphone:
    """The recording is no note: its player may try again."""
    if microphone.grant is not None and microphone.grant.grant_id == grant_id:
        return replace(microphone, grant=None)
    if microphone.sent is not None and microphone.sent.grant.grant_id == grant_id:
        turn = microphone.sent.grant.turn
        return replace(microphone, sent=None, used=tuple(other for other in microphone.used if other != turn))
    return microphone


def _held(microphone: Microphone, table: Table, grant_id: str) -> Grant:
    """Whoever has left the table meanwhile has no microphone."""
    grant = microphone.grant
    if grant is None or grant.grant_id != grant_id or table.seat_of(grant.account_id) is None:
        raise refused(Reason.MICROPHONE_NOT_HELD)
    return grant


def _freed(microphone: Microphone, grant: Grant) -> Microphone:
    return replace(microphone, grant=None, used=(*microphone.used, grant.turn))

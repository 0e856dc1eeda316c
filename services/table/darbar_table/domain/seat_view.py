"""What one seat may see of a table: what is not named here is seen by nobody. Open this when something leaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from darbar_contracts.frames import BARRED_SEAT, FREE_SEAT, SeatView, TableView
from darbar_rules.game import Shown
from darbar_table.domain import events
from darbar_table.domain.events import KIND_OF
from darbar_table.domain.state import CountIn, Phase, Seat, Table

_encode = msgspec.json.Encoder().encode

# The fields of the table's own events that everyone at the table may see. A kind that is missing is a fault.
PUBLIC_FIELDS: Mapping[type[events.OwnEvent], tuple[str, ...]] = {
    events.TableCreated: ("terms",),
    events.SeatTaken: ("seat", "name", "avatar"),
    events.SeatFreed: ("seat", "reason", "quit", "gave_up"),
    events.BotSeated: ("seat", "name"),
    events.BotSentAway: ("seat", "actor"),
    events.PlayerSentAway: ("seat", "actor"),
    events.OptionsChanged: ("seat", "terms"),
    events.HostChanged: ("seat",),
    events.SittingPaused: (),
    events.StartAsked: ("seat",),
    events.DealAsked: ("seat",),
    events.SeatReady: ("seat",),
    events.BagOpened: ("bag", "commitment"),
    events.CountInStarted: ("game", "round", "attempt", "seconds", "commitment"),
    events.CountInStopped: ("reason",),
    events.SeedCommitted: ("seat", "sha256"),
    events.SeedsAsked: ("seats",),
    events.SeedOpened: ("seat", "string"),
    events.StakesAsked: ("unit", "bet_coins"),
    events.StakesGranted: (),
    events.StakesRefused: ("reason", "short"),
    events.GameStarted: ("game", "rules_version"),
    events.RoundStarted: ("game", "round", "left_out"),
    events.SeedsShown: ("game", "round", "server_seed", "strings", "left_out", "filtered", "bag", "bag_seed"),
    events.SettleAsked: ("unit", "purpose", "shares", "pays_again", "forfeit_coins", "rounding_coins", "bets_back"),
    events.Settled: (),
    events.RefundAsked: ("unit", "purpose"),
    events.Refunded: (),
    events.RefundRefused: ("reason",),
    events.PlayerWentOffline: ("seat",),
    events.PlayerCameBack: ("seat",),
    events.PlayerWentIdle: ("seat",),
    events.LeaveAsked: ("seat",),
    events.BotTookOver: ("seat",),
    events.VoteAsked: ("seat", "vote", "about", "about_seat", "waits_for", "seconds"),
    events.VoteAnswered: ("seat", "vote", "agree"),
    events.VoteEnded: ("vote", "about", "about_seat", "agreed", "reason"),
    events.SeatsSwapped: ("seats",),
    events.GameEnded: ("game", "reason", "places", "totals", "names"),
    events.TableResumed: (),
    events.TableVoided: (),
    events.TableClosed: ("reason",),
}


class SeatFrames(msgspec.Struct, frozen=True, gc=False):
    """One version of a table, encoded: `head` is for everyone, `tails` what single seats see after it."""

    version: int
    head: bytes
    tails: Mapping[int | None, bytes]

    def for_seat(self, seat: int | None) -> bytes:
        """The whole frame for a seat; None is a spectator."""
        return b"%b%b}" % (self.head, self.tail_of(seat))

    def tail_of(self, seat: int | None) -> bytes:
        """What this seat sees beside the rest; often nothing."""
        return self.tails.get(seat, b"")


def to_public(before: Table, event: events.TableEvent) -> Shown:
    """What an event lets be seen; raises KeyError for a kind that nobody has thought about."""
    if isinstance(event, events.Played):
        return before.rules.show(before.state, event.event)
    return Shown({name: getattr(event, name) for name in PUBLIC_FIELDS[type(event)]})


def seat_frames(
    before: Table, event: events.TableEvent, after: Table, remaining_ms: int | None, *, last: bool = True
) -> SeatFrames:
    """The frames of one version. The public part is encoded once; the actor's frame has the command's id.

    Only the `last` of a command's events says what may be decided next: the others are over when they are seen.
    """
    view = to_public(before, event)
    public = view.public
    if isinstance(event, events.Played):
        kind = before.rules.kind_of(event.event)
        if event.by != "player":
            public = {**public, "by": event.by}
    else:
        kind = KIND_OF[type(event)]
    time_left = b"" if remaining_ms is None else b',"remaining_ms":%d' % remaining_ms
    head = b'{"type":"event","version":%d,"kind":"%b","public":%b%b' % (
        after.version,
        kind.encode(),
        _encode(public),
        time_left,
    )
    tails: dict[int | None, bytes] = {seat: b',"secret":' + _encode(secret) for seat, secret in view.secret.items()}
    if last:
        _add_legal(after, tails)
    actor = event.actor
    if actor is not None and isinstance(event, (events.Played, events.SeatEvent)) and event.id is not None:
        tails[actor] = tails.get(actor, b"") + b',"id":"' + event.id.encode() + b'"'
    return SeatFrames(after.version, head, tails)


def _add_legal(after: Table, tails: dict[int | None, bytes]) -> None:
    for seat in _may_decide(after):
        if after.seats[seat].player is not None and (legal := _legal(after, seat)):
            tails[seat] = tails.get(seat, b"") + b',"legal":' + _encode(legal)


def _may_decide(table: Table) -> Sequence[int]:
    """The seats on turn; where a game takes decisions off turn, any other may have one too (KR-8)."""
    if table.phase is not Phase.PLAYING:
        return ()
    return range(len(table.seats)) if table.rules.out_of_turn else table.rules.turn(table.state).seats


def _legal(table: Table, seat: int) -> dict[str, tuple[str, ...]]:
    """What a seat may decide now, without the kinds of which there is nothing."""
    legal = table.rules.legal(table.state, seat)
    parts = {"play": legal.play, "name": legal.name, "also": legal.also}
    return {kind: part for kind, part in parts.items() if part}


def table_view(table: Table) -> TableView:
    """All that anybody may know of the table around the cards."""
    return TableView(
        table_id=table.table_id,
        terms=table.terms,
        phase=table.phase,
        host=table.host,
        game_number=table.game,
        round=table.round,
        attempt=table.attempt,
        bag=None if table.bag is None else table.bag.number,
        seats=tuple(_seat_view(table.count_in, number, held) for number, held in enumerate(table.seats)),
        started=table.started,
        vote=table.vote,
    )


def _seat_view(count_in: CountIn | None, number: int, seat: Seat) -> SeatView:
    holder = seat.player
    if seat.free:
        return BARRED_SEAT if seat.bot_barred else FREE_SEAT
    return SeatView(
        kind="player" if holder is not None else "bot",
        name=holder.name if holder is not None else seat.bot,
        avatar=holder.avatar if holder is not None else None,
        away=seat.away,
        bot_plays=seat.bot_plays,
        ready=count_in is not None and number in count_in.ready,
        committed=count_in is not None and number in count_in.committed,
    )


def snapshot(table: Table, seat: int | None, remaining_ms: int | None, vote_remaining_ms: int | None = None) -> bytes:
    """The whole of what a seat may know at this version, as one frame; what there is not is left out."""
    shown = {"type": "snapshot", "version": table.version, "seat": seat, "table": table_view(table)}
    if table.state is not None:
        shown["game"] = table.rules.view(table.state, seat)
    if seat is not None and seat in _may_decide(table) and (legal := _legal(table, seat)):
        shown["legal"] = legal
    if remaining_ms is not None:
        shown["remaining_ms"] = remaining_ms
    if vote_remaining_ms is not None:
        shown["vote_remaining_ms"] = vote_remaining_ms
    return _encode(shown)

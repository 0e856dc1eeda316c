"""The next state after an event: only records, never decides, never refuses. Open this beside events.py."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from darbar_contracts.tables import Person
from darbar_rules.deal import Chance, bag_flags
from darbar_table.domain import events
from darbar_table.domain.milestones import counts
from darbar_table.domain.state import Bag, Phase, Seat, Table

COUNTED_PEOPLE_MIN = 2


def evolve(table: Table, event: events.Event) -> Table:
    """The table one version later."""
    if type(event) is events.Played:
        return _played(table, event)
    changes = _CHANGES[type(event)](table, event)
    milestones = table.milestones + counts(event)
    return replace(table, version=table.version + 1, milestones=milestones, **changes)


def _played(table: Table, event: events.Played[Any]) -> Table:
    """The hot path: a card, a bid, a deal. An own action of a player resets the seat's expiries (TL-16)."""
    state = table.rules.evolve(table.state, event.event)
    seats = table.seats
    if event.seat is not None and event.by in ("player", "clock"):
        seat = seats[event.seat]
        if event.by == "clock":
            seats = table.with_seat(event.seat, expiries=seat.expiries + 1)
        elif seat.expiries or seat.bot_plays:
            seats = table.with_seat(event.seat, expiries=0, bot_plays=False)
    return replace(table, version=table.version + 1, state=state, seats=seats)


def _table_created(table: Table, event: events.TableCreated) -> dict[str, Any]:
    seats = (Seat(player=event.host, online=True, since=1),) + (Seat(),) * (event.terms.seats - 1)
    options = msgspec.convert(event.terms.options, table.rules.options_type)
    return {"terms": event.terms, "options": options, "seats": seats}


def _seat_taken(table: Table, event: events.SeatTaken) -> dict[str, Any]:
    person = Person(event.account_id, event.name, event.avatar)
    seat = Seat(player=person, online=True, since=table.version + 1)
    return {"seats": _with(table, event.seat, seat)}


def _seat_freed(table: Table, event: events.SeatFreed) -> dict[str, Any]:
    return {"seats": _with(table, event.seat, Seat(bot_barred=table.started))}


def _bot_seated(table: Table, event: events.BotSeated) -> dict[str, Any]:
    return {"seats": _with(table, event.seat, Seat(bot=event.name))}


def _bot_sent_away(table: Table, event: events.BotSentAway) -> dict[str, Any]:
    return {"seats": _with(table, event.seat, Seat(bot_barred=True))}


def _host_changed(table: Table, event: events.HostChanged) -> dict[str, Any]:
    return {"host": event.seat}


def _start_asked(table: Table, event: events.StartAsked) -> dict[str, Any]:
    return {"start_asked": True}


def _deal_asked(table: Table, event: events.DealAsked) -> dict[str, Any]:
    return {"deal_asked": True}


def _seat_ready(table: Table, event: events.SeatReady) -> dict[str, Any]:
    return {"seats": table.with_seat(event.seat, ready=True)}


def _bag_opened(table: Table, event: events.BagOpened) -> dict[str, Any]:
    flags = bag_flags(bytes.fromhex(event.seed), table_id=table.table_id, bag=event.bag)
    return {"bag": Bag(number=event.bag, seed=event.seed, flags=flags)}


def _count_in_started(table: Table, event: events.CountInStarted) -> dict[str, Any]:
    seats = tuple(replace(seat, ready=False, committed=None, string=None) for seat in table.seats)
    return {
        "phase": Phase.COUNTING_IN,
        "game": event.game,
        "round": event.round,
        "attempt": event.attempt,
        "server_seed": event.server_seed,
        "seats": seats,
        "start_asked": False,
        "deal_asked": False,
        "left_out": (),
    }


def _count_in_stopped(table: Table, event: events.CountInStopped) -> dict[str, Any]:
    return {"phase": Phase.WAITING, "server_seed": "", "start_asked": False}


def _seed_committed(table: Table, event: events.SeedCommitted) -> dict[str, Any]:
    return {"seats": table.with_seat(event.seat, committed=event.sha256)}


def _seeds_asked(table: Table, event: events.SeedsAsked) -> dict[str, Any]:
    return {"phase": Phase.OPENING_SEEDS}


def _seed_opened(table: Table, event: events.SeedOpened) -> dict[str, Any]:
    return {"seats": table.with_seat(event.seat, string=event.string)}


def _stakes_asked(table: Table, event: events.StakesAsked) -> dict[str, Any]:
    return {"phase": Phase.STAKING, "asked": event, "left_out": event.left_out}


def _stakes_granted(table: Table, event: events.StakesGranted) -> dict[str, Any]:
    return {"stake_key": event.key, "asked": None}


def _round_began(table: Table, event: events.RoundBegan) -> dict[str, Any]:
    """The seeds are final: the round's chance is made here once."""
    bag = table.bag
    filtered = bag is not None and bag.flags[bag.used]
    strings = tuple((number, seat.string) for number, seat in enumerate(table.seats) if seat.string is not None)
    chance = Chance(
        bytes.fromhex(table.server_seed),
        table_id=table.table_id,
        game=table.game,
        round=table.round,
        strings=strings,
        filtered=filtered,
    )
    return {
        "phase": Phase.PLAYING,
        "counted": table.counted or len(table.people) >= COUNTED_PEOPLE_MIN,
        "chance": chance,
        "filtered": filtered,
        "bag": bag if bag is None else replace(bag, used=bag.used + 1),
    }


def _stakes_refused(table: Table, event: events.StakesRefused) -> dict[str, Any]:
    return {"phase": Phase.WAITING, "asked": None, "server_seed": ""}


def _game_started(table: Table, event: events.GameStarted) -> dict[str, Any]:
    return {"started": True, "state": table.rules.new(table.options, len(table.seats))}


def _seeds_shown(table: Table, event: events.SeedsShown) -> dict[str, Any]:
    return {"server_seed": "", "chance": None, "phase": Phase.WAITING}


def _settle_asked(table: Table, event: events.SettleAsked) -> dict[str, Any]:
    return {"phase": Phase.SETTLING, "asked": event}


def _settled(table: Table, event: events.Settled) -> dict[str, Any]:
    return {"phase": Phase.WAITING, "asked": None, "stake_key": None}


def _refund_asked(table: Table, event: events.RefundAsked) -> dict[str, Any]:
    return {"phase": Phase.REFUNDING, "asked": event}


def _refunded(table: Table, event: events.Refunded) -> dict[str, Any]:
    return {"phase": Phase.WAITING, "asked": None, "stake_key": None, "server_seed": ""}


def _went_offline(table: Table, event: events.PlayerWentOffline) -> dict[str, Any]:
    return {"seats": table.with_seat(event.seat, online=False)}


def _came_back(table: Table, event: events.PlayerCameBack) -> dict[str, Any]:
    return {"seats": table.with_seat(event.seat, online=True, left=False, bot_plays=False, expiries=0)}


def _player_left(table: Table, event: events.PlayerLeft) -> dict[str, Any]:
    return {"seats": table.with_seat(event.seat, left=True)}


def _bot_took_over(table: Table, event: events.BotTookOver) -> dict[str, Any]:
    return {"seats": table.with_seat(event.seat, bot_plays=True)}


def _game_ended(table: Table, event: events.GameEnded) -> dict[str, Any]:
    seats = tuple(replace(seat, left=False, bot_barred=False) for seat in table.seats)
    return {
        "started": False,
        "counted": False,
        "state": None,
        "seats": seats,
        "round": 0,
        "attempt": 0,
        "game": table.game + 1,
    }


def _table_closed(table: Table, event: events.TableClosed) -> dict[str, Any]:
    return {"phase": Phase.CLOSED}


def _with(table: Table, number: int, seat: Seat) -> tuple[Seat, ...]:
    return (*table.seats[:number], seat, *table.seats[number + 1 :])


_CHANGES: dict[type[events.Event], Any] = {
    events.TableCreated: _table_created,
    events.SeatTaken: _seat_taken,
    events.SeatFreed: _seat_freed,
    events.BotSeated: _bot_seated,
    events.BotSentAway: _bot_sent_away,
    events.HostChanged: _host_changed,
    events.StartAsked: _start_asked,
    events.DealAsked: _deal_asked,
    events.SeatReady: _seat_ready,
    events.BagOpened: _bag_opened,
    events.CountInStarted: _count_in_started,
    events.CountInStopped: _count_in_stopped,
    events.SeedCommitted: _seed_committed,
    events.SeedsAsked: _seeds_asked,
    events.SeedOpened: _seed_opened,
    events.StakesAsked: _stakes_asked,
    events.StakesGranted: _stakes_granted,
    events.StakesRefused: _stakes_refused,
    events.GameStarted: _game_started,
    events.RoundBegan: _round_began,
    events.SeedsShown: _seeds_shown,
    events.SettleAsked: _settle_asked,
    events.Settled: _settled,
    events.RefundAsked: _refund_asked,
    events.Refunded: _refunded,
    events.PlayerWentOffline: _went_offline,
    events.PlayerCameBack: _came_back,
    events.PlayerLeft: _player_left,
    events.BotTookOver: _bot_took_over,
    events.GameEnded: _game_ended,
    events.TableClosed: _table_closed,
}

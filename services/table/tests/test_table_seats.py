"""Who sits where: opening a table, sitting down, hosts, bots in seats, who may look on; by docs/tables.md, pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from table_scripts import ANN, BOB, COURT_PIECE, CYN, DAN, EVE, PEOPLE, RICH, TABLE_ID, Script

from darbar_contracts import frames
from darbar_contracts.tables import CreateTable, Person, TableTerms
from darbar_kit.errors import Refused
from darbar_rules.game import Refusal
from darbar_rules.games.king.game import KING_SHORT
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_table.domain import decide, events
from darbar_table.domain.commands import Act, Create
from darbar_table.domain.evolve import evolve
from darbar_table.domain.state import Phase, unopened
from darbar_table.domain.visibility import at_rest, may_look_on, may_read_log

TERMS = TableTerms("court_piece", {}, 4, 100, 10, "public", "normal")


def opened(*, balance_coins: int = RICH, **changes: Any) -> events.TableCreated:
    """The first event of a table with such terms."""
    script = Script()
    request = CreateTable(TABLE_ID, msgspec.structs.replace(TERMS, **changes), ANN)
    draft = decide.decide(unopened(TABLE_ID, COURT_PIECE), Create(request, balance_coins), script.context)
    (event,) = draft.events
    assert isinstance(event, events.TableCreated)
    return event


@pytest.mark.ruling("TL-1")
def test_tl_1_the_creator_is_host_in_seat_0_and_what_was_agreed_is_whole() -> None:
    script = Script()
    assert script.table.host == 0
    assert script.table.accounts == ("ann", None, None, None)
    assert opened(options={"trump": "open"}).terms.options["winning_points"] == 10


@pytest.mark.ruling("TL-1")
@pytest.mark.parametrize("changes", [{"bet_coins": 25}, {"bet_coins": 1000}, {"turn_seconds": 5}, {"turn_seconds": 30}])
def test_tl_1_the_bounds_themselves_are_allowed(changes: dict[str, int]) -> None:
    assert opened(**changes).terms == msgspec.structs.replace(opened().terms, **changes)


@pytest.mark.ruling("TL-1")
@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"bet_coins": 24}, "bet_coins", "25 to 1000"),
        ({"bet_coins": 1001}, "bet_coins", "25 to 1000"),
        ({"turn_seconds": 4}, "turn_seconds", "5 to 30"),
        ({"turn_seconds": 31}, "turn_seconds", "5 to 30"),
        ({"seats": 3}, "seats", "4"),
        ({"options": {"trump": "no such"}}, "options", "trump"),
        ({"options": {"winning_points": 101}}, "options.winning_points", "10 to 100"),
    ],
)
def test_tl_1_what_is_not_offered_is_refused_by_its_field_with_what_is(
    changes: dict[str, Any], field: str, reason: str
) -> None:
    with pytest.raises(Refused) as refused:
        opened(**changes)
    fields = refused.value.details["fields"]
    assert isinstance(fields, dict)
    assert (refused.value.code, list(fields)) == ("option_invalid", [field])
    assert reason in fields[field]


@pytest.mark.ruling("TL-6")
def test_tl_6_opening_and_sitting_down_need_double_the_bet() -> None:
    with pytest.raises(Refused, match="short_of_coins"):
        opened(balance_coins=199)
    opened(balance_coins=200)
    script = Script()
    with pytest.raises(Refused, match="short_of_coins"):
        script.act(BOB, frames.Sit(id="x"), balance=199)
    script.act(BOB, frames.Sit(id="x"), balance=200)
    assert script.table.seat_of("bob") == 2


def test_a_table_is_opened_once() -> None:
    script = Script()
    request = CreateTable(TABLE_ID, TERMS, BOB)
    assert script.tell(Create(request, RICH)).events == []


@pytest.mark.ruling("TL-4")
def test_tl_4_the_first_to_join_is_the_hosts_partner_and_in_other_games_the_next() -> None:
    assert Script().sit(BOB, CYN, DAN).table.accounts == ("ann", "cyn", "bob", "dan")
    assert Script(rules=KING_SHORT).sit(BOB, CYN, DAN).table.accounts == ("ann", "bob", "cyn", "dan")


@pytest.mark.ruling("TL-4")
def test_tl_4_a_seat_may_be_chosen_if_it_is_free() -> None:
    script = Script()
    script.act(BOB, frames.Sit(id="x", seat=3))
    assert script.table.seat_of("bob") == 3
    for seat, reason in ((3, "seat_taken"), (0, "seat_taken"), (4, "seat_unknown"), (-1, "seat_unknown")):
        with pytest.raises(Refused, match=reason):
            script.act(CYN, frames.Sit(id="y", seat=seat))
    script.sit(CYN, DAN)
    with pytest.raises(Refused, match="table_full"):
        script.sit(EVE)


@pytest.mark.ruling("TL-8")
def test_tl_8_the_longest_seated_becomes_host() -> None:
    script = Script().sit(BOB, CYN).leaves(BOB).sit(BOB).leaves(ANN)
    assert script.table.host == script.table.seat_of("cyn")
    assert script.last(events.HostChanged) == events.HostChanged(seat=1)
    first_in_the_last_seat = Script()
    first_in_the_last_seat.act(BOB, frames.Sit(id="x", seat=3))
    assert first_in_the_last_seat.sit(CYN).leaves(ANN).table.host == 3


@pytest.mark.ruling("TL-8")
def test_tl_8_nobody_has_two_seats_at_a_table() -> None:
    with pytest.raises(Refused, match="already_seated"):
        Script().sit(ANN)


@pytest.mark.ruling("TL-25")
@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_tl_25_a_bot_goes_before_a_game_and_between_rounds_but_never_during_one(steps: int) -> None:
    script = Script().sit(BOB).starts_now(BOB)
    phases = [Phase.COUNTING_IN, Phase.STAKING, Phase.PLAYING, Phase.SETTLING]
    for _ in range(steps):
        script.step()
    assert script.phase is phases[steps]
    if steps:
        with pytest.raises(Refused, match="round_running"):
            script.act(BOB, frames.SendBotAway(id="x", seat=1))
        return
    script.act(BOB, frames.SendBotAway(id="x", seat=1))
    assert [seat.free for seat in script.table.seats] == [False, True, False, False]
    assert script.phase is Phase.WAITING
    assert script.last(events.BotSentAway).actor == 2


@pytest.mark.ruling("TL-25")
@pytest.mark.parametrize(("seat", "reason"), [(0, "not_a_bot"), (3, "not_a_bot"), (4, "seat_unknown")])
def test_tl_25_only_a_bot_is_sent_away(seat: int, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        Script().act(ANN, frames.SendBotAway(id="x", seat=seat))


@pytest.mark.ruling("TL-27")
def test_tl_27_start_now_seats_bots_only_where_nobody_has_been() -> None:
    script = Script().sit(BOB).starts_now(ANN)
    bots = [seat.bot for seat in script.table.seats]
    assert [bots[0], bots[2]] == [None, None]
    assert None not in (bots[1], bots[3])
    assert bots[1] != bots[3]
    script.act(ANN, frames.SendBotAway(id="y", seat=1))
    with pytest.raises(Refused, match="not_now"):
        script.starts_now(ANN)


@pytest.mark.ruling("TL-27")
def test_tl_27_a_seat_that_was_freed_in_a_game_waits_for_a_player_and_before_a_game_it_does_not() -> None:
    script = Script().dealt().play_round().wallet().leaves(BOB)
    with pytest.raises(Refused, match="not_now"):
        script.starts_now(ANN)
    before_game = Script().sit(BOB).leaves(BOB).starts_now(ANN)
    assert before_game.table.seats[2].bot is not None


@pytest.mark.ruling("TL-28")
@pytest.mark.parametrize(
    ("others", "late", "counted"), [((), (), False), ((BOB,), (), True), ((), (BOB,), True)], ids=str
)
def test_tl_28_leaving_is_a_quit_only_where_a_second_person_has_held_a_seat(
    others: tuple[Any, ...], late: tuple[Any, ...], counted: bool
) -> None:
    script = Script().sit(*others).starts_now(ANN).zero().wallet().play_round().wallet()
    if late:
        # Bob takes a bot's seat between two rounds and is gone before the next deal: he has held one all the same.
        script.act(ANN, frames.SendBotAway(id="away", seat=1))
        script.sit(BOB).leaves(BOB).sit(CYN).step().step()
    else:
        script.step().step()
    assert script.phase is Phase.PLAYING
    script.leaves(ANN).play_round().wallet()
    freed = [event for event in script.all(events.SeatFreed) if event.account_id == "ann"]
    assert [event.quit for event in freed] == [counted]


@pytest.mark.ruling("TL-28")
def test_tl_28_a_round_counts_also_when_the_second_person_is_a_bot_again_at_its_deal() -> None:
    script = Script().starts_now(ANN).zero().wallet().play_round().wallet()
    script.act(ANN, frames.SendBotAway(id="away", seat=1))
    table = script.sit(BOB).leaves(BOB).table
    # A vote can bring a bot there, in a time to come.
    table = evolve(table, events.BotSeated(seat=1, name="Omar"))
    table = evolve(table, script.last(events.CountInStarted))
    assert not table.counted
    assert evolve(table, events.RoundStarted(game=1, round=2, left_out=())).counted


@pytest.mark.ruling("TL-28")
def test_tl_28_in_a_game_against_bots_alone_no_way_to_be_gone_is_a_quit() -> None:
    script = Script(rules=KING_SHORT).starts_now(ANN).zero().wallet().play_round().leaves(ANN)
    assert (script.table.staked, script.last(events.SeatFreed).quit) == (True, False)
    script = Script().starts_now(ANN).zero().wallet().offline(ANN).play_round().wallet()
    (timer,) = script.due()
    script.rings(timer)
    freed = script.last(events.SeatFreed)
    assert (freed.reason, freed.quit) == ("not_back", False)


@pytest.mark.ruling("TL-44")
def test_tl_44_a_private_table_is_seen_by_who_sits_there_or_could() -> None:
    script = Script(visibility="private").sit(BOB, CYN)
    assert may_look_on(script.table, "dan", now=script.now)
    script.sit(DAN)
    assert [may_look_on(script.table, who, now=script.now) for who in ("ann", "dan", "eve")] == [True, True, False]
    script.zero().wallet().offline(DAN)
    assert [may_look_on(script.table, who, now=script.now) for who in ("ann", "dan", "eve")] == [True, True, False]
    script.play_round().wallet()
    assert may_look_on(script.table, "eve", now=script.now), "dan's seat may be taken"
    assert may_look_on(Script().dealt().table, "eve", now=script.now), "a public table"


@pytest.mark.ruling("TL-44")
def test_tl_44_finished_rounds_of_a_private_table_are_for_who_has_sat_there() -> None:
    private = msgspec.structs.replace(TERMS, visibility="private")
    asked = [(terms, here) for terms in (TERMS, private) for here in (True, False)]
    assert [may_read_log(terms, has_sat_here=here) for terms, here in asked] == [True, True, True, False]


def test_a_whole_log_is_read_only_while_nothing_of_a_round_is_under_way() -> None:
    script = Script().sit(BOB, CYN, DAN)
    seen: dict[Phase, bool] = {}
    for _ in range(4):
        seen[script.phase] = at_rest(script.table)
        script.step()
    assert seen == {
        Phase.COUNTING_IN: True, Phase.STAKING: False, Phase.PLAYING: False, Phase.SETTLING: False,
    }  # fmt: skip
    between_rounds_of_a_staked_game = Script(rules=KING_SHORT).dealt().play_round()
    assert between_rounds_of_a_staked_game.phase is Phase.COUNTING_IN
    assert not at_rest(between_rounds_of_a_staked_game.table)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (frames.Sit(id="x"), "already_seated"),
        (frames.Ready(id="x"), Refusal.NOT_NOW),
        (frames.ImBack(id="x"), Refusal.NOT_NOW),
        (frames.Deal(id="x"), Refusal.NOT_NOW),
        (frames.SeedCommit(id="x", sha256="0" * 64), "seed_late"),
        (frames.SeedOpen(id="x", string="s"), "seed_late"),
    ],
)
def test_a_waiting_table_refuses(frame: Any, reason: str) -> None:
    script = Script().sit(BOB)
    before = script.table
    with pytest.raises(Refused, match=reason):
        script.act(ANN, frame)
    assert script.table is before


@pytest.mark.parametrize("frame", [frames.StartNow(id="x"), frames.Leave(id="x"), frames.Ready(id="x")])
def test_who_has_no_seat_has_no_say(frame: Any) -> None:
    with pytest.raises(Refused, match="not_seated"):
        Script().act(EVE, frame)


def test_a_balance_matters_only_to_who_sits_down() -> None:
    script = Script().sit(*PEOPLE[1:])
    for person in PEOPLE:
        script.act(person, frames.Ready(id=script.new_id()), balance=0)
    assert script.phase is Phase.STAKING


def committed() -> Script:
    """Bob has promised a string for the deal, and the table waits for it."""
    script = Script().sit(BOB, CYN, DAN)
    script.act(BOB, frames.SeedCommit(id="x", sha256=hashlib.sha256(b"a string").hexdigest()))
    return script.zero()


@pytest.mark.parametrize(
    ("given", "person", "frame"),
    [
        (lambda: Script(), BOB, frames.Sit(id="mine")),
        (lambda: Script().sit(BOB), BOB, frames.StartNow(id="mine")),
        (lambda: Script().sit(BOB, CYN, DAN), BOB, frames.Ready(id="mine")),
        (lambda: Script(rules=KINGS_AND_REBELS, seats=4).sit(BOB, CYN, DAN), ANN, frames.Deal(id="mine")),
        (lambda: Script().sit(BOB, CYN, DAN), BOB, frames.SeedCommit(id="mine", sha256="0" * 64)),
        (committed, BOB, frames.SeedOpen(id="mine", string="a string")),
        (lambda: Script().sit(BOB), BOB, frames.Leave(id="mine")),
        (lambda: Script().dealt(), BOB, frames.Leave(id="mine")),
        (lambda: Script().dealt().leaves(BOB), BOB, frames.ImBack(id="mine")),
        (lambda: Script().starts_now(ANN), ANN, frames.SendBotAway(id="mine", seat=1)),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, msgspec.Struct) else "",
)
def test_what_a_player_commands_is_stored_with_the_commands_id_and_digest(
    given: Callable[[], Script], person: Person, frame: Any
) -> None:
    script = given()
    seat = script.table.seat_of(person.account_id)
    draft = script.tell(Act(person=person, frame=frame, digest=77, balance_coins=RICH))
    stored = [event for event in draft.events if isinstance(event, events.SeatEvent) and event.id is not None]
    seat = draft.table.seat_of(person.account_id) if seat is None else seat
    assert [(event.id, event.digest, event.actor) for event in stored] == [("mine", 77, seat)]

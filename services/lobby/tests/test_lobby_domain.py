"""The directory's rules, without a server. Open this when a seat or a code is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lobby_events import milestone_event

from darbar_contracts.api import NewTable
from darbar_contracts.tables import Milestone, Person, TableLook, TableTerms
from darbar_lobby.domain.codes import CodeStep, code_step, is_code, new_code
from darbar_lobby.domain.directory_model import DirectoryEntry, Holder, Step
from darbar_lobby.domain.idempotency import body_sha256
from darbar_lobby.domain.milestones import applied, entry_of, opened, step_for
from darbar_lobby.domain.table_look import free_seats, has_room, sits_alone, sits_in

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TERMS = TableTerms("court_piece", {}, 4, 100, 15, "public", "normal")
ASKED = DirectoryEntry(
    table_id="t",
    host_id="ann",
    terms=TERMS,
    invite_token="invite",
    free_seats=3,
    created_at=AT,
)
OPEN = opened(ASKED)


def milestone(kind: str, number: int, *, free_seats: int = 3, generation: int = 1, **fields: Any) -> Milestone:
    event = milestone_event(kind, **{"terms": TERMS, "host_account_id": "ann"} | fields)
    return Milestone(generation, "t", number=number, at=AT, free_seats=free_seats, event=event)


def holders(entry: DirectoryEntry) -> dict[int, str | None]:
    return {holder.seat: holder.account_id for holder in entry.holders}


def after(entry: DirectoryEntry, milestones: Sequence[Milestone]) -> DirectoryEntry:
    for told in milestones:
        if step_for(entry, told) is Step.APPLY:
            entry = applied(entry, told)
    return entry


def test_an_opened_table_has_its_host_in_seat_0() -> None:
    # Made here, not at import, where a broken rule would break nothing yet.
    made = opened(ASKED)
    assert made == msgspec.structs.replace(ASKED, state="open", free_seats=3, holders=(Holder(0, "ann", AT),))
    assert opened(made) == made


def test_the_first_milestone_opens_a_table_too() -> None:
    created = applied(ASKED, milestone("table_created", 1, free_seats=3))
    assert (created.state, created.number, created.holders) == ("open", 1, (Holder(0, "ann", AT),))
    assert opened(created) == created, "the answer that comes later changes nothing"


def test_an_answer_that_comes_late_brings_nobody_back() -> None:
    left = after(ASKED, [milestone("table_created", 1), milestone("seat_freed", 2, free_seats=4, seat=0)])
    assert holders(opened(left)) == {}


@pytest.mark.parametrize(
    ("number", "generation", "step"),
    [(1, 1, Step.DROP), (2, 1, Step.DROP), (3, 1, Step.APPLY), (4, 1, Step.GAP), (3, 0, Step.DROP), (3, 2, Step.APPLY)],
)
def test_only_the_next_number_is_applied(number: int, generation: int, step: Step) -> None:
    entry = msgspec.structs.replace(OPEN, number=2, generation=1)
    assert step_for(entry, milestone("round_ended", number, generation=generation)) is step


def test_seats_are_taken_changed_and_freed() -> None:
    entry = after(
        OPEN,
        [
            milestone("seat_taken", 1, free_seats=2, seat=2, account_id="bob"),
            milestone("seat_taken", 2, free_seats=1, seat=1, account_id=None),
            milestone("seat_taken", 3, free_seats=1, seat=2, account_id="eve"),
            milestone("seat_freed", 4, free_seats=2, seat=1, account_id=None),
            milestone("round_ended", 5, free_seats=2),
            milestone("round_ended", 6, free_seats=2),
        ],
    )
    assert set(entry.holders) == {Holder(0, "ann", AT), Holder(2, "eve", AT)}
    assert (entry.number, entry.free_seats) == (6, 2)


def test_two_holders_change_places_and_each_is_freed_where_they_sit() -> None:
    swapped = after(
        OPEN,
        [
            milestone("seat_taken", 1, free_seats=2, seat=2, account_id="bob"),
            milestone("seats_swapped", 2, free_seats=2, seats=[2, 1]),
            milestone("seat_taken", 3, free_seats=1, seat=2, account_id=None),
            milestone("seats_swapped", 4, free_seats=1, seats=[2, 1]),
        ],
    )
    assert holders(swapped) == {0: "ann", 1: None, 2: "bob"}
    assert holders(applied(swapped, milestone("seat_freed", 5, seat=2, account_id="bob"))) == {0: "ann", 1: None}


@pytest.mark.parametrize("fields", [{}, {"seat": None}, {"seat": "1"}, {"seat": True}])
def test_a_milestone_of_a_seat_names_it(fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match="seat"):
        milestone("seat_taken", 1, account_id="bob", **fields)


def test_a_round_and_the_games_end() -> None:
    playing = applied(OPEN, milestone("round_started", 1, round=3))
    assert (playing.playing, playing.round) == (True, 3)
    assert applied(playing, milestone("game_ended", 2)).playing is False


def test_a_closed_table_is_empty() -> None:
    playing = applied(OPEN, milestone("round_started", 1, generation=3))
    closed = applied(playing, milestone("table_closed", 2, generation=3))
    assert (closed.state, closed.holders, closed.free_seats, closed.code_opens) == ("closed", (), 0, False)
    assert (closed.playing, closed.generation, closed.number) == (False, 3, 2)
    assert applied(closed, milestone("seat_freed", 3, seat=0)).state == "closed", "and stays closed"


@pytest.mark.ruling("TL-3")
@pytest.mark.parametrize(
    ("free_seats", "state", "kind", "has_code", "step"),
    [
        (3, "open", "table_created", False, CodeStep.GIVE),
        (1, "open", "seat_taken", True, CodeStep.KEEP),
        (0, "open", "seat_taken", True, CodeStep.KEEP),
        (0, "open", "round_started", True, CodeStep.FREE),
        (1, "open", "round_started", True, CodeStep.KEEP),
        (0, "open", "round_ended", False, CodeStep.KEEP),
        (1, "open", "seat_freed", False, CodeStep.GIVE),
        (1, "open", "seat_freed", True, CodeStep.KEEP),
        (0, "closed", "table_closed", True, CodeStep.FREE),
        (0, "closed", "table_closed", False, CodeStep.KEEP),
        (3, "asked", "table_created", False, CodeStep.KEEP),
    ],
)
def test_when_a_code_is_given_and_freed(free_seats: int, state: Any, kind: str, has_code: bool, step: CodeStep) -> None:
    entry = msgspec.structs.replace(OPEN, free_seats=free_seats, state=state)
    assert code_step(entry, kind, has_code=has_code) is step


KINDS: tuple[str, ...] = ("seat_taken", "seat_freed", "round_started", "game_ended")


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3), st.integers(0, 4)), max_size=12),
    st.lists(st.integers(0, 20), max_size=60),
)
def test_whatever_comes_twice_late_or_early_the_last_state_is_that_of_the_order(
    told: list[tuple[str, int, int]], deliveries: list[int]
) -> None:
    log = [
        milestone(kind, number, free_seats=free, seat=seat, account_id="bob")
        for number, (kind, seat, free) in enumerate(told, 1)
    ]
    entry = OPEN
    for index in deliveries:
        if index < len(log):
            entry = after(entry, [log[index]])
    assert entry == after(OPEN, log[: entry.number])
    assert after(entry, log) == after(OPEN, log)


def test_a_table_that_was_never_heard_of_begins_with_its_first_milestone() -> None:
    terms = msgspec.structs.replace(TERMS, options={"trump": "open"})
    entry = entry_of(milestone("table_created", 1, terms=terms, something_newer=True), "invite")
    assert entry is not None
    assert entry == msgspec.structs.replace(ASKED, terms=terms)
    assert entry_of(milestone("seat_freed", 1, seat=0), "invite") is None


def test_bodies_that_mean_the_same_have_one_hash() -> None:
    one = NewTable(game="g", bet_coins=100, options={"a": 1, "b": {"c": 2, "d": 3}})
    other = NewTable(game="g", bet_coins=100, options={"b": {"d": 3, "c": 2}, "a": 1}, turn_seconds=None)
    assert body_sha256(one) == body_sha256(other)
    assert body_sha256(one) != body_sha256(msgspec.structs.replace(one, bet_coins=101))


def test_codes_have_six_digits() -> None:
    assert new_code(lambda below: below - 1) == "999999"
    assert new_code(lambda _: 7) == "000007"
    assert is_code("000007")
    assert not any(is_code(text) for text in ("", "12345", "1234567", "12 456", "12345a", "१२३४५६", "²³²³²³"))


def test_a_holder_is_known_by_account() -> None:
    entry = msgspec.structs.replace(OPEN, holders=(Holder(0, "ann", AT), Holder(1, None, AT)))
    assert entry.seats_account("ann")
    assert not entry.seats_account("bob")


ANN, BOB = (Person(name, name.title(), "fox") for name in ("ann", "bob"))


def look(*seats: Person | None, bots: tuple[int, ...] = (), phase: str = "waiting") -> TableLook:
    return TableLook("t", ASKED.terms, phase, seats, bots, round=0, version=1, process_id="p")


@pytest.mark.parametrize(
    ("seen", "free"),
    [
        (look(ANN, None, None, None), 3),
        (look(ANN, None, None, None, bots=(1, 2)), 1),
        (look(ANN, BOB), 0),
        (look(None, None), 2),
    ],
)
def test_a_seat_is_free_when_neither_a_person_nor_a_bot_has_it(seen: TableLook, free: int) -> None:
    assert free_seats(seen) == free


@pytest.mark.ruling("TL-7")
@pytest.mark.parametrize(
    ("seen", "held_by", "room"),
    [
        (look(ANN, None, None), (), True),
        (look(ANN, None, None), ("bob",), True),
        (look(ANN, None, None), ("bob", "eve"), False),
        (look(ANN, BOB, None), ("bob",), True),
        (look(ANN, BOB, None), ("bob", "eve"), False),
        (look(ANN, None, None, bots=(2,)), ("eve",), False),
        (look(ANN, BOB), (), False),
    ],
)
def test_a_table_has_room_when_a_seat_is_left_for_one_more_than_are_coming(
    seen: TableLook, held_by: tuple[str, ...], room: bool
) -> None:
    assert has_room(seen, held_by) is room


@pytest.mark.parametrize(
    ("seen", "alone"),
    [
        (look(ANN, None), True),
        (look(None, ANN), True),
        (look(ANN, BOB), False),
        (look(ANN, None, bots=(1,)), False),
        (look(ANN, None, phase="counting_in"), False),
        (look(None, None), False),
        (look(BOB, None), False),
    ],
)
def test_a_host_sits_alone_without_people_bots_or_a_game(seen: TableLook, alone: bool) -> None:
    assert sits_alone(seen, "ann") is alone
    assert sits_in(seen, "ann") is (ANN in seen.seats)

"""What a fault run would find: answers of players that do not fit the log. The run itself is `make faults`."""

from __future__ import annotations

import pytest
from seeded_games import Compared, Row
from unruly_sockets import Answers

LOG = (
    Row(1, "table_created", None, None),
    Row(2, "seat_taken", "sit", None),
    Row(3, "round_started", None, None),
    Row(4, "card_played", "first", 1),
    Row(5, "card_played", "second", 2),
    Row(6, "round_started", None, None),
    Row(7, "card_played", "third", 1),
    Row(8, "seat_freed", "leave", None),
)


def told(*frames: str) -> Answers:
    answers = Answers()
    answers.moves |= {"first", "second", "third", "lost"}
    for frame in frames:
        answers.note(frame)
    return answers


def event(command_id: str, version: int) -> str:
    return f'{{"type":"event","version":{version},"kind":"card_played","public":{{}},"id":"{command_id}"}}'


def done(command_id: str, version: int) -> str:
    return f'{{"type":"done","id":"{command_id}","version":{version}}}'


def refused(command_id: str, code: str, *, retry: bool = False) -> str:
    return f'{{"type":"refused","id":"{command_id}","code":"{code}","message":"","retry":{str(retry).lower()}}}'


def wrong(answers: Answers, log: tuple[Row, ...] = LOG) -> list[str]:
    compared = Compared()
    compared.compare(answers, log)
    return compared.wrong


def test_what_was_told_and_stored_alike_is_counted_and_right() -> None:
    compared = Compared()
    answers = told(event("sit", 2), event("first", 4), done("first", 4), done("no effect", 5), refused("no", "not_now"))

    compared.compare(answers, LOG)

    assert (compared.acknowledged, compared.refused, compared.cards, compared.wrong) == (3, 1, 3, [])


@pytest.mark.parametrize(
    ("frames", "found"),
    [
        ([event("lost", 8)], "acknowledged at [8] and stored at []: lost"),
        ([done("lost", 8)], "acknowledged at [8] and stored at []: lost"),
        ([event("first", 5)], "acknowledged at [5] and stored at [4]: first"),
        ([event("first", 4), done("first", 6)], "acknowledged at [4, 6] and stored at [4]: first"),
        ([refused("second", "stale_turn")], "refused with stale_turn and stored: second"),
        ([refused("second", "not_seated")], "refused with not_seated and stored: second"),
    ],
)
def test_an_answer_that_does_not_fit_the_log_is_found(frames: list[str], found: str) -> None:
    assert wrong(told(*frames)) == [found]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (Row(9, "card_played", "other", 1), "decided twice: round, turn (2, 1)"),
        (Row(9, "seat_taken", "sit", None), "done twice: sit"),
    ],
)
def test_what_was_done_twice_is_found(row: Row, found: str) -> None:
    assert wrong(told(), (*LOG, row)) == [found]


@pytest.mark.parametrize(
    "frames",
    [
        [refused("second", "unavailable", retry=True)],
        [event("second", 5), refused("second", "stale_turn")],
        [refused("leave", "not_seated")],
    ],
)
def test_a_repeat_that_is_answered_in_another_way_takes_nothing_back(frames: list[str]) -> None:
    assert wrong(told(*frames)) == []

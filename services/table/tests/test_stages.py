"""What one turn of the loop reads is decided together and written together; each socket keeps its order."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from darbar_table.socket.stages import Stages
from darbar_table.socket.transport import Transport


class Loop:
    """What is to be done soon, done when a test says so."""

    def __init__(self) -> None:
        self._soon: list[Callable[[], None]] = []

    def soon(self, work: Callable[[], None]) -> None:
        self._soon.append(work)

    def turn(self) -> None:
        soon, self._soon = self._soon, []
        for work in soon:
            work()


class Socket:
    """Answers what it takes, with its connection, and writes down what happens in a diary that all sockets share."""

    def __init__(self, name: str, stages: Stages, diary: list[str]) -> None:
        self._name = name
        self._stages = stages
        self._diary = diary
        self.closing = False

    def take(self, data: bytes) -> None:
        self._note("took", data)
        if data == b"breaks":
            raise ArithmeticError
        self._stages.send(cast(Transport, self), b"answer to " + data)

    def is_closing(self) -> bool:
        return self.closing

    def write(self, wire: bytes) -> None:
        self._note("wrote", wire)

    def failed(self) -> None:
        self._note("failed", b"")

    def _note(self, what: str, data: bytes) -> None:
        self._diary.append(f"{self._name} {what} {data.decode()}".strip())


@pytest.fixture
def diary() -> list[str]:
    return []


def given(diary: list[str]) -> tuple[Loop, Stages, Socket, Socket]:
    loop = Loop()
    stages = Stages(loop.soon)
    return loop, stages, Socket("ann", stages, diary), Socket("bob", stages, diary)


def test_all_that_arrived_is_decided_before_anything_of_it_is_written(diary: list[str]) -> None:
    loop, stages, ann, bob = given(diary)
    for player, data in ((ann, b"1"), (bob, b"2"), (ann, b"3")):
        stages.arrived(player, data)
    assert diary == []
    loop.turn()
    assert diary == ["ann took 1", "bob took 2", "ann took 3"]
    stages.arrived(bob, b"4")
    loop.turn()
    assert diary[3:] == ["ann wrote answer to 1", "bob wrote answer to 2", "ann wrote answer to 3", "bob took 4"]
    loop.turn()
    loop.turn()
    assert diary[7:] == ["bob wrote answer to 4"]


def test_a_socket_that_fails_ends_and_the_others_go_on(diary: list[str]) -> None:
    loop, stages, ann, bob = given(diary)
    for player, data in ((ann, b"breaks"), (bob, b"1")):
        stages.arrived(player, data)
    loop.turn()
    assert diary == ["ann took breaks", "ann failed", "bob took 1"]
    loop.turn()
    assert diary[3:] == ["bob wrote answer to 1"]


def test_a_connection_that_is_closing_by_then_is_not_written_to(diary: list[str]) -> None:
    loop, stages, ann, bob = given(diary)
    for player in (ann, bob):
        stages.arrived(player, b"1")
    loop.turn()
    ann.closing = True
    loop.turn()
    assert diary == ["ann took 1", "bob took 1", "bob wrote answer to 1"]


def test_what_is_written_at_once_is_not_written_again(diary: list[str]) -> None:
    loop, stages, ann, _ = given(diary)
    stages.send(cast(Transport, ann), b"1")
    stages.write()
    loop.turn()
    stages.send(cast(Transport, ann), b"2")
    loop.turn()
    assert diary == ["ann wrote 1", "ann wrote 2"]

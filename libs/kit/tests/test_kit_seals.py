"""Tickets and links that only the services can write."""

from __future__ import annotations

import msgspec
import pytest

from darbar_kit.seals import SEALED_CHARACTERS_MAX, Seal, SealBroken

KEY = "sixteen-or-more-characters"


class Ticket(msgspec.Struct, frozen=True):
    who: str


class Voucher(msgspec.Struct, frozen=True):
    who: str


def test_what_was_written_with_the_key_is_read_with_it() -> None:
    assert Seal(KEY).read(Seal(KEY).write(Ticket("ann")), Ticket) == Ticket("ann")


@pytest.mark.parametrize(
    "forged",
    [
        "",
        ".",
        "a.b.c",
        "not base 64 at all, é",
        Seal("another-key-of-16-characters").write(Ticket("ann")),
        Seal(KEY).write(Voucher("ann")),
        Seal(KEY).write(Ticket("ann"))[:-2],
        "x" + Seal(KEY).write(Ticket("ann")),
        Seal(KEY).write(Ticket("a" * SEALED_CHARACTERS_MAX)),
    ],
)
def test_what_was_not_is_refused(forged: str) -> None:
    with pytest.raises(SealBroken):
        Seal(KEY).read(forged, Ticket)


def test_a_key_that_can_be_guessed_is_no_key() -> None:
    with pytest.raises(ValueError, match="characters"):
        Seal("short")

"""A value that is made quickly is the frozen dataclass that it was."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, dataclass, field, make_dataclass, replace
from functools import partial
from inspect import signature
from typing import Any

import pytest

from darbar_rules.values import FIELDS_FEW, made_quickly


@dataclass(frozen=True, slots=True)
class Slow:
    seat: int
    card: str = "AS"
    trick: tuple[int, ...] | None = None


@made_quickly
@dataclass(frozen=True, slots=True)
class Quick:
    seat: int
    card: str = "AS"
    trick: tuple[int, ...] | None = None


@made_quickly
@dataclass(frozen=True, slots=True)
class QuickOfMore(Quick):
    turn: int = 7


NAMES = [f"field_{number}" for number in range(FIELDS_FEW + 1)]
SlowFew = make_dataclass("SlowFew", NAMES[:-1], frozen=True, slots=True)
SlowMany = make_dataclass("SlowMany", NAMES[-1:], bases=(SlowFew,), frozen=True, slots=True)
Many: Any = made_quickly(make_dataclass("Many", NAMES[-1:], bases=(SlowFew,), frozen=True, slots=True))
Many.__module__ = __name__  # Where pickle looks for it.


def test_it_takes_what_it_took() -> None:
    assert signature(Quick) == signature(Slow)
    for made in (Quick(1), Quick(1, "AS"), Quick(card="AS", seat=1), Quick(1, trick=None)):
        assert (made.seat, made.card, made.trick) == (1, "AS", None)
    assert QuickOfMore(2, "KD", (1, 2), 3) == QuickOfMore(seat=2, card="KD", trick=(1, 2), turn=3)
    assert QuickOfMore(2).turn == 7


@pytest.mark.parametrize(
    ("given", "named"), [((), {}), ((1, "AS", None, 4), {}), ((1,), {"seat": 1}), ((1,), {"x": 1})]
)
def test_it_refuses_what_it_refused_in_the_same_words(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError) as slow:
        Slow(*given, **named)
    with pytest.raises(TypeError) as quick:
        Quick(*given, **named)
    assert str(quick.value) == str(slow.value).replace("Slow", "Quick")


def test_it_is_frozen_compared_copied_and_written_as_before() -> None:
    made = Quick(1, trick=(2,))
    with pytest.raises(FrozenInstanceError):
        made.seat = 2  # type: ignore[misc]
    assert made == Quick(1, "AS", (2,)) != replace(made, seat=2)
    assert hash(made) == hash(Slow(1, trick=(2,)))
    assert repr(made) == repr(Slow(1, trick=(2,))).replace("Slow", "Quick")
    assert pickle.loads(pickle.dumps(made)) == made
    assert not hasattr(made, "__dict__")


def test_with_many_fields_it_is_what_it_was_too() -> None:
    made, slow = Many(*range(len(NAMES))), SlowMany(*range(len(NAMES)))
    assert signature(Many) == signature(SlowMany)
    assert repr(made) == repr(slow).replace("SlowMany", "Many")
    assert hash(made) == hash(slow)
    assert type(made) is Many
    assert pickle.loads(pickle.dumps(made)) == made != replace(made, field_0=1)
    assert not hasattr(made, "__dict__")
    for act in (partial(setattr, made, "field_0", 1), partial(delattr, made, "field_0")):
        with pytest.raises(FrozenInstanceError):
            act()


def test_a_field_that_it_would_fill_wrongly_is_none_of_its() -> None:
    @dataclass(frozen=True, slots=True)
    class Listed:
        cards: list[str] = field(default_factory=list)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        card: str

    @dataclass(frozen=True, slots=True)
    class Checked:
        card: str

        def __post_init__(self) -> None:
            assert self.card

    for cls in (Listed, Named, Checked):
        with pytest.raises(AssertionError):
            made_quickly(cls)

"""Which names pass, and which look alike. Open this when a name that should be fine is refused."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darbar_kit.errors import Refused
from darbar_kit.names import clean_name, skeleton, told_apart

HONEST = [
    *("Ann", "Zoë", "O'Brien", "Ann-Marie 2", "José", "Łukasz", "Иван", "Νίκος", "王小明", "さくら", "김철수"),
    *("عائشہ", "مُحَمَّد", "می\u200cروم", "نستعلیق", "नमस्ते", "क्\u200dष", "क्\u200cष", "ශ්\u200dරී", "കണ്\u200dണന്"),
    *("สมชาย", "ကျော်", "ភារៈ", "שָׁלוֹם", "Nguyễn", "Ali ❤\ufe0f", "👩\u200d👩\u200d👧", "🏴\u200d☠\ufe0f", "👍🏽 Bo"),
    *("❤\ufe0f\u200d🔥", "1\ufe0f\u20e3 One", "Tom™\ufe0f"),
]
HIDING = [
    *("An\u200bn", "An\u2060n", "\ufeffAnn", "An\u00adn", "\u3164", "Ann\u3164", "\u115f\u1160", "Ann\u2800", "\u2800"),
    *("Ann\U000e0041", "Ann\U000e0101", "Ann\ufe00", "Ann\ufe0f", "Ann\u034f", "Ann\u180e", "An\u17b4n", "Ann\uffa0"),
    *(
        "An\u200dn",
        "An\u200cn",
        "\u200dAnn",
        "Ann\u200d",
        "می\u200c",
        "می\u200c\u200cروم",
        "می\u200cA",
        "👩\u200d",
        "👩\u200dA",
    ),
    *("Ann\ue000", "Ann\ufdd0", "Ann\U0010ffff", "1\ufe0f", "👩\u200c👧", "Ann\U0001d159", "Ann\ufff9", "👩\u200dA"),
]


@pytest.mark.parametrize("name", HONEST)
def test_honest_names_pass_as_they_are(name: str) -> None:
    assert clean_name(name, characters_max=24) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize("name", HIDING, ids=ascii)
def test_a_name_in_which_something_hides_is_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        clean_name(name, characters_max=24)

    assert (refused.value.code, refused.value.details["problem"]) == ("text_invalid", "invisible_characters")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("e" + "\u0301\u0302\u0303\u0304\u0305", "marks_too_many"),
        ("q" + "\u0323" * 18, "marks_too_many"),
        ("q\u20dd\u20de\u20df\u20e0", "marks_too_many"),
        ("", "empty"),
        (" \u00a0\u3000 ", "empty"),
        ("\u0301\u0302", "empty"),
        ("x" * 25, "too_long"),
        ("a\x00b", "control_characters"),
        ("a\u202eb", "control_characters"),
    ],
)
def test_other_names_are_refused_with_the_reason(name: str, problem: str) -> None:
    with pytest.raises(Refused) as refused:
        clean_name(name, characters_max=24)

    assert refused.value.details == {"problem": problem, "characters_max": 24}


def test_three_marks_are_fine_and_blanks_are_made_one() -> None:
    assert clean_name("  q\u0323\u0307\u0301 \u00a0 x\u3000", characters_max=24) == "q\u0323\u0307\u0301 x"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann", "ann"),
        ("Ann", "А\u043fn".replace("\u043f", "n")),
        ("Ann", "Ann."),
        ("Ann Lee", "AnnLee"),
        ("Ann", "\uff21\uff4e\uff4e"),
        ("Zoe", "Zoë"),
        ("Bill", "BiIl"),
        ("Bill", "B1ll"),
        ("Bob", "B0b"),
        ("Карл", "Kapл"),
        ("Tom", "Torn"),
        ("Wilma", "VViIma"),
        ("علی", "علي"),
        ("کریم", "كريم"),
        ("مُحَمَّد", "محمد"),
        ("Ali 5", "Ali ۵"),
        ("❤\ufe0f Ann", "❤ Ann"),
        ("می\u200cروم", "میروم"),
        ("Iğdır", "igdir"),
    ],
)
def test_names_that_look_alike_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ann", "Anna"), ("नमन", "नमिन"), ("王", "玉"), ("Ann 2", "Ann 3"), ("😀", "😁"), ("สม", "สิม"), ("...", "!?")],
)
def test_names_that_differ_have_different_skeletons(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


def cleaned(text: str) -> str | None:
    try:
        return clean_name(text, characters_max=20)
    except Refused:
        return None


@given(st.text(max_size=30))
def test_a_name_that_was_cleaned_is_clean_and_looks_like_something(text: str) -> None:
    name = cleaned(text) or "Ann"

    assert cleaned(name) == name
    assert skeleton(name)


@pytest.mark.parametrize(
    ("name", "taken", "shown"),
    [
        ("Ann", (), "Ann"),
        ("Ann", ("Anna",), "Ann"),
        ("Ann", ("ANN",), "Ann 2"),
        ("Ann", ("Аnn",), "Ann 2"),
        ("Ann", ("Ann", "Ann 2", "ann 3"), "Ann 4"),
        ("Ann 2", ("Ann", "Ann 2"), "Ann 2 2"),
        ("王", ("王", "玉"), "王 2"),
        ("...", ("...",), "... 2"),
    ],
)
def test_a_name_that_looks_like_another_is_numbered(name: str, taken: tuple[str, ...], shown: str) -> None:
    assert told_apart(name, taken) == shown


@given(st.lists(st.sampled_from(["Ann", "ann", "Ann 2", "Anп", "Bob", "B0b", "王"]), max_size=12))
def test_names_told_apart_all_look_different(names: list[str]) -> None:
    shown: list[str] = []
    for name in names:
        shown.append(told_apart(name, shown))

    assert len({skeleton(name) for name in shown}) == len(names)
    assert all(one.startswith(name) for one, name in zip(shown, names, strict=True))

"""Names that people see: nothing in them hides, and two that look alike are known. Open this about a refused name."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType

from darbar_kit.errors import KitReason, Refused
from darbar_kit.text import clean

MARKS_IN_A_ROW_MAX = 3
LETTERS_REMEMBERED = 2048

_ZWNJ, _ZWJ, _EMOJI_STYLE, _KEYCAP = "\u200c", "\u200d", "\ufe0f", "\u20e3"
_JOINERS = frozenset({_ZWNJ, _ZWJ})
# What takes no ink though its category does not say so: fillers, blanks, selectors of variants. Format characters
# (category Cf) and private ones are refused by their category.
_INVISIBLE = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800), (0x3164, 0x3164)),
    *((0xFDD0, 0xFDEF), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0xFFFE, 0xFFFF), (0x1D159, 0x1D159)),
    (0xE0000, 0x10FFFF),
)
_CATEGORIES_INVISIBLE = frozenset({"Cf", "Co"})
# Arabic with its neighbours, the scripts of India, Burmese, Khmer: spelling needs joiners there.
_SCRIPTS_WITH_JOINERS = ((0x0600, 0x08FF), (0x0900, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0xFB50, 0xFEFF))

# Letters and digits that many people can't tell apart, each as one of them; i, l and what looks like them are one.
_LOOKS_LIKE: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys("i1|!ıіιӏ", "l"),
        **dict.fromkeys("0оοօ", "o"),
        **dict.fromkeys("аα", "a"),
        **dict.fromkeys("еε", "e"),
        **dict.fromkeys("рρ", "p"),
        **dict.fromkeys("сϲ", "c"),
        **dict.fromkeys("хχ", "x"),
        **dict.fromkeys("уүγ", "y"),
        **dict.fromkeys("кκ", "k"),
        **dict.fromkeys("тτ", "t"),
        **dict.fromkeys("мμ", "m"),
        **dict.fromkeys("вβ", "b"),
        **dict.fromkeys("нһη", "h"),
        **dict.fromkeys("ѕ", "s"),
        **dict.fromkeys("јϳ", "j"),
        **dict.fromkeys("ν", "v"),
        **dict.fromkeys("υ", "u"),
        **dict.fromkeys("ø", "o"),
        **dict.fromkeys("ł", "l"),
        **dict.fromkeys("đ", "d"),
        **dict.fromkeys("يىی", "ی"),
        **dict.fromkeys("كک", "ک"),
        **dict.fromkeys("هھہۃةەۀ", "ہ"),
        **dict.fromkeys("ٱا", "ا"),
    }
)
_PAIRS_LOOK_LIKE = (("rn", "m"), ("vv", "w"))


def clean_name(text: str, *, characters_max: int) -> str:
    """The name in NFC, blanks around it gone and those inside made one. Raises Refused `text_invalid`.

    `problem` in its details: too_long, control_characters, invisible_characters, marks_too_many, empty.
    """
    name = " ".join(clean(text, characters_max=characters_max).split())
    padded = f"\0{name}\0"
    for before, character, after in zip(padded, padded[1:], padded[2:], strict=False):
        if _is_invisible(character) and not _is_needed(before, character, after):
            raise _refused("invisible_characters", characters_max)
    if _marks_in_a_row(name) > MARKS_IN_A_ROW_MAX:
        raise _refused("marks_too_many", characters_max)
    if not any(unicodedata.category(character)[0] in "LNPS" for character in name):
        raise _refused("empty", characters_max)
    return name


def skeleton(name: str) -> str:
    """What is left of a name when looks are all that counts: names with the same skeleton pass for each other.

    It is no name, and never shown. Case, accents, blanks, punctuation and the letters that look alike make no
    difference; vowel signs of scripts that write them as marks do.
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    letters = "".join(_LOOKS_LIKE.get(letter, letter) for letter in map(_as_digit, folded) if not _is_left_out(letter))
    for pair, letter in _PAIRS_LOOK_LIKE:
        letters = letters.replace(pair, letter)
    return letters or folded


def told_apart(name: str, taken: Collection[str]) -> str:
    """The name as it is shown beside those that are `taken`: with the first number that makes it look like none."""
    skeletons = {skeleton(other) for other in taken}
    shown, number = name, 1
    while skeleton(shown) in skeletons:
        number += 1
        shown = f"{name} {number}"
    return shown


def _is_invisible(character: str) -> bool:
    if character in _JOINERS or unicodedata.category(character) in _CATEGORIES_INVISIBLE:
        return True
    return _is_in(character, _INVISIBLE)


def _is_needed(before: str, character: str, after: str) -> bool:
    """Joiners inside a word of a script that spells with them, and what holds an emoji together."""
    if character == _EMOJI_STYLE:
        return unicodedata.category(before) in ("So", "Sm") or (before in "#*0123456789" and after == _KEYCAP)
    if character not in _JOINERS:
        return False
    if all(unicodedata.category(side)[0] in "LM" and _is_in(side, _SCRIPTS_WITH_JOINERS) for side in (before, after)):
        return True
    is_emoji = unicodedata.category(before) in ("So", "Sk") or before == _EMOJI_STYLE
    return character == _ZWJ and is_emoji and unicodedata.category(after) in ("So", "Cn")


def _marks_in_a_row(name: str) -> int:
    """The longest pile of marks that take no room of their own."""
    longest = run = 0
    for character in name:
        run = run + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        longest = max(longest, run)
    return longest


@lru_cache(maxsize=LETTERS_REMEMBERED)
def _is_left_out(letter: str) -> bool:
    """Blanks, punctuation, what is invisible, and the accents of Latin, Greek, Cyrillic, Hebrew and Arabic."""
    mark_class = unicodedata.combining(letter)
    is_accent = mark_class >= 200 or 10 <= mark_class <= 36
    return is_accent or letter.isspace() or unicodedata.category(letter)[0] == "P" or _is_invisible(letter)


def _as_digit(letter: str) -> str:
    digit = unicodedata.digit(letter, None)
    return letter if digit is None else str(digit)


def _is_in(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(character) <= last for first, last in ranges)


def _refused(problem: str, characters_max: int) -> Refused:
    return Refused(KitReason.TEXT_INVALID, details={"problem": problem, "characters_max": characters_max})

"""Which strings people may send. Open this when a message or a password is refused; names.py is about names."""

import unicodedata

from darbar_kit.errors import KitReason, Refused

# These turn the direction of the text around them: a name could then look like another name.
# The joiners U+200C and U+200D stay: Urdu, Persian and Hindi spelling and many emoji need them.
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Control characters with U+0000, lone surrogates, line and paragraph separators.
_CATEGORIES_REFUSED = frozenset({"Cc", "Cs", "Zl", "Zp"})
# NFC may join many characters to one; no honest text needs more than this many for each that is left.
_CHARACTERS_RAW_FACTOR = 4


def clean(text: str, *, characters_max: int) -> str:
    """The text in NFC. Blanks at the ends stay and an empty text is fine: who asks for a name checks that it is one."""
    if len(text) > characters_max * _CHARACTERS_RAW_FACTOR:
        raise _refused("too_long", characters_max)
    if any(character in _BIDI or unicodedata.category(character) in _CATEGORIES_REFUSED for character in text):
        raise _refused("control_characters", characters_max)
    normal = unicodedata.normalize("NFC", text)
    if len(normal) > characters_max:
        raise _refused("too_long", characters_max)
    return normal


def _refused(problem: str, characters_max: int) -> Refused:
    return Refused(KitReason.TEXT_INVALID, details={"problem": problem, "characters_max": characters_max})

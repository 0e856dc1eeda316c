"""Which names a player may have, and the ones given to who brings none. Open this when a name is wrongly refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from darbar_contracts.bots import BOT_NAMES
from darbar_kit.names import skeleton

NAME_CHARACTERS_MIN = 2
NAME_CHARACTERS_MAX = 20
LOGIN_NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9_.-]{2,31}")

AVATARS = (
    "peacock",
    "elephant",
    "tiger",
    "falcon",
    "camel",
    "lotus",
    "mango",
    "kite",
    "drum",
    "lantern",
    "crown",
    "turban",
    "fort",
    "moon",
    "sun",
    "chariot",
)

_ADJECTIVES = (
    "Amber",
    "Brave",
    "Calm",
    "Clever",
    "Coral",
    "Gentle",
    "Golden",
    "Happy",
    "Indigo",
    "Ivory",
    "Jade",
    "Jolly",
    "Lucky",
    "Mellow",
    "Merry",
    "Nimble",
    "Noble",
    "Quiet",
    "Rosy",
    "Ruby",
    "Saffron",
    "Silver",
    "Sunny",
    "Swift",
)
_NOUNS = (
    "Banyan",
    "Camel",
    "Chinar",
    "Deer",
    "Falcon",
    "Fox",
    "Heron",
    "Jasmine",
    "Kite",
    "Koel",
    "Lark",
    "Lotus",
    "Mango",
    "Markhor",
    "Myna",
    "Otter",
    "Parrot",
    "Peacock",
    "Rabbit",
    "Robin",
    "Sparrow",
    "Tiger",
    "Turtle",
    "Willow",
)

# Names that could pass for the house. A whole name, digits and signs left aside.
_RESERVED = frozenset((
    "admin", "administrator", "auditor", "bank", "bot", "bots", "computer", "cpu", "darbar", "dealer", "everyone",
    "guest", "help", "house", "host", "mod", "moderator", "nobody", "null", "official", "operator", "owner", "player",
    "root", "server", "spectator", "staff", "support", "system", "table", "team", "undefined", "wallet",
))  # fmt: skip
# A whole name that looks like a bot's.
_BOT_SKELETONS = frozenset(map(skeleton, BOT_NAMES))
# Refused as any word of a name, too: "Zara Bot", "Darbar Support".
_RESERVED_WORDS = frozenset(("admin", "administrator", "bot", "darbar", "moderator", "official", "staff", "support"))
# Refused wherever they stand: no common name or word holds them.
_ABUSIVE_ANYWHERE = (
    "arschloch", "asshole", "bastard", "behenchod", "bhenchod", "bhosdi", "blowjob", "bullshit", "chutiya", "chutiye",
    "cocksuck", "dickhead", "faggot", "fuck", "hitler", "madarchod", "nigga", "nigger", "putamadre", "retard",
    "shithead", "siktir", "wanker", "whore",
)  # fmt: skip
# Refused only as a whole word, since names and words hold them (Dickens, Cassandra, Scunthorpe, Poornima).
_ABUSIVE_WORDS = frozenset((
    "anal", "anus", "arse", "ass", "bitch", "chod", "choot", "chut", "cock", "cum", "cunt", "dick", "dyke", "fag",
    "gaand", "gand", "gandu", "homo", "jizz", "kike", "kurwa", "kutta", "kutti", "kuttiya", "lavde", "lawde", "lund",
    "lauda", "loda", "nazi", "nude", "paki", "penis", "porn", "pussy", "puta", "randi", "rape", "rapist", "sex",
    "shit", "slut", "spic", "tits", "tranny", "twat", "vagina",
))  # fmt: skip

_LETTER_DRAWN_OUT = re.compile(r"(.)\1{2,}")
_LOOKS_LIKE = str.maketrans(
    {
        "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "@": "a", "$": "s", "!": "i", "|": "i",
        "а": "a", "в": "b", "е": "e", "к": "k", "м": "m", "н": "h", "о": "o", "р": "p", "с": "c", "т": "t", "у": "y",
        "х": "x", "і": "i", "ѕ": "s", "α": "a", "ε": "e", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "τ": "t",
        "υ": "u", "χ": "x",
    }
)  # fmt: skip


def name_is_allowed(name: str) -> bool:
    """`name` has been cleaned. Needs a letter, 2..20 characters, and no reserved or abusive word in any disguise."""
    if not NAME_CHARACTERS_MIN <= len(name) <= NAME_CHARACTERS_MAX:
        return False
    if not any(unicodedata.category(character).startswith("L") for character in name):
        return False
    folded = fold(name)
    words = _words(folded)
    together = "".join(words)
    if together in _RESERVED or not _RESERVED_WORDS.isdisjoint(words) or skeleton(name) in _BOT_SKELETONS:
        return False
    if together in _ABUSIVE_WORDS or not _ABUSIVE_WORDS.isdisjoint(words):
        return False
    # Letters drawn out ("fuuuck") are tried as one and as two.
    spellings = (together, _LETTER_DRAWN_OUT.sub(r"\1", together), _LETTER_DRAWN_OUT.sub(r"\1\1", together))
    return not any(bad in spelling for bad in _ABUSIVE_ANYWHERE for spelling in spellings)


def fold(name: str) -> str:
    """Lower case without accents; digits, signs and look-alike letters become the letter that they imitate."""
    plain = unicodedata.normalize("NFKD", name).casefold().translate(_LOOKS_LIKE)
    return "".join(character for character in plain if not unicodedata.combining(character))


def normalised_login_name(text: str) -> str | None:
    """A login name in lower case: 3..32 of a-z, 0-9, `_`, `.` and `-`. None when this can't be one."""
    lower = text.lower()
    return lower if LOGIN_NAME_PATTERN.fullmatch(lower) else None


def random_name(choose: Callable[[Sequence[str]], str]) -> str:
    """A pleasant name, for a guest who brings none."""
    return f"{choose(_ADJECTIVES)} {choose(_NOUNS)}"


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text)

"""Which strings pass. Open this when a name that should be fine is refused."""

import pytest

from darbar_kit.errors import Refused
from darbar_kit.text import clean


@pytest.mark.parametrize("text", ["Ann", "", "عائشہ", "می‌روم", "👩‍👩‍👧", "नमस्ते", "two words"])
def test_honest_text_passes_unchanged(text: str) -> None:
    assert clean(text, characters_max=24) == text


def test_text_is_brought_to_its_composed_form() -> None:
    assert clean("Zoe\u0308", characters_max=3) == "Zo\u00eb"


@pytest.mark.parametrize(
    "text",
    ["a\x00b", "a\nb", "a\x7fb", "a\u202eb", "a\u2066b", "a\u200fb", "a\ud800b", "a\u2028b", "\x1b[31m"],
)
def test_text_that_could_deceive_or_break_something_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="text_invalid"):
        clean(text, characters_max=24)


@pytest.mark.parametrize("text", ["x" * 25, "e\u0301" * 25, "e" + "\u0301" * 1000])
def test_text_that_is_too_long_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="text_invalid") as caught:
        clean(text, characters_max=24)

    assert caught.value.status == 400
    assert caught.value.details == {"problem": "too_long", "characters_max": 24}

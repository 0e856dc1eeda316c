"""docs/howto/add-a-service.md says where each of its texts belongs, and a place that is not there is found."""

from __future__ import annotations

import pytest
from guide import Step, steps_of

PAGE = "add-a-service.md"


def test_the_page_has_steps() -> None:
    assert len(steps_of(PAGE)) > 20


def test_a_step_puts_its_text_where_the_page_says() -> None:
    assert Step("a", "new\n", "after", "two").done_to("one\ntwo\n") == "one\ntwo\nnew\n"
    assert Step("a", "new\n", "before", "tw").done_to("one\ntwo\n") == "one\nnew\ntwo\n"
    assert Step("a", "new\n", "in place of", "two").done_to("one\ntwo\n") == "one\nnew\n"
    assert Step("a", "new\n", "after", "one", each_time=True).done_to("one\none\n") == "one\nnew\none\nnew\n"


@pytest.mark.parametrize("text", ["one\n", "two\ntwo\n"])
@pytest.mark.parametrize("place", ["after", "before", "in place of"])
def test_a_step_whose_place_is_not_there_or_there_twice_is_not_done(place: str, text: str) -> None:
    with pytest.raises(ValueError, match="times 'two'"):
        Step("a", "new\n", place, "two").done_to(text)

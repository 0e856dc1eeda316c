"""docs/howto/add-a-service.md, done in a copy of the repository: the new service passes every check, and serves."""

from __future__ import annotations

import pytest
from guide import RUN_SECONDS_MAX, Copy, Step, steps_of

pytestmark = pytest.mark.timeout(RUN_SECONDS_MAX)

PAGE = "add-a-service.md"
NEW = ("services/echo", "libs/contracts", "deploy/local")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    made = Copy(tmp_path_factory.mktemp("add-a-service"))
    made.follow(PAGE)
    made.run("tests/repository/write_documents.py")
    made.track()
    return made


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


def test_the_new_service_is_tidy_and_has_types(copy: Copy) -> None:
    copy.run("-m", "ruff", "format", "--check", *NEW)
    copy.run("-m", "ruff", "check", *NEW)
    copy.mypy("services/echo", "libs/contracts")


def test_the_repository_with_the_new_service_passes_every_check_and_the_service_serves(copy: Copy) -> None:
    tests = ("tests/repository", "services/echo", "deploy/local/tests/test_local_services.py")
    said = copy.run("-m", "pytest", "-p", "no:cacheprovider", "-k", "not planted", *tests)
    assert "[100%]" in said

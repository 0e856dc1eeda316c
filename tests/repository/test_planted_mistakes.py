"""Every rule of a table's life has a mistake that can still be planted. Open tests/mutants/planted_mistakes.py then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from planted_mistakes import MISTAKES, Mistake
from test_rulings import all_rules
from tracked import ROOT, expect_none


def rules_without_a_mistake(rules: Iterable[str], mistakes: Iterable[Mistake]) -> Iterator[str]:
    planted = {mistake.rule for mistake in mistakes}
    for rule in rules:
        if rule.startswith("TL-") and rule not in planted:
            yield f"{rule} is written down, and no mistake is planted for it"


def mistakes_without_a_place(mistakes: Iterable[Mistake], texts: Mapping[str, str]) -> Iterator[str]:
    for mistake in mistakes:
        count = texts[mistake.path].count(mistake.right)
        if count != 1:
            yield f"{mistake.rule}: {mistake.right!r} is {count} times in {mistake.path}"


def test_every_rule_of_tables_has_a_planted_mistake() -> None:
    expect_none(rules_without_a_mistake(all_rules(), MISTAKES))


def test_every_mistake_has_one_place_to_be_planted_at() -> None:
    expect_none(mistakes_without_a_place(MISTAKES, {one.path: (ROOT / one.path).read_text() for one in MISTAKES}))


def test_a_planted_rule_without_a_mistake_and_a_mistake_without_a_place_are_found() -> None:
    mistake = Mistake("TL-1", "a.py", "x > 1", "x > 2")
    assert not list(rules_without_a_mistake(["TL-1", "CP-1"], [mistake]))
    assert list(rules_without_a_mistake(["TL-1", "TL-2"], [mistake]))
    assert not list(mistakes_without_a_place([mistake], {"a.py": "if x > 1:"}))
    assert list(mistakes_without_a_place([mistake], {"a.py": "if y > 1:"}))
    assert list(mistakes_without_a_place([mistake], {"a.py": "x > 1 or x > 1"}))

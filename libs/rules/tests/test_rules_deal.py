"""Chance from seeds, byte for byte: docs/fairness.md and the rules say the same."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from darbar_rules.cards import TEXTS
from darbar_rules.deal import Chance, bag_flags, canonical_json, commitment
from darbar_rules.games.court_piece.events import ChooseTrump, DealRecord, DealTry, RoundDealt, TrumpChosen
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions

DOCUMENT = Path(__file__).parents[3] / "docs" / "fairness.md"
VECTORS_COUNT = 10

Vector = dict[str, Any]


def vectors() -> list[Vector]:
    block = DOCUMENT.read_text().split("```json\n")[1].split("```")[0]
    found: list[Vector] = json.loads(block)
    return found


def of_kind(kind: str) -> list[Vector]:
    return [vector for vector in vectors() if vector["kind"] == kind]


def chance_of(vector: Vector) -> Chance:
    return Chance(
        bytes.fromhex(vector["server_seed"]),
        table_id=vector["table_id"],
        game=vector["game"],
        round=vector["round"],
        strings=tuple((seat, text) for seat, text in vector["strings"]),
        filtered=vector.get("filtered", False),
    )


# Written from the document alone, to find out where it and the rules part.


def key_by_the_document(vector: Vector, purpose: str, attempt: int) -> bytes:
    strings = ",".join(f"[{seat},{json.dumps(text, ensure_ascii=False)}]" for seat, text in vector["strings"])
    head = f'["{vector["table_id"]}",{vector["game"]},{vector["round"]},[{strings}]'
    message = f'{head},"{purpose}",{attempt}]'.encode()
    return hmac.digest(bytes.fromhex(vector["server_seed"]), message, "sha256")


def words_by_the_document(key: bytes) -> Iterator[int]:
    number = 0
    while True:
        block = hashlib.sha256(key + number.to_bytes(8, "big")).digest()
        yield from (int.from_bytes(block[start : start + 8], "big") for start in (0, 8, 16, 24))
        number += 1


def number_by_the_document(words: Iterator[int], below: int) -> int:
    return next(word for word in words if word < 2**64 - 2**64 % below) % below


def order_by_the_document(key: bytes, count: int) -> list[int]:
    words, order = words_by_the_document(key), list(range(count))
    for last in reversed(range(1, count)):
        other = number_by_the_document(words, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def hands_by_the_document(deck: list[str], caller: int, *, kaat: bool) -> list[list[str]]:
    hands: list[list[str]] = [[], [], [], []]
    for step in range(4):
        places = (
            [range(13 * step, 13 * step + 13)]
            if kaat
            else [
                range(5 * step, 5 * step + 5),
                range(20 + 4 * step, 24 + 4 * step),
                range(36 + 4 * step, 40 + 4 * step),
            ]
        )
        hands[(caller + step) % 4] = [deck[place] for part in places for place in part]
    return hands


def cards_by_the_document(vector: Vector, attempt: int) -> list[str]:
    return [TEXTS[card] for card in order_by_the_document(key_by_the_document(vector, "deal", attempt), 52)]


def test_the_document_has_ten_vectors_of_every_kind() -> None:
    assert len(vectors()) == VECTORS_COUNT
    assert Counter(vector["kind"] for vector in vectors()) == {"order": 4, "lot": 2, "bag": 2, "round": 2}


def test_a_commitment_is_the_hash_of_the_seed() -> None:
    for vector in vectors():
        seed = bytes.fromhex(vector.get("server_seed") or vector["bag_seed"])
        assert len(seed) == 32
        assert commitment(seed) == vector["commitment"] == hashlib.sha256(seed).hexdigest()


@pytest.mark.parametrize("vector", of_kind("order"), ids=lambda vector: f"{vector['round']}.{vector['attempt']}")
def test_an_order_of_the_document(vector: Vector) -> None:
    key = key_by_the_document(vector, vector["purpose"], vector["attempt"])
    assert key.hex() == vector["key"]
    assert " ".join(TEXTS[card] for card in order_by_the_document(key, 52)) == vector["order"]
    chance = chance_of(vector)
    assert chance.key(vector["purpose"], vector["attempt"]).hex() == vector["key"]
    order = chance.order(vector["purpose"], vector["attempt"], 52)
    assert " ".join(TEXTS[card] for card in order) == vector["order"]


@pytest.mark.parametrize("vector", of_kind("lot"), ids=lambda vector: str(vector["lot"]))
def test_a_lot_of_the_document(vector: Vector) -> None:
    words = words_by_the_document(key_by_the_document(vector, vector["purpose"], 0))
    assert number_by_the_document(words, 4) == vector["lot"]
    assert chance_of(vector).lot(vector["purpose"], 4) == vector["lot"]


@pytest.mark.ruling("CP-7")
@pytest.mark.parametrize("vector", of_kind("bag"), ids=lambda vector: str(vector["bag"]))
def test_cp_7_a_bag_of_the_document(vector: Vector) -> None:
    message = f'["{vector["table_id"]}","bag",{vector["bag"]}]'.encode()
    key = hmac.digest(bytes.fromhex(vector["bag_seed"]), message, "sha256")
    assert [number < 5 for number in order_by_the_document(key, 7)] == vector["flags"]
    flags = bag_flags(bytes.fromhex(vector["bag_seed"]), table_id=vector["table_id"], bag=vector["bag"])
    assert list(flags) == vector["flags"]


@pytest.mark.parametrize("vector", of_kind("round"), ids=lambda vector: vector["options"]["trump"])
def test_a_round_of_the_document_by_the_document(vector: Vector) -> None:
    caller, kaat = vector["caller"], vector["options"]["trump"] == "kaat"
    words = words_by_the_document(key_by_the_document(vector, "first_caller", 0))
    assert number_by_the_document(words, 4) == caller
    first = next(attempt for stage, attempt, found in vector["tries"] if stage == 1 and not found)
    deck = cards_by_the_document(vector, first)
    last = vector["tries"][-1][1]
    if last != first:
        five = deck[:5]
        deck = five + [card for card in cards_by_the_document(vector, last) if card not in five]
    assert [" ".join(hand) for hand in hands_by_the_document(deck, caller, kaat=kaat)] == vector["hands"]


@pytest.mark.ruling("CP-7")
@pytest.mark.parametrize("vector", of_kind("round"), ids=lambda vector: vector["options"]["trump"])
def test_cp_7_a_round_of_the_document_by_the_rules(vector: Vector) -> None:
    options, chance = CourtPieceOptions(**vector["options"]), chance_of(vector)
    state = COURT_PIECE.new(options, 4)
    (dealt,) = COURT_PIECE.deal(state, chance)
    assert isinstance(dealt, RoundDealt)
    hands, tries = dealt.hands, dealt.tries
    if vector["indicator"]:
        decision = ChooseTrump(card=vector["indicator"])
        (chosen,) = COURT_PIECE.decide(COURT_PIECE.evolve(state, dealt), dealt.caller, decision, chance)
        assert isinstance(chosen, TrumpChosen)
        hands, tries = chosen.hands, tries + chosen.tries
    assert [" ".join(hand) for hand in hands] == vector["hands"]
    assert [[tried.stage, tried.attempt, list(tried.one_sided)] for tried in tries] == vector["tries"]
    record = DealRecord(
        caller=vector["caller"],
        hands=tuple(tuple(hand.split()) for hand in vector["hands"]),
        filtered=vector["filtered"],
        tries=tuple(DealTry(stage, attempt, tuple(found)) for stage, attempt, found in vector["tries"]),
        trump=vector["trump"],
        indicator=vector["indicator"],
    )
    assert COURT_PIECE.verify_deal(options, record, chance, vector["round"]) == ()


def test_canonical_json_has_no_spaces_sorted_keys_and_plain_letters() -> None:
    assert canonical_json({"b": [1, "é"], "a": None}) == '{"a":null,"b":[1,"é"]}'.encode()


SEED = b"s" * 32


def variants() -> dict[str, Chance]:
    strings = ((0, "a"), (1, "b"))
    return {
        "seed": Chance(b"t" * 32, table_id="t", game=1, round=1, strings=strings),
        "table": Chance(SEED, table_id="u", game=1, round=1, strings=strings),
        "game": Chance(SEED, table_id="t", game=2, round=1, strings=strings),
        "round": Chance(SEED, table_id="t", game=1, round=2, strings=strings),
        "seats": Chance(SEED, table_id="t", game=1, round=1, strings=((0, "b"), (1, "a"))),
        "fewer": Chance(SEED, table_id="t", game=1, round=1, strings=strings[:1]),
        "same": Chance(SEED, table_id="t", game=1, round=1, strings=strings[::-1], filtered=True),
    }


def test_everything_that_goes_in_changes_the_order_but_the_sequence_of_the_strings() -> None:
    base = Chance(SEED, table_id="t", game=1, round=1, strings=((0, "a"), (1, "b"))).order("deal", 0, 52)
    for name, chance in variants().items():
        assert (chance.order("deal", 0, 52) == base) == (name == "same"), name
    same = variants()["same"]
    assert same.order("deal", 1, 52) != base
    assert same.order("other", 0, 52) != base


@pytest.mark.parametrize("draw", [lambda chance: chance.order("x", 0, 6).index(0), lambda chance: chance.lot("x", 6)])
def test_orders_and_lots_are_evenly_spread(draw: Callable[[Chance], int]) -> None:
    draws = 6_000
    counts = Counter(draw(Chance(b"%d" % number, table_id="t", game=1, round=1)) for number in range(draws))
    assert set(counts) == set(range(6))
    assert all(abs(count - draws / 6) < 150 for count in counts.values())  # five deviations


def test_a_word_of_the_incomplete_last_span_is_thrown_away() -> None:
    # A limit just over half of all words throws nearly every second one away: the streams must stay in step.
    limit = 2**63 + 1
    for number in range(20):
        chance = Chance(b"%d" % number, table_id="t", game=1, round=1)
        words = words_by_the_document(chance.key("x", 0))
        assert chance.lot("x", limit) == number_by_the_document(words, limit)

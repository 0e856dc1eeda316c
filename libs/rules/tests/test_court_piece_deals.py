"""Who gets which cards, one-sided deals, the filter and its proof (CP-2, CP-3, CP-6, CP-7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from darbar_rules.cards import CARDS_IN_DECK, SUITS, TEXTS, mask_of_texts, unpacked
from darbar_rules.deal import Chance, bag_flags
from darbar_rules.game import Refusal, RuleRefused
from darbar_rules.games.court_piece.deals import deal_round, first_caller, hands_from, one_sided
from darbar_rules.games.court_piece.events import (
    ChooseTrump,
    DealRecord,
    DealTry,
    Event,
    RoundDealt,
    RoundEnded,
    TrumpChosen,
)
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions, TrumpMode
from darbar_rules.games.court_piece.state import State
from darbar_rules.testing import chance_of, evolved, random_game, sent

OPEN = CourtPieceOptions(trump="open")
HIDDEN = CourtPieceOptions()
KAAT = CourtPieceOptions(trump="kaat")
DEALS = 4_000


def chance(number: int, *, filtered: bool = False, round: int = 1) -> Chance:
    return Chance(b"deal %d" % number, table_id="t", game=1, round=round, filtered=filtered)


def deal(options: CourtPieceOptions, number: int, *, filtered: bool = False) -> tuple[State, RoundDealt]:
    state = COURT_PIECE.new(options, 4)
    (event,) = deal_round(state, chance(number, filtered=filtered))
    return COURT_PIECE.evolve(state, event), event


def choose(state: State, number: int, *, filtered: bool = False) -> TrumpChosen:
    """The caller names the suit of his first card."""
    caller = state.match.caller
    assert caller is not None
    card = unpacked(state.deal.hands)[caller][0]
    (event,) = COURT_PIECE.decide(state, caller, ChooseTrump(card, card[1]), chance(number, filtered=filtered))
    assert isinstance(event, TrumpChosen)
    return event


def test_packets_go_round_the_table_from_the_caller() -> None:
    hands = hands_from(range(52), caller=2, packets=(5, 4, 4))
    assert [TEXTS.index(card) for card in hands[2]] == [0, 1, 2, 3, 4, 20, 21, 22, 23, 36, 37, 38, 39]
    assert [TEXTS.index(card) for card in hands[1]] == [15, 16, 17, 18, 19, 32, 33, 34, 35, 48, 49, 50, 51]
    assert hands_from(range(52), caller=3, packets=(13,))[0] == TEXTS[13:26]


@pytest.mark.ruling("CP-2")
def test_cp_2_the_first_caller_is_a_lot_with_equal_odds() -> None:
    callers = Counter(first_caller(chance(number)) for number in range(DEALS))
    assert set(callers) == {0, 1, 2, 3}
    assert all(abs(count - DEALS / 4) < 130 for count in callers.values())  # nearly five deviations
    assert {deal(OPEN, number)[1].caller for number in range(40)} == {0, 1, 2, 3}


@pytest.mark.ruling("CP-2")
def test_cp_2_later_rounds_follow_the_one_before_and_a_rematch_draws_again() -> None:
    state, _ = deal(OPEN, 1)
    ended = state._replace(match=state.match._replace(phase="waiting", caller=2), deal=state.deal)
    for number in range(20):
        assert deal_round(ended, chance(number, round=2))[0].caller == 2
    rematches = {
        deal_round(COURT_PIECE.new(OPEN, 4), Chance(b"s", table_id="t", game=game, round=1))[0].caller
        for game in range(40)
    }
    assert rematches == {0, 1, 2, 3}


@pytest.mark.ruling("CP-3")
@pytest.mark.parametrize("options", [OPEN, HIDDEN])
def test_cp_3_five_cards_each_then_eight_more_once_the_caller_has_decided(options: CourtPieceOptions) -> None:
    state, event = deal(options, 5)
    caller = event.caller
    assert [len(hand) for hand in event.hands] == [5] * 4
    assert COURT_PIECE.turn(state).seats == (caller,)
    shown = sent(COURT_PIECE, COURT_PIECE.new(options, 4), event)
    assert shown.secret == {caller: {"hand": list(event.hands[caller])}}
    for seat in (0, 1, 2, 3, None):
        view = COURT_PIECE.view(state, seat)
        assert set(view.hand) == (set(event.hands[caller]) if seat == caller else set())
        assert view.hand_counts == (5, 5, 5, 5)
    after = evolved(COURT_PIECE, state, (choose(state, 5),))
    assert COURT_PIECE.turn(after).seats == (caller,)
    counts = COURT_PIECE.view(after, None).hand_counts
    assert sorted(counts) == ([12, 13, 13, 13] if options is HIDDEN else [13] * 4)
    assert set(event.hands[caller]) <= set(unpacked(after.deal.hands)[caller])


@pytest.mark.ruling("CP-3")
def test_cp_3_in_open_the_caller_may_name_any_suit_in_hidden_one_of_his_five_cards() -> None:
    state, event = deal(OPEN, 6)
    assert COURT_PIECE.legal(state, event.caller).name == ("C", "D", "H", "S")
    assert COURT_PIECE.legal(state, (event.caller + 1) % 4).name == ()
    state, event = deal(HIDDEN, 6)
    assert set(COURT_PIECE.legal(state, event.caller).name) == set(event.hands[event.caller])
    other = event.rest[event.caller][0]
    for decision, code in (
        (ChooseTrump(card=other), Refusal.CARD_NOT_HELD),
        (ChooseTrump(card="1S"), Refusal.CARD_UNKNOWN),
        (ChooseTrump(suit="S"), Refusal.CARD_UNKNOWN),
    ):
        with pytest.raises(RuleRefused) as refused:
            COURT_PIECE.decide(state, event.caller, decision, chance(6))
        assert refused.value.code is code


@pytest.mark.ruling("CP-3")
def test_cp_3_kaat_deals_thirteen_at_once_and_play_begins() -> None:
    state, event = deal(KAAT, 7)
    assert [len(hand) for hand in event.hands] == [13] * 4
    assert COURT_PIECE.turn(state).seats == (event.caller,)
    assert len(COURT_PIECE.legal(state, event.caller).play) == 13
    shown = sent(COURT_PIECE, COURT_PIECE.new(KAAT, 4), event)
    assert shown.secret == {seat: {"hand": list(event.hands[seat])} for seat in range(4)}


def sided(*hands: str, threshold: int = 16, trump: str | None = None) -> set[str]:
    """The tests that these (partial) hands fail."""
    masks = [mask_of_texts(hand.split()) for hand in hands] + [0] * (4 - len(hands))
    suit = None if trump is None else SUITS.index(trump)
    return set(one_sided(masks, honour_threshold=threshold, trump=suit))


@pytest.mark.ruling("CP-6")
def test_cp_6_one_sided_by_honours() -> None:
    north, south = "AC KC QC JC AD KD", "QD JD AH KH QH"
    assert sided(north, "", south, threshold=11) == {"honours"}
    assert sided(north, "", south, threshold=12) == set()
    assert sided("", north, "", south, threshold=11) == {"honours"}
    assert sided(north, south, threshold=11) == set()  # not partners
    assert sided(north, "", "TD TH TC 9C 9D 9H", threshold=9) == set()


@pytest.mark.ruling("CP-6")
def test_cp_6_one_sided_by_aces_long_suits_and_trumps() -> None:
    assert sided("AC AD", "", "AH AS") == {"aces"}
    assert sided("", "AC AD AH", "", "AS") == {"aces"}
    assert sided("AC AD AH", "AS") == set()
    assert sided("", "", "", "2D 3D 4D 5D 6D 7D 8D") == {"long_suit"}
    assert sided("2D 3D 4D 5D 6D 7D") == set()
    assert sided("2D 3D 4D 5D 6D", "", "7D 8D 9D TD JD", trump="D") == {"trumps"}
    assert sided("2D 3D 4D 5D 6D", "", "7D 8D 9D TD", trump="D") == set()
    assert sided("", "2D 3D 4D 5D 6D", "", "7D 8D 9D TD JD", trump="D") == {"trumps"}
    assert sided("2D 3D 4D 5D 6D", "", "7D 8D 9D TD JD", trump="H") == set()
    assert sided("2D 3D 4D 5D 6D", "", "7D 8D 9D TD JD") == set()
    assert sided("AC AD 2H 3H 4H 5H 6H TH JH", "", "AH AS 7H 8H", trump="H") == {"aces", "long_suit", "trumps"}


@pytest.mark.ruling("CP-6")
def test_cp_6_one_sided_deals_are_as_frequent_as_the_rulings_say() -> None:
    counts: Counter[str] = Counter()
    for number in range(DEALS):
        hands = hands_from(chance(number).order("deal", 0, CARDS_IN_DECK), caller=0, packets=(5, 4, 4))
        masks = [mask_of_texts(hand) for hand in hands]
        trump = SUITS.index(hands[0][0][1])
        for threshold in (9, 10, 11, 12):
            found = one_sided(masks, honour_threshold=threshold, trump=trump)
            counts[f"honours {threshold}"] += "honours" in found
            counts[f"any {threshold}"] += bool(found)
        counts.update(name for name in found if name != "honours")
    expected = {
        "honours 9": 0.76,
        "honours 10": 0.37,
        "honours 11": 0.13,
        "honours 12": 0.034,
        "aces": 0.110,
        "long_suit": 0.147,
        "trumps": 0.057,
        "any 9": 0.82,
        "any 11": 0.36,
        "any 12": 0.30,
    }
    for name, share in expected.items():
        assert abs(counts[name] / DEALS - share) < 0.03, name


@pytest.mark.ruling("CP-6")
def test_cp_6_the_second_test_deals_the_other_47_cards_again() -> None:
    seen = 0
    for number in range(400):
        state, event = deal(HIDDEN, number, filtered=True)
        chosen = choose(state, number, filtered=True)
        assert chosen.hands[event.caller][:5] == event.hands[event.caller]
        assert sorted(card for hand in chosen.hands for card in hand) == sorted(TEXTS[:52])
        assert [tried.attempt for tried in chosen.tries] == list(
            range(event.tries[-1].attempt, event.tries[-1].attempt + len(chosen.tries))
        )
        if len(chosen.tries) > 1:
            seen += 1
            order = chance(number).order("deal", chosen.tries[-1].attempt, CARDS_IN_DECK)
            five = event.hands[event.caller]
            others = [TEXTS[card] for card in order if TEXTS[card] not in five]
            assert chosen.hands[event.caller][5:] == tuple(others[15:19] + others[31:35])
            assert chosen.hands[(event.caller + 1) % 4] == tuple(others[0:5] + others[19:23] + others[35:39])
        else:
            assert chosen.hands == tuple(hand + rest for hand, rest in zip(event.hands, event.rest, strict=True))
    assert 10 <= seen < 400


@pytest.mark.ruling("CP-6")
def test_cp_6_kaat_has_no_test_of_the_trumps() -> None:
    for number in range(200):
        _, event = deal(KAAT, number)
        assert [tried.stage for tried in event.tries] == [1]
        assert "trumps" not in event.tries[0].one_sided


@pytest.mark.ruling("CP-7")
def test_cp_7_exactly_five_rounds_in_each_block_of_seven_are_filtered() -> None:
    patterns = {bag_flags(b"bag %d" % bag, table_id="t", bag=bag) for bag in range(200)}
    assert all(len(flags) == 7 and sum(flags) == 5 for flags in patterns)
    assert len(patterns) == 21  # every place of the two that are let stand


@pytest.mark.ruling("CP-7")
@pytest.mark.parametrize("options", [HIDDEN, OPEN, KAAT])
def test_cp_7_a_filtered_round_is_fair_and_an_unfiltered_one_is_as_it_comes(options: CourtPieceOptions) -> None:
    stood: Counter[bool] = Counter()
    first_shuffles: Counter[bool] = Counter()
    rounds = 400
    for number in range(rounds):
        for filtered in (True, False):
            state, event = deal(options, number, filtered=filtered)
            assert event.filtered is filtered
            tries = event.tries
            hands, trump = event.hands, None
            if options is not KAAT:
                chosen = choose(state, number, filtered=filtered)
                tries += chosen.tries
                hands, trump = chosen.hands, SUITS.index(chosen.suit)
            masks = [mask_of_texts(hand) for hand in hands]
            found = one_sided(masks, honour_threshold=11, trump=trump)
            assert found == tries[-1].one_sided
            assert not (filtered and found)
            stood[filtered] += bool(found)
            first_shuffles[filtered] += [tried.attempt for tried in tries] == [0] * len(tries)
    natural = 0.33 if options is KAAT else 0.36
    assert abs(stood[False] / rounds - natural) < 0.09
    assert stood[True] == 0
    assert first_shuffles[False] == rounds > first_shuffles[True]


@pytest.mark.ruling("CP-7")
def test_cp_7_the_second_stage_uses_the_flag_of_the_first() -> None:
    for number in range(60):
        state, _ = deal(OPEN, number, filtered=False)
        caller = state.match.caller
        assert caller is not None
        (event,) = COURT_PIECE.decide(state, caller, ChooseTrump(suit="S"), chance(number, filtered=True))
        assert isinstance(event, TrumpChosen)
        assert len(event.tries) == 1


@pytest.mark.ruling("CP-7")
def test_cp_7_after_fifty_tries_a_stage_the_deal_stands() -> None:
    never_fair = replace(OPEN, honour_threshold=1)  # some team always has an honour
    state, event = deal(never_fair, 3, filtered=True)
    assert [tried.attempt for tried in event.tries] == list(range(50))
    assert all("honours" in tried.one_sided for tried in event.tries)
    chosen = choose(state, 3, filtered=True)
    assert [tried.attempt for tried in chosen.tries] == list(range(49, 99))
    assert {tried.stage for tried in chosen.tries} == {2}
    assert "honours" in chosen.tries[-1].one_sided


def records() -> Iterator[tuple[CourtPieceOptions, DealRecord, Chance, int]]:
    """How real rounds were dealt, with their options, seeds and numbers."""
    modes: tuple[TrumpMode, ...] = ("hidden", "open", "kaat")
    for seed in range(21):
        options = CourtPieceOptions(trump=modes[seed % 3])
        for step in random_game(COURT_PIECE, options, seed, rounds_max=2):
            if isinstance(step.events[-1], RoundEnded):
                yield options, step.events[-1].deal, step.chance, step.events[-1].round


def test_every_deal_can_be_proven_from_its_seeds() -> None:
    for options, record, seeds, number in records():
        assert COURT_PIECE.verify_deal(options, record, seeds, number) == ()


def test_a_deal_with_other_seeds_or_another_flag_is_not_proven() -> None:
    for options, record, seeds, number in records():
        assert COURT_PIECE.verify_deal(options, record, chance_of(999, round=number), number)
        seeds.filtered = not seeds.filtered
        assert COURT_PIECE.verify_deal(options, record, seeds, number) == ("filtered: the bag of flags says otherwise",)
        seeds.filtered = not seeds.filtered


def tampered(record: DealRecord) -> Iterator[tuple[str, DealRecord]]:
    """What somebody might have changed, and the word that the proof must begin with."""
    first, second, *others = record.hands
    yield "hands", replace(record, hands=(second, first, *others))
    yield "hands", replace(record, hands=((*first[:12], second[12]), (*second[:12], first[12]), *others))
    yield "tries", replace(record, tries=(*record.tries, DealTry(2, 9)))
    yield "tries", replace(record, tries=(replace(record.tries[0], one_sided=("aces", "honours")), *record.tries[1:]))
    yield "filtered", replace(record, filtered=not record.filtered)
    if record.indicator is not None:
        yield "indicator", replace(record, indicator=record.hands[record.caller][5])
        other = next(suit for suit in SUITS if suit != record.trump)
        yield "indicator", replace(record, trump=other)
        yield "indicator", replace(record, indicator=None)
        yield "indicator", replace(record, trump=None)
    elif record.trump is not None:
        yield "indicator", replace(record, indicator=record.hands[record.caller][0])
    else:
        yield "trump", replace(record, trump="S")
    yield "trump", replace(record, trump="X")
    yield "trump", replace(record, trump="CD")
    yield "caller", replace(record, caller=4)
    yield "caller", replace(record, caller=-1)
    yield "hands", replace(record, hands=record.hands[:3])
    yield "hands", replace(record, hands=(*record.hands, ()))


def test_a_record_that_was_changed_is_found_out() -> None:
    for options, record, seeds, number in records():
        for word, changed in tampered(record):
            found = COURT_PIECE.verify_deal(options, changed, seeds, number)
            assert any(line.startswith(f"{word}: ") for line in found), (word, found)


def test_a_proof_says_what_was_due() -> None:
    options, record, seeds, number = next(records())
    changed = replace(record, hands=(record.hands[1], record.hands[0], *record.hands[2:]), tries=())
    assert COURT_PIECE.verify_deal(options, changed, seeds, number) == (
        f"tries: {record.tries} were due",
        f"hands: seat 0 was due {' '.join(record.hands[0])}",
        f"hands: seat 1 was due {' '.join(record.hands[1])}",
    )
    lot = first_caller(seeds)
    assert f"caller: the lot fell on seat {lot}" in COURT_PIECE.verify_deal(
        options, replace(record, caller=(lot + 1) % 4), seeds, 1
    )


def test_the_first_caller_is_part_of_the_proof() -> None:
    for options, record, seeds, number in records():
        changed = replace(record, caller=(record.caller + 1) % 4)
        found = COURT_PIECE.verify_deal(options, changed, seeds, number)
        assert any(line.startswith("caller") for line in found) == (number == 1)
        assert found


@pytest.mark.parametrize("options", [HIDDEN, OPEN, KAAT])
def test_a_round_that_is_broken_off_can_be_proven_too(options: CourtPieceOptions) -> None:
    assert COURT_PIECE.deal_record(COURT_PIECE.new(options, 4)) is None
    state, _ = deal(options, 12, filtered=True)
    record = COURT_PIECE.deal_record(state)
    assert record is not None
    assert record.trump is None
    assert COURT_PIECE.verify_deal(options, record, chance(12, filtered=True), 1) == ()


@pytest.mark.parametrize("options", [HIDDEN, OPEN])
def test_a_round_that_is_broken_off_after_the_call_can_be_proven_too(options: CourtPieceOptions) -> None:
    state, _ = deal(options, 12, filtered=True)
    called: Event = choose(state, 12, filtered=True)
    record = COURT_PIECE.deal_record(COURT_PIECE.evolve(state, called))
    assert record is not None
    assert record.trump is not None
    assert (record.indicator is None) == (options is OPEN)
    assert COURT_PIECE.verify_deal(options, record, chance(12, filtered=True), 1) == ()

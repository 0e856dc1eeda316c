"""Playouts of Court Piece follow the rules, card by card. Open this when a playout goes on as no round would."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from darbar_bots.court_piece.playout import NOBODY, Playout, Table, play_out, play_out_by_chance
from darbar_bots.playouts import BIT_OF, SUIT_BITS, any_of, bits_of, next_lot
from darbar_rules.cards import ACE, IDS, RANK_OF, SUIT_OF, TEXTS, cards_of
from darbar_rules.deal import Chance
from darbar_rules.games import BY_NAME
from darbar_rules.games.court_piece.events import AskTrump, CardPlayed, PlayCard, ShowTrump, TrumpShown
from darbar_rules.games.court_piece.piles import pile_needed
from darbar_rules.games.court_piece.play import legal_cards
from darbar_rules.games.court_piece.state import TRICKS_IN_ROUND, State, trump_is_hidden
from darbar_rules.testing import chance_of, evolved, pairwise_options, random_decision

GAME = BY_NAME["court_piece"]
ROUNDS_A_TABLE = 12
ACES = bits_of(sum(1 << card for card in range(len(BIT_OF)) if RANK_OF[card] == ACE))
TEXT_OF = {BIT_OF[card]: TEXTS[card] for card in range(len(BIT_OF))}

RARE = {"asked", "shown", "due", "picked up", "left by an ace", "not a fresh win", "face down", "cut"}

Pick = Callable[[Playout], int]


def position(options: Any, seed: int) -> tuple[State, Chance]:
    """Somewhere in a random round: a seat is to play a card, and no rule says that it must be a trump."""
    dice = random.Random(seed)
    chance = chance_of(seed, round=1)
    before = state = evolved(GAME, GAME.new(options, 4), GAME.deal(GAME.new(options, 4), chance))
    for _ in range(1 + dice.randrange(40)):
        if state.match.ended:
            break
        if state.match.phase == "playing" and not state.play.must_trump:
            before = state
        decision = random_decision(GAME, state, state.play.to_act, dice, power_share=0.1)
        state = evolved(GAME, state, GAME.decide(state, state.play.to_act, decision, chance))
    return (before, chance) if before.match.phase == "playing" else position(options, seed + 1000)


def table_in(state: State) -> Table:
    options, middle, play = state.options, state.middle, state.play
    assert play.to_act is not None
    assert state.match.caller is not None
    best = play.trick[(play.winning - play.leader) % 4] if play.trick else None
    return Table(
        seat=play.to_act,
        lying=len(play.trick),
        led=SUIT_BITS[SUIT_OF[play.trick[0]]] if play.trick else 0,
        best=0 if best is None else BIT_OF[best],
        winning=play.winning,
        power=0 if play.trump is None else SUIT_BITS[play.trump],
        since=play.trump_from,
        kaat=options.trump == "kaat",
        fresh=options.fresh_win_must_be_after_showing,
        caller=state.match.caller,
        pile=middle.pile,
        streak=NOBODY if middle.streak is None else middle.streak,
        collected=middle.collected,
        first_pile=pile_needed(options, (0, 0)),
        later_pile=pile_needed(options, (1, 0)),
        tricks_left=TRICKS_IN_ROUND - middle.tricks_finished,
        no_pick_up=ACES if options.ace_cannot_win_pile else 0,
    )


def hidden_in(state: State) -> dict[str, int]:
    card = state.deal.indicator
    if card is None or not trump_is_hidden(state):
        return {"hidden": 0, "indicator": 0}
    return {"hidden": SUIT_BITS[SUIT_OF[card]], "indicator": BIT_OF[card]}


def decided(state: State, decision: Any, chance: Chance, seen: Counter[str]) -> State:
    (seat,) = GAME.turn(state).seats
    for event in GAME.decide(state, seat, decision, chance):
        if isinstance(event, TrumpShown):
            seen[event.how] += 1
        elif isinstance(event, CardPlayed):
            seen.update(rare_things(state, event))
        state = GAME.evolve(state, event)
    return state


def rare_things(state: State, event: CardPlayed) -> Iterator[str]:
    """What a playout may get wrong, and a test must have seen."""
    if event.face_down:
        yield "face down"
    if event.trump is not None:
        yield "cut"
    if event.trick is not None:
        needed = pile_needed(state.options, state.middle.collected)
        if event.trick.picked_up:
            yield "picked up"
        elif event.trick.winner == state.middle.streak and state.middle.pile + 1 >= needed:
            yield "left by an ace"
        elif event.trick.streak is None and state.play.trump is not None:
            yield "not a fresh win"


def same(playout: Playout, state: State, *, over: bool) -> bool:
    """Whether both are at the same point of the same round."""
    play, middle = state.play, state.middle
    if over or state.match.ended is not None:
        return over and state.match.ended is not None and middle.collected == (playout.even, playout.odd)
    hands = [playout.own, playout.next, playout.across, playout.last]
    return (
        play.to_act == playout.seat
        and [bits_of(play.hands[(playout.seat + step) % 4]) for step in range(4)] == hands
        and len(play.trick) == playout.lying
        and (not play.trick or play.winning == playout.winning)
        and (0 if play.trump is None else SUIT_BITS[play.trump]) == playout.power
        and middle.pile == playout.pile
        and middle.streak == (None if playout.streak == NOBODY else playout.streak)
        and middle.collected == (playout.even, playout.odd)
    )


def follow(state: State, chance: Chance, pick: Pick, seen: Counter[str]) -> tuple[int, int]:
    """The rules are told each card that a playout plays, and come to the same; what the playout ends with."""
    hands = [bits_of(hand) for hand in state.play.hands]
    playout = Playout(table_in(state), hands, **hidden_in(state))
    over = False
    while not over:
        due, hidden = not playout.own, playout.hidden
        card = pick(playout)
        if not due:  # The rules have played such a card by themselves, with the one before it (CP-23).
            if hidden and not playout.hidden:
                caller = playout.seat == state.match.caller
                state = decided(state, ShowTrump() if caller else AskTrump(), chance, seen)
            state = decided(state, PlayCard(TEXT_OF[card]), chance, seen)
        over = playout.lay(card)
        assert same(playout, state, over=over) or not playout.own, (state, playout.__dict__)
    return playout.even, playout.odd


def test_the_quick_rule_plays_what_the_rules_allow_and_what_follows_is_the_same() -> None:
    seen = Counter[str]()
    for options in pairwise_options(GAME):
        for seed in range(ROUNDS_A_TABLE):
            state, chance = position(options, seed)
            first = random.Random(seed).choice([0, *map(BIT_OF.__getitem__, cards_of(legal_cards(state)))])
            firsts = [first] if first else []

            def pick(playout: Playout, firsts: list[int] = firsts) -> int:
                return firsts.pop() if firsts else playout.choice()

            ended = follow(state, chance, pick, seen)

            hands = [bits_of(hand) for hand in state.play.hands]
            assert play_out(table_in(state), hands, first, **hidden_in(state)) == ended
    assert set(seen) >= RARE - {"due", "face down"}


def test_any_card_that_chance_plays_is_one_that_the_rules_allow() -> None:
    seen = Counter[str]()
    for options in pairwise_options(GAME):
        for seed in range(ROUNDS_A_TABLE):
            state, chance = position(options, seed)
            lots = [seed + 1]

            def pick(playout: Playout, lots: list[int] = lots) -> int:
                lots[0] = next_lot(lots[0])
                return playout.any_choice(lots[0])

            ended = follow(state, chance, pick, seen)

            hands = [bits_of(hand) for hand in state.play.hands]
            assert play_out_by_chance(table_in(state), hands, seed + 1, **hidden_in(state)) == ended
    assert set(seen) >= RARE


def test_chance_prefers_no_card() -> None:
    hand = bits_of(0b1011 << 11 | 1 << 51)
    lot, drawn = 1, Counter[int]()
    for _ in range(4_000):
        lot = next_lot(lot)
        drawn[any_of(hand, lot)] += 1
    assert sum(drawn) == hand
    assert max(drawn.values()) - min(drawn.values()) < 200


def test_all_cards_of_the_rules_are_cards_of_the_playouts() -> None:
    assert sorted(cards_of(sum(BIT_OF))) == list(range(52))
    assert all(
        bool(BIT_OF[card] & SUIT_BITS[suit]) == (SUIT_OF[card] == suit) for card in range(52) for suit in range(4)
    )


def opened(hands: tuple[str, ...], *, best: str = "", winning: int = 0) -> Playout:
    """Spades are trump, and seat 0 is on turn: it leads, or is the last one where `best` is winning."""
    masks = [sum(BIT_OF[IDS[text]] for text in hand.split()) for hand in hands]
    tricks_left = len(hands[0].split())
    table = Table(0, 0, 0, 0, 0, SUIT_BITS[3], 0, False, False, 1, 4, NOBODY, (0, 0), 3, 2, tricks_left, 0)
    if best:
        card = IDS[best]
        table = replace(table, lying=3, led=SUIT_BITS[SUIT_OF[card]], best=BIT_OF[card], winning=winning)
    return Playout(table, masks, hidden=0, indicator=0)


@pytest.mark.parametrize(("next_hand", "led"), [("3C 6C 4H 5D", "KD"), ("3C 6C 4H 2S", "2C"), ("3C 6C 4H AD", "2C")])
def test_a_card_that_no_opponent_can_beat_is_led(next_hand: str, led: str) -> None:
    playout = opened(("2C 5C KD 3H", next_hand, "4C 7C 5H 6H", "8C QD 7H 8H"))
    assert TEXT_OF[playout.choice()] == led


def test_without_such_a_card_the_lowest_plain_one_is_led() -> None:
    playout = opened(("5C 4D QH 2S", "3C 6C AH 3S", "4C 7C 5H 6H", "8C QD 7H 8H"))
    assert TEXT_OF[playout.choice()] == "4D"


def between(hand: str, *, led: str, later: str, across: str = "2C") -> Playout:
    """Seat 0 plays second to a lead of seat 3's, before seat 1; spades are trump."""
    hands = [sum(BIT_OF[IDS[text]] for text in each.split()) for each in (hand, later, across, "2H")]
    card = IDS[led]
    table = Table(
        0, 1, SUIT_BITS[SUIT_OF[card]], BIT_OF[card], 3, SUIT_BITS[3], 0, False, False, 1, 4, NOBODY, (0, 0), 3, 2, 3, 0
    )
    return Playout(table, hands, hidden=0, indicator=0)


@pytest.mark.parametrize(
    ("hand", "later", "card"),
    [
        ("3D JD AD", "QD 4C", "AD"),
        ("3D JD AD", "9D 4C", "JD"),
        ("3D JD QD", "KD 4C", "3D"),
        ("3D JD AD", "4S 4C", "3D"),
        ("2H 3S 9S", "4S 4C", "9S"),
        ("2H 3S 9S", "5D 4S", "3S"),
    ],
)
def test_a_trick_is_taken_with_the_lowest_card_that_the_next_seat_cannot_beat(hand: str, later: str, card: str) -> None:
    assert TEXT_OF[between(hand, led="TD", later=later).choice()] == card


@pytest.mark.parametrize(
    ("hand", "winning", "card"), [("3D JD AD", 3, "JD"), ("3D JD AD", 2, "3D"), ("2H 4S 9S", 3, "4S")]
)
def test_the_last_seat_takes_the_others_trick_with_the_lowest_card_that_can(hand: str, winning: int, card: str) -> None:
    playout = opened((hand, "2C 3C", "4C 5C", "6C 7C"), best="TD", winning=winning)
    assert TEXT_OF[playout.choice()] == card

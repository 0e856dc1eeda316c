"""What may be decided during a round and what follows from it. Open this about legality, asking and showing."""

from __future__ import annotations

from typing import Final

from darbar_rules.cards import BITS, IDS, SUIT_MASKS, SUIT_OF, SUITS, TEXTS, beats, texts_of
from darbar_rules.deal import Chance
from darbar_rules.game import Legal, Refusal, RuleRefused, check_turn
from darbar_rules.games.court_piece.deals import deal_rest
from darbar_rules.games.court_piece.events import (
    AskTrump,
    CardPlayed,
    ChooseTrump,
    Decision,
    Event,
    PlayCard,
    ShownHow,
    ShowTrump,
    TrumpChosen,
    TrumpShown,
)
from darbar_rules.games.court_piece.options import SEATS
from darbar_rules.games.court_piece.piles import ends_round, trick_taken
from darbar_rules.games.court_piece.results import round_ended
from darbar_rules.games.court_piece.state import TRICKS_IN_ROUND, State, evolve, trump_is_hidden

NOTHING: Final = Legal()


def decide(state: State, seat: int, decision: Decision, chance: Chance) -> tuple[Event, ...]:
    """What follows from a decision."""
    match decision:
        case PlayCard():
            return play_card(state, seat, decision.card)
        case ChooseTrump():
            return choose_trump(state, seat, chance, card=decision.card, suit=decision.suit)
        case AskTrump():
            return ask_trump(state, seat)
        case ShowTrump():
            return show_trump(state, seat)
        case _:
            raise RuleRefused(Refusal.DECISION_UNKNOWN)


def legal(state: State, seat: int) -> Legal:
    """Everything that this seat may decide now."""
    if seat != state.play.to_act:
        return NOTHING
    if state.match.phase == "choosing":
        return Legal(name=texts_of(state.play.hands[seat]) if state.options.trump == "hidden" else tuple(SUITS))
    also: tuple[str, ...] = ()
    if trump_is_hidden(state):
        if _may_ask(state, seat):
            also = ("ask_trump",)
        elif _may_show(state, seat):
            also = ("show_trump",)
    return Legal(texts_of(legal_cards(state)), (), also)


def choices(legal: Legal) -> tuple[Decision, ...]:
    """Everything that `legal` stands for."""
    named = (ChooseTrump(suit=name) if name in tuple(SUITS) else ChooseTrump(card=name) for name in legal.name)
    powers = (AskTrump() if name == "ask_trump" else ShowTrump() for name in legal.also)
    return (*(PlayCard(card) for card in legal.play), *named, *powers)


def legal_cards(state: State) -> int:
    """The cards that the seat on turn may play, as a mask: never empty while it holds a card (GEN-2)."""
    play = state.play
    assert play.to_act is not None
    hand = play.hands[play.to_act]
    if play.trick:
        following = hand & SUIT_MASKS[SUIT_OF[play.trick[0]]]
        if following:
            return following
    if play.must_trump and play.trump is not None:
        return hand & SUIT_MASKS[play.trump] or hand
    return hand


def choose_trump(state: State, seat: int, chance: Chance, *, card: str | None, suit: str | None) -> tuple[Event, ...]:
    """The caller's choice, from his first five cards; then everybody gets the rest of the cards (CP-3)."""
    check_turn(state.play.to_act, seat)
    if state.match.phase != "choosing":
        raise RuleRefused(Refusal.NOT_NOW)
    if state.options.trump == "hidden":
        suit = SUITS[SUIT_OF[_held(state, seat, card)]]
    else:
        card = None
    if suit is None or suit not in tuple(SUITS):
        raise RuleRefused(Refusal.SUIT_UNKNOWN, suit=suit)
    rest = deal_rest(state, chance, suit=SUITS.index(suit))
    return (TrumpChosen(seat, suit, rest.hands, rest.tries, to_act=seat, turn=state.play.turn + 1, card=card),)


def ask_trump(state: State, seat: int) -> tuple[Event, ...]:
    """A seat that cannot follow sees the trump, and must then play one if it has one (CP-16, CP-18)."""
    _check_playing(state, seat)
    if state.options.trump != "hidden" or seat == state.match.caller:
        raise RuleRefused(Refusal.MAY_NOT_ASK)
    if not trump_is_hidden(state):
        raise RuleRefused(Refusal.TRUMP_ALREADY_SHOWN)
    if not _may_ask(state, seat):
        raise RuleRefused(Refusal.MAY_NOT_ASK)
    return (_trump_shown(state, seat, "asked", must_play_trump=True),)


def show_trump(state: State, seat: int) -> tuple[Event, ...]:
    """The caller shows the trump: unable to follow, or before leading to any trick but the first (CP-17)."""
    _check_playing(state, seat)
    if state.options.trump != "hidden" or seat != state.match.caller:
        raise RuleRefused(Refusal.MAY_NOT_SHOW)
    if not trump_is_hidden(state):
        raise RuleRefused(Refusal.TRUMP_ALREADY_SHOWN)
    if not _may_show(state, seat):
        raise RuleRefused(Refusal.MAY_NOT_SHOW)
    must_play_trump = bool(state.play.trick) or state.options.show_on_lead_must_lead_trump
    return (_trump_shown(state, seat, "shown", must_play_trump=must_play_trump),)


def play_card(state: State, seat: int, text: str) -> tuple[Event, ...]:
    """A card, and all that follows from it without a further decision: a pick-up, the trump's end, the round's."""
    _check_playing(state, seat)
    card = _held(state, seat, text)
    allowed = legal_cards(state)
    if not allowed & BITS[card]:
        led = state.play.trick and state.play.hands[seat] & SUIT_MASKS[SUIT_OF[state.play.trick[0]]]
        raise RuleRefused(Refusal.MUST_FOLLOW_SUIT if led else Refusal.MUST_PLAY_TRUMP, legal=texts_of(allowed))
    return _played(state, seat, card)


def _played(state: State, seat: int, card: int) -> tuple[Event, ...]:
    event = _card_played(state, seat, card)
    if event.to_act is None:
        return event, round_ended(evolve(state, event))
    if event.to_act == state.match.caller and trump_is_hidden(state):
        after = evolve(state, event)
        if after.middle.tricks_finished + 1 == TRICKS_IN_ROUND:
            return event, *_last_card_of_caller(after)
    return (event,)


def _last_card_of_caller(state: State) -> tuple[Event, ...]:
    """At trick 13 the caller has only the face-down card: it is shown and played without a decision (CP-23)."""
    caller, indicator = state.match.caller, state.deal.indicator
    assert caller is not None
    assert indicator is not None
    shown = _trump_shown(state, caller, "due", must_play_trump=True)
    return shown, *_played(evolve(state, shown), caller, indicator)


def _card_played(state: State, seat: int, card: int) -> CardPlayed:
    play = state.play
    trick = play.trick
    turn = play.turn + 1
    if not trick:
        return CardPlayed(seat, TEXTS[card], seat, turn, (seat + 1) % SEATS)
    fixes_trump = _fixes_trump(state, card)
    face_down = _goes_face_down(state, seat, card)
    trump = SUIT_OF[card] if fixes_trump else play.trump
    best = trick[(play.winning - play.leader) % SEATS]
    wins = not face_down and beats(card, best, trump)
    winning = seat if wins else play.winning
    fixed = SUITS[SUIT_OF[card]] if fixes_trump else None
    if len(trick) + 1 < SEATS:
        return CardPlayed(seat, TEXTS[card], winning, turn, (seat + 1) % SEATS, face_down, fixed)
    win_counts = trump is not None and _win_counts(state, winning)
    taken = trick_taken(state.options, state.middle, winning, card if wins else best, win_counts=win_counts)
    to_act = None if ends_round(taken, state.middle.tricks_finished + 1) else winning
    return CardPlayed(seat, TEXTS[card], winning, turn, to_act, face_down, fixed, taken)


def _fixes_trump(state: State, card: int) -> bool:
    """With Kaat, the first card that does not follow suit makes its suit trump, at once (CP-25, CP-26)."""
    play = state.play
    return state.options.trump == "kaat" and play.trump is None and SUIT_OF[card] != SUIT_OF[play.trick[0]]


def _goes_face_down(state: State, seat: int, card: int) -> bool:
    """What the caller throws away while the trump is hidden (CP-21)."""
    return seat == state.match.caller and trump_is_hidden(state) and SUIT_OF[card] != SUIT_OF[state.play.trick[0]]


def _win_counts(state: State, winner: int) -> bool:
    """Whether a trick won with a trump known to all may be the first of two wins (CP-20)."""
    if not state.options.fresh_win_must_be_after_showing:
        return True
    return (winner - state.play.leader) % SEATS >= state.play.trump_from


def _trump_shown(state: State, seat: int, how: ShownHow, *, must_play_trump: bool) -> TrumpShown:
    indicator = state.deal.indicator
    assert indicator is not None
    suit = SUITS[SUIT_OF[indicator]]
    return TrumpShown(seat, how, TEXTS[indicator], suit, must_play_trump, to_act=seat, turn=state.play.turn + 1)


def _may_ask(state: State, seat: int) -> bool:
    return seat != state.match.caller and bool(state.play.trick) and not _can_follow(state, seat)


def _may_show(state: State, seat: int) -> bool:
    if seat != state.match.caller:
        return False
    return not _can_follow(state, seat) if state.play.trick else state.middle.tricks_finished > 0


def _can_follow(state: State, seat: int) -> bool:
    return bool(state.play.hands[seat] & SUIT_MASKS[SUIT_OF[state.play.trick[0]]])


def _check_playing(state: State, seat: int) -> None:
    check_turn(state.play.to_act, seat)
    if state.match.phase == "choosing":
        raise RuleRefused(Refusal.TRUMP_NOT_CHOSEN)


def _held(state: State, seat: int, text: str | None) -> int:
    card = IDS.get(text or "")
    if card is None:
        raise RuleRefused(Refusal.CARD_UNKNOWN, card=text)
    if not state.play.hands[seat] & BITS[card]:
        raise RuleRefused(Refusal.CARD_NOT_HELD, card=text)
    return card

"""What bots take for likely happens as often as they say. Open this when a bot misjudges others' cards or sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

import pytest

from darbar_bots.any_legal import AnyLegal
from darbar_bots.court_piece import chances as court_piece_chances
from darbar_bots.court_piece import known as court_piece_known
from darbar_bots.duels import play
from darbar_bots.king import chances as king_chances
from darbar_bots.king import known as king_known
from darbar_bots.kings_and_rebels import chances as rebels_chances
from darbar_bots.kings_and_rebels import known as rebels_known
from darbar_bots.kings_and_rebels.sides import sides
from darbar_rules.cards import IDS, IDS_TWO_DECKS, SUIT_OF, cards_of
from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME
from darbar_rules.games.court_piece.options import CourtPieceOptions
from darbar_rules.games.king.options import King20Options, KingShortOptions
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.pack import COPIES

ROUNDS = 60
STEPS = 5
OFF_MAX = 0.06
POSITIONS_MIN = 200

COURT_PIECE, REBELS = BY_NAME["court_piece"], BY_NAME["kings_and_rebels"]
PUBLIC = KingsAndRebelsOptions(seats=6, convert_cards="public")


class Table(NamedTuple):
    """A kind of table, and how its bots remember and reckon there."""

    game: AnyGame
    options: Any
    remember: Callable[[Any], Any]
    reckon: Callable[[Any], Any]


def reckon_rebels(known: Any) -> Any:
    return rebels_chances.Chances(known, sides(known))


TABLES = (
    Table(COURT_PIECE, CourtPieceOptions(trump="open"), court_piece_known.known_from, court_piece_chances.Chances),
    Table(BY_NAME["king_20"], King20Options(), king_known.known_from, king_chances.Chances),
    Table(BY_NAME["king_short"], KingShortOptions(), king_known.known_from, king_chances.Chances),
    Table(REBELS, KingsAndRebelsOptions(), rebels_known.known_from, reckon_rebels),
    Table(REBELS, PUBLIC, rebels_known.known_from, reckon_rebels),
)
EVERY_TABLE = pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.game.name} {table.options}"[:40])


class Seen(NamedTuple):
    """What a seat knows when it plays a card, and what all really hold."""

    known: Any
    hands: Mapping[int, frozenset[int]]


def positions(table: Table, *, rounds: int = ROUNDS) -> Iterator[Seen]:
    """All turns to play a card, of rounds that chance played."""
    for seed in range(rounds):
        views: list[Any] = []
        anybody = AnyLegal(table.game, Random(seed))
        company = [anybody] * table.game.seat_counts(table.options)[0]
        play(table.game, table.options, company, seed=seed, look=partial(keep, views))
        playing = [view for view in views if view.legal.play]
        # Each seat's first card is played from all that it was dealt.
        dealt = {view.seat: ids(view.hand) for view in reversed(playing) if not view.tricks}
        for view in playing:
            gone = [one for trick in (*[trick.cards for trick in view.tricks], view.trick) for one in trick]
            hands = {seat: hand - ids(one.card for one in gone if one.seat == seat) for seat, hand in dealt.items()}
            yield Seen(table.remember(view), hands)


def keep(views: list[Any], view: Any, _decision: Any) -> None:
    views.append(view)


def ids(cards: Any) -> frozenset[int]:
    """With two decks the copies of a card are the same here."""
    return frozenset(IDS_TWO_DECKS[card] for card in cards)


def suit_of(known: Any, card: int) -> int:
    return known.suits[card] if hasattr(known, "suits") else SUIT_OF[card]


def beats(known: Any, card: int, best: int) -> bool:
    if suit_of(known, card) != suit_of(known, best):
        return bool(suit_of(known, card) == known.trump)
    return bool(known.higher(best) >> card & 1) if hasattr(known, "higher") else card > best


def can_beat(known: Any, hand: frozenset[int], best: int, led: int) -> bool:
    following = [card for card in hand if suit_of(known, card) == led]
    return any(beats(known, card, best) for card in following or hand)


def expect_as_often(said: list[tuple[float, bool]]) -> None:
    """Of all that was said to be so likely, so much came true."""
    assert len(said) >= POSITIONS_MIN
    by_step: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for likely, true in said:
        assert 0 <= likely <= 1
        by_step[min(int(likely * STEPS), STEPS - 1)].append((likely, true))
    for step in by_step.values():
        if len(step) >= POSITIONS_MIN:
            assert abs(fmean(likely for likely, _ in step) - fmean(true for _, true in step)) < OFF_MAX, step[0]
    assert all(true for likely, true in said if likely == 1)
    assert not any(true for likely, true in said if likely == 0)


@EVERY_TABLE
def test_another_seat_can_beat_a_card_as_often_as_the_bot_says(table: Table) -> None:
    said: list[tuple[float, bool]] = []
    for known, hands in positions(table):
        reckoned = table.reckon(known)
        for card in cards_of(known.legal):
            led = suit_of(known, card) if known.led is None else known.led
            best = card if known.best is None or beats(known, card, known.best) else known.best
            for seat in known.later:
                said.append((reckoned.beats(seat, best, led=led), can_beat(known, hands[seat], best, led)))
    expect_as_often(said)


@pytest.mark.parametrize("table", [TABLES[0], *TABLES[3:]], ids=lambda table: str(table.options)[:40])
def test_a_trick_has_one_winner_who_is_in_it(table: Table) -> None:
    looked_at = 0
    for known, _ in positions(table, rounds=5):
        reckoned = table.reckon(known)
        for card in cards_of(known.legal):
            led = suit_of(known, card) if known.led is None else known.led
            likely = reckoned.winners(card, known.seat, led=led)
            assert sum(likely.values()) == pytest.approx(1)
            assert min(likely.values()) >= 0
            assert set(likely) <= {known.seat, *known.later}
            looked_at += 1
    assert looked_at >= POSITIONS_MIN


def test_a_trick_is_taken_from_an_enemy_more_often_than_from_a_partner_and_from_neither_by_who_cannot() -> None:
    taken = 0
    for known, _ in positions(TABLES[-1], rounds=10):
        for card in cards_of(known.legal) if len(known.later) == 1 else ():
            (last,) = known.later
            led = suit_of(known, card) if known.led is None else known.led
            stays = {}
            for side in (1.0, -1.0):
                of_all = tuple(1.0 if seat == known.seat else side for seat in range(known.setup.seats))
                reckoned = rebels_chances.Chances(known, of_all)
                can = reckoned.beats(last, card, led=led)
                stays[side] = reckoned.winners(card, known.seat, led=led)[known.seat]
            assert 1 - can <= stays[-1.0] <= stays[1.0] <= 1
            assert (stays[-1.0] < stays[1.0]) == (can > 0)
            taken += can > 0
    assert taken >= POSITIONS_MIN / 4


@pytest.mark.ruling("KR-12")
@pytest.mark.parametrize("converts_max", [1, None])
def test_where_the_convert_cards_are_known_to_all_seats_are_partners_as_often_as_the_bot_says(
    converts_max: int | None,
) -> None:
    said: list[tuple[float, bool]] = []
    options = KingsAndRebelsOptions(seats=6, convert_cards="public", convert_cards_max=converts_max)
    table = TABLES[-1]._replace(options=options)
    reds: set[int] = set()
    for known, hands in positions(table):
        if all(len(hand) == known.setup.held for hand in hands.values()):
            # The first card of a round: who leads or holds a convert card is a Rebel in the end.
            named = frozenset(card for one in known.converts for card in cards_of(COPIES[IDS[one.card]]))
            reds = {known.leader} | {seat for seat, hand in hands.items() if hand & named}
        reckoned = sides(known)
        assert reckoned[known.seat] == 1
        for seat in known.others():
            same = (seat in reds) == (known.seat in reds)
            said.append(((1 + reckoned[seat]) / 2, same))
    expect_as_often(said)


def test_where_the_list_is_secret_who_is_no_known_rebel_is_rather_an_enemy_of_one() -> None:
    undecided = 0
    for known, _ in positions(TABLES[-2], rounds=20):
        reckoned = sides(known)
        for seat in known.others():
            both = {seat in known.rebels, known.seat in known.rebels}
            if both == {True}:
                assert reckoned[seat] == 1
            elif known.converts:  # Only the leader sees the list.
                assert -1 <= reckoned[seat] < 1
            else:
                assert reckoned[seat] <= 0 if True in both else reckoned[seat] >= 0
                undecided += -1 < reckoned[seat] < 1
    assert undecided >= POSITIONS_MIN

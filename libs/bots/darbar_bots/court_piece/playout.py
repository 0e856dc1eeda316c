"""A round of Court Piece played to its end with all hands open. Open this about the speed of searching.

Cards are those of `playouts.py`; this is written so that it can be compiled. What may be played and what follows is as
in the rules (CP-8 to CP-28). The choices are quick ones that see all hands: a trick that stays the partner's is left to
him, any other is won with the lowest card that the next opponent can't beat; what can't be beaten is led.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from darbar_bots.playouts import CLUBS, DIAMONDS, HEARTS, SPADES, any_of, highest, next_lot, suit_of

if TYPE_CHECKING:
    from mypy_extensions import i64

NOBODY: Final = -1
TRICKS_TO_WIN: Final = 7


@dataclass(frozen=True)
class Table:
    """What lies on the table when a seat is to play, the same in all worlds; sets of cards are bits, 0 is none."""

    seat: int
    lying: int  # cards in the trick
    led: int  # the whole suit
    best: int
    winning: int
    power: int  # the suit that has trump power now
    since: int  # from this card of the trick on
    kaat: bool
    fresh: bool  # the first of two wins must be played once the trump is shown
    caller: int
    pile: int
    streak: int
    collected: tuple[int, int]
    first_pile: int
    later_pile: int
    tricks_left: int
    no_pick_up: int  # cards whose win picks nothing up


class Playout:
    """A round from a position on, card by card."""

    def __init__(self, table: Table, hands: Sequence[int], *, hidden: int, indicator: int) -> None:
        """`hands` by seat; `hidden` is the suit of the face-down card `indicator`, which is in none of them, or 0."""
        self.table = table
        self.seat: i64 = table.seat
        self.lying: i64 = table.lying
        self.led: i64 = table.led
        self.best: i64 = table.best
        self.winning: i64 = table.winning
        self.power: i64 = table.power
        self.since: i64 = table.since
        self.pile: i64 = table.pile
        self.streak: i64 = table.streak
        self.even: i64 = table.collected[0]
        self.odd: i64 = table.collected[1]
        self.tricks_left: i64 = table.tricks_left
        self.hidden: i64 = hidden
        self.indicator: i64 = indicator
        # The hands in the order of play: of the seat on turn, and of those that come after it.
        self.own: i64 = hands[self.seat]
        self.next: i64 = hands[self.seat + 1 & 3]
        self.across: i64 = hands[self.seat + 2 & 3]
        self.last: i64 = hands[self.seat + 3 & 3]

    def choice(self) -> i64:
        """What the quick rule plays; the trump may be shown for it."""
        if not self.own:
            self.show()  # The caller's last card is the face-down one (CP-23).
        if not self.lying:
            return self._lead()
        may = self.own & self.led
        if not may:
            if self.hidden and self._is_theirs() and (self.own & self.hidden or self.seat == self.table.caller):
                self.show()
                may = self.own & self.power  # CP-18
            may = may or self.own
        takes = self._taking(may)
        if not takes:
            takes = may & ~self.power or may
        return takes & -takes

    def _taking(self, may: i64) -> i64:
        """Those of these cards that the next opponent can't beat, unless the trick is better left to the partner."""
        power, led = self.power, self.led
        if self.best & power:
            takes = may & power & -(self.best << 1)
        elif may & led:
            takes = may & led & -(self.best << 1)
        else:
            takes = may & power
        later = self.next if self.lying < 3 else 0
        if not takes or not (self._is_theirs() or self._beats(later) or self._picks_up(takes)):
            return 0
        if later & led:
            if takes & led:
                takes &= -(highest(later & led) << 1)
        elif later & power:
            takes &= power & -(highest(later & power) << 1)
        return takes

    def _is_theirs(self) -> bool:
        return (self.winning ^ self.seat) & 1 != 0

    def _beats(self, hand: i64) -> bool:
        """Whether this hand can take the trick from the card that lies best."""
        led, power = self.led, self.power
        held = hand & led
        if held:
            return held > self.best and (led == power or not self.best & power)
        held = hand & power
        return held != 0 and (not self.best & power or held > self.best)

    def _picks_up(self, takes: i64) -> bool:
        """Whether the seat on turn picks the pile up when it wins with one of these cards."""
        table = self.table
        needed = table.later_pile if self.even or self.odd else table.first_pile
        return self.seat == self.streak and self.pile + 1 >= needed and takes & ~table.no_pick_up != 0

    def any_choice(self, lot: i64) -> i64:
        """One by chance; who can't follow sees the hidden trump one time in eight."""
        if not self.own:
            self.show()
        following = self.own & self.led if self.lying else 0
        if following or not self.lying:
            return any_of(following or self.own, lot)
        if self.hidden and not lot & 7:
            self.show()
            return any_of(self.own & self.power or self.own, lot)
        return any_of(self.own, lot)

    def show(self) -> None:
        """The face-down card goes back to the caller's hand, and its suit has power from now on."""
        place = self.table.caller - self.seat & 3
        if place == 0:
            self.own |= self.indicator
        elif place == 1:
            self.next |= self.indicator
        elif place == 2:
            self.across |= self.indicator
        else:
            self.last |= self.indicator
        self.power, self.since, self.hidden = self.hidden, self.lying, 0

    def lay(self, card: i64) -> bool:
        """Play this card for the seat on turn, and say whether the round is over."""
        lying = self.lying
        if not lying:
            self.led, self.best, self.winning = suit_of(card), card, self.seat
        else:
            if self.table.kaat and not self.power and not card & self.led:
                self.power = suit_of(card)
            best, power = self.best, self.power
            if card & power:
                wins = card > best or not best & power
            else:
                wins = card > best and card & self.led != 0 and not best & power
            if wins:
                self.best, self.winning = card, self.seat
        played = self.own ^ card
        self.own, self.next, self.across, self.last = self.next, self.across, self.last, played
        self.seat = self.seat + 1 & 3
        self.lying = lying + 1
        return lying == 3 and self._end_trick()

    def _end_trick(self) -> bool:
        table, winning, leader = self.table, self.winning, self.seat
        self.tricks_left -= 1
        self.pile += 1
        needed = table.later_pile if self.even or self.odd else table.first_pile
        if not self.tricks_left or (
            winning == self.streak and self.pile >= needed and not self.best & table.no_pick_up
        ):
            if self._pick_up():
                return True
        elif self.power and not (table.fresh and (winning - leader & 3) < self.since):
            # A win that doesn't count leaves nobody's first one behind: until the trump is known there is none (CP-20).
            self.streak = winning
        while self.seat != winning:
            self.own, self.next, self.across, self.last = self.next, self.across, self.last, self.own
            self.seat = self.seat + 1 & 3
        self.lying = self.since = 0
        return False

    def _pick_up(self) -> bool:
        """All that lies goes to the winner of the trick. Whether the round is over."""
        if self.winning & 1:
            self.odd += self.pile
        else:
            self.even += self.pile
        self.pile = 0
        self.streak = self.winning
        if not self.tricks_left:
            return True
        return self.even != 0 and self.odd != 0 and (self.even >= TRICKS_TO_WIN or self.odd >= TRICKS_TO_WIN)

    def _lead(self) -> i64:
        """The highest card that neither opponent can beat; else the lowest, no trump if possible."""
        hand, power = self.own, self.power
        sure: i64 = 0
        for suit in (CLUBS, DIAMONDS, HEARTS, SPADES):
            held = hand & suit
            if held:
                left, right = self.next & suit, self.last & suit
                if suit == power or not power or ((left or not self.next & power) and (right or not self.last & power)):
                    sure |= held & -(highest(left | right) << 1) if left | right else held
        if sure:
            return highest(sure & ~self.table.no_pick_up if self._picks_up(sure) else sure)
        low = hand & ~power or hand
        return low & -low


def play_out(
    table: Table, hands: Sequence[int], first: int = 0, *, hidden: int = 0, indicator: int = 0
) -> tuple[int, int]:
    """Tricks that each team has in the end, when `first` is played now (0: what the rule plays). See `Playout`."""
    playout = Playout(table, hands, hidden=hidden, indicator=indicator)
    over = playout.lay(first or playout.choice())
    while not over:
        over = playout.lay(playout.choice())
    return playout.even, playout.odd


def play_out_by_chance(
    table: Table, hands: Sequence[int], lot: int, *, hidden: int = 0, indicator: int = 0
) -> tuple[int, int]:
    """The same, when everybody plays any card; `lot` is from 1 to 2**32 - 1."""
    playout = Playout(table, hands, hidden=hidden, indicator=indicator)
    drawn: i64 = lot
    over = False
    while not over:
        drawn = next_lot(drawn)
        over = playout.lay(playout.any_choice(drawn))
    return playout.even, playout.odd

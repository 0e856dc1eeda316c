"""What is decided for a seat whose time is up, from its view alone. Open this about timeouts (GEN-5, CP-35)."""

from __future__ import annotations

from darbar_rules.cards import SUIT_MASKS, SUITS, TEXTS, longest_suit, lowest, mask_of_texts
from darbar_rules.games.court_piece.events import ChooseTrump, Decision, PlayCard
from darbar_rules.games.court_piece.view import CourtPieceView


def fallback(view: CourtPieceView) -> Decision:
    """The lowest legal card; for the caller, the lowest card of his longest suit. Nothing is asked or shown."""
    if view.phase == "choosing":
        hand = mask_of_texts(view.hand)
        suit = longest_suit(hand)
        if view.options.trump == "hidden":
            return ChooseTrump(card=TEXTS[lowest(hand & SUIT_MASKS[suit])])
        return ChooseTrump(suit=SUITS[suit])
    return PlayCard(TEXTS[lowest(mask_of_texts(view.legal.play))])

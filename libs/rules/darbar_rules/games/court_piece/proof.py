"""How the deal of a round can be checked by anyone who has its seeds. Open this about verifying deals (CP-6, CP-7)."""

from __future__ import annotations

from darbar_rules.cards import IDS, SUIT_OF, SUITS, TEXTS
from darbar_rules.deal import Chance
from darbar_rules.games.court_piece.deals import CARDS_BEFORE_CALL, first_caller, first_stage, second_stage
from darbar_rules.games.court_piece.events import DealRecord
from darbar_rules.games.court_piece.options import CourtPieceOptions
from darbar_rules.games.court_piece.state import State

FIRST_ROUND = 1


def deal_record(state: State) -> DealRecord | None:
    """How this round's cards were dealt, to be shown when it is over or broken off; None before the first deal."""
    match, deal = state.match, state.deal
    if match.ended is not None:
        return match.ended.deal
    if match.caller is None:
        return None
    called = None if state.options.trump == "kaat" else deal.trump
    return DealRecord(
        caller=match.caller,
        hands=deal.hands,
        filtered=deal.filtered,
        tries=deal.tries,
        trump=None if called is None else SUITS[called],
        indicator=None if deal.indicator is None else TEXTS[deal.indicator],
    )


def differences(options: CourtPieceOptions, record: DealRecord, chance: Chance, *, round: int) -> tuple[str, ...]:
    """Deal again from the seeds, and name what differs from the record; empty when the deal is proven."""
    found: list[str] = []
    if record.filtered != chance.filtered:
        found.append("filtered: the bag of flags says otherwise")
    if round == FIRST_ROUND and record.caller != first_caller(chance):
        found.append(f"caller: the lot fell on seat {first_caller(chance)}")
    stage = first_stage(options, chance, caller=record.caller, filtered=record.filtered)
    tries = stage.tries
    if record.indicator is not None and not _indicator_is_good(record):
        found.append("indicator: not one of the caller's first five cards, or of another suit")
    if record.trump is not None:
        suit = SUITS.index(record.trump)
        stage = second_stage(options, chance, stage, caller=record.caller, suit=suit, filtered=record.filtered)
        tries += stage.tries
    if record.tries != tries:
        found.append(f"tries: {tries} were due")
    found.extend(
        f"hands: seat {seat} was due {' '.join(due)}"
        for seat, (due, had) in enumerate(zip(stage.hands, record.hands, strict=True))
        if due != had
    )
    return tuple(found)


def _indicator_is_good(record: DealRecord) -> bool:
    first_five = record.hands[record.caller][:CARDS_BEFORE_CALL]
    return record.indicator in first_five and SUITS[SUIT_OF[IDS[record.indicator]]] == record.trump

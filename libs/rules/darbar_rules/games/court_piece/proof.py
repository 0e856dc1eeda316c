"""How the deal of a round can be checked by anyone who has its seeds. Open this about verifying deals (CP-6, CP-7)."""

from __future__ import annotations

from collections.abc import Iterator

from darbar_rules.cards import SUITS, TEXTS, unpacked
from darbar_rules.deal import Chance
from darbar_rules.games.court_piece.deals import CARDS_BEFORE_CALL, first_caller, first_stage, second_stage
from darbar_rules.games.court_piece.events import DealRecord
from darbar_rules.games.court_piece.options import SEATS, CourtPieceOptions
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
        hands=unpacked(deal.hands),
        filtered=deal.filtered,
        tries=deal.tries,
        trump=None if called is None else SUITS[called],
        indicator=None if deal.indicator is None else TEXTS[deal.indicator],
    )


def differences(options: CourtPieceOptions, record: DealRecord, chance: Chance, round: int) -> tuple[str, ...]:
    """Deal again from the seeds, and name what differs from the record; empty when the deal is proven.

    The record may come from somebody who cheats: whatever it holds, the answer is a list of differences.
    """
    found = _misshapen(options, record)
    if found:
        return found
    return (*_wrong_lots(record, chance, round), *_wrong_cards(options, record, chance))


def _misshapen(options: CourtPieceOptions, record: DealRecord) -> tuple[str, ...]:
    """What could not be so in any deal with these options."""
    found: list[str] = []
    if record.caller not in range(SEATS):
        found.append(f"caller: there is no seat {record.caller}")
    if len(record.hands) != SEATS:
        found.append(f"hands: {len(record.hands)} of them")
    if record.trump is not None and (record.trump not in tuple(SUITS) or options.trump == "kaat"):
        found.append(f"trump: nobody could call {record.trump}")
    if (record.indicator is not None) != (record.trump is not None and options.trump == "hidden"):
        found.append("indicator: a hidden trump has one, and no other")
    return tuple(found)


def _wrong_lots(record: DealRecord, chance: Chance, round: int) -> Iterator[str]:
    if record.filtered != chance.filtered:
        yield "filtered: the bag of flags says otherwise"
    if round == FIRST_ROUND and record.caller != first_caller(chance):
        yield f"caller: the lot fell on seat {first_caller(chance)}"


def _wrong_cards(options: CourtPieceOptions, record: DealRecord, chance: Chance) -> Iterator[str]:
    stage = first_stage(options, chance, caller=record.caller, filtered=record.filtered)
    first_five = stage.hands[record.caller][:CARDS_BEFORE_CALL]
    if record.indicator is not None and not (record.indicator in first_five and record.indicator[1] == record.trump):
        yield "indicator: not one of the caller's first five cards, or not of the trump suit"
    tries = stage.tries
    if record.trump is not None:
        suit = SUITS.index(record.trump)
        stage = second_stage(options, chance, stage, caller=record.caller, suit=suit, filtered=record.filtered)
        tries += stage.tries
    if record.tries != tries:
        yield f"tries: {tries} were due"
    for seat, due in enumerate(stage.hands):
        if record.hands[seat] != due:
            yield f"hands: seat {seat} was due {' '.join(due)}"

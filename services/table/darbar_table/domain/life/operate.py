"""What an operator does to a table: lets it go on after a fault, or ends it. Open this when a voided table hangs."""

from __future__ import annotations

from darbar_contracts.wallet import RefundPurpose
from darbar_table.domain import events
from darbar_table.domain.commands import Draft, OperatorAct
from darbar_table.domain.life import rounds, seats, stakes
from darbar_table.domain.state import Phase


def act(draft: Draft, command: OperatorAct) -> None:
    """Who did it and why stays in the log. What is voided already, and was stopped again, only goes on."""
    if command.action == "void" and not draft.table.voided:
        _void(draft, command)
    else:
        draft.add(events.TableResumed(operator=command.operator, why=command.why))


def _void(draft: Draft, command: OperatorAct) -> None:
    """TL-24: the seeds of a running round are shown, and whatever was staked, or is being staked, goes back."""
    draft.add(events.TableVoided(operator=command.operator, why=command.why))
    if draft.table.running is not None:
        rounds.show_seeds(draft)
    if draft.table.staking is not None and draft.table.phase is not Phase.REFUNDING:
        stakes.ask_refund(draft, RefundPurpose.VOIDED)


def wind_up(draft: Draft) -> None:
    """The coins are back: the game counts for nothing, everybody is stood up, and the table closes."""
    if draft.table.started:
        rounds.end_game(draft, "voided")
    for number in draft.table.people:
        seats.free(draft, number, "voided")
    draft.add(events.TableClosed(reason="voided"))

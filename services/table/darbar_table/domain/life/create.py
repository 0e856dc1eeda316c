"""How a table comes into the world. Open this when opening one is refused."""

from __future__ import annotations

import msgspec

from darbar_contracts.frames import TableReason
from darbar_contracts.tables import TableTerms
from darbar_kit.errors import Refused
from darbar_rules.options import OptionInvalid
from darbar_table.domain import events
from darbar_table.domain.commands import Create, Draft
from darbar_table.domain.life import seats
from darbar_table.domain.refusals import refused


def create(draft: Draft, command: Create) -> None:
    """TL-1. The lobby has looked at all this; the table looks again, since its events are for ever."""
    request = command.request
    terms = _checked(draft, request.terms)
    seats.refuse_the_short(command.balance_coins, terms.bet_coins)
    draft.add(events.TableCreated(terms=terms, host=request.host))


def option_invalid(field: str, reason: str) -> Refused:
    """A field of the request that is not offered."""
    return refused(TableReason.OPTION_INVALID, fields={field: reason})


def _checked(draft: Draft, terms: TableTerms) -> TableTerms:
    """The terms with every option of the game, also those that were left to their defaults."""
    rules, limits = draft.table.rules, draft.context.settings.terms
    try:
        options = msgspec.convert(terms.options, rules.options_type)
        rules.check_options(options)
    except msgspec.ValidationError as error:
        raise option_invalid("options", str(error)) from error
    except OptionInvalid as error:
        raise option_invalid(f"options.{error.option}", error.reason) from error
    if terms.seats not in rules.seat_counts(options):
        raise option_invalid("seats", f"one of {rules.seat_counts(options)}")
    problems = limits.problems(bet_coins=terms.bet_coins, turn_seconds=terms.turn_seconds)
    if problems:
        raise refused(TableReason.OPTION_INVALID, fields=problems)
    return msgspec.structs.replace(terms, options=msgspec.to_builtins(options))

"""What is agreed at a table: when it is opened, and what its host can still change. Open this when that is refused."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from darbar_contracts.frames import ChangeOptions, TableReason
from darbar_contracts.tables import JsonObject, TableTerms
from darbar_kit.errors import Refused
from darbar_rules.game import AnyGame, Refusal
from darbar_rules.options import OptionInvalid
from darbar_table.domain import events
from darbar_table.domain.commands import Act, Create, Draft
from darbar_table.domain.life import seats
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import Phase, Table


def create(draft: Draft, command: Create) -> None:
    """TL-1. The lobby has looked at all this; the table looks again, since its events are for ever."""
    request = command.request
    terms = _checked(draft, request.terms)
    seats.refuse_the_short(command.balance_coins, terms.bet_coins)
    draft.add(events.TableCreated(terms=terms, host=request.host))


def change_options(draft: Draft, seat: int, act: Act, frame: ChangeOptions) -> None:
    """TL-1: until the first count-in, those that the game lets the host change. A seat keeps its number; bots in seats
    that are no more go first."""
    table = draft.table
    if seat != table.host:
        raise refused(TableReason.NOT_HOST)
    if table.phase is not Phase.WAITING or (table.game, table.attempt) != (1, 0):
        raise refused(Refusal.NOT_NOW)
    terms = _changed(table, frame.options)
    if terms == table.terms:
        return
    for number in range(terms.seats, len(table.seats)):
        if table.seats[number].bot is not None:
            draft.add(events.BotSentAway(seat=number, actor=seat))
    draft.add(events.OptionsChanged(seat=seat, terms=terms, id=frame.id, digest=act.digest))


def option_invalid(field: str, reason: str) -> Refused:
    """A field of the request that is not offered."""
    return refused(TableReason.OPTION_INVALID, fields={field: reason})


def _changed(table: Table, changes: JsonObject) -> TableTerms:
    """The terms with these options. Their seats are as many as before where that is offered still."""
    rules, terms = table.rules, table.terms
    changeable = {option.name for option in rules.options if option.changeable}
    for name in changes:
        if name not in changeable:
            raise option_invalid(f"options.{name}", "can't be changed at this table.")
    options = _options(rules, terms.options | changes)
    offered = rules.seat_counts(options)
    seats = terms.seats if terms.seats in offered else offered[0]
    seats_min = max(table.people) + 1
    if seats < seats_min:
        raise option_invalid("seats", f"must be at least {seats_min}: somebody sits there.")
    return replace(terms, options=msgspec.to_builtins(options), seats=seats)


def _checked(draft: Draft, terms: TableTerms) -> TableTerms:
    """The terms with every option of the game, also those that were left to their defaults."""
    rules, limits = draft.table.rules, draft.context.settings.terms
    options = _options(rules, terms.options)
    if terms.seats not in rules.seat_counts(options):
        raise option_invalid("seats", f"one of {rules.seat_counts(options)}")
    problems = limits.problems(bet_coins=terms.bet_coins, turn_seconds=terms.turn_seconds)
    if problems:
        raise refused(TableReason.OPTION_INVALID, fields=problems)
    return replace(terms, options=msgspec.to_builtins(options))


def _options(rules: AnyGame, options: JsonObject) -> Any:
    """As the rules take them."""
    try:
        taken = msgspec.convert(options, rules.options_type)
        rules.check_options(taken)
    except msgspec.ValidationError as error:
        raise option_invalid("options", str(error)) from error
    except OptionInvalid as error:
        raise option_invalid(f"options.{error.option}", error.reason) from error
    return taken

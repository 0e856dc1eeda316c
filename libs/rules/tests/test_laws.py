"""What holds in every game of the registry, whatever its rules."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from itertools import product
from typing import Any, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tricks.game import PLAIN_TRICKS

from darbar_rules.game import AnyGame, Legal, Refusal, RuleRefused
from darbar_rules.games import ALL, BY_NAME
from darbar_rules.options import OptionInvalid
from darbar_rules.testing import (
    STEADY,
    Step,
    at_least,
    chance_of,
    evolved,
    option_values,
    pairwise_options,
    random_decision,
    random_game,
    seeds,
    tables,
)

# A game that only tests register, too: what holds of it holds of any game that is no worse.
GAMES = pytest.mark.parametrize("game", [*ALL, PLAIN_TRICKS], ids=lambda game: game.name)
LONG_RUN = settings(STEADY, max_examples=60)

# A round has at most so many decisions: for each of 52 cards one power used before it, and a choice. Or the cards of
# two decks, a naming, bids in steps of 5 up to 500, and the passes of twelve seats in three deals.
DECISIONS_A_ROUND_MAX = 2 * 52 + 1 + 100 + 3 * 12
ROUNDS_A_GAME_MAX = 400


def nonsense(game: AnyGame) -> Iterator[Any]:
    """Decisions of every kind, most of them never legal, and things that are none."""
    for decision_type in game.decisions.values():
        names = [field.name for field in fields(decision_type)]
        for values in product(("", "1S", "AS", "2C", "S", "AH#2", None), repeat=len(names)):
            yield decision_type(**dict(zip(names, values, strict=True)))
    yield from (None, "play_card", 5, object())


@pytest.fixture(autouse=True)
def plain_tricks_is_registered() -> Iterator[None]:
    with BY_NAME.registered(PLAIN_TRICKS):
        yield


@GAMES
def test_the_registry_finds_a_game_by_its_name(game: AnyGame) -> None:
    assert BY_NAME[game.name] is game
    assert len(BY_NAME) == len(ALL)
    assert game in ALL
    with pytest.raises(ValueError, match="already"), BY_NAME.registered(game):
        pass
    assert BY_NAME[game.name] is game
    assert game.title
    assert game.rules_version >= 1
    assert game.state_version >= 1
    assert game.direction in ("clockwise", "anticlockwise")
    assert game.stake_unit in ("round", "game")


@GAMES
def test_options_events_and_decisions_are_frozen(game: AnyGame) -> None:
    for frozen in (game.options_type, game.view_type, *game.events.values(), *game.decisions.values()):
        assert is_dataclass(frozen)
        assert frozen.__dataclass_params__.frozen  # type: ignore[attr-defined]
        assert hasattr(frozen, "__slots__")


@GAMES
def test_every_option_has_its_values_the_default_first(game: AnyGame) -> None:
    defaults = game.options_type()
    game.check_options(defaults)
    assert set(option_values(game)) == {field.name for field in fields(defaults)}
    for name, values in option_values(game).items():
        assert values[0] == getattr(defaults, name)
        assert len(set(values)) == len(values) > 1


@GAMES
def test_a_refused_option_is_one_that_the_table_has(game: AnyGame) -> None:
    for name in option_values(game):
        with pytest.raises(OptionInvalid) as invalid:
            game.check_options(game.options_type(**{name: object()}))
        assert invalid.value.option == name
        assert invalid.value.reason.endswith(".")


@GAMES
@LONG_RUN
@given(data=st.data())
def test_a_legal_decision_is_there_until_the_game_is_over(game: AnyGame, data: st.DataObject) -> None:
    options = data.draw(tables(game))
    for step in random_game(game, options, data.draw(seeds()), rounds_max=2):
        turn = game.turn(step.after)
        for seat in range(game.seat_counts(options)[0]):
            legal = game.legal(step.after, seat)
            choices = game.choices(legal)
            assert seat not in turn.seats or (choices and (legal.play or legal.name))
            assert seat in turn.seats or all(_wire_type(game, choice) in game.out_of_turn for choice in choices)
            assert legal == game.view(step.after, seat).legal


@pytest.mark.ruling("GEN-2")
@GAMES
@LONG_RUN
@given(data=st.data())
def test_gen_2_every_legal_decision_is_taken(game: AnyGame, data: st.DataObject) -> None:
    options = data.draw(tables(game))
    for step in random_game(game, options, data.draw(seeds()), rounds_max=1):
        for seat in game.turn(step.after).seats:
            for decision in game.choices(game.legal(step.after, seat)):
                assert game.decide(step.after, seat, decision, step.chance)


@pytest.mark.ruling("GEN-1")
@GAMES
@LONG_RUN
@given(data=st.data())
def test_gen_1_what_is_not_legal_is_refused_with_a_code_and_changes_nothing(game: AnyGame, data: st.DataObject) -> None:
    options = data.draw(tables(game))
    steps = list(random_game(game, options, data.draw(seeds()), rounds_max=1))
    step = data.draw(st.sampled_from(steps))
    before = repr(step.after)
    refused = 0
    for seat in range(game.seat_counts(options)[0]):
        legal = game.choices(game.legal(step.after, seat))
        for decision in nonsense(game):
            if decision in legal or _says_the_same(game, step, seat, decision):
                continue
            with pytest.raises(RuleRefused) as caught:
                game.decide(step.after, seat, decision, step.chance)
            assert isinstance(caught.value.code, Refusal)
            refused += 1
    assert refused > 20
    assert repr(step.after) == before


def _says_the_same(game: AnyGame, step: Step, seat: int, decision: Any) -> bool:
    """Whether a legal decision has all this one says, and more: then what more it says does not count."""
    if not is_dataclass(decision):
        return False
    said = {field.name: getattr(decision, field.name) for field in fields(decision)}
    return any(
        type(legal) is type(decision)
        and all(value is None or said[name] == value for name, value in _said(legal).items())
        for legal in game.choices(game.legal(step.after, seat))
    )


def _wire_type(game: AnyGame, decision: Any) -> str:
    return next(name for name, kind in game.decisions.items() if type(decision) is kind)


def _said(decision: Any) -> dict[str, Any]:
    return {field.name: getattr(decision, field.name) for field in fields(decision)}


@GAMES
def test_games_end(game: AnyGame) -> None:
    for seed, options in enumerate(pairwise_options(game)[:8]):
        rounds = decisions = 0
        for step in random_game(game, options, seed):
            rounds += step.seat is None
            decisions = decisions + 1 if step.seat is not None else 0
            assert decisions <= DECISIONS_A_ROUND_MAX
        assert rounds <= ROUNDS_A_GAME_MAX
        assert game.turn(step.after).game_over
        result = game.result(step.after)
        assert result is not None
        assert result.game_over
        assert len(result.places) == game.seat_counts(options)[0]
        assert min(result.places) == 1


@GAMES
def test_tables_with_every_pair_of_options_can_be_played(game: AnyGame) -> None:
    played = pairwise_options(game)
    assert len(played) >= 4  # at the least two options of two values
    for seed, options in enumerate(played):
        steps = list(random_game(game, options, seed, rounds_max=2))
        assert game.result(steps[-1].after) is not None


@GAMES
@LONG_RUN
@given(data=st.data())
def test_the_same_events_give_the_same_state_and_the_same_seed_the_same_events(
    game: AnyGame, data: st.DataObject
) -> None:
    options, seed = data.draw(tables(game)), data.draw(seeds())
    steps = list(random_game(game, options, seed, rounds_max=2))
    again = list(random_game(game, options, seed, rounds_max=2))
    assert steps[-1].after == again[-1].after
    state = game.new(options, game.seat_counts(options)[0])
    for step in steps:
        assert state == step.before
        for event in step.events:
            assert game.events[game.kind_of(event)] is type(event)
            state = game.evolve(state, event)
    assert state == steps[-1].after


@pytest.mark.ruling("GEN-4")
@GAMES
def test_gen_4_what_is_said_out_of_turn_is_stale_once_other_cards_are_dealt(game: AnyGame) -> None:
    deals = 0
    for seed, options in enumerate(pairwise_options(game)[:12]):
        for step in random_game(game, options, seed, rounds_max=3, power_share=0.9):
            if step.seat is None:
                kind_of_deal = game.kind_of(step.events[0])
            now = game.turn(step.after)
            assert 0 <= now.dealt <= now.turn
            if any(game.kind_of(event) == kind_of_deal for event in step.events):
                deals += 1
                for turn in range(now.turn):
                    assert turn >= now.dealt or not now.is_named_by(now.round, turn, out_of_turn=True)
                for name in ("round", "turn"):
                    later = {"round": now.round, "turn": now.turn} | {name: getattr(now, name) + 1}
                    assert not now.is_named_by(**later, out_of_turn=True)
                assert game.out_of_turn <= set(game.decisions)
                assert not game.out_of_turn or now.dealt == now.turn
    assert deals >= 12


@GAMES
@LONG_RUN
@given(data=st.data())
def test_a_state_can_be_stored_and_read_back_anywhere(game: AnyGame, data: st.DataObject) -> None:
    options = data.draw(tables(game))
    steps = list(random_game(game, options, data.draw(seeds()), rounds_max=2))
    step = data.draw(st.sampled_from(steps))
    for state in (game.new(options, game.seat_counts(options)[0]), step.before, step.after):
        read = msgspec.json.decode(msgspec.json.encode(state), type=game.state_type)
        assert read == state
        assert repr(read) == repr(state)
    read = msgspec.json.decode(msgspec.json.encode(step.before), type=game.state_type)
    assert evolved(game, read, step.events) == step.after
    if step.seat is not None:
        assert game.decide(read, step.seat, step.decision, step.chance) == step.events
        assert game.view(read, step.seat) == game.view(step.before, step.seat)


@pytest.mark.ruling("GEN-5")
@GAMES
@LONG_RUN
@given(data=st.data())
def test_gen_5_the_fallback_is_legal_and_needs_only_the_view(game: AnyGame, data: st.DataObject) -> None:
    options = data.draw(tables(game))
    for step in random_game(game, options, data.draw(seeds()), rounds_max=1):
        for seat in game.turn(step.after).seats:
            view = game.view(step.after, seat)
            decision = game.fallback(view)
            assert decision == game.fallback(view)
            assert decision in game.choices(game.legal(step.after, seat))


@GAMES
def test_a_game_that_only_the_clock_plays_comes_to_its_end(game: AnyGame) -> None:
    for seed, options in enumerate(pairwise_options(game)[:4]):
        state = game.new(options, game.seat_counts(options)[0])
        number = 0
        while not game.turn(state).game_over:
            number += 1
            chance = chance_of(seed, round=number)
            state = evolved(game, state, game.deal(state, chance))
            while seats := game.turn(state).seats:
                decision = game.fallback(game.view(state, seats[0]))
                state = evolved(game, state, game.decide(state, seats[0], decision, chance))
        assert number <= ROUNDS_A_GAME_MAX


@GAMES
def test_what_is_shown_and_seen_is_ready_for_json(game: AnyGame) -> None:
    for seed, options in enumerate(pairwise_options(game)[:6]):
        for step in random_game(game, options, seed, rounds_max=1):
            before = step.before
            for event in step.events:
                shown = game.show(before, event)
                assert_plain(dict(shown.public))
                assert set(shown.secret) <= set(range(game.seat_counts(options)[0]))
                for part in shown.secret.values():
                    assert_plain(dict(part))
                assert_plain(_said(event))
                before = game.evolve(before, event)
            assert_plain(_said(game.view(step.after, None)))


@GAMES
def test_what_an_event_shows_is_what_its_types_say_and_all_of_it_is_seen(game: AnyGame) -> None:
    assert set(game.shown) == set(game.events)
    seen: set[tuple[str, str]] = set()
    for seed, options in enumerate(pairwise_options(game)):
        for step in random_game(game, options, seed, rounds_max=1):
            before = step.before
            for event in step.events:
                kind, shown = game.kind_of(event), game.show(before, event)
                assert_shown(shown.public, game.shown[kind].public)
                seen |= {(kind, name) for name in shown.public}
                for part in shown.secret.values():
                    secret_type = game.shown[kind].secret
                    assert secret_type is not None, kind
                    assert_shown(part, secret_type)
                    seen |= {(kind, f"secret {name}") for name in part}
                before = game.evolve(before, event)
    declared = {(kind, name) for kind, types in game.shown.items() for name in get_type_hints(types.public)}
    for kind, types in game.shown.items():
        declared |= {(kind, f"secret {name}") for name in get_type_hints(types.secret or object)}
    assert seen == declared


def assert_shown(part: Any, of_type: type) -> None:
    """Nothing that the type does not name, nothing missing, and of the right kind."""
    sent = msgspec.json.decode(msgspec.json.encode(part))
    assert msgspec.json.decode(msgspec.json.encode(msgspec.convert(sent, of_type))) == sent


def assert_plain(value: Any) -> None:
    """Nothing that a JSON encoder would not know, sets and enums and tuples of states included."""
    assert not isinstance(value, set | frozenset | StrEnum | bytes), value
    if is_dataclass(value):
        assert_plain({field.name: getattr(value, field.name) for field in fields(value)})
    elif isinstance(value, dict):
        for name, part in value.items():
            assert isinstance(name, str)
            assert_plain(part)
    elif isinstance(value, list | tuple):
        assert not hasattr(value, "_fields"), "a named tuple becomes a nameless array"
        for part in value:
            assert_plain(part)
    else:
        assert value is None or isinstance(value, str | int | bool), value


@GAMES
def test_a_seat_is_given_nothing_when_it_is_not_on_turn_but_what_is_taken_off_turn(game: AnyGame) -> None:
    options = game.options_type()
    seats = set(range(game.seat_counts(options)[0]))
    for step in at_least(30, random_game(game, options, 5, rounds_max=1)):
        for seat in seats - set(game.turn(step.after).seats):
            legal = game.legal(step.after, seat)
            assert replace(legal, also=()) == Legal()
            assert set(legal.also) <= game.out_of_turn
        assert game.view(step.after, None).legal == Legal()


@GAMES
def test_random_decisions_are_legal_whatever_share_of_powers_is_asked_for(game: AnyGame) -> None:
    dice = random.Random(1)
    options = game.options_type()
    for step in random_game(game, options, 3, rounds_max=1):
        for seat in game.turn(step.after).seats:
            for share in (0.0, 1.0):
                decision = random_decision(game, step.after, seat, dice, power_share=share)
                assert decision in game.choices(game.legal(step.after, seat))


@GAMES
def test_every_option_is_explained_in_a_sentence(game: AnyGame) -> None:
    for option in game.options:
        assert option.sentence[0].isupper()
        assert option.sentence.endswith(".")
        assert len(option.sentence) <= 120

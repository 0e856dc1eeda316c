"""Moves a CPU-second of the card games of others. Open this to see what is timed of them.

    build/peers/bin/python bench/peers.py

Runs in a virtual environment of its own. For each name that comes in as a line, one figure goes out as a line. As with
our rules, the cards have been dealt and the decisions drawn beforehand; a round is the auction and the play. A decision
counts as a move: what is legal is asked, and it is applied.
"""

from __future__ import annotations

import gc
import random
import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

ROUNDS: Final = 120
ENVIRONMENT_ROUNDS: Final = 40  # it is slower


def rlcard_rules() -> Callable[[], float]:
    """RLCard's bridge without its environment: nothing is made of the state that a player would see."""
    from rlcard.games.bridge.game import BridgeGame  # type: ignore[import-not-found]
    from rlcard.games.bridge.utils.action_event import ActionEvent  # type: ignore[import-not-found]

    decisions = rlcard_decisions(ROUNDS)

    def measure() -> float:
        game, seconds = BridgeGame(), 0.0
        for seed, drawn in enumerate(decisions):
            dealt(game, seed)
            actions = [ActionEvent.from_action_id(action_id) for action_id in drawn]
            legal, step = game.judger.get_legal_actions, game.step
            started = time.process_time()
            for action in actions:
                legal()
                step(action)
            seconds += time.process_time() - started
        return sum(map(len, decisions)) / seconds

    return measure


def rlcard_environment() -> Callable[[], float]:
    """RLCard's bridge as agents use it: a step gives what the next player sees, with what is legal."""
    import rlcard  # type: ignore[import-not-found]

    decisions = rlcard_decisions(ENVIRONMENT_ROUNDS)

    def measure() -> float:
        env, seconds = rlcard.make("bridge"), 0.0
        for seed, drawn in enumerate(decisions):
            dealt(env.game, seed)
            step = env.step
            started = time.process_time()
            for action_id in drawn:
                step(action_id)
            seconds += time.process_time() - started
        return sum(map(len, decisions)) / seconds

    return measure


def dealt(game: Any, seed: int) -> None:
    """Deals; the same cards for the same seed."""
    import numpy  # type: ignore[import-not-found]

    game.np_random = numpy.random.RandomState(seed)
    game.init_game()


def rlcard_decisions(rounds: int) -> list[list[int]]:
    from rlcard.games.bridge.game import BridgeGame

    game, found = BridgeGame(), []
    for seed in range(rounds):
        dice = random.Random(seed)
        dealt(game, seed)
        drawn: list[int] = []
        while legal := game.judger.get_legal_actions():
            action = dice.choice(legal)
            drawn.append(action.action_id)
            game.step(action)
        found.append(drawn)
    return found


def openspiel_rules() -> Callable[[], float]:
    """OpenSpiel's bridge, which is written in C++."""
    import pyspiel  # type: ignore[import-not-found]

    game = pyspiel.load_game("bridge(use_double_dummy_result=false)")
    rounds = [openspiel_round(game, random.Random(seed)) for seed in range(ROUNDS)]

    def measure() -> float:
        seconds = 0.0
        for start, drawn in rounds:
            state = start.clone()
            started = time.process_time()
            for action in drawn:
                state.legal_actions()
                state.apply_action(action)
            seconds += time.process_time() - started
        return sum(len(drawn) for _, drawn in rounds) / seconds

    return measure


def openspiel_round(game: Any, dice: random.Random) -> tuple[Any, list[int]]:
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(dice.choice(state.legal_actions()))
    start, drawn = state.clone(), []
    while not state.is_terminal():
        drawn.append(dice.choice(state.legal_actions()))
        state.apply_action(drawn[-1])
    return start, drawn


PEERS: Final[Mapping[str, Callable[[], Callable[[], float]]]] = MappingProxyType(
    {"rlcard_rules": rlcard_rules, "rlcard_environment": rlcard_environment, "openspiel_rules": openspiel_rules}
)


def main() -> None:
    measures = {name: prepare() for name, prepare in PEERS.items()}
    gc.collect()
    gc.freeze()  # What was drawn beforehand is no part of a game.
    for line in sys.stdin:
        print(measures[line.strip()](), flush=True)


if __name__ == "__main__":
    main()

"""Ten thousand histories of one round, and 200 whole games, each from its seed.

Reading order:

1. `simulated_history.py`: what a history is; `python tests/simulator/simulated_history.py SEED` tells one.
2. `table_company.py`: the processes of it (two table processes, the wallet, the lobby) and their starts and ends;
   `simulated_player.py`: the players.
3. `simulated_faults.py`: what goes wrong. `invariants.py`: what has to be true all the same.
4. `planted_bugs.py`: mistakes that the simulator has to find.
5. Below that: `virtual_loop.py` and `virtual_time.py` (one loop, many processes, a clock that jumps),
   `product_seams.py` (what is replaced in the product), `database_double.py` with `tables_statements.py` and
   `wallet_statements.py`, `nats_double.py`, `socket_double.py`. `test_statements_are_postgres.py` and
   `test_bus_contract.py` hold them to the real servers.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
import simulated_history as history
import virtual_time

HISTORIES, WHOLE_GAMES = 10_000, 200
A_TEST, GAMES_A_TEST = 50, 5  # short ones, so that all workers finish at the same time
SEEDS_ELSEWHERE = range(140, 160)


def _failed(seeds: range, *, whole_game: bool = False) -> list[str]:
    """The first history that has broken a promise, with its story."""
    for seed in seeds:
        told = history.run(seed, whole_game=whole_game)
        if told.violations:
            return [f"seed {seed}{' of whole games' if whole_game else ''}", *told.violations, *told.story]
    return []


@pytest.mark.parametrize("first", range(0, HISTORIES, A_TEST))
def test_every_promise_holds_in_histories_of_a_round(first: int) -> None:
    assert not (failed := _failed(range(first, first + A_TEST))), "\n".join(failed)


@pytest.mark.parametrize("first", range(0, WHOLE_GAMES, GAMES_A_TEST))
def test_every_promise_holds_in_whole_games(first: int) -> None:
    assert not (failed := _failed(range(first, first + GAMES_A_TEST), whole_game=True)), "\n".join(failed)


def test_a_seed_is_the_same_history_every_time() -> None:
    for seed in range(0, HISTORIES, HISTORIES // 20):
        assert history.run(seed).digest == history.run(seed).digest


@pytest.mark.parametrize("how", [[], ["--whole-game"]], ids=["of_a_round", "whole_games"])
def test_a_seed_is_the_same_history_in_every_process(how: list[str]) -> None:
    """Whatever order its sets have, wherever its objects lie, and whatever was run before."""
    seeds = SEEDS_ELSEWHERE[:3] if how else SEEDS_ELSEWHERE
    here = [history.run(seed, whole_game=bool(how)).digest for seed in seeds]
    there = _told_elsewhere([*map(str, seeds), *how], hash_seed=1)
    assert [story.splitlines()[-1] for story in there] == here
    assert there == _told_elsewhere([*map(str, reversed(seeds)), *how], hash_seed=2)[::-1]


def _told_elsewhere(arguments: list[str], *, hash_seed: int) -> list[str]:
    """What another process tells of each seed."""
    command = [sys.executable, "-W", "ignore", history.__file__, *arguments]
    ended = subprocess.run(
        command, capture_output=True, check=True, text=True, timeout=100, env={"PYTHONHASHSEED": str(hash_seed)}
    )
    return ended.stdout.strip().split("\n\n")


def test_every_clock_is_known() -> None:
    """A module that reads the wall by itself would live in another year than the simulation."""
    packages = ("darbar_kit", "darbar_table", "darbar_wallet")
    folders = [(name, Path(str(resources.files(name)))) for name in packages]
    found = {
        ".".join((name, *path.relative_to(folder).with_suffix("").parts))
        for name, folder in folders
        for path in folder.rglob("*.py")
        if "datetime.now(" in path.read_text()
    }
    assert found == {*virtual_time.READ_THE_WALL, *virtual_time.NOT_SIMULATED}

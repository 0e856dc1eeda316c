"""Where code is broken on purpose, and which tests must notice. Open this to add a place or leave a slow test out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Place:
    """One package of the repository. `broken` are patterns of its files; all others stay as they are.

    `tests` are files below its `tests` that need no server; `left_out` are tests of them that take seconds each, where
    others notice the same. `sample` mutants are drawn from all that there are.
    """

    name: str
    folder: str
    package: str
    broken: tuple[str, ...]
    tests: tuple[str, ...]
    sample: int
    spared: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


PLACES: Final = (
    Place(
        name="rules",
        folder="libs/rules",
        package="darbar_rules",
        broken=("darbar_rules/*",),
        spared=("*/testing.py", "*/indistinguishable.py"),
        tests=("test_*.py",),
        sample=400,
        left_out=(
            "test_laws_of_hidden_information.py::test_gen_7_positions_that_look_the_same_to_a_seat_give_it_the_same_frames",
            "test_court_piece_hidden_information.py::test_gen_7_showing_the_trump_is_looked_at_often",
            "test_kings_and_rebels_hidden_information.py::test_gen_7_plays_of_convert_cards_are_compared_and_the_leader_is_looked_at",
            "test_court_piece_piles.py::test_cp_14b_random_play_sweeps_often",
            "test_court_piece_piles.py::test_cp_14b_hidden_rounds_are_swept_most_and_the_less_is_asked_the_more",
        ),
    ),
    Place(
        name="bots",
        folder="libs/bots",
        package="darbar_bots",
        broken=("darbar_bots/*",),
        spared=("*/duels.py", "*/any_legal.py"),
        tests=("test_*.py",),
        sample=200,
        left_out=(
            "test_king_bot_strength.py::test_the_easy_king_bot_beats_chance_and_loses_to_the_normal_one",
            "test_king_bot_strength.py::test_the_normal_king_bot_beats_chance",
            "test_king_bot_strength.py::test_a_king_bot_against_itself_gains_nothing",
        ),
    ),
    Place(
        name="table",
        folder="services/table",
        package="darbar_table",
        broken=("darbar_table/domain/*",),
        tests=(
            "test_leave_alone.py",
            "test_shown_names.py",
            "test_table_absence.py",
            "test_table_coins.py",
            "test_table_count_in.py",
            "test_table_ending_early.py",
            "test_table_events.py",
            "test_table_frames.py",
            "test_table_milestones.py",
            "test_table_seats.py",
            "test_table_stale_turns.py",
            "test_table_turns.py",
            "test_table_votes.py",
        ),
        sample=300,
    ),
    Place(
        name="wallet",
        folder="services/wallet",
        package="darbar_wallet",
        broken=("darbar_wallet/domain/*",),
        tests=("test_wallet_domain.py", "test_wallet_laws.py"),
        sample=200,
    ),
    Place(
        name="lobby",
        folder="services/lobby",
        package="darbar_lobby",
        broken=("darbar_lobby/domain/*",),
        tests=("test_lobby_domain.py", "test_lobby_limits.py", "test_lobby_names.py", "test_lobby_secrets.py"),
        sample=200,
    ),
)

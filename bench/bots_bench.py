"""The rule bot against chance, at every kind of Court Piece table. Open this when a bot has become weaker.

    python -m bench.bots_bench [pairs]

Each deal is played twice, with the seats swapped; the interval is over pairs. The row's figure is the lower end of the
95 % interval at the table where the bot is weakest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from random import Random
from typing import get_args

import msgspec
from bench.rows import Row

from darbar_bots.any_legal import AnyLegal
from darbar_bots.duels import Duel, duel
from darbar_bots.policies import find
from darbar_bots.policy import Policy
from darbar_rules.games import BY_NAME
from darbar_rules.games.court_piece.options import CourtPieceOptions, PileSizes, TrumpMode

GAME = BY_NAME["court_piece"]
PAIRS = 1000
LOWER_END_MIN = 0.8


def regular(_dice: Random) -> Policy:
    return find("court_piece", "normal")


def tables() -> Iterator[tuple[str, CourtPieceOptions]]:
    for trump, piles, ace in product(get_args(TrumpMode), get_args(PileSizes), (False, True)):
        name = f"{trump}_{piles}_aces_pick_up" if not ace else f"{trump}_{piles}_aces_pick_up_nothing"
        yield name, CourtPieceOptions(trump=trump, piles=piles, ace_cannot_win_pile=ace)


def played(options: CourtPieceOptions, pairs: int) -> Duel:
    """The share at one kind of table."""
    return duel(GAME, options, regular, partial(AnyLegal, GAME), pairs=pairs)


def measure(pairs: int) -> dict[str, Duel]:
    """The share at each table, printed as soon as it is known. No time is measured, so that all cores play."""
    shares = {}
    with ProcessPoolExecutor() as pool:
        playing = {name: pool.submit(played, options, pairs) for name, options in tables()}
        for name, result in playing.items():
            share = shares[name] = result.result()
            print(f"{name}: {share.won:.3f} +-{share.won_half_width:.3f} of {2 * pairs} rounds", flush=True)
    return shares


def main() -> int:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    shares = measure(pairs)
    weakest = min(share.won_lower_end for share in shares.values())
    row = Row(
        row="bots",
        unit="share of rounds won against chance, lower end at the weakest table",
        value=weakest,
        reference="every round",
        reference_value=1.0,
        ratio=weakest,
        target=LOWER_END_MIN,
        met=weakest >= LOWER_END_MIN,
        beside={name: share.won for name, share in shares.items()} | {"pairs": pairs},
    )
    print(msgspec.json.encode(row).decode())
    return 0 if row.met else 1


if __name__ == "__main__":
    sys.exit(main())

"""Who came first when a game is over. Open this about final rankings (GEN-8)."""

from __future__ import annotations

from collections.abc import Sequence


def ranking(totals: Sequence[int], teams: Sequence[Sequence[int]] = ()) -> tuple[int, ...]:
    """One place a seat, the highest total first; equal totals share a place ("1, 2, 2, 4").

    `totals` has one number a seat. Seats of a team have one place between them: the second of two teams is second,
    not third.
    """
    sides = teams or [(seat,) for seat in range(len(totals))]
    side_totals = [totals[side[0]] for side in sides]
    placed = {seat: 1 + sum(other > totals[seat] for other in side_totals) for side in sides for seat in side}
    return tuple(placed[seat] for seat in range(len(totals)))

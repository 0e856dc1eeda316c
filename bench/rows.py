"""What a row of the results says, and when its target is met. Open this to add a row or to change a target."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import msgspec

RESULTS = Path(__file__).with_name("results.json")
TABLE_CORE_MIN = 0.9
BARE_MOVES_MIN = 8000.0
PACE_SHARE_MIN = 0.95


class Target(msgspec.Struct, frozen=True):
    """Which figure of a row is held against its target, and whether more or less is better.

    Where somebody else's program `is_beside` it, a row without that one's figure is void. A row without a `target` is
    only shown.
    """

    figure: Literal["value", "ratio"]
    target: float | None
    better: Literal["more", "less"] = "more"
    is_beside: bool = False


# The games of others stand beside ours in the same run; theirs keep no events, refusals or immutable states.
RULES = Target("ratio", 0.9, is_beside=True)
RULES_WITH_VIEW = Target("ratio", 2.0, is_beside=True)


# Rows of other scripts that are not named here say their own target; the figure is then the ratio, more is better.
TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "serving": Target("ratio", 0.4),
        "serving_bytes": Target("value", 700, "less"),
        "serving_memory": Target("value", 60, "less"),
        "inspection": Target("ratio", 2.0, "less"),
        "growth_cpu": Target("ratio", 1.1, "less"),
        "growth_p50": Target("ratio", 1.1, "less"),
        "two_processes": Target("ratio", 0.9),
        "bot_moves": Target("ratio", 1.5, "less"),
        "serving_boardgame": Target("ratio", 4.0, is_beside=True),
        "serving_boardgame_postgres": Target("ratio", 25.0, is_beside=True),
        "serving_colyseus": Target("ratio", None, is_beside=True),
        "latency_p50": Target("ratio", 1.0, "less"),
        "latency_p99": Target("ratio", 1.0, "less"),
        "voice_pipeline": Target("value", 400, "less"),
        "voice_moves": Target("ratio", 1.5, "less"),
        "append": Target("ratio", 0.7),
        "append_eventsourcing": Target("ratio", 40.0, is_beside=True),
        "rebuild": Target("ratio", 0.6),
        "rebuild_eventsourcing": Target("ratio", 7.0, is_beside=True),
        "table_memory": Target("value", 8, "less"),
        "playouts_compiled": Target("value", 5_000_000),
        "playouts_plain": Target("value", 400_000),
        "worlds_compiled": Target("value", 150_000),
        "strong_decision_compiled": Target("value", 20, "less"),
        "strong_decision_plain": Target("value", 150, "less"),
        "strong_court_piece": Target("value", 0.52),
        "strong_no_hearts": Target("value", 2.5, "less"),
        "strong_no_tricks": Target("value", 2.75, "less"),
        "rules_court_piece": RULES,
        "rules_king_20": RULES,
        "rules_king_short": RULES,
        "rules_king_long": RULES,
        "rules_kings_and_rebels_4": RULES,
        "rules_kings_and_rebels_12": RULES,
        "rules_with_view_court_piece": RULES_WITH_VIEW,
        "rules_with_view_king_20": RULES_WITH_VIEW,
        "rules_with_view_king_short": RULES_WITH_VIEW,
        "rules_with_view_king_long": RULES_WITH_VIEW,
        "rules_with_view_kings_and_rebels_4": RULES_WITH_VIEW,
        "rules_with_view_kings_and_rebels_12": RULES_WITH_VIEW,
    }
)


class Row(msgspec.Struct, frozen=True):
    """One row of results.json. `beside` holds what was measured with it: CPU of each process, latencies, counts.

    `voids` says why the figures do not count, whatever they are: `client_limited`, `reference_slow`,
    `pace_lost`, `refusals`, `not_compiled`, `no_reference`. Where there is no target, `met` says that they count.
    `measured_at` is a minute in UTC, `others_cores` what everybody else used of the machine meanwhile, `machine` what
    it was, with the interpreter that was measured.
    """

    row: str
    unit: str
    value: float
    reference: str
    reference_value: float
    ratio: float
    target: float | None
    met: bool
    voids: tuple[str, ...] = ()
    beside: dict[str, float] = {}
    measured_at: str = ""
    others_cores: float = 0.0
    machine: str = ""


def made(
    name: str, unit: str, *, value: float, reference: str, reference_value: float, beside: dict[str, float]
) -> Row:
    """A row whose `met` follows from its figures."""
    ratio = value / reference_value if reference_value else 0.0
    target = TARGETS[name]
    voids = voids_of(beside, target, reference_value)
    return Row(
        row=name,
        unit=unit,
        value=value,
        reference=reference,
        reference_value=reference_value,
        ratio=ratio,
        target=target.target,
        met=not voids and holds(target, value, ratio),
        voids=voids,
        beside=beside,
    )


def holds(target: Target, value: float, ratio: float) -> bool:
    """Whether the figures reach the target."""
    if target.target is None:
        return True
    figure = value if target.figure == "value" else ratio
    return figure >= target.target if target.better == "more" else figure <= target.target


def voids_of(beside: Mapping[str, float], target: Target, reference_value: float) -> tuple[str, ...]:
    """Why a row does not count; rows without a load generator have none of the figures beside it."""
    found = []
    if beside.get("table_core", TABLE_CORE_MIN) < TABLE_CORE_MIN:
        found.append("client_limited")
    if beside.get("bare_moves_per_cpu_second", BARE_MOVES_MIN) < BARE_MOVES_MIN:
        found.append("reference_slow")
    if beside.get("pace_kept", PACE_SHARE_MIN) < PACE_SHARE_MIN:
        found.append("pace_lost")
    if beside.get("refused", 0) or beside.get("closed", 0) or beside.get("lost", 0):
        found.append("refusals")
    if not beside.get("compiled", 1):
        found.append("not_compiled")
    if target.is_beside and not reference_value:
        found.append("no_reference")
    return tuple(found)


def met_of(row: Row) -> bool:
    """`met` once more, from the figures alone."""
    target = target_of(row)
    ratio = row.value / row.reference_value if row.reference_value else 0.0
    return not voids_of(row.beside, target, row.reference_value) and holds(target, row.value, ratio)


def target_of(row: Row) -> Target:
    """The target of a row: the one named here, else its own."""
    return TARGETS.get(row.row, Target("ratio", row.target))


def line(row: Row) -> str:
    """One row as people read it."""
    against = f" | {row.reference} {short(row.reference_value)} | ratio {row.ratio:.2f}" if row.reference_value else ""
    verdict = " ".join([*row.voids, "met" if row.met else "NOT MET"])
    held = "no target" if row.target is None else f"target {short(row.target)}"
    return f"{row.row}: {short(row.value)} {row.unit}{against} | {held} | {verdict}"


def short(value: float) -> str:
    """A figure in a few digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def read(text: bytes) -> Row:
    """A row as a script prints it."""
    return msgspec.json.decode(text, type=Row)


def read_results() -> list[Row]:
    """The rows of the last runs; none before the first one."""
    return msgspec.json.decode(RESULTS.read_bytes(), type=list[Row]) if RESULTS.exists() else []


def write_results(fresh: list[Row]) -> None:
    """Rows that were measured now take the place of older ones with the same name, in the order of TARGETS."""
    rows = {row.row: row for row in [*read_results(), *fresh]}
    places = {name: place for place, name in enumerate(TARGETS)}
    ordered = sorted(rows.values(), key=lambda row: places.get(row.row, len(places)))
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(ordered), indent=2) + b"\n")

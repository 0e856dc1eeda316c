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


class Target(msgspec.Struct, frozen=True):
    """Which figure of a row is held against its target, and whether more or less is better."""

    figure: Literal["value", "ratio"]
    target: float
    better: Literal["more", "less"] = "more"


# Rows of other scripts that are not named here say their own target; the figure is then the ratio, more is better.
TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "serving": Target("ratio", 0.7),
        "serving_bytes": Target("value", 700, "less"),
        "serving_memory": Target("value", 80, "less"),
        "append": Target("ratio", 0.7),
        "rebuild": Target("value", 100_000),
        "table_memory": Target("value", 8, "less"),
        "rules": Target("value", 100_000),
    }
)


class Row(msgspec.Struct, frozen=True):
    """One row of results.json. `beside` holds what was measured with it: CPU of each process, latencies, counts.

    `voids` says why the figures do not count, whatever they are: `client_limited`, `reference_slow`, `refusals`.
    """

    row: str
    unit: str
    value: float
    reference: str
    reference_value: float
    ratio: float
    target: float
    met: bool
    voids: tuple[str, ...] = ()
    beside: dict[str, float] = {}


def made(
    name: str, unit: str, *, value: float, reference: str, reference_value: float, beside: dict[str, float]
) -> Row:
    """A row whose `met` follows from its figures."""
    ratio = value / reference_value if reference_value else 0.0
    voids = voids_of(beside)
    target = TARGETS[name]
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
    figure = value if target.figure == "value" else ratio
    return figure >= target.target if target.better == "more" else figure <= target.target


def voids_of(beside: Mapping[str, float]) -> tuple[str, ...]:
    """Why a saturation row does not count; rows without a load generator have none of these figures."""
    found = []
    if beside.get("table_core", TABLE_CORE_MIN) < TABLE_CORE_MIN:
        found.append("client_limited")
    if beside.get("bare_moves_per_cpu_second", BARE_MOVES_MIN) < BARE_MOVES_MIN:
        found.append("reference_slow")
    if beside.get("refused", 0) or beside.get("closed", 0) or beside.get("lost", 0):
        found.append("refusals")
    return tuple(found)


def met_of(row: Row) -> bool:
    """`met` once more, from the figures alone."""
    target = TARGETS.get(row.row, Target("ratio", row.target))
    ratio = row.value / row.reference_value if row.reference_value else 0.0
    return not voids_of(row.beside) and holds(target, row.value, ratio)


def line(row: Row) -> str:
    """One row as people read it."""
    against = f" | {row.reference} {_short(row.reference_value)} | ratio {row.ratio:.2f}" if row.reference_value else ""
    verdict = " ".join([*row.voids, "met" if row.met else "NOT MET"])
    return f"{row.row}: {_short(row.value)} {row.unit}{against} | target {row.target:,g} | {verdict}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def read(text: bytes) -> Row:
    """A row as a script prints it."""
    return msgspec.json.decode(text, type=Row)


def read_results() -> list[Row]:
    """The rows of the last runs; none before the first one."""
    return msgspec.json.decode(RESULTS.read_bytes(), type=list[Row]) if RESULTS.exists() else []


def write_results(fresh: list[Row]) -> None:
    """Rows that were measured now take the place of older ones with the same name."""
    rows = {row.row: row for row in [*read_results(), *fresh]}
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(list(rows.values())), indent=2) + b"\n")

"""The row of the rules, out of what rules_bench measures. Open this about the row, that one about the figure."""

from __future__ import annotations

import sys

import msgspec
from bench.rows import made
from bench.rules_bench import measure


def main() -> int:
    value = measure()
    row = made("rules", "moves/s: legal, decide, evolve", value=value, reference="", reference_value=0, beside={})
    print(msgspec.json.encode(row).decode())
    return 0 if row.met else 1


if __name__ == "__main__":
    sys.exit(main())

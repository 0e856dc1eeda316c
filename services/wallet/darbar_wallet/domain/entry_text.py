"""A ledger as a spreadsheet reads it. Open this when a column is missing."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

from darbar_contracts.wallet import WalletEntry

COLUMNS = ("number", "at", "coins", "reason", "purpose", "table", "game", "round")
_UNIT = re.compile(r"g([0-9]+)(?:\.r([0-9]+))?")


def as_text(entries: Iterable[WalletEntry], *, first: bool) -> bytes:
    """Comma-separated lines, the names of the columns before the `first` of them. A stake unit of a whole game has no
    round."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    if first:
        writer.writerow(COLUMNS)
    for entry in entries:
        unit = _UNIT.fullmatch(entry.unit or "")
        game, number = (unit[1], unit[2]) if unit else (None, None)
        place = (entry.purpose, entry.table_id, game, number)
        writer.writerow((entry.number, entry.at.isoformat(), entry.coins, entry.reason, *place))
    return text.getvalue().encode()

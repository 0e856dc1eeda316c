"""A table with a long log, stored as its owner would have stored it. Open this to plant another one."""

from __future__ import annotations

import random
from collections.abc import Iterable
from uuid import uuid4

from golden_log import rows_of
from stored import Stored
from table_scripts import BOB, CYN, DAN, Script

from darbar_contracts.api import Account
from darbar_contracts.tables import Person
from darbar_table.domain.state import Phase
from darbar_table.domain.visibility import at_rest

_COLUMNS = ("table_id", "version", "kind", "body", "at", "chain")


async def planted(stored: Stored, *, events: int, sat_here: Iterable[Account]) -> str:
    """The id of a table that nobody sits at who could act: so many events at least, and no round under way."""
    script = Script(str(uuid4()))
    for account in sat_here:
        person = Person(account.id, account.name, account.avatar)
        script.sit(person).leaves(person)
    script.sit(BOB, CYN, DAN)
    dice = random.Random(1)
    while len(script.log) < events or not at_rest(script.table):
        # By the players themselves: where only clocks decide, the table closes soon.
        script.play_blindly(dice) if script.phase is Phase.PLAYING else script.step()
    table_id = script.table.table_id
    records = [(table_id, row.version, row.kind, row.body, row.at, row.chain) for row in rows_of(script)]
    connection = await stored.connect("tables")
    try:
        await connection.copy_records_to_table("event", records=records, columns=_COLUMNS)
    finally:
        await connection.close()
    return table_id

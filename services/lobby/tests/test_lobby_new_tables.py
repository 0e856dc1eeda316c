"""Where new tables are made, when tables lie in several databases."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from darbar_contracts.tables import SHARDS, ShardsServed, shard_of
from darbar_kit.bus import Bus
from darbar_kit.testing import ManualClock
from darbar_lobby.handlers.table_client import SERVED_SECONDS_MAX, TableClient

DRAWS = 50


async def test_a_new_table_lies_where_somebody_has_just_told_that_tables_are_served() -> None:
    clock = ManualClock()
    client = TableClient(cast(Bus, None), clock=clock)
    assert len(shards_drawn(client)) > DRAWS / 2, "with one database nobody tells"
    low, high = tuple(range(SHARDS // 2)), tuple(range(SHARDS // 2, SHARDS))
    await client.served(ShardsServed("t-low", {"t-low": low[::2], "t-other": low[1::2]}))
    await client.served(ShardsServed("t-high", {"t-high": high}))
    assert min(shards_drawn(client)) < SHARDS // 2 <= max(shards_drawn(client))
    clock.now += SERVED_SECONDS_MAX
    await client.served(ShardsServed("t-low", {"t-low": low}))
    assert max(shards_drawn(client)) < SHARDS // 2, "the other cell has fallen silent"
    clock.now += SERVED_SECONDS_MAX
    assert max(shards_drawn(client)) >= SHARDS // 2, "nobody tells any more"


def shards_drawn(client: TableClient) -> set[int]:
    return {shard_of(UUID(client.new_table_id())) for _ in range(DRAWS)}

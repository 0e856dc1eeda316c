"""Which shards this process's database has, and who serves the others. Open this where tables lie in several databases.

A cell is one database and the processes that are connected to it. Its table `shard` says which shards it has: with all
of them, which is the rule, there are no others, and nothing here has any work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import NamedTuple

from darbar_contracts.tables import ShardsServed
from darbar_kit.errors import Unavailable
from darbar_table.shards import placement

# One process of each cell tells of it every second.
HEARD_SECONDS_MAX = 3.0
# A process of our own database may speak before its row is seen, and be gone by then: whoever goes on is another's.
GOES_ON_SECONDS_MIN = 1.5
# So long a process with a part of the shards listens, before it takes the first of them.
LISTENED_SECONDS_MIN = 4.5
SPLIT_SECONDS = 10.0


class Served(NamedTuple):
    """A shard of another database: its last known owner, the process that told of it, and since when it does."""

    owner: str
    speaker: str
    heard_at: float
    since: float


class Cells:
    """Of a process, whatever node it is at present. What was heard stays until something newer is: who is named there
    and does not own a table any more says so itself."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        # What our database answers for; not yet, or not at all, what processes of another one may be serving.
        self.here = self._rows = frozenset(range(placement.SHARDS))
        self.kept_out: frozenset[int] = frozenset()
        self.contested: frozenset[int] = frozenset()
        self._elsewhere: dict[int, Served] = {}
        self._own: frozenset[str] = frozenset()
        self._own_before: frozenset[str] = frozenset()
        self._listening_since = self._heard_at = -SPLIT_SECONDS

    def listen(self) -> None:
        """From now on others are heard."""
        self._listening_since = self._clock()

    @property
    def is_split(self) -> bool:
        """Whether some tables lie in other databases."""
        return not self._has_all or self._clock() - self._heard_at < SPLIT_SECONDS

    def look(self, owners: Mapping[int, str | None], process_ids: Iterable[str]) -> None:
        """What our own database says: which shards it has, who owns them, and who is connected to it.

        Shards that processes of another database serve, ours take only when those fall silent: one of the two is a
        mistake, and whoever plays there has been there longer.
        """
        now = self._clock()
        self._own, self._own_before = frozenset(process_ids), self._own
        for shard in [shard for shard, served in self._elsewhere.items() if served.speaker in self._own]:
            del self._elsewhere[shard]
        self._rows = frozenset(owners)
        self.contested = frozenset(
            shard
            for shard, served in self._elsewhere.items()
            if shard in self._rows
            and now - served.heard_at < HEARD_SECONDS_MAX
            and served.heard_at - served.since >= GOES_ON_SECONDS_MIN
        )
        listens = not self._has_all and now - self._listening_since < LISTENED_SECONDS_MIN
        unclear = self._rows if listens else self.contested
        self.kept_out = frozenset(shard for shard in unclear if owners[shard] is None)
        self.here = self._rows - self.kept_out

    def hear(self, message: ShardsServed) -> None:
        """What one of another cell tells, or one of ours."""
        if message.process_id in self._own | self._own_before:
            return
        now = self._heard_at = self._clock()
        for owner, shards in message.owners.items():
            for shard in shards:
                before = self._elsewhere.get(shard)
                goes_on = before and before.speaker == message.process_id and now - before.heard_at < HEARD_SECONDS_MAX
                since = before.since if before and goes_on else now
                self._elsewhere[shard] = Served(owner, message.process_id, now, since)

    def elsewhere(self, shard: int) -> Served | None:
        """Who serves a shard that our database does not have; None for one of ours, or when nobody has told."""
        return None if shard in self.here else self._elsewhere.get(shard)

    def asked(self, shard: int) -> str | None:
        """The process to ask about a table of another database; None for one of ours. Raises Unavailable when nobody
        has told of it."""
        if shard in self.here:
            return None
        served = self._elsewhere.get(shard)
        if served is None:
            raise Unavailable(message=f"no table process has told who serves shard {shard}")
        return served.owner

    def known(self) -> set[str]:
        """A process of each other cell of which is known."""
        return {served.speaker for shard, served in self._elsewhere.items() if shard not in self.here}

    def others(self) -> set[str]:
        """A process of each other cell. Raises Unavailable while there are shards of which nobody has told."""
        for shard in range(placement.SHARDS):
            self.asked(shard)
        return self.known()

    @property
    def _has_all(self) -> bool:
        return len(self._rows) == placement.SHARDS

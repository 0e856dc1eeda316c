"""Events a second of the library eventsourcing in PostgreSQL. Open this to see what is timed of it.

    build/peers/bin/python bench/event_store.py append|rebuild URL

For each line that comes in, one figure goes out as a line. `append`: 200 tables, one event of about 150 bytes each
time, stored one after the other as that library does it; by one thread and by eight, and the better figure counts.
`rebuild`: tables of 200 events, read and evolved one by one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from urllib.parse import unquote, urlsplit

from eventsourcing.application import Application  # type: ignore[import-not-found]
from eventsourcing.domain import Aggregate, event  # type: ignore[import-not-found]

SECONDS = 4.0
TABLES = 200
THREADS = (1, 8)
REBUILT_TABLES = 50
EVENTS_A_TABLE = 200
COMMAND_ID = "x" * 40  # With the rest of the state, about 150 bytes.


class Table(Aggregate):  # type: ignore[misc]
    def __init__(self) -> None:
        self.last = (0, "")

    @event("Played")  # type: ignore[untyped-decorator]
    def play(self, seat: int, card: str, command_id: str) -> None:
        """The least that an event can do."""
        self.last = (seat, card)


def opened(url: str) -> Application:
    parts = urlsplit(url)
    place = {"DBNAME": parts.path[1:], "HOST": parts.hostname, "PORT": str(parts.port), "USER": parts.username}
    secret = {"PASSWORD": unquote(parts.password or "")}
    settings = {f"POSTGRES_{name}": value for name, value in (place | secret).items()}
    return Application(env={"PERSISTENCE_MODULE": "eventsourcing.postgres", "POSTGRES_POOL_SIZE": "8", **settings})


def append(app: Application) -> Callable[[], float]:
    """Events a second."""
    return lambda: max(appended(app, threads) for threads in THREADS)


def appended(app: Application, threads: int) -> float:
    tables = [Table() for _ in range(TABLES)]
    app.save(*tables)
    started = time.perf_counter()

    def store(number: int) -> int:
        count = 0
        for table in cycle(tables[number::threads]):
            if time.perf_counter() - started > SECONDS:
                break
            table.play(2, "JC", COMMAND_ID)
            app.save(table)
            count += 1
        return count

    with ThreadPoolExecutor(threads) as pool:
        counts = list(pool.map(store, range(threads)))
    return sum(counts) / (time.perf_counter() - started)


def rebuild(app: Application) -> Callable[[], float]:
    """Events a second of tables that have been stored before."""
    tables = [Table() for _ in range(REBUILT_TABLES)]
    for table in tables:
        for number in range(EVENTS_A_TABLE - 1):
            table.play(number % 4, "JC", COMMAND_ID)
        app.save(table)

    def measure() -> float:
        started = time.perf_counter()
        for table in tables:
            assert app.repository.get(table.id).version == EVENTS_A_TABLE
        return REBUILT_TABLES * EVENTS_A_TABLE / (time.perf_counter() - started)

    return measure


WHAT: dict[str, Callable[[Application], Callable[[], float]]] = {"append": append, "rebuild": rebuild}

if __name__ == "__main__":
    measure = WHAT[sys.argv[1]](opened(sys.argv[2]))
    for _ in sys.stdin:
        print(measure(), flush=True)

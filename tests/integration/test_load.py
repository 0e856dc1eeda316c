"""`darbar load` plays whole games and tells how long the server took."""

from __future__ import annotations

import re

from darbar_client.demo.local_server import LocalServer
from darbar_local.exit_codes import ExitCode
from darbar_local.testing import run


async def test_games_are_played_to_their_ends_and_every_decision_is_timed(server: LocalServer) -> None:
    async with run("load", "--tables", "2", "--think", "1", "--people", "2", "--url", server.url, variables={}) as load:
        code, complaints = await load.end()
        told = "\n".join(load.lines)

    assert (code, complaints) == (ExitCode.FINE, "")
    found = re.search(r"2 tables, 2 games ended, ([\d,]+) decisions", told)
    assert found is not None, told
    assert int(found[1].replace(",", "")) > 100
    assert re.search(r"50 % [\d.]+ m?s  90 % [\d.]+ m?s  99 % .* longest", told)


async def test_what_the_server_refuses_ends_the_run_in_a_line(server: LocalServer) -> None:
    async with run("load", "--tables", "1", "--game", "whist", "--url", server.url, variables={}) as load:
        code, complaints = await load.end()

    assert code == ExitCode.REFUSED
    assert complaints.startswith("darbar: ")
    assert complaints.count("\n") == 1

"""The OpenAPI document against the product: no request, right or wrong, gets an answer that it does not tell."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from administrators import signed_in
from fault_stack import seconds
from test_mutated_requests import faults_in, something_to_ask_for
from whole_games import BACKOFF

import darbar_contracts.documents
from darbar_client import Darbar
from darbar_client.demo.local_server import LocalServer, missing_at
from darbar_contracts.admin.api import Act, AuditPage, Role
from darbar_contracts.public.routes import BY_SERVICE
from darbar_rules.games import ALL

DOCUMENT = Path(darbar_contracts.documents.__file__).parent / "openapi.json"
HOOKS = Path(__file__).parent / "schemathesis_hooks.py"
SEED = 20261130
PHASES = "coverage,fuzzing,stateful"
# For each operation; with DARBAR_TEST_LONG=1 as many as find what is rare.
EXAMPLES = 15
EXAMPLES_LONG = 400
RUN_SECONDS_MAX = 1800.0
# By schemathesis's name of a check. A name, a password or a bet may be refused though its schema is right; and whoever
# asks too often, or may not ask at all, is told so before anything else.
EXPECTED_STATUSES = {
    "positive_data_acceptance": ["2xx", "400", "401", "403", "404", "409", "410", "422", "429"],
    "missing_required_header": ["400", "401", "403", "422", "429"],
}

KINDS_OF_ADMINISTRATORS: tuple[tuple[str, Role], ...] = (
    ("auditor", "auditor"),
    ("admin", "admin"),
    ("signing_out", "admin"),
)
# Each of them may ask so often in a minute that no limit of an account hides what lies behind it.
ADMINISTRATORS_OF_A_KIND = 5
DONE_BY_ADMINISTRATORS = {"look_at_account", "look_at_log", "look_at_wallet", "ban", "adjust_coins", "void_table"}

Count = Callable[[str], None]


def settings(known: Mapping[str, str], token: str) -> str:
    """Of schemathesis: paths name what is there, more often than not, and bodies a game."""
    values = {f"path.{name}": [text] for name, text in known.items()} | {"body.game": [game.name for game in ALL]}
    lines: list[str] = []
    for name, listed in values.items():
        lines += [f'[dictionaries."{name}"]', f"values = {json.dumps(listed)}"]
    lines += ["[parameters]", *(f'"{name}" = {{ dictionary = "{name}", probability = 0.6 }}' for name in values)]
    for check, statuses in EXPECTED_STATUSES.items():
        lines += [f"[checks.{check}]", f"expected-statuses = {json.dumps(statuses)}"]
    return "\n".join([*lines, "[auth.openapi.access_token]", f'bearer = "{token}"'])


async def test_no_request_gets_an_answer_that_the_document_does_not_tell(
    server_behind_a_proxy: LocalServer, tmp_path: Path, count: Count
) -> None:
    async with Darbar(server_behind_a_proxy.url, backoff=BACKOFF) as darbar:
        _, known, tokens = await something_to_ask_for(darbar)
        asking = await everybody_who_asks(darbar, server_behind_a_proxy, tokens, known)
    del known["process_id"]  # Of sockets alone.
    (tmp_path / "asking.json").write_text(json.dumps(asking))
    (tmp_path / "schemathesis.toml").write_text(settings(known, tokens[0]))
    said = await run_schemathesis(tmp_path, server_behind_a_proxy.url)
    done = await acts_of_administrators(server_behind_a_proxy, asking["admin"][0])
    count(" ".join([*re.findall(r"\d+ generated.*", said), f"{done.total()} acts of administrators"]))
    assert done.keys() >= DONE_BY_ADMINISTRATORS
    routes = sum(len(routes) for routes in BY_SERVICE.values())
    assert f"Tested: {routes}" in said
    assert faults_in(server_behind_a_proxy.log.read_text()) == []
    assert await missing_at(server_behind_a_proxy.url) == ()


async def everybody_who_asks(
    darbar: Darbar, server: LocalServer, tokens: list[str], known: Mapping[str, str]
) -> dict[str, Any]:
    """Tokens of players and of administrators, and what is done to others than the players who ask."""
    data = server.log.parent / "data"
    asking: dict[str, Any] = {"player": tokens}
    for kind, role in KINDS_OF_ADMINISTRATORS:
        names = [f"{kind}_{number}" for number in range(ADMINISTRATORS_OF_A_KIND)]
        asking[kind] = [await signed_in(darbar, data, name, role) for name in names]
    other = await darbar.guest()
    table_id = (await other.create_table("court_piece")).table_id
    account_id = (await other.me()).account.id
    asking["instead"] = [("table_id", known["table_id"], table_id), ("account_id", known["account_id"], account_id)]
    return asking


async def acts_of_administrators(server: LocalServer, token: str) -> Counter[str]:
    """How often they did what."""
    done: Counter[str] = Counter()
    headers, query = {"Authorization": f"Bearer {token}"}, {"limit": "200"}
    async with Darbar(server.url, backoff=BACKOFF) as darbar:
        while True:
            page = await darbar.http.ask("GET", "/v1/admin/audit-log", AuditPage, headers=headers, query=query)
            done.update(msgspec.json.decode(entry.body, type=Act).act for entry in page.entries)
            if page.next_before is None:
                return done
            query["before"] = str(page.next_before)


async def run_schemathesis(folder: Path, url: str) -> str:
    """What it says at its end; fails with that when it has found anything."""
    options = ["--url", url, "--seed", str(SEED), "--continue-on-failure"]
    examples = seconds(short=EXAMPLES, long=EXAMPLES_LONG)
    options += ["--max-examples", f"{examples:.0f}", "--phases", PHASES, "--no-color"]
    process = await asyncio.create_subprocess_exec(
        *("env", "SCHEMATHESIS_HOOKS=schemathesis_hooks", f"PYTHONPATH={HOOKS.parent}", sys.executable),
        *("-m", "schemathesis.cli", "run", str(DOCUMENT), *options),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(RUN_SECONDS_MAX):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    said = output.decode()
    assert process.returncode == 0, said
    return said

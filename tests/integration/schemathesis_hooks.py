"""What schemathesis does before each request; it loads this file in a process of its own."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis.transport.serialization import Binary

from darbar_contracts.voice import UPLOAD_TYPES

ADMINISTRATORS, THEIR_SESSIONS = "/v1/admin/", "/v1/admin/sessions"
_dice = random.Random(1)


@schemathesis.serializer(*UPLOAD_TYPES)
def recording(_context: Any, value: Any) -> bytes:
    """Whatever was made up, as the bytes of a body."""
    return value.data if isinstance(value, Binary) else str(value).encode(errors="replace")


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
    """Everybody comes from an address and with a token of their own: no limit hides what lies behind it."""
    case.headers["X-Forwarded-For"] = ".".join(str(_dice.randrange(1, 255)) for _ in range(4))
    asking = json.loads(Path("asking.json").read_text())
    # Another one than the first is meant to be none, or a wrong one.
    if case.headers.get("Authorization") == f"Bearer {asking['player'][0]}":
        case.headers["Authorization"] = f"Bearer {_dice.choice(asking[_who(case.operation.path)])}"
    if case.operation.path.startswith(ADMINISTRATORS) and case.path_parameters:
        # What administrators do is done to others than those who go on asking as players.
        for name, of_players, of_others in asking["instead"]:
            if case.path_parameters.get(name) == of_players:
                case.path_parameters[name] = of_others


def _who(path: str) -> str:
    if not path.startswith(ADMINISTRATORS):
        return "player"
    # Whoever signs out, or signs in again, asks nothing more.
    return "signing_out" if path.startswith(THEIR_SESSIONS) else _dice.choice(("player", "auditor", "admin", "admin"))

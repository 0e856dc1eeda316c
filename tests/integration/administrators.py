"""Administrators of a server that runs, made beside it and signed in with both factors. Open this to ask as one."""

from __future__ import annotations

import time
from base64 import b32decode
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from darbar_client import Darbar
from darbar_contracts.admin.api import AdminSession, Role
from darbar_lobby.domain.second_factor import STEP_SECONDS, code_at
from darbar_lobby.handlers.admin.administrators import create_administrator
from darbar_local.servers import owner_url_of_running
from darbar_local.services import BY_NAME
from darbar_local.settings import GivenServers

PASSWORD = "seven mangoes at noon"


async def signed_in(darbar: Darbar, data: Path, name: str, role: Role) -> str:
    """The token of a new one; `data` is the folder of the `darbar up` that runs."""
    owner_url = owner_url_of_running(data, GivenServers(), BY_NAME["lobby"])
    address = await create_administrator(owner_url, name, role, PASSWORD, handles=())
    key = parse_qs(urlsplit(address).query)["secret"][0]
    secret = b32decode(key + "=" * (-len(key) % 8))
    given = {"name": name, "password": PASSWORD}
    first = await darbar.http.ask("POST", "/v1/admin/sessions", AdminSession, body=given)
    code = {"code": code_at(secret, int(time.time()) // STEP_SECONDS)}
    waiting = {"Authorization": f"Bearer {first.token}"}
    path = "/v1/admin/sessions/confirm"
    return (await darbar.http.ask("POST", path, AdminSession, body=code, headers=waiting)).token

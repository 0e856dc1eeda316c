"""An administrator for the demo: made on the machine, signed in with both factors. Open this about `darbar admin`."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import sys
import time
from base64 import b32decode
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

from darbar_client.demo.local_server import ServerFailed
from darbar_client.http import Http
from darbar_contracts.admin.api import AdminSession
from darbar_contracts.voice import NoteJudged, NoteLink, ReportedNotes

NAME = "moderator"
STEP_SECONDS = 30

_Answer = TypeVar("_Answer")


class Moderator:
    """Hears complaints over the API."""

    def __init__(self, http: Http, token: str) -> None:
        self._http = http
        self._token = token

    @classmethod
    async def made(cls, http: Http, data: Path) -> Moderator:
        """A new one, on the machine whose `darbar up` keeps its data there. Raises ServerFailed and DarbarError."""
        password = secrets.token_urlsafe()
        secret = await _created(data, password)
        body = {"name": NAME, "password": password}
        first = await http.ask("POST", "/v1/admin/sessions", AdminSession, body=body)
        code = {"code": _code_of_now(secret)}
        asks = cls(http, first.token)
        confirmed = await asks.ask("POST", "/v1/admin/sessions/confirm", AdminSession, body=code)
        return cls(http, confirmed.token)

    async def reported(self) -> ReportedNotes:
        return await self.ask("GET", "/v1/admin/voice-notes", ReportedNotes)

    async def link(self, note_id: str) -> NoteLink:
        return await self.ask("GET", f"/v1/admin/voice-notes/{note_id}/link", NoteLink)

    async def delete(self, note_id: str, reason: str) -> NoteJudged:
        body = {"judgement": "deleted", "reason": reason}
        return await self.ask("POST", f"/v1/admin/voice-notes/{note_id}/judgement", NoteJudged, body=body)

    async def ask(
        self, method: str, path: str, answer_type: type[_Answer], *, body: Mapping[str, object] | None = None
    ) -> _Answer:
        headers = {"Authorization": f"Bearer {self._token}"}
        return await self._http.ask(method, path, answer_type, body=body, headers=headers)


async def _created(data: Path, password: str) -> bytes:
    """The secret of its authenticator app."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "darbar_local", "admin", "create", NAME, "--data", str(data)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complaint = await process.communicate(f"{password}\n".encode())
    if process.returncode != 0:
        raise ServerFailed(complaint.decode())
    address = said.decode().split()[-1]
    secret = parse_qs(urlsplit(address).query)["secret"][0]
    return b32decode(secret + "=" * (-len(secret) % 8))


def _code_of_now(secret: bytes) -> str:
    """As RFC 6238 has it, and every authenticator app."""
    digest = hmac.digest(secret, (int(time.time()) // STEP_SECONDS).to_bytes(8, "big"), "sha1")
    at = digest[-1] & 0x0F
    return f"{int.from_bytes(digest[at : at + 4], 'big') & 0x7FFF_FFFF:010d}"[-6:]

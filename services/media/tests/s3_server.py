"""A real S3-compatible server, moto's, in a process of its own. Open this when it does not start."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from obstore.store import S3Store

BUCKET = "voice-notes"
# It brings a whole library along, which a busy machine reads from its disk first.
START_SECONDS_MAX = 180.0
_ADDRESS = re.compile(rb"Running on (http://127\.0\.0\.1:\d+)")


@dataclass(frozen=True)
class S3Server:
    """With one bucket, which is empty at first; `bucket` is the operator's way to it."""

    url: str

    @property
    def bucket(self) -> S3Store:
        return S3Store(
            BUCKET,
            endpoint=self.url,
            access_key_id="operator",
            secret_access_key="secret",
            client_options={"allow_http": True},
        )


@asynccontextmanager
async def s3_running() -> AsyncIterator[S3Server]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as tasks:
            async with asyncio.timeout(START_SECONDS_MAX):
                server = S3Server(await _address(process.stderr))
            # It writes a line for each request, and would wait for somebody to read them.
            reading = tasks.create_task(process.stderr.read())
            async with session.put(f"{server.url}/{BUCKET}") as answer:
                answer.raise_for_status()
            yield server
            reading.cancel()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _address(said: asyncio.StreamReader) -> str:
    """Which port it has taken."""
    lines: list[bytes] = []
    while line := await said.readline():
        lines.append(line)
        if found := _ADDRESS.search(line):
            return found[1].decode()
    raise AssertionError(b"".join(lines).decode())

"""Whether the NATS server still keeps messages. Open this when it has given a stream up and nobody notices.

A stream that met a full disk takes nothing more until the server is started again, also when there is space: whoever
publishes to it waits in vain, and everything else of the server works.
"""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from shutil import disk_usage

import msgspec
import nats
import nats.errors

# A user of the server's system account: it asks how the server is, and sees none of the services' messages.
WATCHER = "watcher"
WATCH_SECONDS = 1.0
ANSWER_SECONDS_MAX = 5
# A stream that is given up so often in a row is given up for good.
COMPLAINTS_MAX = 2
# With less the server would give it up again at once; as it is, it carries at least what isn't kept.
FREE_BYTES_MIN = 16 * 1024**2
_HEALTH = "$SYS.REQ.SERVER.PING.HEALTHZ"


class _Health(msgspec.Struct, frozen=True):
    status: str = ""
    error: str = ""


class _Answer(msgspec.Struct, frozen=True):
    data: _Health = _Health()


async def until_given_up(url: str, folder: Path, *, has_ended: Callable[[], bool]) -> str:
    """Waits until the server keeps a stream no more and there is space to start it again, and says what it complains
    of; empty when it has ended before. `url` is of the watcher, `folder` on the disk where messages are kept."""
    complaints = 0
    while not has_ended():
        said = await complaint(url)
        complaints = complaints + 1 if said else 0
        if complaints >= COMPLAINTS_MAX and disk_usage(folder).free >= FREE_BYTES_MIN:
            return said
        await asyncio.sleep(WATCH_SECONDS)
    return ""


async def complaint(url: str) -> str:
    """What the server finds wrong with itself; empty when that is nothing, or when it doesn't answer."""
    with contextlib.suppress(OSError, TimeoutError, nats.errors.Error):
        client = await nats.connect(
            url,
            name=WATCHER,
            allow_reconnect=False,
            # Of the first connection too. As it is, the library tries for two minutes, and nobody sees that the server
            # has ended meanwhile.
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=ANSWER_SECONDS_MAX,
            error_cb=_ignore,
        )
        try:
            answered = await client.request(_HEALTH, timeout=ANSWER_SECONDS_MAX)
        finally:
            await client.close()
        health = msgspec.json.decode(answered.data, type=_Answer).data
        return "" if health.status == "ok" else health.error or health.status
    return ""


async def _ignore(_error: Exception) -> None:
    """The library would print it."""

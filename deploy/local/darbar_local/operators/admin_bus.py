"""The bus, as operators' commands ask on it. Open this when one can't be reached, or ends with a wrong exit code."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from darbar_contracts.refusals import Reason
from darbar_kit import logs
from darbar_kit.bus import Bus, ServerTooOld
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.settings import environment, load
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.servers import nats_url_in
from darbar_local.settings import ADMIN_PREFIX, PREFIX, AdminSettings, GivenServers, UpSettings

ADMIN = "admin"
# Somebody waits at the keyboard.
CONNECT_SECONDS_MAX = 3.0
# A table process gives up sooner.
ANSWER_SECONDS_MAX = 15.0
# The table is on its way to another process.
MOVING = (Reason.NOT_OWNER, Reason.UNAVAILABLE)


def admin_nats_url(data: str | None) -> str:
    """By its own variable, or of the `darbar up` that runs with this folder. Raises Failure."""
    environ = environment()
    folder = load(UpSettings, prefix=PREFIX, environ=environ).data if data is None else data
    given = load(AdminSettings, prefix=ADMIN_PREFIX, environ=environ).nats_url
    logs.configure("", level="error")
    return given or load(GivenServers, prefix="", environ=environ).nats_url or nats_url_in(Path(folder), ADMIN)


@asynccontextmanager
async def admin_bus(nats_url: str) -> AsyncIterator[Bus]:
    """As the operator; a refusal, or no answer, ends the command with its exit code."""
    try:
        bus = await Bus.connect(nats_url, name=ADMIN, seconds_max=CONNECT_SECONDS_MAX)
    except (Unavailable, ServerTooOld) as error:
        raise Failure(ExitCode.SERVER_FAILED, str(error)) from error
    try:
        yield bus
    except Refused as refusal:
        raise Failure(ExitCode.UNANSWERED if refusal.code in MOVING else ExitCode.REFUSED, str(refusal)) from refusal
    except Unavailable as error:
        raise Failure(ExitCode.UNANSWERED, f"{error}; try again") from error
    finally:
        await bus.close()

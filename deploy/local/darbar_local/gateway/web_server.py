"""`darbar-web`: the built web client alone, in an image of its own. Open this when that one does not start."""

from __future__ import annotations

import sys
from pathlib import Path

from aiohttp import web

from darbar_kit import logs, service
from darbar_kit.http import errors_middleware, health_routes
from darbar_kit.settings import load
from darbar_local.exit_codes import ExitCode, Failure, exit_code_of, failures_told
from darbar_local.gateway import web_client
from darbar_local.settings import WEB_PREFIX, WebSettings


def main() -> None:
    """Serves until it is told to stop."""
    sys.exit(exit_code_of(_serve))


def _serve() -> None:
    settings = load(WebSettings, prefix=WEB_PREFIX)
    logs.configure("web", level=settings.log_level)
    with failures_told():
        service.run(build_web, settings, host=settings.http_host, port=settings.http_port)


def build_web(settings: WebSettings) -> web.Application:
    """It counts nothing and waits for nobody. Raises Failure when no client has been built there."""
    files = web_client.routes(Path(settings.folder))
    if not files:
        raise Failure(ExitCode.SETTINGS_WRONG, f"{WEB_PREFIX}FOLDER={settings.folder} has no built web client")
    app = web.Application(middlewares=[errors_middleware])
    app.add_routes([*files, *health_routes(_nothing_missing)])
    return app


async def _nothing_missing() -> list[str]:
    return []

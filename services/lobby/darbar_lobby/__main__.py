"""`python -m darbar_lobby`: the lobby as a process of its own. Open this to see how it starts."""

from __future__ import annotations

from darbar_kit.logs import configure
from darbar_kit.service import run
from darbar_kit.settings import load
from darbar_lobby.app import build_app
from darbar_lobby.settings import Settings


def main() -> None:
    configure("lobby")
    settings = load(Settings, prefix="LOBBY_")
    run(build_app, settings, host=settings.http_host, port=settings.http_port)


if __name__ == "__main__":
    main()

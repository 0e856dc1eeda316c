"""The one public port, and with TLS another one for others in the network. Open this about who reaches us."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass

from aiohttp import web

from darbar_kit.service import BACKLOG, CannotListen, listen, reserve


@dataclass
class PublicPort:
    """`plain` is reached from this machine at least. `secure` is there with TLS, and has a `context`."""

    plain: socket.socket
    secure: socket.socket | None = None
    context: ssl.SSLContext | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of the plain one."""
        host, port = self.plain.getsockname()[:2]
        return host, port

    def close(self) -> None:
        self.plain.close()
        if self.secure is not None:
            self.secure.close()

    async def listen(self, app: web.Application) -> web.AppRunner:
        """On copies: who connects while the app starts again waits, as at the first start."""
        runner = await listen(app, self.plain.dup())
        if self.secure is not None:
            try:
                await web.SockSite(runner, self.secure.dup(), ssl_context=self.context, backlog=BACKLOG).start()
            except BaseException:
                await runner.cleanup()
                raise
        return runner


def reserved(host: str, port: int, *, secure: tuple[str, int] | None) -> PublicPort:
    """Both before anything is started. Raises CannotListen."""
    public = PublicPort(reserve(host, port))
    if secure is not None:
        try:
            public.secure = reserve(*secure)
        except CannotListen:
            public.close()
            raise
    return public


def address_in_network() -> str | None:
    """This machine's address in the network through which it reaches others; None when it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        # Nothing is sent: the system only says from which address it would be. This address is for documents.
        probe.connect(("192.0.2.1", 9))
        address: str = probe.getsockname()[0]
        return address
    return None

"""What one turn of the loop reads is decided together, and what comes of it is written together (decision 19)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from darbar_table.socket.transport import Transport


class Staged(Protocol):
    """A player's socket, as it is worked at in two stages."""

    def take(self, data: bytes) -> None:
        """Bytes that arrived."""

    def failed(self) -> None:
        """A fault of ours ends one socket only: called where the exception is handled."""


class Stages:
    """Of all sockets of a process: reading, deciding and writing in turns for each message would throw the code and the
    objects of each out of the processor's cache. Every socket keeps its order.

    `soon` calls what it is given after what is read now has been read, and before anything else is.
    """

    def __init__(self, soon: Callable[[Callable[[], None]], object]) -> None:
        self._soon = soon
        self._arrived: list[tuple[Staged, bytes]] = []
        self._outgoing: list[tuple[Transport, bytes]] = []

    def arrived(self, player: Staged, data: bytes) -> None:
        """To be taken in this turn of the loop."""
        self._arrived.append((player, data))
        if len(self._arrived) == 1:
            self._soon(self._take)

    def send(self, transport: Transport, wire: bytes) -> None:
        """To be written in this turn of the loop."""
        self._outgoing.append((transport, wire))
        if len(self._outgoing) == 1:
            self._soon(self.write)

    def write(self) -> None:
        """All that is to be sent, now."""
        outgoing, self._outgoing = self._outgoing, []
        for transport, wire in outgoing:
            if not transport.is_closing():
                transport.write(wire)

    def _take(self) -> None:
        arrived, self._arrived = self._arrived, []
        for player, data in arrived:
            try:
                player.take(data)
            except Exception:  # noqa: BLE001  # `failed` logs it.
                player.failed()

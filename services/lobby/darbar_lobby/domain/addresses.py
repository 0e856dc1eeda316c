"""Where to connect and what to send to friends. Open this when a client is sent to the wrong place."""

from __future__ import annotations

from darbar_contracts.api import SocketPaths
from darbar_contracts.tables import table_socket_path

INVITE_PATH = "/join"


def socket_of(table_id: str, process_id: str | None) -> SocketPaths:
    """Where to connect."""
    direct = table_socket_path(table_id, process_id) if process_id else None
    return SocketPaths(direct=direct, any=table_socket_path(table_id))


def invite_url(public_url: str, invite_token: str) -> str:
    """What a host copies and sends to friends."""
    return f"{public_url.rstrip('/')}{INVITE_PATH}/{invite_token}"

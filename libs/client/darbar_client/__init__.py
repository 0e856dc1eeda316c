"""An async Python client of Darbar. Start with `Darbar(url)`; README.md has an example."""

from darbar_client.backoff import Backoff
from darbar_client.darbar import Darbar, Player
from darbar_client.errors import (
    CommandRefused,
    DarbarError,
    EventsMissed,
    SocketEnded,
    Unreachable,
)
from darbar_client.event_stream import EventStream
from darbar_client.table import TableSocket
from darbar_contracts.api import Account, Me, Replay, ReplayEvent, TableAudit, TableRef, TableSeen
from darbar_contracts.frames import SeatView, TableView

__all__ = [
    "Account",
    "Backoff",
    "CommandRefused",
    "Darbar",
    "DarbarError",
    "EventStream",
    "EventsMissed",
    "Me",
    "Player",
    "Replay",
    "ReplayEvent",
    "SeatView",
    "SocketEnded",
    "TableAudit",
    "TableRef",
    "TableSeen",
    "TableSocket",
    "TableView",
    "Unreachable",
]

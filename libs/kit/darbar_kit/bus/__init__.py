"""How services speak to each other: connection.py asks and serves, consumer.py takes what a stream keeps."""

from darbar_kit.bus.connection import Bus, ServerTooOld, Subscription
from darbar_kit.bus.consumer import StreamConsumer
from darbar_kit.bus.messages import MESSAGE_BYTES_MAX, MessageTooLarge
from darbar_kit.bus.streams import Stream, bus_errors, ensure_stream

__all__ = [
    "MESSAGE_BYTES_MAX",
    "Bus",
    "MessageTooLarge",
    "ServerTooOld",
    "Stream",
    "StreamConsumer",
    "Subscription",
    "bus_errors",
    "ensure_stream",
]

"""Which subject the bots answer. Open this when a request finds nobody."""

from __future__ import annotations

from darbar_bot.handlers import Handlers
from darbar_contracts.bots import BotRequest
from darbar_contracts.subjects import BOT_DECIDE, BOT_QUEUE
from darbar_kit.bus import Bus


async def serve(bus: Bus, handlers: Handlers) -> None:
    """Answer until the bus is closed; any number of processes share the requests."""
    await bus.serve(BOT_DECIDE, BotRequest, handlers.decide, queue=BOT_QUEUE)

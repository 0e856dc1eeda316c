"""A child like any other, but for requests of a level that says otherwise. Open this about the tests of bad luck."""

from __future__ import annotations

import os
import signal
import sys
import time

import msgspec

from darbar_bot.domain import Decider
from darbar_bot.engine import child
from darbar_contracts.bots import BotAnswer, BotRequest

# Longer than the test waits, shorter than what the kernel allows.
LATE_SECONDS = 0.5


class StubbornDecider(Decider):
    """The level says what goes wrong."""

    def decide(self, request: BotRequest) -> BotAnswer:
        match request.level:
            case "hang":
                while True:
                    time.monotonic()
            case "late":
                end = time.monotonic() + LATE_SECONDS
                while time.monotonic() < end:
                    pass
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "break":
                raise RuntimeError("a bug in a policy")
        return super().decide(msgspec.structs.replace(request, level="normal") if request.level == "late" else request)


def main() -> None:
    child.main(int(sys.argv[1]), decider_type=StubbornDecider)


if __name__ == "__main__":
    main()

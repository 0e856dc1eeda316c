"""A child like any other, but for requests of a level that says otherwise. Open this about the tests of bad luck."""

from __future__ import annotations

import os
import signal
import sys
import time

from darbar_bot.domain import Decider
from darbar_bot.engine import child
from darbar_contracts.bots import BotAnswer, BotRequest


class StubbornDecider(Decider):
    """The level says what goes wrong."""

    def decide(self, request: BotRequest) -> BotAnswer:
        match request.level:
            case "hang":
                while True:
                    time.monotonic()
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "break":
                raise RuntimeError("a bug in a policy")
        return super().decide(request)


def main() -> None:
    child.main(int(sys.argv[1]), decider_type=StubbornDecider)


if __name__ == "__main__":
    main()

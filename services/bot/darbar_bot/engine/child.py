"""The process that decides: reads requests from a socket, answers, ends with its parent. Open this about isolation.

Started by workers.py as `python -m darbar_bot.engine.child <descriptor>`. It knows no network and no other cards.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import suppress

import msgspec
import structlog

from darbar_bot.domain import CannotDecide, Decider
from darbar_bot.engine.framing import Decided, NotDecided, Ready, line
from darbar_contracts.bots import BotRequest
from darbar_contracts.refusals import Reason
from darbar_kit import logs

# The table gives up after 2 s; a decision that takes half of that has gone wrong.
DECISION_SECONDS_MAX = 1.0
# Owners of tables share the machine with bots, and people's moves come first; but a bot must not starve either.
NICENESS = 2

_decode_request = msgspec.json.Decoder(BotRequest).decode
log = structlog.get_logger()


def main(descriptor: int, decider_type: type[Decider] = Decider) -> None:
    """Answer until the other end of the socket is closed, which a parent's death does too."""
    # Ctrl-C in a terminal goes to the whole group: the parent decides when its children end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The kernel ends a child that decides for too long, even when no parent is left to do so.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    os.nice(NICENESS)
    logs.configure("bot")
    # A parent that dies while a child answers it has closed the socket: nobody is left to tell.
    with socket.socket(fileno=descriptor) as stream, suppress(ConnectionError):
        _serve(stream, decider_type())


def _serve(stream: socket.socket, decider: Decider) -> None:
    stream.sendall(line(Ready()))
    with stream.makefile("rb") as requests:
        for request in requests:
            stream.sendall(line(_answer(decider, request)))


def _answer(decider: Decider, request: bytes) -> Decided | NotDecided:
    signal.setitimer(signal.ITIMER_REAL, DECISION_SECONDS_MAX)
    try:
        return Decided(decider.decide(_decode_request(request)))
    except CannotDecide as refused:
        return NotDecided(refused.code, refused.message, refused=True)
    except Exception:
        log.exception("decision_failed")
        return NotDecided(Reason.DECISION_FAILED, "the policy broke on this view", refused=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))

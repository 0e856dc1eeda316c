"""A player's socket at one table process, the table at another: what the two tell each other. Open this to relay more.

The owner makes every frame for the seat of one link, and for nobody else: whoever passes it on can show no more.
"""

from __future__ import annotations

import msgspec

from darbar_contracts.frames import Closing
from darbar_contracts.tables import Person


class Step(msgspec.Struct, frozen=True, tag_field="does"):
    """What a socket's process tells the owner. `link` is the socket's present way to its table."""


class Enter(Step, frozen=True, tag="enter"):
    """A hello: the answer is `welcome` and what follows it, or a closing."""

    link: int
    table_id: str
    account_id: str
    version: int


class Tell(Step, frozen=True, tag="tell"):
    """A command of this account, as the client wrote it."""

    link: int
    person: Person
    frame: msgspec.Raw


class Leave(Step, frozen=True, tag="leave"):
    """The socket is gone, or goes another way."""

    link: int


class Alive(Step, frozen=True, tag="alive"):
    """Whoever is not heard of for a while has no sockets any more."""


AnyStep = Enter | Tell | Leave | Alive


class ToOwner(msgspec.Struct, frozen=True):
    """From the process that has the sockets, which `relay` names; in order."""

    relay: str
    step: AnyStep


NO_FRAME = msgspec.Raw(b"null")


class Passed(msgspec.Struct, frozen=True, omit_defaults=True):
    """One frame for the socket of a link, or its end. `number` counts from 1: what is missing was lost."""

    link: int
    number: int
    frame: msgspec.Raw = NO_FRAME
    closing: Closing | None = None


class ToRelay(msgspec.Struct, frozen=True):
    """From the owner `process_id`, in order."""

    process_id: str
    passed: tuple[Passed, ...]

"""Addresses that play a note without a token, for a while. Open this when one is refused too early."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from darbar_contracts.refusals import Reason
from darbar_contracts.voice import NoteLink, note_path
from darbar_kit.errors import Refused
from darbar_kit.seals import Seal, SealBroken

LINK_SECONDS = 600


class Permit(msgspec.Struct, frozen=True):
    """What a link says: this note may be fetched until then."""

    note_id: UUID
    expires_at: datetime
    for_moderator: bool = False


class Links:
    """Sealed with a key that only the services have."""

    def __init__(self, seal: Seal, *, now: Callable[[], datetime]) -> None:
        self._seal = seal
        self._now = now

    def make(self, note_id: UUID, *, for_moderator: bool = False) -> NoteLink:
        permit = Permit(note_id, self._now() + timedelta(seconds=LINK_SECONDS), for_moderator)
        return NoteLink(f"{note_path(str(note_id))}?link={self._seal.write(permit)}", LINK_SECONDS)

    def read(self, text: str, note_id: UUID) -> Permit:
        """Raises Refused link_invalid: forged, of another note, or its time is over."""
        try:
            permit = self._seal.read(text, Permit)
        except SealBroken as error:
            raise Refused(Reason.LINK_INVALID) from error
        if permit.note_id != note_id or permit.expires_at <= self._now():
            raise Refused(Reason.LINK_INVALID)
        return permit

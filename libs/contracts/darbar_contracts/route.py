"""What a public HTTP route is: method, path, and everything that may come back. Open this to say more about one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Literal

import msgspec

from darbar_contracts.refusals import Reason
from darbar_rules.game import Refusal

Presence = Literal["needed", "optional", "none"]
# Of an administrator: an auditor reads, an admin acts too.
Role = Literal["auditor", "admin"]

HTML = "text/html"
AUDIO = "audio/*"
JSON = "application/json"
MARKDOWN = "text/markdown"
CSV = "text/csv"
# JSON values, one a line.
NDJSON = "application/x-ndjson"

# Chosen anew by the client for each table that it wants.
IDEMPOTENCY_KEY_HEADER = "Idempotency-Key"
IDEMPOTENCY_KEY_PATTERN = "[A-Za-z0-9_-]{8,64}"

# What each value in a path is.
PATH_VALUES: Mapping[str, str] = {
    "game": "A game's name, as in the catalogue.",
    "table_id": "A table's id.",
    "note_id": "A voice note's id, out of `note_ready`.",
    "code": "Six digits that a host reads out.",
    "handle": "What names a player to strangers.",
    "token": "An invite's token, the last part of its address.",
    "account_id": "An account's id.",
    "version": "A version of a table: how many events its log has there.",
}


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One method at one path, and everything that may come back.

    `name` is the operation's in the documents, and the function's in the service's `http.py`. `answers` by status: a
    type for JSON, a media type for anything else, None for no body. `recording`: media types of a body that is no JSON,
    sent with an upload ticket. `reasons` are this route's own; `refusals` are all.
    `role`: what an administrator must be at least, whose token is then meant.
    """

    name: str
    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    does: str
    answers: Mapping[int, type[msgspec.Struct] | str | None]
    reasons: tuple[Reason | Refusal, ...] = ()
    token: Presence = "needed"
    body: type[msgspec.Struct] | None = None
    query: type[msgspec.Struct] | None = None
    idempotency_key: Presence = "none"
    role: Role | None = None
    recording: tuple[str, ...] = ()

    @property
    def refusals(self) -> tuple[Reason | Refusal, ...]:
        """All codes with which it may refuse; what is not there just now (503) may be anything behind it."""
        needs = (
            (self.body is not None, _OF_BODIES),
            (self.recording != (), _OF_RECORDINGS),
            (self.query is not None, (Reason.QUERY_INVALID,)),
            (self.token != "none", (Reason.TOKEN_EXPIRED, Reason.TOKEN_INVALID)),
            (self.token == "needed", (Reason.TOKEN_MISSING,)),
            (self.role is not None, (Reason.NOT_ADMINISTRATOR, Reason.SECOND_FACTOR_MISSING)),
            (self.role == "admin", (Reason.ADMIN_NEEDED,)),
            (self.idempotency_key != "none", (Reason.IDEMPOTENCY_KEY_INVALID, Reason.IDEMPOTENCY_KEY_REUSED)),
            (self.idempotency_key == "needed", (Reason.IDEMPOTENCY_KEY_MISSING,)),
        )
        found = chain(_OF_ALL, *(codes for is_so, codes in needs if is_so), self.reasons)
        return tuple(sorted(set(found)))


_OF_ALL = (Reason.BAD_REQUEST, Reason.TOO_MANY_REQUESTS)
_OF_RECORDINGS = (Reason.BODY_ENCODED, Reason.BODY_TOO_LARGE, Reason.BODY_TOO_SLOW)
_OF_BODIES = (
    Reason.BODY_ENCODED,
    Reason.BODY_INVALID,
    Reason.BODY_NOT_JSON,
    Reason.BODY_TOO_LARGE,
    Reason.BODY_TOO_SLOW,
    Reason.TEXT_INVALID,
)

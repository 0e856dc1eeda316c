"""Media's HTTP: recordings come in, notes go out. Which routes there are is in the contracts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from aiohttp import web

from darbar_contracts.refusals import Reason
from darbar_contracts.voice import (
    UPLOAD_BYTES_MAX,
    UPLOAD_TICKET_HEADER,
    UPLOAD_TYPES,
    Form,
    NoteQuery,
    VoiceRightsRequest,
)
from darbar_contracts.voice_routes import MEDIA
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.http import answer, bearer, read_bytes, read_query
from darbar_kit.http.client_address import ClientAddresses
from darbar_kit.tokens import Claims, TokenReader
from darbar_media.handlers.listeners import Listeners
from darbar_media.handlers.moderation import Moderation, note_id_of
from darbar_media.handlers.uploads import Uploads
from darbar_media.limits import Limits
from darbar_media.metrics import Metrics

# From the first byte to the last (TL-47).
UPLOAD_SECONDS_MAX = 15.0
# A browser keeps it for as long as it may be heard again at the table; nobody on the way does.
KEPT_SECONDS = 3600
CONTENT_TYPES: Mapping[Form, str] = {"ogg": 'audio/ogg; codecs="opus"', "m4a": 'audio/mp4; codecs="mp4a.40.2"'}
_FORM_OF_TYPE: Mapping[str, Form] = {"audio/ogg": "ogg", "audio/mp4": "m4a", "audio/aac": "m4a", "audio/x-m4a": "m4a"}
_RANGE = re.compile(r"bytes=(\d{0,9})-(\d{0,9})")


class Routes:
    """One method for each route of the contracts."""

    def __init__(
        self,
        *,
        uploads: Uploads,
        listeners: Listeners,
        moderation: Moderation,
        tokens: TokenReader,
        limits: Limits,
        addresses: ClientAddresses,
        metrics: Metrics,
    ) -> None:
        self._uploads = uploads
        self._listeners = listeners
        self._moderation = moderation
        self._tokens = tokens
        self._limits = limits
        self._addresses = addresses
        self._metrics = metrics

    async def send_note(self, request: web.Request) -> web.Response:
        try:
            claims = self._asked_by(request)
            self._limits.uploads.take(claims.account_id)
            _refuse_early(request)
            receive = partial(read_bytes, request, bytes_max=UPLOAD_BYTES_MAX, seconds_max=UPLOAD_SECONDS_MAX)
            ticket = request.headers[UPLOAD_TICKET_HEADER]
            return answer(await self._uploads.take(claims.account_id, ticket, receive), 201)
        except (Refused, Unavailable) as error:
            self._metrics.refusals.labels(error.code).inc()
            raise

    async def note(self, request: web.Request) -> web.Response:
        self._limits.by_address.take(self._addresses.of(request))
        query, note_id = read_query(request, NoteQuery), note_id_of(request.match_info["note_id"])
        form = query.form or preferred_form(request.headers.get("Accept", ""))
        if query.link is not None:
            sound = await self._listeners.sound_by_link(note_id, query.link, form)
        else:
            claims = bearer(request, self._tokens)
            self._limits.by_account.take(claims.account_id)
            sound = await self._listeners.sound(note_id, claims.account_id, form)
        return _part_of(sound, form, request.headers.get("Range", ""))

    async def report_note(self, request: web.Request) -> web.Response:
        claims = self._asked_by(request)
        await self._listeners.report(note_id_of(request.match_info["note_id"]), claims.account_id)
        return web.Response(status=204)

    async def my_voice(self, request: web.Request) -> web.Response:
        claims = self._asked_by(request)
        return answer(await self._moderation.voice_rights(VoiceRightsRequest(claims.account_id)))

    def _asked_by(self, request: web.Request) -> Claims:
        self._limits.by_address.take(self._addresses.of(request))
        claims = bearer(request, self._tokens)
        self._limits.by_account.take(claims.account_id)
        return claims


ROUTES: web.AppKey[Routes] = web.AppKey("media_routes", Routes)


def public_routes() -> list[web.RouteDef]:
    """Every public route of the contracts; what answers them is there once the service has started."""

    async def act(request: web.Request, *, name: str) -> web.StreamResponse:
        done: web.StreamResponse = await getattr(request.app[ROUTES], name)(request)
        return done

    return [web.route(route.method, route.path, partial(act, name=route.name)) for route in MEDIA]


def _refuse_early(request: web.Request) -> None:
    """Before the table is asked and before a byte is read."""
    if not request.headers.get(UPLOAD_TICKET_HEADER):
        raise Refused(Reason.UPLOAD_TICKET_MISSING)
    if request.content_type not in UPLOAD_TYPES:
        raise Refused(Reason.NOTE_TYPE_UNKNOWN, details={"types": UPLOAD_TYPES})
    if (request.content_length or 0) > UPLOAD_BYTES_MAX:
        raise Refused(Reason.BODY_TOO_LARGE, details={"bytes_max": UPLOAD_BYTES_MAX})


def preferred_form(accept: str) -> Form:
    """The first form that is named, else Ogg/Opus, which everything but old Safari plays."""
    for part in accept.split(","):
        form = _FORM_OF_TYPE.get(part.partition(";")[0].strip().lower())
        if form is not None:
            return form
    return "ogg"


def _part_of(sound: bytes, form: Form, range_text: str) -> web.Response:
    """All of it, or the one range that is asked for; a range that is not in it is not heeded."""
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": f"private, max-age={KEPT_SECONDS}",
        "Content-Type": CONTENT_TYPES[form],
        "Vary": "Accept",
    }
    asked = _range(range_text, len(sound))
    if asked is None:
        return web.Response(body=sound, headers=headers)
    first, last = asked
    headers["Content-Range"] = f"bytes {first}-{last}/{len(sound)}"
    return web.Response(body=sound[first : last + 1], status=206, headers=headers)


def _range(text: str, size: int) -> tuple[int, int] | None:
    """First and last byte of one range, both in it; None for everything else."""
    found = _RANGE.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        return None
    if not found[1]:
        return (max(0, size - int(found[2])), size - 1) if int(found[2]) else None
    first, last = int(found[1]), min(int(found[2] or size), size - 1)
    return (first, last) if first <= last else None

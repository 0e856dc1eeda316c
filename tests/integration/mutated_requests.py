"""HTTP requests in which something is odd, for every route of the product. Open this to try another oddity."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

# The values of a body are raw JSON, since an odd one may be no JSON at all.
Fields = Mapping[str, bytes]

_NEW_TABLE = {
    "game": b'"court_piece"',
    "bet_coins": b"100",
    "options": b'{"winning_points": 5}',
    "seats": b"4",
    "turn_seconds": b"15",
    "visibility": b'"public"',
    "bot_level": b'"easy"',
}
# What an honest client sends to each route; `{name}` stands for something that is there, see Mutator.
BODIES: Mapping[tuple[str, str], Fields | None] = {
    ("POST", "/v1/guests"): {"name": b'"Amina"', "avatar": b'"kite"'},
    ("POST", "/v1/sessions"): {"name_login": b'"amina"', "password": b'"mango lassi at noon"'},
    ("DELETE", "/v1/sessions"): {"refresh_token": b'"no-session-has-this-token"'},
    ("GET", "/v1/me"): None,
    ("PATCH", "/v1/me"): {
        "name": b'"Bilal"',
        "avatar": b'"moon"',
        "name_login": b'"bilal"',
        "password": b'"mango lassi at noon"',
        "password_current": b'"mango lassi at nine"',
    },
    ("GET", "/v1/me/export"): None,
    ("DELETE", "/v1/me"): {"handle": b'"%s"' % (b"0" * 20), "password": b'"mango lassi at nine"'},
    ("POST", "/v1/me/top-ups"): None,
    ("GET", "/v1/me/profile"): None,
    ("GET", "/v1/me/games"): None,
    ("GET", "/v1/me/blocks"): None,
    ("POST", "/v1/me/blocks"): {"table_id": b'"6513270e-269e-4d37-b2a7-4de452e6b438"', "seat": b"1"},
    ("DELETE", "/v1/me/blocks/{handle}"): None,
    ("GET", "/v1/players/{handle}"): None,
    ("GET", "/v1/players/{handle}/games"): None,
    ("POST", "/v1/players/{handle}/name-reports"): None,
    ("GET", "/v1/leaderboards/{game}"): None,
    ("GET", "/v1/games"): None,
    ("GET", "/v1/games/{game}/rules"): None,
    ("POST", "/v1/tables"): _NEW_TABLE,
    ("GET", "/v1/tables"): None,
    ("GET", "/v1/tables/{table_id}"): None,
    ("GET", "/v1/codes/{code}"): None,
    ("GET", "/v1/invites/{token}"): None,
    ("GET", "/v1/openapi.json"): None,
    ("GET", "/v1/asyncapi.json"): None,
    ("GET", "/v1/docs"): None,
    ("POST", "/v1/quick-play"): {"game": b'"court_piece"', "bet_coins": b"100"},
    ("POST", "/v1/admin/sessions"): {"name": b'"olga"', "password": b'"mango lassi at noon"'},
    ("POST", "/v1/admin/sessions/confirm"): {"code": b'"287082"'},
    ("DELETE", "/v1/admin/sessions"): None,
    ("GET", "/v1/admin/me"): None,
    ("GET", "/v1/admin/audit-log"): None,
    ("GET", "/v1/admin/tables"): None,
    ("GET", "/v1/admin/tables/{table_id}/events"): None,
    ("GET", "/v1/admin/tables/{table_id}/states/{version}"): None,
    ("GET", "/v1/admin/frozen-tables"): None,
    ("GET", "/v1/admin/accounts/{account_id}/wallet"): None,
    ("POST", "/v1/admin/accounts/{account_id}/adjustments"): {"coins": b"100", "reason": b'"lost to a fault"'},
    ("GET", "/v1/admin/ledger/audit"): None,
    ("GET", "/v1/admin/accounts/{account_id}"): None,
    ("POST", "/v1/admin/accounts/{account_id}/bans"): {"scope": b'"tables"', "reason": b'"rude"', "hours": b"24"},
    ("POST", "/v1/admin/accounts/{account_id}/bans/lift"): {"scope": b'"tables"', "reason": b'"a mistake"'},
    ("POST", "/v1/admin/accounts/{account_id}/name-reset"): {"reason": b'"rude"'},
    ("POST", "/v1/admin/accounts/{account_id}/name-dismissal"): {"name": b'"Amina"', "reason": b'"a name as any"'},
    ("GET", "/v1/admin/reported-names"): None,
    ("GET", "/v1/admin/voice-notes"): None,
    ("GET", "/v1/admin/voice-notes/{note_id}/link"): None,
    ("POST", "/v1/admin/voice-notes/{note_id}/judgement"): {"judgement": b'"deleted"', "reason": b'"rude"'},
    ("POST", "/v1/admin/tables/{table_id}/resume"): {"reason": b'"it is mended"'},
    ("POST", "/v1/admin/tables/{table_id}/void"): {"reason": b'"nobody can go on"'},
    ("GET", "/join/{token}"): None,
    ("GET", "/v1/me/wallet"): None,
    ("GET", "/v1/me/wallet/entries"): None,
    ("GET", "/v1/me/wallet/entries.csv"): None,
    ("POST", "/v1/voice-notes"): None,
    ("GET", "/v1/voice-notes/{note_id}"): None,
    ("POST", "/v1/voice-notes/{note_id}/report"): None,
    ("GET", "/v1/me/voice"): None,
    ("GET", "/v1/tables/{table_id}/replay"): None,
    ("GET", "/v1/tables/{table_id}/audit"): None,
    ("GET", "/play/tables/{table_id}/socket"): None,
    ("GET", "/play/at/{process_id}/tables/{table_id}/socket"): None,
    ("GET", "/"): None,
    ("GET", "/healthz"): None,
    ("GET", "/readyz"): None,
    ("GET", "/metrics"): None,
}
QUERIES: Mapping[str, Fields] = {
    "/v1/tables": {
        "game": b"court_piece",
        "bet_coins_min": b"25",
        "bet_coins_max": b"200",
        "limit": b"5",
        "after": b"9",
    },
    "/v1/me/games": {"limit": b"5", "after": b"1796040000000000_6513270e-269e-4d37-b2a7-4de452e6b438_9"},
    "/v1/players/{handle}/games": {"limit": b"5"},
    "/v1/leaderboards/{game}": {"week": b"2026-W48", "limit": b"5", "after": b"9"},
    "/v1/admin/audit-log": {"administrator": b"olga", "subject": b"table:x", "limit": b"5", "before": b"9"},
    "/v1/admin/tables": {"player": b"0" * 20, "game": b"court_piece", "state": b"closed", "limit": b"5"},
    "/v1/admin/tables/{table_id}/events": {"after": b"5"},
    "/v1/me/wallet": {"limit": b"20", "before": b"100000"},
    "/v1/me/wallet/entries": {"reason": b"bet", "limit": b"20", "before": b"100000"},
    "/v1/me/wallet/entries.csv": {"reason": b"bet"},
    "/v1/admin/accounts/{account_id}/wallet": {"reason": b"bet", "limit": b"20"},
    "/v1/tables/{table_id}/replay": {"after": b"1"},
}
UPGRADE = (b"Upgrade: websocket", b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")

ODD_NUMBERS = (
    b"-1", b"0", b"1e9", b"0x10", b"+5", b"0.5", b"9223372036854775808", b"9" * 400, b"9" * 5000,
    b"%D9%A1%D9%A2", b"%C2%B2", b"true", b"null", b"[1]", b"%00", b"",
)  # fmt: skip
ODD_TEXTS = (
    *ODD_NUMBERS,
    b"%ff", b"%c0%af", b"%ed%a0%80", b"%", b"%zz", b"%2500", b"%0d%0a", b"..", b"//", b"%2f", b"\xff\xfe", b"a" * 300,
    "\u06c1".encode(), b"%F0%9F%8E%B4", b"a" * 3000, b"{}", b"'--", b"%25s", b"~", b";", b"*", b"000000", b"%09",
    b"a%20b", b"00000000-0000-0000-0000-000000000000", b"6513270E-269E-4D37-B2A7-4DE452E6B438",
)  # fmt: skip
ODD_VALUES = (
    b"null", b"true", b"-1", b"0", b"0.5", b"100", b"9223372036854775808", b"-9223372036854775809", b"9" * 400,
    b"9" * 5000, b"1e308", b"1e999", b"-0.0e-999", b"NaN", b"Infinity", b'""', b'" "', b'"\\u0000"', b'"\\\\\\u0000"',
    b'"\x00"',
    b'"\\ud800"', b'"\xed\xa0\x80"', b'"\xff"', b'"\\u202e"', b'"\\u200b"', b'"\\ufdfa"', b'"' + b"a" * 3000 + b'"',
    b'"' + "\u00e9".encode() * 90 + b'"', b'"\\ud83c\\udfb4"', b"[]", b"{}", b'["a"]', b'{"a": {"\\u0000": 1}}',
    b'"court_piece"', b'"king_20"', b'"darbar support"', b'"public"', b"[" * 5000, b'{"a":' * 2000, b"1 2", b"'a'",
    b'{"winning_points": -1}', b'{"seats": 3}', b'{"winning_points": "\\u0000"}', b'{"trump": []}', b'{"": 1}',
)  # fmt: skip
ODD_BODIES = (
    b"", b"{}", b"[]", b"null", b'"', b"{", b"\xef\xbb\xbf{}", '{"game": 1}'.encode("utf-16"), b" " * 20_000, b"\x00",
    b'{"game": "a", "game": "b"}', gzip.compress(b'{"game": "court_piece"}'), b"game=court_piece&bet_coins=100",
    b"{" + b'"a": 1, ' * 1500 + b'"b": 2}', b"[" * 16_000, b'{"\\u0000": 1}', b'{"a": 1}{"b": 2}', b"// no\n{}",
)  # fmt: skip
ODD_HEADERS = (
    *(b"Content-Encoding: " + name for name in (b"gzip", b"deflate", b"br", b"zstd", b"identity, gzip", b"\xff")),
    *(b"Content-Length: " + text for text in (b"-1", b"1e9", b"99999999999999999999", b"0", b"7, 7", b"\xb2")),
    b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked", b"Expect: 100-continue", b"Expect: x",
    b"Authorization: Bearer a.b.c", b"Authorization: \xff", b"Authorization: Basic QTpC", b"Authorization: Bearer",
    b"Authorization: Bearer " + b"x" * 3000, b"Authorization: Bearer e30.e30.", b"Authorization: bearer  \t x",
    b"Idempotency-Key: ", b"Idempotency-Key: \xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8", b"Idempotency-Key: " + b"k" * 2000,
    b"Idempotency-Key: key-of-many", b"Idempotency-Key: %00%00%00%00", b"Origin: null", b"Origin: \xff",
    b"X-Forwarded-For: \xff, ::, 1.1.1", b"X-Forwarded-For: " + b"1.1.1.1," * 500, b"X-Forwarded-For: ::ffff:1.2.3.4",
    b"Content-Type: text/plain; charset=klingon", b"Content-Type: ;;;", b"Cookie: a=\x01; $; =;;\xff", b"Host: \xff",
    b"Range: bytes=5-1", b'If-None-Match: "\x7f', b"If-Modified-Since: never", b"X: " + b"y" * 7000, b"Upgrade: h2c",
    b"Sec-WebSocket-Version: 99", b"Sec-WebSocket-Key: x", b"Sec-WebSocket-Protocol: \xff,,", b"Access-Control: \x00",
)  # fmt: skip
METHODS = (b"GET", b"POST", b"PATCH", b"DELETE", b"PUT", b"HEAD", b"OPTIONS", b"TRACE", b"CONNECT", b"PROPFIND", b"get")


@dataclass
class Request:
    """One request before it is written; `missing_bytes` of its body are announced and never come."""

    method: bytes
    path: bytes
    headers: list[bytes]
    query: list[tuple[bytes, bytes]] = field(default_factory=list)
    fields: dict[str, bytes] | None = None
    body: bytes | None = None
    missing_bytes: int = 0

    def written(self) -> bytes:
        """As it goes over the line."""
        if self.body is not None:
            body = self.body
        elif self.fields is not None:
            body = b"{" + b", ".join(b'"%s": %s' % (name.encode(), value) for name, value in self.fields.items()) + b"}"
        else:
            body = b""
        path = self.path + (b"?" + b"&".join(b"%s=%s" % pair for pair in self.query) if self.query else b"")
        headers = list(self.headers)
        length = len(body) + self.missing_bytes
        if length and not any(header.startswith((b"Content-Length", b"Transfer-Encoding")) for header in headers):
            headers.append(b"Content-Length: %d" % length)
        return b"\r\n".join((b"%s %s HTTP/1.1" % (self.method, path), b"Host: here", *headers)) + b"\r\n\r\n" + body


class Mutator:
    """Odd requests, the same ones for the same seed. `known` has what paths name; `tokens`: whose requests they are."""

    def __init__(self, seed: int, *, known: Mapping[str, str], tokens: Sequence[str]) -> None:
        self._dice = random.Random(seed)
        self._known = known
        self._tokens = tokens
        # Where more is read, more can be odd.
        self._routes = [
            route for route, body in sorted(BODIES.items()) for _ in range(3 if body or route[1] in QUERIES else 1)
        ]
        self._number = 0

    def next(self) -> tuple[str, Request]:
        """A route, each in its turn, and a request that was meant for it."""
        method, route = self._routes[self._number % len(self._routes)]
        self._number += 1
        request = self._honest(method, route)
        for _ in range(self._dice.choice((1, 1, 1, 2, 3))):
            self._dice.choice(MUTATIONS)(request, self._dice)
        return f"{method} {route}", request

    def _honest(self, method: str, route: str) -> Request:
        dice = self._dice
        # Everybody comes from an address of their own, so that no limit of an address hides what lies behind it.
        address = ".".join(str(dice.randrange(1, 255)) for _ in range(4))
        headers = [
            b"X-Forwarded-For: %s" % address.encode(),
            b"Authorization: Bearer %s" % dice.choice(self._tokens).encode(),
            b"Idempotency-Key: key-%08d" % self._number,
        ]
        is_socket = route.endswith("/socket")
        headers += [b"Connection: Upgrade", *UPGRADE] if is_socket else [b"Connection: close"]
        body = BODIES[method, route]
        query = {name: value for name, value in QUERIES.get(route, {}).items() if dice.random() < 0.5}
        return Request(
            method=method.encode(),
            path=route.format_map(self._known).encode(),
            headers=headers,
            query=[(name.encode(), value) for name, value in query.items()],
            fields=None if body is None else {name: value for name, value in body.items() if dice.random() < 0.8},
        )


def _odd_segment(request: Request, dice: random.Random) -> None:
    segments = request.path.split(b"/")
    segments[dice.randrange(1, len(segments))] = dice.choice(ODD_TEXTS)
    request.path = b"/".join(segments)


def _odd_inside(request: Request, dice: random.Random) -> None:
    at = dice.randint(1, len(request.path))
    request.path = request.path[:at] + dice.choice(ODD_TEXTS) + request.path[at:]


def _odd_query(request: Request, dice: random.Random) -> None:
    if request.query and dice.random() < 0.8:
        at = dice.randrange(len(request.query))
        name, value = request.query[at]
        is_name = dice.random() < 0.2
        request.query[at] = (dice.choice(ODD_TEXTS), value) if is_name else (name, dice.choice(ODD_NUMBERS))
    else:
        request.query += [(dice.choice((b"limit", b"after", b"game", *ODD_TEXTS)), dice.choice(ODD_TEXTS))] * 2


def _odd_field(request: Request, dice: random.Random) -> None:
    if request.fields:
        request.fields[dice.choice(sorted(request.fields))] = dice.choice(ODD_VALUES)
    else:
        _odd_query(request, dice)


def _one_field_more(request: Request, dice: random.Random) -> None:
    if request.fields is not None:
        request.fields[dice.choice(("id", "role", "bet_coins", "refresh_token", "\\u0000", ""))] = dice.choice(
            ODD_VALUES
        )
    else:
        request.body = dice.choice(ODD_BODIES)


def _odd_body(request: Request, dice: random.Random) -> None:
    request.body = dice.choice(ODD_BODIES)


def _broken_body(request: Request, dice: random.Random) -> None:
    """Some bytes of it are others."""
    whole = bytearray(request.written().partition(b"\r\n\r\n")[2])
    for _ in range(min(len(whole), 3)):
        whole[dice.randrange(len(whole))] = dice.randrange(256)
    request.body = bytes(whole)


def _odd_header(request: Request, dice: random.Random) -> None:
    """In place of the honest one, or beside it."""
    odd = dice.choice(ODD_HEADERS)
    name = odd.partition(b":")[0]
    if dice.random() < 0.7:
        request.headers = [header for header in request.headers if not header.startswith(name + b":")]
    request.headers.append(odd)


def _without_a_header(request: Request, dice: random.Random) -> None:
    request.headers.remove(dice.choice(request.headers))


def _odd_method(request: Request, dice: random.Random) -> None:
    request.method = dice.choice(METHODS)


def _slow_body(request: Request, dice: random.Random) -> None:
    """One in five of these: each of them keeps a connection until the server gives it up."""
    if dice.random() < 0.2:
        request.missing_bytes = dice.choice((1, 30, 4000))


MUTATIONS: Sequence[Callable[[Request, random.Random], None]] = (
    *(_odd_segment, _odd_inside, _odd_query, _odd_query, _odd_field, _odd_field, _odd_field, _one_field_more),
    *(_odd_body, _broken_body, _odd_header, _odd_header, _without_a_header, _odd_method, _slow_body),
)

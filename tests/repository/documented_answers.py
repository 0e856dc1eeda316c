"""Answers over HTTP against the routes of the contracts: no status and no code that the document does not tell.

Whoever asks in a test shows the answers to `documented`. Open this when an answer is called undocumented.
"""

from __future__ import annotations

import re
from typing import Any

from darbar_contracts.public.routes import BY_SERVICE
from darbar_contracts.refusals import REFUSALS

BAD_REQUEST = 400
UNAVAILABLE = 503
ROUTES = [
    (route, re.compile(re.sub(r"{\w+}", "[^/]+", route.path))) for routes in BY_SERVICE.values() for route in routes
]


def documented(method: str, path: str, status: int, body: Any) -> None:
    """Fails when a route of this method and path says nothing of this answer."""
    code = body.get("code") if status >= BAD_REQUEST and isinstance(body, dict) else None
    for route, pattern in ROUTES:
        if route.method == method and pattern.fullmatch(path.partition("?")[0]) and status != UNAVAILABLE:
            told: set[tuple[int, str | None]] = {(good, None) for good in route.answers}
            told |= {(REFUSALS[reason].status, str(reason)) for reason in route.refusals}
            assert (status, code) in told, f"{method} {route.path} says nothing of {status} {code or ''}"

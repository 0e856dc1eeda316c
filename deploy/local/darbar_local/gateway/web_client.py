"""The built web client on the public port: a page at / and what it loads. Open this about its headers and caching."""

from __future__ import annotations

import gzip
import mimetypes
from collections.abc import Mapping
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

INDEX = "index.html"
# Names in here change with what is in the files.
NAMED_BY_CONTENT = "assets/"
CACHED_FOR_EVER = "public, max-age=31536000, immutable"
ASKED_AGAIN = "no-cache"
# The page's own policy on scripts stands in the page; this is what only a header can say.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(self)",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
}


def routes(folder: Path) -> list[web.RouteDef]:
    """One for each file that is there now; none when the client has not been built."""
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if (folder / INDEX).is_file() else []
    return [_route(path, path.relative_to(folder).as_posix()) for path in files]


def _route(path: Path, name: str) -> web.RouteDef:
    return web.get("/" if name == INDEX else f"/{name}", _handler(path.read_bytes(), name))


def _handler(content: bytes, name: str) -> Handler:
    """The file as it is now: a client that is built anew is served after the next start."""
    packed = gzip.compress(content, mtime=0)
    content_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    caching = CACHED_FOR_EVER if name.startswith(NAMED_BY_CONTENT) else ASKED_AGAIN
    headers = {**HEADERS, "Cache-Control": caching, "Content-Type": content_type}

    async def handle(request: web.Request) -> web.Response:
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=packed, headers={**headers, "Content-Encoding": "gzip"})
        return web.Response(body=content, headers=headers)

    return handle

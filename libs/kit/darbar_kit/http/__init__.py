"""HTTP as every service speaks it: border.py guards, requests.py reads, answers.py answers, routes.py probes."""

from darbar_kit.http.answers import answer, problem, streamed
from darbar_kit.http.border import errors_middleware
from darbar_kit.http.requests import BODY_BYTES_MAX, bearer, bearer_token, read_body, read_bytes, read_query
from darbar_kit.http.routes import health_routes, metrics_route

__all__ = [
    "BODY_BYTES_MAX",
    "answer",
    "bearer",
    "bearer_token",
    "errors_middleware",
    "health_routes",
    "metrics_route",
    "problem",
    "read_body",
    "read_bytes",
    "read_query",
    "streamed",
]

"""The public API as documents, kept beside the types from which they are written.

`make documents` writes them anew after a change of routes, frames, events or refusals.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal

Name = Literal["openapi.json", "asyncapi.json", "docs.html"]


@cache
def document(name: Name) -> bytes:
    """The whole text of one of them."""
    return resources.files(__name__).joinpath(name).read_bytes()

"""Writes every file that is made from the contracts: `make documents` after a change of what crosses a process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from asyncapi_document import asyncapi
from docs_page import docs_page
from openapi_document import openapi
from recorded_games import FOLDER, files
from refusals_page import page
from tracked import ROOT
from typescript import typescript

DOCUMENTS = "libs/contracts/darbar_contracts/documents"
LINE_CHARACTERS_MAX = 120


@cache
def written() -> Mapping[str, str]:
    """The text of each file, by its path."""
    http, socket = openapi(), asyncapi()
    return {
        f"{DOCUMENTS}/openapi.json": f"{pretty(http)}\n",
        f"{DOCUMENTS}/asyncapi.json": f"{pretty(socket)}\n",
        f"{DOCUMENTS}/docs.html": docs_page(http, socket),
        "docs/refusals.md": "".join(f"{line}\n" for line in page()),
        "web/src/contracts.ts": typescript(),
        **{str((FOLDER / name).relative_to(ROOT)): text for name, text in files().items()},
    }


def pretty(value: Any, *, at: int = 0) -> str:
    """JSON in which what is short stands on one line: a change is seen, and no file is longer than it must be."""
    line = json.dumps(value, ensure_ascii=False)
    if at + len(line) <= LINE_CHARACTERS_MAX or not isinstance(value, dict | list):
        return line
    inner, outer = " " * (at + 1), " " * at
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + pretty(item, at=at + 1) for item in value) + f"\n{outer}]"
    parts = (f"{inner}{json.dumps(name)}: {pretty(part, at=at + 1)}" for name, part in value.items())
    return "{\n" + ",\n".join(parts) + f"\n{outer}}}"


if __name__ == "__main__":
    for path, text in written().items():
        (ROOT / path).write_text(text)

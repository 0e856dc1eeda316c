"""Writes the documents of the API: `.venv/bin/python tests/repository/write_documents.py` after a change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from asyncapi_document import asyncapi
from docs_page import docs_page
from openapi_document import openapi

import darbar_contracts.documents

FOLDER = Path(darbar_contracts.documents.__file__).parent
LINE_CHARACTERS_MAX = 120


def written() -> Mapping[str, str]:
    """The text of each file."""
    http, socket = openapi(), asyncapi()
    return {
        "openapi.json": f"{pretty(http)}\n",
        "asyncapi.json": f"{pretty(socket)}\n",
        "docs.html": docs_page(http, socket),
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
    for name, text in written().items():
        (FOLDER / name).write_text(text)

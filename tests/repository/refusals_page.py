"""The text of docs/refusals.md, from the registry of refusals. write_documents.py writes it down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from darbar_contracts.refusals import REFUSALS, Reason, Refusal

HEAD = """# Refusals

Every reason for which Darbar refuses something, or can't do it just now. A code has one HTTP status and one sentence
everywhere; once released, it is never renamed and never gets another meaning. Over HTTP a refusal is

```json
{"code": "seat_taken", "message": "This seat is taken.", "details": {}}
```

and on a table's socket a frame `refused` with the same three fields, the command's `id`, and `retry`: whether the same
command with the same `id` may be sent again later. Clients decide by `code` alone. `details` say what is particular to
the case, and may get more fields at any time.

This page is written by `make documents` from `libs/contracts/darbar_contracts/refusals.py`.
"""


def page() -> Iterator[str]:
    """The lines of the document."""
    yield from HEAD.splitlines()
    services = {code.value for code in Reason}
    yield from _section("From the services", (refusal for refusal in REFUSALS.values() if refusal.code in services))
    yield from _section(
        "From the rules of the games", (refusal for refusal in REFUSALS.values() if refusal.code not in services)
    )


def _section(title: str, refusals: Iterable[Refusal]) -> Iterator[str]:
    yield from ("", f"## {title}", "", "| code | status | try again | sentence |", "|---|---|---|---|")
    for refusal in sorted(refusals, key=lambda refusal: refusal.code):
        yield f"| `{refusal.code}` | {refusal.status} | {'yes' if refusal.retry else ''} | {refusal.sentence} |"

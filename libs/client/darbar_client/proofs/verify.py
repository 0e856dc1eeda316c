"""Proofs that need no trust in the server: its chain, its deals, its views. Open this to check a finished game.

Each function takes the log that `Player.replay` brings. What a log can't prove is said in docs/fairness.md.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from darbar_client.proofs.deals import DealReport, deal_reports
from darbar_client.proofs.log import Step, rules_of, steps
from darbar_contracts.api import Replay, ReplayEvent
from darbar_contracts.frames import EventFrame, Snapshot
from darbar_contracts.tables import JsonObject
from darbar_rules.game import AnyGame

_SHARED = b"shared"
_ALIAS = re.compile(rb'"account_id":"[0-9a-f]{64}"')
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VERSION_BYTES = 4
_TIME_BYTES = 8


class ChainReport(msgspec.Struct, frozen=True):
    """`wrong_version`: the first event that does not follow from the ones before it. `withheld`: events whose body
    still holds a secret, so that their own link had to be taken as given."""

    events: int
    withheld: int
    wrong_version: int | None = None

    @property
    def holds(self) -> bool:
        return self.events > 0 and self.wrong_version is None


class ViewReport(msgspec.Struct, frozen=True):
    """What was compared with the rules' own account of the game, and what differs."""

    events: int
    frames: int
    views: int
    differences: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return self.frames + self.views > 0 and not self.differences


# A frame that doesn't say who decided was decided by the seat's player.
PLAYER = "player"


def verify_chain(replay: Replay) -> ChainReport:
    """Makes every link again: a changed, moved, removed or inserted event is found. `replay` is a whole log."""
    table_id = UUID(replay.table_id)
    previous = hashlib.sha256(b"darbar" + table_id.bytes).digest()
    withheld = 0
    for expected, event in enumerate(replay.events, start=1):
        if event.body is None:
            withheld += 1
        if event.version != expected or not _follows(previous, table_id, event):
            return ChainReport(len(replay.events), withheld, expected)
        previous = bytes.fromhex(event.chain)
    return ChainReport(len(replay.events), withheld)


def verify_deals(replay: Replay) -> tuple[DealReport, ...]:
    """Deals every finished round again from its seeds. Raises LogUnreadable."""
    return tuple(deal_reports(replay))


def verify_views(replay: Replay, seen: Iterable[tuple[int | None, EventFrame | Snapshot]]) -> ViewReport:
    """Plays the log through the rules and compares what each seat was sent with what it should have been sent.

    `seen` has the frames with the seat that got them; those after the log's end are left aside. Raises LogUnreadable.
    """
    by_version: dict[int, list[tuple[int | None, EventFrame | Snapshot]]] = {}
    for seat, frame in seen:
        by_version.setdefault(frame.version, []).append((seat, frame))
    rules = rules_of(replay)
    differences: list[str] = []
    frames = views = 0
    for step in steps(replay):
        for seat, frame in by_version.get(step.version, ()):
            if isinstance(frame, Snapshot):
                views += 1
                found = _view_differs(rules, step, seat, frame)
            else:
                frames += 1
                found = _frame_differs(rules, step, seat, frame)
            if found:
                differences.append(f"version {step.version}, {step.kind}, seat {seat}: {found}")
    return ViewReport(len(replay.events), frames, views, tuple(differences))


def link(previous: bytes, table_id: UUID, event: ReplayEvent, *, body: bytes) -> bytes:
    """sha256(previous, table_id, version, kind, at, body): version in 4 bytes, at as microseconds since 1970 in 8, both
    big-endian; kind and body as their UTF-8. "shared" stands before all of it where the body has an alias in place of
    an account's id."""
    return hashlib.sha256(
        (_SHARED if _ALIAS.search(body) else b"")
        + previous
        + table_id.bytes
        + event.version.to_bytes(_VERSION_BYTES, "big")
        + event.kind.encode()
        + _microseconds(event.at).to_bytes(_TIME_BYTES, "big")
        + body
    ).digest()


def _follows(previous: bytes, table_id: UUID, event: ReplayEvent) -> bool:
    try:
        given = bytes.fromhex(event.chain)
        if event.body is None:
            return len(given) == hashlib.sha256().digest_size
        return link(previous, table_id, event, body=event.body.encode()) == given
    except (ValueError, OverflowError):
        return False  # No hex or no version: this was never written by a table.


def _microseconds(at: datetime) -> int:
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _view_differs(rules: AnyGame, step: Step, seat: int | None, frame: Snapshot) -> str:
    due = None if step.state is None else _plain(rules.view(step.state, seat))
    if due == frame.game:
        return ""
    if due is None or frame.game is None:
        return "there is a view on one side only"
    return "the view differs in " + ", ".join(sorted(name for name in due if due[name] != frame.game.get(name)))


def _frame_differs(rules: AnyGame, step: Step, seat: int | None, frame: EventFrame) -> str:
    if frame.kind != step.kind:
        return f"it was sent as {frame.kind}"
    if step.event is None:
        return _around_differs(frame.public, step)
    shown = rules.show(step.before, step.event)
    due = _plain(shown.public) | ({} if step.by == PLAYER else {"by": step.by})
    if due != frame.public:
        return "what everyone sees differs"
    secret = None if seat is None else shown.secret.get(seat)
    if (None if secret is None else _plain(secret)) != frame.secret:
        return "what only this seat sees differs"
    return ""


def _around_differs(public: JsonObject, step: Step) -> str:
    """What happens around the cards is shown in part; that part must be what is stored."""
    if step.logged.body is None:
        return ""
    body = step.body(JsonObject)
    wrong = [name for name, value in public.items() if name not in body or body[name] != value]
    return "differs in " + ", ".join(sorted(wrong)) if wrong else ""


def _plain(value: object) -> JsonObject:
    """As it looks after a journey as JSON."""
    return msgspec.json.decode(msgspec.json.encode(value), type=JsonObject)

"""Proofs of a finished game, on a log that a table wrote, and on the same log after somebody had been at it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from shared_logs import shared_as_now

from darbar_client import Replay, ReplayEvent
from darbar_client.proofs.log import LogUnreadable
from darbar_client.proofs.verify import verify_chain, verify_deals, verify_views
from darbar_contracts.frames import AnyServerFrame, EventFrame, Snapshot
from darbar_contracts.tables import alias_of
from darbar_rules.testing import at_least

GOLDEN = Path(__file__).parent / "golden"
Seen = tuple[int, EventFrame | Snapshot]
Log = list[ReplayEvent]
replaced = msgspec.structs.replace


@pytest.fixture(scope="module")
def replay() -> Replay:
    head, *events = (GOLDEN / "court_piece_hidden.ndjson").read_bytes().splitlines()
    return msgspec.convert(
        msgspec.json.decode(head) | {"events": [msgspec.json.decode(event) for event in events]}, Replay
    )


@pytest.fixture(scope="module")
def seen() -> list[Seen]:
    lines = (GOLDEN / "court_piece_hidden_seen.ndjson").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=tuple[int, AnyServerFrame]) for line in lines]  # type: ignore[misc]


def with_events(replay: Replay, change: Callable[[Log], Log]) -> Replay:
    return replaced(replay, events=tuple(change(list(replay.events))))


def with_body(replay: Replay, kind: str, **changes: Any) -> Replay:
    """The first event of a kind with other fields."""

    def change(events: Log) -> Log:
        place = next(number for number, event in enumerate(events) if event.kind == kind)
        body = msgspec.json.decode(events[place].body or "") | changes
        events[place] = replaced(events[place], body=msgspec.json.encode(body).decode())
        return events

    return with_events(replay, change)


def test_the_chain_of_a_log_as_it_was_written_holds(replay: Replay) -> None:
    report = verify_chain(replay)
    assert report.holds
    assert report.events == len(replay.events)
    # The second bag of flags is not empty yet.
    assert report.withheld == 1


def test_the_chain_holds_over_aliases_in_place_of_accounts_and_over_no_others(replay: Replay) -> None:
    shared = shared_as_now(replay)
    assert verify_chain(shared).holds
    assert any(alias_of(replay.table_id, "account-amir") in (event.body or "") for event in shared.events)
    naming = [event for event in shared.events if event.body is not None and '"account_id":"' in event.body]
    for event in at_least(4, naming):
        other = (event.body or "").replace('"account_id":"', '"account_id":"0', 1)
        events = altered(list(shared.events), event.version - 1, body=other)
        assert verify_chain(replaced(shared, events=tuple(events))).wrong_version == event.version


def altered(events: Log, place: int, **changes: Any) -> Log:
    return [*events[:place], replaced(events[place], **changes), *events[place + 1 :]]


TAMPERINGS: dict[str, Callable[[Log], Log]] = {
    "a card was exchanged": lambda log: altered(log, 60, body=(log[60].body or "").replace('"seat":', '"seat" :', 1)),
    "a space was added": lambda log: altered(log, 3, body=(log[3].body or "") + " "),
    "another kind": lambda log: altered(log, 10, kind=log[10].kind + "_"),
    "a second later": lambda log: altered(log, 10, at=log[10].at + timedelta(seconds=1)),
    "a link of its own": lambda log: altered(log, 10, chain="00" * 32),
    "no hexadecimal": lambda log: altered(log, 10, chain="not hex"),
    "a withheld body with half a link": lambda log: altered(log, 10, body=None, chain="00" * 16),
    "a withheld body with another link": lambda log: altered(log, 10, body=None, chain="00" * 32),
    "an event was removed": lambda log: log[:10] + log[11:],
    "an event was removed and the rest counted anew": lambda log: renumbered(log[:10] + log[11:]),
    "an event was put in twice": lambda log: renumbered([*log[:11], *log[10:]]),
    "two events changed places": lambda log: renumbered([*log[:10], log[11], log[10], *log[12:]]),
    "the first event is gone": lambda log: log[1:],
    "the log of nothing": lambda log: [],
}


def renumbered(events: Log) -> Log:
    return [replaced(event, version=number) for number, event in enumerate(events, start=1)]


@pytest.mark.parametrize("name", list(TAMPERINGS))
def test_a_log_that_was_tampered_with_does_not_hold(replay: Replay, name: str) -> None:
    assert not verify_chain(with_events(replay, TAMPERINGS[name])).holds


def test_the_first_wrong_event_is_named(replay: Replay) -> None:
    changed = with_events(replay, lambda log: altered(log, 41, body='{"seat":0}'))
    assert verify_chain(changed).wrong_version == 42


def test_a_log_does_not_hold_for_another_table(replay: Replay) -> None:
    other = replaced(replay, table_id="00000000-0000-4000-8000-000000000000")
    assert verify_chain(other).wrong_version == 1


def test_the_zone_in_which_a_time_is_written_does_not_matter(replay: Replay) -> None:
    elsewhere = timezone(timedelta(hours=5, minutes=30))
    other = with_events(replay, lambda log: [replaced(e, at=e.at.astimezone(elsewhere)) for e in log])
    assert verify_chain(other).holds


@pytest.mark.parametrize("at", ["yesterday", "2025-06-01T12:30:00"])
def test_an_event_without_a_time_and_its_zone_is_not_read(replay: Replay, at: str) -> None:
    event = msgspec.to_builtins(replay.events[0]) | {"at": at}
    with pytest.raises(msgspec.ValidationError, match="at"):
        msgspec.convert(event, ReplayEvent)


def test_every_deal_of_a_game_is_proven(replay: Replay) -> None:
    reports = verify_deals(replay)
    assert [report.round for report in reports] == list(range(1, len(reports) + 1))
    assert [report.differences for report in reports] == [()] * len(reports)
    assert any(report.strings for report in reports)
    assert {report.filtered for report in reports} == {True, False}


SHOWN = "seeds_shown"


@pytest.mark.parametrize(
    ("kind", "changes", "found"),
    [
        (SHOWN, {"server_seed": "00" * 32}, "server_seed: not the one"),
        (SHOWN, {"server_seed": "not hex"}, "server_seed: not hexadecimal"),
        (SHOWN, {"strings": {}}, "strings: not those that were opened"),
        (SHOWN, {"strings": {"0": "another"}}, "strings: seat 0 opened another one"),
        (SHOWN, {"left_out": [0, 1, 2, 3]}, "left_out"),
        (SHOWN, {"filtered": False}, "filtered: the bag of flags says otherwise"),
        (SHOWN, {"round": 2}, "server_seed: there was no count-in"),
        ("count_in_started", {"commitment": "00" * 32}, "server_seed: not the one"),
        ("seed_committed", {"sha256": "00" * 32}, "opened another one"),
    ],
)
def test_a_deal_that_was_tampered_with_is_not_proven(
    replay: Replay, kind: str, changes: dict[str, Any], found: str
) -> None:
    first = verify_deals(with_body(replay, kind, **changes))[0]
    assert found in "; ".join(first.differences)


def test_flags_that_are_not_those_of_the_bag_are_found_when_its_seed_is_shown(replay: Replay) -> None:
    shown = [number for number, event in enumerate(replay.events) if event.kind == SHOWN]
    body = msgspec.json.decode(replay.events[shown[6]].body or "")
    assert body["bag_seed"] is not None
    other = msgspec.json.encode(body | {"bag_seed": "00" * 32}).decode()
    report = verify_deals(with_events(replay, lambda log: altered(log, shown[6], body=other)))[6]
    assert any("bag" in difference for difference in report.differences)


def test_cards_that_were_dealt_otherwise_are_found(replay: Replay) -> None:
    ended = next(event for event in replay.events if event.kind == "round_ended")
    body = msgspec.json.decode(ended.body or "")
    hands = body["event"]["deal"]["hands"]
    hands[0][0], hands[1][0] = hands[1][0], hands[0][0]
    first = verify_deals(with_body(replay, "round_ended", event=body["event"]))[0]
    assert "hands: seat 0" in "; ".join(first.differences)


@pytest.mark.parametrize("kind", ["round_dealt", "card_played", "seeds_shown"])
def test_a_log_that_the_rules_cannot_follow_is_called_unreadable(replay: Replay, kind: str) -> None:
    broken = with_events(replay, lambda log: [replaced(e, body="{}") if e.kind == kind else e for e in log])
    with pytest.raises(LogUnreadable):
        verify_deals(broken)


def test_a_log_of_an_unknown_game_is_called_unreadable(replay: Replay) -> None:
    with pytest.raises(LogUnreadable, match="whist"):
        verify_deals(replaced(replay, terms=replaced(replay.terms, game="whist")))


def test_what_the_seats_were_sent_is_what_the_rules_give(replay: Replay, seen: list[Seen]) -> None:
    report = verify_views(replay, seen)
    assert report.holds, report.differences
    assert report.frames > 100
    assert report.views >= 10


def lied(seen: list[Seen], change: Callable[[EventFrame], EventFrame], kind: str) -> list[Seen]:
    place = next(n for n, (_, frame) in enumerate(seen) if isinstance(frame, EventFrame) and frame.kind == kind)
    seat, frame = seen[place]
    assert isinstance(frame, EventFrame)
    return [*seen[:place], (seat, change(frame)), *seen[place + 1 :]]


@pytest.mark.parametrize(
    ("kind", "change", "found"),
    [
        ("card_played", {"public": {"seat": 1}}, "what everyone sees"),
        ("card_played", {"secret": {"card": "AS"}}, "what only this seat sees"),
        ("card_played", {"kind": "round_dealt"}, "sent as round_dealt"),
        ("count_in_started", {"public": {"round": 9}}, "differs in round"),
        ("seat_taken", {"public": {"balance": 9}}, "differs in balance"),
    ],
)
def test_a_frame_that_was_not_so_is_found(
    replay: Replay, seen: list[Seen], kind: str, change: dict[str, Any], found: str
) -> None:
    report = verify_views(replay, lied(seen, lambda frame: replaced(frame, **change), kind))
    assert not report.holds
    assert found in report.differences[0]


def test_a_view_that_was_not_so_is_found(replay: Replay, seen: list[Seen]) -> None:
    place = next(n for n, (_, frame) in enumerate(seen) if isinstance(frame, Snapshot))
    seat, frame = seen[place]
    assert isinstance(frame, Snapshot)
    assert frame.game is not None
    lie = replaced(frame, game=frame.game | {"turn": -1})
    report = verify_views(replay, [(seat, lie)])
    assert report.differences[0].endswith("the view differs in turn")


def test_nothing_seen_proves_nothing(replay: Replay) -> None:
    assert not verify_views(replay, []).holds

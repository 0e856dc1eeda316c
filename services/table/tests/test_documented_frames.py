"""Every message of the AsyncAPI document is sent, and nothing that it does not tell: all games, all that may happen."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable

import msgspec
from documented_frames import Documented, validators
from golden_log import SCRIPTS
from table_scripts import Script

from darbar_contracts.tables import Person
from darbar_rules.game import AnyGame
from darbar_rules.games import ALL
from darbar_rules.testing import pairwise_options
from darbar_table.domain.seat_view import seat_frames, snapshot
from darbar_table.domain.state import Phase

REMAINING_MS = 9000
ROUNDS = 1


def told(script: Script) -> Counter[str]:
    """Every frame of a script and a snapshot after each, as each seat and a spectator receive them."""
    seen: Counter[str] = Counter()
    viewers = (*range(len(script.table.seats)), None)
    accounts = re.compile(rb"\b(%b)\b" % b"|".join(accounts_of(script)))
    for viewer in viewers:
        documented = Documented()
        for before, event, after in script.log:
            taken = snapshot(after, viewer, REMAINING_MS)
            frame = seat_frames(before, event, after, REMAINING_MS).for_seat(viewer)
            documented.told(msgspec.json.decode(taken))
            documented.told(msgspec.json.decode(frame))
            assert accounts.search(taken + frame) is None, "nobody is told an account's id"
        seen += documented.seen
    return seen


def accounts_of(script: Script) -> set[bytes]:
    """Whoever has had a seat."""
    ids = {account for _, _, after in script.log for account in after.accounts if account is not None}
    return {re.escape(account.encode()) for account in ids}


def played(rules: AnyGame, options: object, seed: int) -> Script:
    """People in every seat, who decide at random."""
    dice = random.Random(seed)
    script = Script(rules=rules, **msgspec.to_builtins(options))
    while not script.table.full:
        number = len(script.table.people)
        script.sit(Person(f"account-{number}", f"Player {number}", "fox"))
    for _ in range(ROUNDS):
        while script.phase is not Phase.PLAYING:
            script.step()
        script.play_blindly(dice)
    return script


def test_every_event_and_every_view_is_sent_as_the_document_tells(
    record_property: Callable[[str, object], None],
) -> None:
    seen: Counter[str] = Counter()
    for made in SCRIPTS.values():
        seen += told(made())
    for rules in ALL:
        for seed, options in enumerate(pairwise_options(rules)):
            seen += told(played(rules, options, seed))
    record_property("count", f"{seen.total()} frames of {len(seen)} messages")
    expected = {name for name in validators() if "." in name}
    assert set(seen) == expected

"""Were the cards of each round dealt as the seeds say? Open this when a deal is not proven."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec

from darbar_client.proofs.log import READING_FAILS, LogUnreadable, Step, options_of, rules_of, steps
from darbar_contracts.api import Replay
from darbar_rules.deal import Chance, bag_flags, commitment
from darbar_rules.game import AnyGame


class DealReport(msgspec.Struct, frozen=True):
    """One finished round. `differences` is empty when its deal is proven; `strings` players had a part in it."""

    game: int
    round: int
    strings: int
    filtered: bool
    differences: tuple[str, ...]

    @property
    def proven(self) -> bool:
        return not self.differences


class SeedsShown(msgspec.Struct, frozen=True):
    """What the table shows of a round's chance when it is over; seats are written as text."""

    game: int
    round: int
    server_seed: str
    strings: dict[str, str]
    left_out: tuple[int, ...]
    filtered: bool
    bag: int
    bag_seed: str | None = None


class _CountInStarted(msgspec.Struct, frozen=True):
    game: int
    round: int
    commitment: str


class _SeedCommitted(msgspec.Struct, frozen=True):
    seat: int
    sha256: str


class _SeedOpened(msgspec.Struct, frozen=True):
    seat: int
    string: str


class _BagOpened(msgspec.Struct, frozen=True):
    bag: int
    commitment: str


def deal_reports(replay: Replay) -> Iterator[DealReport]:
    """One report a finished round, in the order of play. Raises LogUnreadable."""
    rules, options = rules_of(replay), options_of(replay)
    seeds = _Seeds(replay.table_id)
    for step in steps(replay):
        try:
            if step.kind == "seeds_shown":
                yield _report(replay.table_id, rules, options, step=step, seeds=seeds)
            else:
                seeds.note(step)
        except READING_FAILS as error:
            raise LogUnreadable(f"version {step.version}: {step.kind}: {error!r}") from error


def _report(table_id: str, rules: AnyGame, options: object, *, step: Step, seeds: _Seeds) -> DealReport:
    shown = step.body(SeedsShown)
    differences = seeds.differences(shown)
    chance = _chance(table_id, shown)
    if chance is None:
        differences += ("server_seed: not hexadecimal",)
    else:
        differences += rules.verify_deal(options, rules.deal_record(step.state), chance, shown.round)
    return DealReport(shown.game, shown.round, len(shown.strings), shown.filtered, differences)


def _chance(table_id: str, shown: SeedsShown) -> Chance | None:
    try:
        server_seed = bytes.fromhex(shown.server_seed)
    except ValueError:
        return None
    return Chance(
        server_seed,
        table_id=table_id,
        game=shown.game,
        round=shown.round,
        strings=tuple((int(seat), string) for seat, string in shown.strings.items()),
        filtered=shown.filtered,
    )


class _Seeds:
    """What was promised before a deal, to be compared with what is shown after it."""

    def __init__(self, table_id: str) -> None:
        self._table_id = table_id
        self._promised: _CountInStarted | None = None
        self._committed: dict[str, str] = {}
        self._opened: dict[str, str] = {}
        self._bags: dict[int, str] = {}
        self._used = 0
        self._flags: dict[int, bool] = {}

    def note(self, step: Step) -> None:
        match step.kind:
            case "count_in_started":
                self._promised, self._committed, self._opened = step.body(_CountInStarted), {}, {}
            case "seed_committed":
                committed = step.body(_SeedCommitted)
                self._committed[str(committed.seat)] = committed.sha256
            case "seed_opened":
                opened = step.body(_SeedOpened)
                self._opened[str(opened.seat)] = opened.string
            case "bag_opened":
                self._used, self._flags = 0, {}
                # Its body is withheld until the bag is empty.
                if step.logged.body is not None:
                    bag = step.body(_BagOpened)
                    self._bags[bag.bag] = bag.commitment
            case "round_started":
                self._used += 1

    def differences(self, shown: SeedsShown) -> tuple[str, ...]:
        """What of the promises was not kept; all events of a bag's rounds count, shown or not."""
        return (*self._seed_differs(shown), *self._strings_differ(shown), *self._bag_differs(shown))

    def _seed_differs(self, shown: SeedsShown) -> Iterator[str]:
        promised = self._promised
        if promised is None or (promised.game, promised.round) != (shown.game, shown.round):
            yield "server_seed: there was no count-in for this round"
        elif promised.commitment != _commitment(shown.server_seed):
            yield "server_seed: not the one whose sha256 was published before"

    def _strings_differ(self, shown: SeedsShown) -> Iterator[str]:
        if shown.strings != self._opened:
            yield "strings: not those that were opened"
        for seat, string in shown.strings.items():
            if hashlib.sha256(string.encode()).hexdigest() != self._committed.get(seat):
                yield f"strings: seat {seat} opened another one than it had committed to"
        left_out = sorted(int(seat) for seat in self._committed.keys() - self._opened.keys())
        if sorted(shown.left_out) != left_out:
            yield f"left_out: {left_out} were due"

    def _bag_differs(self, shown: SeedsShown) -> Iterator[str]:
        """The flags of a bag can be checked when its seed is shown, with its last round."""
        self._flags[self._used] = shown.filtered
        seed = shown.bag_seed
        if seed is None:
            return
        if _commitment(seed) != self._bags.get(shown.bag):
            yield "bag: its seed is not the one whose sha256 was published before"
            return
        due = bag_flags(bytes.fromhex(seed), table_id=self._table_id, bag=shown.bag)
        if self._used != len(due) or any(due[place - 1] != flag for place, flag in self._flags.items()):
            yield f"bag: its flags are {due}"


def _commitment(seed: str) -> str | None:
    try:
        return commitment(bytes.fromhex(seed))
    except ValueError:
        return None

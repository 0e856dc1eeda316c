"""Brings directory and statistics to what the table service says. Open this when a seat, code or number is wrong."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

import msgspec

from darbar_contracts.refusals import Reason
from darbar_contracts.tables import Milestone
from darbar_kit.errors import Unavailable
from darbar_lobby.domain.codes import CodeStep, code_step, new_code
from darbar_lobby.domain.directory_model import INVITE_BYTES, DirectoryEntry, Step
from darbar_lobby.domain.milestones import applied, entry_of, opened, step_for
from darbar_lobby.domain.statistics import step_of
from darbar_lobby.store.directory import DirectoryChange, DirectoryStore

# With half of all codes in use twenty tries fail once in a million.
CODE_TRIES_MAX = 20


class Progress(msgspec.Struct, frozen=True):
    """What came of some milestones: those applied, and the number after which one is missing (None: none is).

    `unreadable`: the table is unknown here and its first milestone says too little to begin with.
    """

    kinds: tuple[str, ...] = ()
    missing_after: int | None = None
    unreadable: bool = False


class DirectoryProjector:
    """The one place that changes entries of the directory after they were stored."""

    def __init__(self, directory: DirectoryStore, *, below: Callable[[int], int] = secrets.randbelow) -> None:
        self._directory = directory
        self._below = below

    async def open(self, table_id: str) -> tuple[DirectoryEntry, str | None]:
        """The table service has made the table: it is listed and has a code. Safe to repeat."""
        async with self._directory.changing(table_id) as change:
            entry = await change.entry()
            if entry is None:
                # Somebody else was told that the table was refused, and forgot it.
                raise Unavailable(Reason.TABLES_UNAVAILABLE, "the table is not known any more; ask again")
            after = opened(entry)
            await self._write(change, entry, after, kind="table_created")
            return after, await change.code()

    async def apply(self, table_id: str, milestones: Sequence[Milestone]) -> Progress:
        """Applies what is next, in one transaction with the last number; stops at the first gap."""
        kinds: list[str] = []
        async with self._directory.changing(table_id) as change:
            entry = await change.entry()
            for milestone in milestones:
                if entry is None:
                    if milestone.number > 1:
                        return Progress(missing_after=0)
                    entry = await self._unheard_of(change, milestone)
                    if entry is None:
                        return Progress(unreadable=True)
                match step_for(entry, milestone):
                    case Step.GAP:
                        return Progress(tuple(kinds), missing_after=entry.number)
                    case Step.APPLY:
                        after = applied(entry, milestone)
                        await self._write(change, entry, after, kind=milestone.kind)
                        if (step := step_of(await change.statistics.under_way(), milestone)) is not None:
                            await change.statistics.write(entry.terms.game, step)
                        entry = after
                        kinds.append(milestone.kind)
                    case Step.DROP:
                        pass
        return Progress(tuple(kinds))

    async def _unheard_of(self, change: DirectoryChange, first: Milestone) -> DirectoryEntry | None:
        entry = entry_of(first, secrets.token_urlsafe(INVITE_BYTES))
        if entry is None:
            return None
        await change.new_entry(entry)
        # Another lobby may have stored it at the same moment: what lies there counts.
        return await change.entry()

    async def _write(
        self, change: DirectoryChange, before: DirectoryEntry, after: DirectoryEntry, *, kind: str
    ) -> None:
        await change.write(before, after)
        match code_step(after, kind, has_code=await change.code() is not None):
            case CodeStep.GIVE:
                await self._give_code(change)
            case CodeStep.FREE:
                await change.free_code()
            case CodeStep.KEEP:
                pass

    async def _give_code(self, change: DirectoryChange) -> None:
        for _ in range(CODE_TRIES_MAX):
            if await change.give_code(new_code(self._below)):
                return
        raise Unavailable(Reason.CODES_EXHAUSTED)

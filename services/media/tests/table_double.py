"""A table's owner as media hears it: holds the microphone for one grant, and keeps what it is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import TABLE_WHERE, table_note
from darbar_contracts.tables import WhereAnswer, WhereRequest
from darbar_contracts.voice import (
    NoteStep,
    NoteStepTaken,
    NoteStored,
    UploadBegan,
    UploadEnded,
    UploadRefused,
    UploadTicket,
)
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_kit.seals import Seal

PROCESS_ID = "p1"


class TableDouble:
    """`seated`: who hears what is sent now. `told`: every step, in its order."""

    def __init__(self, seal: Seal) -> None:
        self._seal = seal
        self.seated: tuple[str, ...] = ("ann", "bob", "cid")
        self.held: set[str] = set()
        self.told: list[NoteStep] = []

    async def serve(self, bus: Bus) -> None:
        await bus.serve(TABLE_WHERE, WhereRequest, self._where)
        await bus.serve(table_note(PROCESS_ID), NoteStep, self._note)

    def grant(self, account_id: str, *, now: datetime, seconds: float = 10.0, round: int = 1) -> UploadTicket:
        """The microphone, for whoever it is."""
        ticket = UploadTicket(
            table_id=str(uuid4()),
            game_number=1,
            round=round,
            account_id=account_id,
            seat=0,
            grant_id=str(uuid4()),
            expires_at=now + timedelta(seconds=seconds),
        )
        self.held.add(ticket.grant_id)
        return ticket

    def sealed(self, ticket: UploadTicket) -> dict[str, str]:
        return {"Upload-Ticket": self._seal.write(ticket)}

    def steps(self, kind: type) -> list[NoteStep]:
        return [step for step in self.told if isinstance(step.step, kind)]

    @property
    def stored(self) -> NoteStored:
        """The last note that everybody is told of."""
        step = self.told[-1].step
        assert isinstance(step, NoteStored), step
        return step

    async def _where(self, _request: WhereRequest) -> WhereAnswer:
        return WhereAnswer(PROCESS_ID)

    async def _note(self, step: NoteStep) -> NoteStepTaken:
        match step.step:
            case UploadBegan() if step.ticket.grant_id not in self.held:
                raise Refused(Reason.MICROPHONE_NOT_HELD)
            case UploadEnded():
                self.held.discard(step.ticket.grant_id)
                self.told.append(step)
                return NoteStepTaken(self.seated, datetime.now(UTC))
            case UploadRefused():
                self.held.discard(step.ticket.grant_id)
        self.told.append(step)
        return NoteStepTaken()

"""What the lobby is asked and told over NATS: maintenance, and who blocks whom."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from darbar_contracts.tables import OperatorText


class ChangeMaintenance(msgspec.Struct, frozen=True):
    """An operator announces maintenance, or takes that back (None), or says whether new tables are made (TL-40).

    What is not set stays as it is. Repeating it changes nothing.
    """

    operator: OperatorText
    announcement: OperatorText | UnsetType | None = UNSET
    draining: bool | UnsetType = UNSET


class MaintenanceRequest(msgspec.Struct, frozen=True):
    """Ask for the Maintenance of now."""


class Maintenance(msgspec.Struct, frozen=True):
    """What operators have said last. `number` grows with every change: an older one that comes late is dropped.

    `draining`: no new tables are made.
    """

    number: int
    announcement: str | None
    draining: bool

"""How many sockets may be open, and whose. Open this about `sockets_too_many`."""

from __future__ import annotations

from collections import Counter

from darbar_contracts.refusals import Reason
from darbar_table.domain.refusals import refused
from darbar_table.settings import Settings
from darbar_table.socket.transport import Pace


class SocketLimits:
    """The open sockets of a process, counted by address from the upgrade on and by account from hello on.

    A maximum of 0 is no limit. Raises Refused `sockets_too_many`, whose detail `of` says which count is full.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._by_address: Counter[str] = Counter()
        self._by_account: Counter[str] = Counter()
        self._open = 0

    def upgraded(self, address: str) -> None:
        """One more socket from this address; `closed` takes it back."""
        _refuse_full("process", self._open, self._settings.sockets_max)
        _refuse_full("address", self._by_address[address], self._settings.sockets_an_address_max)
        self._open += 1
        self._by_address[address] += 1

    def closed(self, address: str) -> None:
        """A socket from this address is gone."""
        self._open -= 1
        _take_one(self._by_address, address)

    def refuse_account(self, account_id: str) -> None:
        """Whether this account may open one more."""
        _refuse_full("account", self._by_account[account_id], self._settings.sockets_an_account_max)

    def pace(self) -> Pace:
        """How fast one socket is read."""
        return Pace(self._settings.frames_a_second_max)

    def said_hello(self, account_id: str) -> None:
        """One more socket of this account; `ended` takes it back."""
        self._by_account[account_id] += 1

    def ended(self, account_id: str) -> None:
        """A socket that had said hello is gone."""
        _take_one(self._by_account, account_id)


def _take_one(counter: Counter[str], key: str) -> None:
    counter[key] -= 1
    if not counter[key]:
        del counter[key]


def _refuse_full(of: str, count: int, count_max: int) -> None:
    if count_max and count >= count_max:
        raise refused(Reason.SOCKETS_TOO_MANY, of=of, count_max=count_max)

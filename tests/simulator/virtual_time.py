"""The product's clocks and its chance, as long as a simulation runs. Open this when a seed does not replay exactly.

Whatever module of Darbar has got hold of a clock, of `random`, `secrets` or `uuid4` is given one that asks the running
simulation, and the real one when there is none. Nothing in the product knows of it.
"""

from __future__ import annotations

import importlib
import inspect
import random
import secrets
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from types import FunctionType, ModuleType
from typing import Any

from virtual_loop import VirtualLoop

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
# Modules that read the wall; a new one is found by `test_every_clock_is_known`. No token is read here: players come in
# at the gateway, behind the socket.
NOT_SIMULATED = ("darbar_kit.tokens",)
READ_THE_WALL = (
    "darbar_table.engine.microphones",
    "darbar_table.engine.owner",
    "darbar_table.engine.table_timers",
    "darbar_table.handlers.gateway",
    "darbar_table.handlers.questions",
    "darbar_table.socket.session",
    "darbar_table.store.archiver",
    "darbar_wallet.engine.tables_comparison",
    "darbar_wallet.store.ledger_audit",
)

_real_monotonic = time.monotonic


class Running:
    """The simulation that runs at present."""

    loop: VirtualLoop | None = None
    chance: random.Random = random.Random(0)
    is_installed = False


def monotonic() -> float:
    loop = Running.loop
    return _real_monotonic() if loop is None else loop.now


class Wall(datetime):
    """In place of `datetime` in modules that ask it for the time: every process has its own clock on the wall."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        loop = Running.loop
        if loop is None:
            return datetime.now(tz)
        return START + timedelta(seconds=loop.now + loop.current.skew_seconds)


class _Time(ModuleType):
    """In place of `time`."""

    monotonic = staticmethod(monotonic)

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class _Random(ModuleType):
    """In place of `random`."""

    @staticmethod
    def uniform(low: float, high: float) -> float:
        return random.uniform(low, high) if Running.loop is None else Running.chance.uniform(low, high)

    @staticmethod
    def Random(*seed: Any) -> random.Random:  # noqa: N802
        return random.Random(*seed) if Running.loop is None or seed else Running.chance

    def __getattr__(self, name: str) -> Any:
        return getattr(random, name)


class _Secrets(ModuleType):
    """In place of `secrets`."""

    @staticmethod
    def token_hex(count: int | None = None) -> str:
        if Running.loop is None:
            return secrets.token_hex(count)
        return Running.chance.randbytes(count or 32).hex()

    def __getattr__(self, name: str) -> Any:
        return getattr(secrets, name)


def uuid4() -> uuid.UUID:
    if Running.loop is None:
        return uuid.uuid4()
    return uuid.UUID(bytes=Running.chance.randbytes(16), version=4)


def install() -> None:
    """Once, after everything has been imported; repeating it changes nothing."""
    if Running.is_installed:
        return
    Running.is_installed = True
    instead: list[tuple[object, object]] = [
        (time.monotonic, monotonic),
        (time, _Time("time")),
        (random, _Random("random")),
        (secrets, _Secrets("secrets")),
        (uuid.uuid4, uuid4),
    ]
    for name in READ_THE_WALL:
        importlib.import_module(name)
    for name, module in list(sys.modules.items()):
        if not name.startswith("darbar_") or ".testing" in name:
            continue
        for real, virtual in instead:
            for attribute, value in list(vars(module).items()):
                if value is real:
                    setattr(module, attribute, virtual)
        if name in READ_THE_WALL:
            vars(module)["datetime"] = Wall
        for function in _functions(module):
            _replace_defaults(function)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        if isinstance(value, FunctionType):
            yield value
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            yield from (member for member in vars(value).values() if isinstance(member, FunctionType))


def _replace_defaults(function: FunctionType) -> None:
    """A clock that a parameter has when nothing is given; functions that read the wall do so by their module's name."""

    def virtual(value: Any) -> Any:
        return monotonic if value is _real_monotonic else value

    if function.__kwdefaults__:
        function.__kwdefaults__ = {name: virtual(value) for name, value in function.__kwdefaults__.items()}
    if function.__defaults__:
        function.__defaults__ = tuple(map(virtual, function.__defaults__))

"""Which services there are, what each needs and which paths are its own. Open this to add a service."""

import re
from collections.abc import Callable, Mapping
from importlib import import_module, resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from aiohttp import web

from darbar_kit.settings import load


class Service(msgspec.Struct, frozen=True):
    """`database` is empty for a service that stores nothing."""

    name: str
    database: str = ""

    @property
    def package(self) -> str:
        return f"darbar_{self.name}"

    @property
    def prefix(self) -> str:
        """Of its variables."""
        return f"DARBAR_{self.name.upper()}_"

    @property
    def migrations(self) -> Path:
        return Path(str(resources.files(self.package).joinpath("migrations")))

    @property
    def settings_type(self) -> type[msgspec.Struct]:
        found: type[msgspec.Struct] = import_module(f"{self.package}.settings").Settings
        return found

    def settings(self, environ: Mapping[str, str]) -> msgspec.Struct:
        """Out of its variables. Raises SettingsInvalid."""
        return load(self.settings_type, prefix=self.prefix, environ=environ)

    @property
    def build_app(self) -> Callable[[Any], web.Application]:
        built: Callable[[Any], web.Application] = import_module(f"{self.package}.app").build_app
        return built


# In the order in which they start: who is asked comes before who asks.
ALL: tuple[Service, ...] = (
    Service("wallet", database="wallet"),
    Service("media", database="media"),
    Service("bot"),
    Service("table", database="tables"),
    Service("lobby", database="lobby"),
)
BY_NAME: Mapping[str, Service] = MappingProxyType({service.name: service for service in ALL})

# The first that fits owns the path. Public paths never overlap, so one origin serves all of them.
_PATHS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"/play/"), "table"),
    (re.compile(r"/v1/tables/[^/]+/(replay|audit)(/|$)"), "table"),
    (re.compile(r"/v1/(me/)?wallet(/|$)"), "wallet"),
    (re.compile(r"/v1/(me/voice|voice-notes)(/|$)"), "media"),
    (re.compile(r"/v1/"), "lobby"),
    (re.compile(r"/join/"), "lobby"),
)


def owner(path: str) -> str:
    """The service that answers this path; empty for what belongs to no service."""
    return next((name for pattern, name in _PATHS if pattern.match(path)), "")

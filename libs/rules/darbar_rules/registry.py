"""Games by their name. Open this to register one for a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from darbar_rules.game import AnyGame


class Registry(Mapping[str, AnyGame]):
    """The games that can be played, in the order of their lines."""

    def __init__(self, *games: AnyGame) -> None:
        self._games = {game.name: game for game in games}

    def __getitem__(self, name: str) -> AnyGame:
        return self._games[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._games)

    def __len__(self) -> int:
        return len(self._games)

    @contextmanager
    def registered(self, game: AnyGame) -> Iterator[None]:
        """One game more for as long as a test lasts. What is built from the registry must be built meanwhile."""
        if game.name in self._games:
            raise ValueError(f"there is a game {game.name} already")
        self._games[game.name] = game
        try:
            yield
        finally:
            del self._games[game.name]

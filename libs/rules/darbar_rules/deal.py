"""Every chance of a round, from its seed: permutations, lots, the bag of filter flags. Open this about fair deals."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass

FILTERED_IN_BAG = 5
FLAGS_IN_BAG = 7
COUNTER_BYTES = 8
WORD_BYTES = 8


class Chance:
    """The provable randomness of one round: the same seeds give the same numbers, for ever and in any language.

    `strings` are what the players' clients opened at zero, by seat. `filtered` is the round's flag from the bag (CP-7).
    """

    __slots__ = ("_game", "_round", "_server_seed", "_strings", "_table_id", "filtered")

    def __init__(
        self,
        server_seed: bytes,
        *,
        table_id: str,
        game: int,
        round: int,
        strings: tuple[tuple[int, str], ...] = (),
        filtered: bool = False,
    ) -> None:
        self._server_seed = server_seed
        self._table_id = table_id
        self._game = game
        self._round = round
        self._strings = strings
        self.filtered = filtered

    def order(self, purpose: str, attempt: int, count: int) -> list[int]:
        """A permutation of range(count)."""
        return _shuffled(self.key(purpose, attempt), count)

    def lot(self, purpose: str, count: int) -> int:
        """One number of range(count), each as likely as any other."""
        return _Stream(self.key(purpose, 0)).below(count)

    def key(self, purpose: str, attempt: int) -> bytes:
        """What one permutation or lot is made from."""
        strings = [[seat, text] for seat, text in sorted(self._strings)]
        message = canonical_json([self._table_id, self._game, self._round, strings, purpose, attempt])
        return hmac.new(self._server_seed, message, hashlib.sha256).digest()


def canonical_json(value: object) -> bytes:
    """JSON without spaces, in UTF-8, keys sorted: the same bytes everywhere."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True).encode()


def commitment(seed: bytes) -> str:
    """What is published before a seed is used: its sha256 in hex."""
    return hashlib.sha256(seed).hexdigest()


def bag_flags(bag_seed: bytes, *, table_id: str, bag: int) -> tuple[bool, ...]:
    """The seven filter flags of a bag, five of them true, in the order in which rounds use them (CP-7)."""
    key = hmac.new(bag_seed, canonical_json([table_id, "bag", bag]), hashlib.sha256).digest()
    return tuple(position < FILTERED_IN_BAG for position in _shuffled(key, FLAGS_IN_BAG))


def _shuffled(key: bytes, count: int) -> list[int]:
    """Fisher-Yates from the last place down."""
    stream = _Stream(key)
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        chosen = stream.below(last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order


@dataclass(slots=True)
class _Stream:
    """64-bit words from sha256(key || counter), counters from 0, four big-endian words a block."""

    key: bytes
    counter: int = 0
    block: bytes = b""

    def below(self, limit: int) -> int:
        """A number of range(limit); words of the last, incomplete span are thrown away so that none is likelier."""
        span = 1 << (8 * WORD_BYTES)
        ceiling = span - span % limit
        while (word := self._word()) >= ceiling:
            pass
        return word % limit

    def _word(self) -> int:
        if not self.block:
            self.block = hashlib.sha256(self.key + self.counter.to_bytes(COUNTER_BYTES, "big")).digest()
            self.counter += 1
        word, self.block = self.block[:WORD_BYTES], self.block[WORD_BYTES:]
        return int.from_bytes(word, "big")

"""Decisions that several games share: one class each, so that one frame on the wire stands for it in all of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlayCard:
    card: str

"""Brings the fixtures of the bot's tests; they are written in bot_fixtures.py."""

from __future__ import annotations

from bot_fixtures import bus, request_of, second_service, service, start_workers, views

__all__ = ["bus", "request_of", "second_service", "service", "start_workers", "views"]

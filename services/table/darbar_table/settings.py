"""The settings of the table service; wrong ones stop the start. Variables are DARBAR_TABLE_<FIELD>."""

from __future__ import annotations

import re

import msgspec

from darbar_contracts.frames import FRAMES_A_SECOND_MAX
from darbar_contracts.tables import TermsLimits

_PROCESS_NAME = re.compile(r"[a-z][a-z0-9-]{0,62}")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """`process_address` is host:port where this process's sockets are reached. `generation` grows with a restore.
    `process_name` begins the ids of this process, which are in paths and NATS subjects.

    `trusted_proxies` are addresses and networks whose X-Forwarded-For counts.
    `ticket_key` is media's too; empty: nobody sends voice notes. A limit of sockets, or of requests a minute by
    account, of 0 is none.
    """

    database_url: str
    nats_url: str
    token_public_key: str
    process_address: str = "127.0.0.1:8080"
    process_name: str = "t"
    unsafe_storage: bool = False
    generation: int = 1
    writer_connections: int = 2
    trusted_proxies: tuple[str, ...] = ()
    frames_a_second_max: int = FRAMES_A_SECOND_MAX
    sockets_max: int = 20_000
    sockets_an_address_max: int = 400
    sockets_an_account_max: int = 8
    spectators_a_table_max: int = 50
    replays_a_minute_max: int = 60
    audits_a_minute_max: int = 10
    phrases_a_minute_max: int = 12
    ticket_key: str = ""
    microphone_seconds: float = 10.0
    upload_seconds: float = 15.0
    count_in_seconds: float = 7.0
    bot_pause_seconds_min: float = 0.6
    bot_pause_seconds_max: float = 1.6
    terms: TermsLimits = TermsLimits()
    seeds_open_seconds: float = 1.0
    offline_grace_seconds: float = 5.0
    keep_in_game_seconds: float = 600.0
    keep_before_game_seconds: float = 60.0
    present_after_load_seconds: float = 30.0
    better_place_seconds: float = 10.0
    sitting_pause_seconds: float = 60.0
    sent_away_seconds: float = 600.0
    vote_seconds: float = 20.0
    vote_pause_seconds: float = 10.0
    votes_a_minute_max: int = 6
    archive_after_days: float = 30.0
    milestones_late_seconds: float = 30.0

    def __post_init__(self) -> None:
        if not _PROCESS_NAME.fullmatch(self.process_name):
            raise ValueError("process_name must be 1 to 63 of a-z, 0-9 and -, beginning with a letter")

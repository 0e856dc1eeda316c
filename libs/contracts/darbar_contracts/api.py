"""Everything that is asked and answered over public HTTP, but for the wallet's pages. Open this to write a client.

Requests refuse unknown fields: a typo never passes silently. Answers may get more fields at any time.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from darbar_contracts.tables import (
    BET_COINS_STAKED_MAX,
    BotLevel,
    JsonObject,
    TableTerms,
    TermsLimits,
    Visibility,
)

TURN_SECONDS_USUAL = 15
TABLES_LISTED_MAX = 50
# A refresh token may be used again for so long: its answer may be lost, and two tabs wake up at the same moment.
REFRESH_REPEAT_SECONDS_MAX = 60.0
TABLES_LISTED_DEFAULT = 20
GAMES_LISTED_MAX = 50
GAMES_LISTED_DEFAULT = 20
# A leaderboard ends there: who is further down has other ways to see how the week went.
LEADERS_MAX = 1000
LEADERS_LISTED_MAX = 100
LEADERS_LISTED_DEFAULT = 20
# Of one account.
BLOCKS_MAX = 500
SEAT_MAX = 63


class NewGuest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/guests. What is left out is chosen for the guest."""

    name: str | None = None
    avatar: str | None = None


class NewSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/sessions: a refresh token, or a login name with its password."""

    refresh_token: str | None = None
    name_login: str | None = None
    password: str | None = None


class EndSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """DELETE /v1/sessions: the session of this refresh token, or (with an access token) every one of the account."""

    refresh_token: str | None = None


class ChangeMe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """PATCH /v1/me. `password_current` is needed to change a login name or password that is already set."""

    name: str | None = None
    avatar: str | None = None
    name_login: str | None = None
    password: str | None = None
    password_current: str | None = None


class NewTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/tables. Left out, `seats` is the game's usual number and `turn_seconds` 15, or the next that is offered.
    What is offered is told by the catalogue."""

    game: str
    bet_coins: int
    options: JsonObject = {}
    seats: int | None = None
    turn_seconds: int | None = None
    visibility: Visibility = "private"
    bot_level: BotLevel = "normal"


class QuickPlay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/quick-play: a public table of this game and bet, or a new one."""

    game: str
    bet_coins: int


class ListQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/tables. `after` is the `next` of the page before."""

    game: str | None = None
    bet_coins_min: Annotated[int, Meta(ge=0, le=BET_COINS_STAKED_MAX)] = 0
    bet_coins_max: Annotated[int, Meta(ge=0, le=BET_COINS_STAKED_MAX)] = BET_COINS_STAKED_MAX
    limit: Annotated[int, Meta(ge=1, le=TABLES_LISTED_MAX)] = TABLES_LISTED_DEFAULT
    after: Annotated[int, Meta(ge=1, le=2**63 - 1)] | None = None


class GamesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/me/games and /v1/players/{handle}/games. `after` is the `next` of the page before."""

    limit: Annotated[int, Meta(ge=1, le=GAMES_LISTED_MAX)] = GAMES_LISTED_DEFAULT
    after: Annotated[str, Meta(max_length=80)] | None = None


class LeaderboardQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/leaderboards/{game}. `week` is an ISO week in UTC like 2026-W48, left out the one of now; `after` is the
    `next` of the page before."""

    week: Annotated[str, Meta(pattern="^[0-9]{4}-W[0-9]{2}$")] | None = None
    limit: Annotated[int, Meta(ge=1, le=LEADERS_LISTED_MAX)] = LEADERS_LISTED_DEFAULT
    after: Annotated[int, Meta(ge=0, lt=LEADERS_MAX)] = 0


class NewBlock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/me/blocks: the player with this handle, or the one in this seat of a table."""

    handle: str | None = None
    table_id: str | None = None
    seat: Annotated[int, Meta(ge=0, le=SEAT_MAX)] | None = None


class Problem(msgspec.Struct, frozen=True):
    """The body of every refusal; docs/refusals.md lists the codes."""

    code: str
    message: str = ""
    details: JsonObject = {}


class Account(msgspec.Struct, frozen=True):
    """An account as its owner sees it; `name_login` None: a guest without a password."""

    id: str
    name: str
    avatar: str
    role: str
    name_login: str | None = None


class Session(msgspec.Struct, frozen=True):
    """A signed-in account. The access token lasts `access_seconds`. The refresh token works once; when the answer is
    lost it gives the same one again for a minute."""

    account: Account
    access_token: str
    refresh_token: str
    access_seconds: int


class SocketPaths(msgspec.Struct, frozen=True):
    """Where to connect: `direct` (the owner; None when nobody owns the table just now) first, then `any`."""

    direct: str | None
    any: str


class SeatedAt(msgspec.Struct, frozen=True):
    """The table where one sits."""

    table_id: str
    game: str
    socket: SocketPaths


class Me(msgspec.Struct, frozen=True):
    """GET /v1/me."""

    account: Account
    table: SeatedAt | None


class MeChanged(msgspec.Struct, frozen=True):
    """PATCH /v1/me. The access token carries the new name. A new password ends every older session: then there is a
    new refresh token too."""

    account: Account
    access_token: str
    access_seconds: int
    refresh_token: str | None = None


class GameOffered(msgspec.Struct, frozen=True):
    """One game of the catalogue. `options` is a JSON Schema with defaults; `seats` the numbers that the default options
    allow, the usual one first. `changeable` names the options that the host may change until the first count-in."""

    name: str
    title: str
    rules_version: int
    direction: str
    stake_unit: str
    seats: tuple[int, ...]
    options: JsonObject
    changeable: tuple[str, ...] = ()


class ToppedUp(msgspec.Struct, frozen=True):
    """POST /v1/me/top-ups: the coins one has now."""

    balance_coins: int | None


class Catalogue(msgspec.Struct, frozen=True):
    """GET /v1/games. `terms`: between which bets and times for a turn a table of any game can be made."""

    games: tuple[GameOffered, ...]
    avatars: tuple[str, ...]
    terms: TermsLimits


class TableRef(msgspec.Struct, frozen=True):
    """POST /v1/tables and POST /v1/quick-play: a table one can join, and how others are let in.

    `made`: it was opened for this player. `code` None: no seat is free any more, or it is not this player's to give.
    """

    table_id: str
    socket: SocketPaths
    made: bool = True
    code: str | None = None
    invite_token: str | None = None
    invite_url: str | None = None


class PlayerShown(msgspec.Struct, frozen=True):
    """A player as strangers may know them. `handle` leads to the profile."""

    handle: str
    name: str
    avatar: str


class TableListed(msgspec.Struct, frozen=True):
    """One row of the list of public tables."""

    table_id: str
    terms: TableTerms
    free_seats: int
    playing: bool
    host: PlayerShown | None
    socket: SocketPaths


class TableList(msgspec.Struct, frozen=True):
    """GET /v1/tables, newest first. `next` None: that was all."""

    tables: tuple[TableListed, ...]
    next: int | None


class TableShown(msgspec.Struct, frozen=True):
    """What anybody with the code may know of a table. `seats`: the players; `bots`: the seats that bots have."""

    table_id: str
    terms: TableTerms
    phase: str
    seats: tuple[PlayerShown | None, ...]
    bots: tuple[int, ...]
    round: int
    version: int
    process_id: str


class TableSeen(msgspec.Struct, frozen=True):
    """One table. `fresh` False: its owner did not answer, so this is what the directory knows.

    `code`, `invite_token` and `invite_url` are there for those seated and the host alone.
    """

    table: TableShown
    fresh: bool
    free_seats: int
    socket: SocketPaths
    code: str | None = None
    invite_token: str | None = None
    invite_url: str | None = None

    @property
    def ref(self) -> TableRef:
        """What is needed to join it."""
        return TableRef(self.table.table_id, self.socket, False, self.code, self.invite_token, self.invite_url)


class GameStatistics(msgspec.Struct, frozen=True):
    """What a player has done in one game, all weeks together: games played to their end, those of them won, games quit,
    points of the games played."""

    game: str
    played: int
    won: int
    quits: int
    points: int


class GamePlayed(msgspec.Struct, frozen=True):
    """One of a player's games. `game_number` counts the games of its table. `place` None and no points: it was quit.
    `replay`: where its table's log is, for who may read it."""

    table_id: str
    game: str
    game_number: int
    at: datetime
    outcome: Literal["played", "quit"]
    place: int | None
    points: int
    replay: str


class GameList(msgspec.Struct, frozen=True):
    """One page of a player's games, the last one first; of other players only those at public tables. `next` None: that
    was all."""

    games: tuple[GamePlayed, ...]
    next: str | None


class Profile(msgspec.Struct, frozen=True):
    """GET /v1/me/profile and /v1/players/{handle}: what strangers may know of a player. `handle` names the account and
    is not its id; `statistics` has every game in which something counted, `last` the first page of games."""

    handle: str
    name: str
    avatar: str
    statistics: tuple[GameStatistics, ...]
    last: GameList


class BlockList(msgspec.Struct, frozen=True):
    """Everybody whom one has blocked, the last one first: quick play seats neither with the other, and one
    does not hear them at any table."""

    blocked: tuple[PlayerShown, ...]


class Leader(msgspec.Struct, frozen=True):
    """One row of a leaderboard: games won decide, then points; equal ones share a place."""

    place: int
    handle: str
    name: str
    avatar: str
    played: int
    won: int
    points: int


class Leaderboard(msgspec.Struct, frozen=True):
    """GET /v1/leaderboards/{game}: one page of a week. `next` None: that was all."""

    game: str
    week: str
    leaders: tuple[Leader, ...]
    next: int | None


class ReplayEvent(msgspec.Struct, frozen=True):
    """One stored event. `body` is its JSON text as stored, None while it holds a secret; `chain` is its link in hex."""

    version: int
    kind: str
    at: Annotated[datetime, Meta(tz=True)]
    body: str | None
    chain: str


class ReplayQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/tables/{table_id}/replay: what came after this version."""

    after: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0


class Replay(msgspec.Struct, frozen=True):
    """GET /v1/tables/{table_id}/replay: the log up to the last round whose result is stored.

    `terms` are those by which its rounds were played. `more`: ask again with `after` the last version.
    """

    table_id: str
    terms: TableTerms
    events: tuple[ReplayEvent, ...]
    more: bool = False


class TableAudit(msgspec.Struct, frozen=True):
    """GET /v1/tables/{table_id}/audit: what the server finds when it compares its store with its memory."""

    version: int
    events: int
    chain_holds: bool
    replay_equals_live: bool

"""Every public HTTP route in one place, for the services that answer and for the documents. Open this to add one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Literal

import msgspec

from darbar_contracts.api import (
    BlockList,
    Catalogue,
    ChangeMe,
    EndSession,
    GameList,
    GamesQuery,
    Leaderboard,
    LeaderboardQuery,
    ListQuery,
    Me,
    MeChanged,
    NewBlock,
    NewGuest,
    NewSession,
    NewTable,
    Profile,
    QuickPlay,
    Replay,
    ReplayQuery,
    Session,
    TableAudit,
    TableList,
    TableRef,
    TableSeen,
    ToppedUp,
)
from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import WalletAudit, WalletQuery, WalletView
from darbar_rules.game import Refusal

Presence = Literal["needed", "optional", "none"]

HTML = "text/html"
JSON = "application/json"
MARKDOWN = "text/markdown"

# Chosen anew by the client for each table that it wants.
IDEMPOTENCY_KEY_HEADER = "Idempotency-Key"
IDEMPOTENCY_KEY_PATTERN = "[A-Za-z0-9_-]{8,64}"

# What each value in a path is.
PATH_VALUES: Mapping[str, str] = {
    "game": "A game's name, as in the catalogue.",
    "table_id": "A table's id.",
    "code": "Six digits that a host reads out.",
    "handle": "What names a player to strangers.",
    "token": "An invite's token, the last part of its address.",
}


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One method at one path, and everything that may come back.

    `name` is the operation's in the documents, and the function's in the service's `http.py`. `answers` by status: a
    type for JSON, a media type for a text, None for no body. `reasons` are this route's own; `refusals` are all.
    """

    name: str
    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    does: str
    answers: Mapping[int, type[msgspec.Struct] | str | None]
    reasons: tuple[Reason | Refusal, ...] = ()
    token: Presence = "needed"
    body: type[msgspec.Struct] | None = None
    query: type[msgspec.Struct] | None = None
    idempotency_key: Presence = "none"

    @property
    def refusals(self) -> tuple[Reason | Refusal, ...]:
        """All codes with which it may refuse; what is not there just now (503) may be anything behind it."""
        needs = (
            (self.body is not None, _OF_BODIES),
            (self.query is not None, (Reason.QUERY_INVALID,)),
            (self.token != "none", (Reason.TOKEN_EXPIRED, Reason.TOKEN_INVALID)),
            (self.token == "needed", (Reason.TOKEN_MISSING,)),
            (self.idempotency_key != "none", (Reason.IDEMPOTENCY_KEY_INVALID, Reason.IDEMPOTENCY_KEY_REUSED)),
            (self.idempotency_key == "needed", (Reason.IDEMPOTENCY_KEY_MISSING,)),
        )
        found = chain(_OF_ALL, *(codes for is_so, codes in needs if is_so), self.reasons)
        return tuple(sorted(set(found)))


_OF_ALL = (Reason.BAD_REQUEST, Reason.TOO_MANY_REQUESTS)
_OF_BODIES = (
    Reason.BODY_ENCODED,
    Reason.BODY_INVALID,
    Reason.BODY_NOT_JSON,
    Reason.BODY_TOO_LARGE,
    Reason.BODY_TOO_SLOW,
    Reason.TEXT_INVALID,
)
_OF_FACES = (Reason.AVATAR_UNKNOWN, Reason.NAME_NOT_ALLOWED)
# The table process has its own say.
_OF_NEW_TABLES = (
    Reason.ACCOUNT_UNKNOWN,
    Reason.GAME_UNKNOWN,
    Reason.OPTION_INVALID,
    Reason.SEATED_ELSEWHERE,
    Reason.SHORT_OF_COINS,
    Reason.TABLE_FROZEN,
)

# By the service that answers, in the order in which a client meets them.
LOBBY: tuple[Route, ...] = (
    Route(
        name="new_guest",
        method="POST",
        path="/v1/guests",
        does="Makes an account without a password, and signs it in.",
        token="none",
        body=NewGuest,
        answers={201: Session},
        reasons=_OF_FACES,
    ),
    Route(
        name="new_session",
        method="POST",
        path="/v1/sessions",
        does="Signs in with a password, or renews a session with its refresh token.",
        token="none",
        body=NewSession,
        answers={201: Session},
        reasons=(
            Reason.CREDENTIALS_WRONG,
            Reason.REFRESH_TOKEN_EXPIRED,
            Reason.REFRESH_TOKEN_INVALID,
            Reason.REFRESH_TOKEN_REUSED,
            Reason.REFRESH_TOKEN_REVOKED,
            Reason.SESSION_BODY_INVALID,
        ),
    ),
    Route(
        name="end_sessions",
        method="DELETE",
        path="/v1/sessions",
        does="Ends the session of a refresh token; without one, every session of the account.",
        token="optional",
        body=EndSession,
        answers={204: None},
        reasons=(Reason.TOKEN_MISSING,),
    ),
    Route(
        name="me",
        method="GET",
        path="/v1/me",
        does="The own account, and the table where one sits.",
        answers={200: Me},
        reasons=(Reason.ACCOUNT_UNKNOWN,),
    ),
    Route(
        name="change_me",
        method="PATCH",
        path="/v1/me",
        does="Changes name, avatar, login name or password.",
        body=ChangeMe,
        answers={200: MeChanged},
        reasons=(
            *_OF_FACES,
            Reason.ACCOUNT_UNKNOWN,
            Reason.CREDENTIALS_WRONG,
            Reason.NAME_LOGIN_INVALID,
            Reason.NAME_LOGIN_TAKEN,
            Reason.PASSWORD_INVALID,
            Reason.PASSWORD_MISSING,
        ),
    ),
    Route(
        name="top_up",
        method="POST",
        path="/v1/me/top-ups",
        does="Fills an almost empty wallet, once a day.",
        answers={201: ToppedUp},
        reasons=(Reason.ALREADY_GRANTED, Reason.BALANCE_TOO_HIGH, Reason.WALLET_MISSING),
    ),
    Route(
        name="my_profile",
        method="GET",
        path="/v1/me/profile",
        does="What one has played, game by game, and the last games.",
        answers={200: Profile},
        reasons=(Reason.ACCOUNT_UNKNOWN,),
    ),
    Route(
        name="my_games",
        method="GET",
        path="/v1/me/games",
        does="The own games, the last one first, each with its replay.",
        query=GamesQuery,
        answers={200: GameList},
    ),
    Route(
        name="blocks",
        method="GET",
        path="/v1/me/blocks",
        does="Everybody whom one has blocked.",
        answers={200: BlockList},
    ),
    Route(
        name="block",
        method="POST",
        path="/v1/me/blocks",
        does="Blocks a player: quick play does not seat the two together.",
        body=NewBlock,
        answers={200: BlockList},
        reasons=(
            Reason.ACCOUNT_UNKNOWN,
            Reason.BLOCKS_TOO_MANY,
            Reason.PLAYER_UNKNOWN,
            Reason.TABLE_CLOSED,
            Reason.TABLE_UNKNOWN,
        ),
    ),
    Route(
        name="unblock",
        method="DELETE",
        path="/v1/me/blocks/{handle}",
        does="Takes a block back; one that is not there is no fault.",
        answers={200: BlockList},
    ),
    Route(
        name="player",
        method="GET",
        path="/v1/players/{handle}",
        does="What a player has played.",
        token="none",
        answers={200: Profile},
        reasons=(Reason.PLAYER_UNKNOWN,),
    ),
    Route(
        name="player_games",
        method="GET",
        path="/v1/players/{handle}/games",
        does="A player's games at public tables, the last one first.",
        token="none",
        query=GamesQuery,
        answers={200: GameList},
        reasons=(Reason.PLAYER_UNKNOWN,),
    ),
    Route(
        name="leaderboard",
        method="GET",
        path="/v1/leaderboards/{game}",
        does="Who has won most games of a kind in a week.",
        token="none",
        query=LeaderboardQuery,
        answers={200: Leaderboard},
        reasons=(Reason.GAME_UNKNOWN,),
    ),
    Route(
        name="games",
        method="GET",
        path="/v1/games",
        does="The games that are offered, each with its options.",
        token="none",
        answers={200: Catalogue},
    ),
    Route(
        name="how_to_play",
        method="GET",
        path="/v1/games/{game}/rules",
        does="How a game is played, for people.",
        token="none",
        answers={200: MARKDOWN},
        reasons=(Reason.RULES_PAGE_UNKNOWN,),
    ),
    Route(
        name="new_table",
        method="POST",
        path="/v1/tables",
        does="Opens a table and seats who asks at it.",
        body=NewTable,
        answers={201: TableRef},
        idempotency_key="needed",
        reasons=_OF_NEW_TABLES,
    ),
    Route(
        name="tables",
        method="GET",
        path="/v1/tables",
        does="The public tables, newest first.",
        token="none",
        query=ListQuery,
        answers={200: TableList},
    ),
    Route(
        name="table",
        method="GET",
        path="/v1/tables/{table_id}",
        does="One table, and where its socket is.",
        token="optional",
        answers={200: TableSeen},
        reasons=(Reason.TABLE_CLOSED, Reason.TABLE_UNKNOWN),
    ),
    Route(
        name="code",
        method="GET",
        path="/v1/codes/{code}",
        does="The table with this code.",
        token="optional",
        answers={200: TableSeen},
        reasons=(Reason.CODE_UNKNOWN,),
    ),
    Route(
        name="invite",
        method="GET",
        path="/v1/invites/{token}",
        does="The table that this invite opens.",
        token="optional",
        answers={200: TableSeen},
        reasons=(Reason.INVITE_UNKNOWN,),
    ),
    Route(
        name="quick_play",
        method="POST",
        path="/v1/quick-play",
        does="Finds a public table of a game and bet, or opens one.",
        body=QuickPlay,
        answers={200: TableRef, 201: TableRef},
        idempotency_key="optional",
        reasons=_OF_NEW_TABLES,
    ),
    Route(
        name="openapi",
        method="GET",
        path="/v1/openapi.json",
        does="The HTTP routes as an OpenAPI document.",
        token="none",
        answers={200: JSON},
    ),
    Route(
        name="asyncapi",
        method="GET",
        path="/v1/asyncapi.json",
        does="A table's socket as an AsyncAPI document.",
        token="none",
        answers={200: JSON},
    ),
    Route(
        name="docs",
        method="GET",
        path="/v1/docs",
        does="Both documents as a page for people.",
        token="none",
        answers={200: HTML},
    ),
)
TABLE: tuple[Route, ...] = (
    Route(
        name="replay",
        method="GET",
        path="/v1/tables/{table_id}/replay",
        does="The log of a table's finished rounds.",
        query=ReplayQuery,
        answers={200: Replay},
        reasons=(Reason.TABLE_PRIVATE, Reason.TABLE_UNKNOWN),
    ),
    Route(
        name="audit",
        method="GET",
        path="/v1/tables/{table_id}/audit",
        does="Whether what the server has stored of a table holds together, for those who sat there.",
        answers={200: TableAudit},
        reasons=(Reason.TABLE_PRIVATE, Reason.TABLE_UNKNOWN, Refusal.NOT_NOW),
    ),
)
WALLET: tuple[Route, ...] = (
    Route(
        name="wallet",
        method="GET",
        path="/v1/me/wallet",
        does="The own coins, and how they came and went.",
        query=WalletQuery,
        answers={200: WalletView},
    ),
    Route(
        name="wallet_audit",
        method="GET",
        path="/v1/wallet/audit",
        does="Whether all coins add up, in totals.",
        token="none",
        answers={200: WalletAudit},
    ),
)
BY_SERVICE: Mapping[str, tuple[Route, ...]] = {"lobby": LOBBY, "table": TABLE, "wallet": WALLET}

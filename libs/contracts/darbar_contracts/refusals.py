"""Every refusal in one place: its code, its HTTP status, its sentence. Open this to add one, or to word one better.

A code that has once been released is never renamed, never removed, and never gets another meaning or status.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec

from darbar_rules.game import Refusal as RuleRefusal

RULES_STATUS = 409


class Reason(StrEnum):
    """Why something is refused, or can't be done just now (503): code, HTTP status, sentence for people.

    `retry`: the very same request may succeed later. The games have reasons of their own, in `darbar_rules.game`.
    """

    status: int
    sentence: str
    retry: bool

    def __new__(cls, code: str, status: int, sentence: str) -> Reason:
        member = str.__new__(cls, code)
        member._value_ = code
        member.status = status
        member.sentence = sentence
        member.retry = status in (429, 503)
        return member

    # Raised by the kit, which knows no contracts: a test compares these with its own list.
    BAD_REQUEST = "bad_request", 400, "This request can't be understood."
    BODY_ENCODED = "body_encoded", 415, "Send the body as it is, without a Content-Encoding."
    BODY_INVALID = "body_invalid", 400, "A field of the body is missing, unknown or not of the right kind."
    BODY_NOT_JSON = "body_not_json", 400, "The body is not JSON."
    BODY_TOO_LARGE = "body_too_large", 413, "The body is too large."
    BODY_TOO_SLOW = "body_too_slow", 408, "The body did not arrive in time."
    BUS_UNREACHABLE = "bus_unreachable", 503, "The message server can't be reached. Try again."
    INTERNAL = "internal", 500, "Something went wrong on our side."
    MESSAGE_INVALID = "message_invalid", 400, "A service could not read this message."
    METHOD_NOT_ALLOWED = "method_not_allowed", 405, "This path does not take this method."
    NO_RESPONDERS = "no_responders", 503, "The service that answers this is not there. Try again."
    NOT_FOUND = "not_found", 404, "There is nothing at this path."
    QUERY_INVALID = "query_invalid", 400, "A parameter of the query is unknown or not of the right kind."
    SERVICE_FAILED = "service_failed", 503, "Another service failed. Try again."
    TEXT_INVALID = "text_invalid", 400, "This text is too long or has characters that are not allowed."
    TIMED_OUT = "timed_out", 503, "Another service did not answer in time. Try again."
    TOKEN_EXPIRED = "token_expired", 401, "The access token has expired."
    TOKEN_INVALID = "token_invalid", 401, "The access token is not valid."
    TOKEN_MISSING = "token_missing", 401, "An access token is needed."
    UNAVAILABLE = "unavailable", 503, "This can't be done just now. Try again."

    # Accounts and sessions.
    ACCOUNT_UNKNOWN = "account_unknown", 401, "There is no account for this token any more."
    AVATAR_UNKNOWN = "avatar_unknown", 422, "There is no such avatar."
    BANNED = "banned", 403, "This account has been banned."
    CONFIRMATION_WRONG = "confirmation_wrong", 422, "Give the handle of your own account to have it deleted."
    CREDENTIALS_WRONG = "credentials_wrong", 401, "This name and password do not belong together."
    NAME_LOGIN_INVALID = "name_login_invalid", 422, "A login name has 3 to 32 of a-z, 0-9, _ . and -."
    NAME_LOGIN_TAKEN = "name_login_taken", 409, "Somebody else has this login name."
    NAME_NOT_ALLOWED = "name_not_allowed", 422, "Please choose another name."
    NAME_OWN = "name_own", 409, "This is your own name."
    PASSWORD_INVALID = "password_invalid", 422, "This password is too short or too long."
    PASSWORD_MISSING = "password_missing", 400, "A login name and a password are set together."
    REFRESH_TOKEN_EXPIRED = "refresh_token_expired", 401, "This session has expired. Sign in again."
    REFRESH_TOKEN_INVALID = "refresh_token_invalid", 401, "The refresh token is not valid."
    REFRESH_TOKEN_REUSED = "refresh_token_reused", 401, "This refresh token was used before. The session has ended."
    REFRESH_TOKEN_REVOKED = "refresh_token_revoked", 401, "This session has been ended."
    SESSION_BODY_INVALID = "session_body_invalid", 400, "Send a refresh token, or a login name and a password."

    # Administrators.
    ADMIN_NEEDED = "admin_needed", 403, "An auditor reads and changes nothing."
    OWN_TABLE = "own_table", 403, "Nobody sees hands of a running round at a table where they sit."
    VERSION_UNKNOWN = "version_unknown", 404, "There is no such version, or its round is still played."
    NOT_ADMINISTRATOR = "not_administrator", 403, "This is for those who run Darbar."
    SECOND_FACTOR_MISSING = "second_factor_missing", 403, "Give the second factor first."
    SECOND_FACTOR_WRONG = "second_factor_wrong", 401, "This code is wrong, was used before, or came too late."

    BAN_UNKNOWN = "ban_unknown", 404, "There is no such ban."
    NAME_NOT_REPORTED = "name_not_reported", 404, "Nobody has reported this name of this player."

    # The catalogue of games, the directory of tables.
    CODE_UNKNOWN = "code_unknown", 404, "No table has this code."
    CODES_EXHAUSTED = "codes_exhausted", 503, "No code is free just now. Try again."
    DRAINING = "draining", 409, "No new tables are opened just now: maintenance is near. Open ones are played on."
    GAME_UNKNOWN = "game_unknown", 422, "There is no such game."
    IDEMPOTENCY_KEY_INVALID = (
        "idempotency_key_invalid",
        400,
        "An Idempotency-Key has 8 to 64 of A-Z, a-z, 0-9, _, -.",
    )
    IDEMPOTENCY_KEY_MISSING = "idempotency_key_missing", 400, "The header Idempotency-Key is needed."
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused", 409, "This Idempotency-Key came with another body before."
    INVITE_UNKNOWN = "invite_unknown", 404, "This invite opens no table."
    MILESTONE_UNREADABLE = "milestone_unreadable", 409, "The first milestone does not say what the table is."
    MILESTONES_MISSING = "milestones_missing", 503, "Milestones of this table are missing. Try again."
    BLOCKS_TOO_MANY = "blocks_too_many", 409, "You have blocked as many players as one can."
    OPTION_INVALID = "option_invalid", 422, "A table can't have these options."
    PLAYER_UNKNOWN = "player_unknown", 404, "There is no such player."
    RULES_PAGE_UNKNOWN = "rules_page_unknown", 404, "There is no page about the rules of this game."
    STORAGE_UNAVAILABLE = "storage_unavailable", 503, "The database does not answer. Try again."
    TABLES_UNAVAILABLE = "tables_unavailable", 503, "No table can be reached or opened just now. Try again."
    TOO_MANY_REQUESTS = "too_many_requests", 429, "Too many requests. Please wait."

    # A table and its socket.
    ALREADY_SEATED = "already_seated", 409, "You already have a seat at this table."
    BUSY = "busy", 503, "Too many requests are waiting. Try again."
    COMMAND_ID_INVALID = "command_id_invalid", 400, "A command needs an id of 16 to 32 letters, digits, - or _."
    COMMAND_ID_REUSED = "command_id_reused", 409, "This id was used for another command."
    FRAME_INVALID = "frame_invalid", 400, "This message could not be read."
    FRAME_NOT_TEXT = "frame_not_text", 400, "Only text messages are read here."
    FRAME_TOO_LARGE = "frame_too_large", 413, "This message is too long."
    FRAMES_TOO_MANY = "frames_too_many", 429, "Too many messages in a second."
    HELLO_EXPECTED = "hello_expected", 400, "The first message must be hello."
    MOVED = "moved", 421, "This table has moved to another process: go on there."
    NO_PARTNERS = "no_partners", 409, "There are no partners in this game."
    NOBODY_ELSE_THERE = "nobody_else_there", 409, "Nobody else sits in this seat."
    NOT_A_BOT = "not_a_bot", 409, "There is no bot in this seat."
    NOT_AN_OPPONENT = "not_an_opponent", 409, "No opponent sits there."
    NOT_ASKED = "not_asked", 409, "You are not asked in this vote, or have answered."
    NOT_HOST = "not_host", 403, "Only the host can do this."
    NOT_OWNER = "not_owner", 421, "Another process serves this table."
    NOT_SEATED = "not_seated", 409, "You have no seat at this table."
    PROTOCOL_UNKNOWN = "protocol_unknown", 400, "This version of the protocol is not spoken here."
    ROUND_RUNNING = "round_running", 409, "This can't be done while a round is played."
    SEAT_TAKEN = "seat_taken", 409, "This seat is taken."
    SEAT_UNKNOWN = "seat_unknown", 404, "There is no such seat."
    SEATED_ELSEWHERE = "seated_elsewhere", 409, "You have a seat at another table."
    SEED_LATE = "seed_late", 409, "The time for this string is over."
    SEED_MISMATCH = "seed_mismatch", 409, "This string is not the one that was committed."
    SENT_AWAY = "sent_away", 403, "The host has sent you away from this table. Please wait."
    SITTING_PAUSED = "sitting_paused", 429, "You have stopped this table's count-in again and again. Please wait."
    SOCKETS_TOO_MANY = "sockets_too_many", 429, "Too many connections are open."
    STALE_TURN = "stale_turn", 409, "The table has moved on."
    TABLE_CLOSED = "table_closed", 410, "This table is closed."
    TABLE_FROZEN = "table_frozen", 409, "This table has been stopped because of a fault of ours."
    TABLE_FULL = "table_full", 409, "No seat is free."
    TABLE_PRIVATE = "table_private", 403, "This table is private."
    TABLE_UNKNOWN = "table_unknown", 404, "There is no such table."
    TABLE_UNREADABLE = "table_unreadable", 409, "The stored events of this table can't be read: it stays stopped."
    VOTE_OVER = "vote_over", 409, "This vote is over."
    VOTE_PAUSED = "vote_paused", 429, "This was asked a moment ago, or you have asked a lot. Please wait."
    VOTE_RUNNING = "vote_running", 409, "Another vote is not over yet."

    # Coins. The wallet's refusals are kept with their request's key for ever.
    ALREADY_GRANTED = "already_granted", 409, "These coins have been granted already."
    ALREADY_SETTLED = "already_settled", 409, "This stake has been shared out already."
    AMOUNT_INVALID = "amount_invalid", 422, "The number of coins is not allowed."
    BALANCE_TOO_HIGH = "balance_too_high", 409, "There are enough coins: a top-up is for an almost empty wallet."
    KEY_REUSED = "key_reused", 409, "This key came with another request before."
    PAYEE_UNKNOWN = "payee_unknown", 422, "Coins may go only to those who staked, and to who took a seat over."
    PURPOSE_INVALID = "purpose_invalid", 422, "Coins are not shared out like this for this purpose."
    REQUEST_FAILED = "request_failed", 503, "The wallet could not carry this out. Try again."
    SEATS_INVALID = "seats_invalid", 422, "The seats are not allowed."
    SHORT_OF_COINS = "short_of_coins", 409, "There are not enough coins: a table needs double its bet."
    STAKE_CANCELLED = "stake_cancelled", 409, "This stake has been given back."
    STAKE_UNKNOWN = "stake_unknown", 409, "There is no such stake."
    SUM_MISMATCH = "sum_mismatch", 422, "The shares are not what lies in the pot."
    WALLET_BUSY = "wallet_busy", 503, "Too many requests wait for the wallet. Try again."
    WALLET_MISSING = "wallet_missing", 409, "This account has no wallet yet."
    WALLET_MOVED = "wallet_moved", 503, "The wallet has moved to another process. Try again."

    # Voice notes.
    LINK_INVALID = "link_invalid", 403, "This link is not valid, or not valid any more."
    MICROPHONE_TAKEN = "microphone_taken", 409, "Somebody else is recording."
    NOTES_NOT_HERE = "notes_not_here", 409, "There are voice notes once two people have begun a game together."
    MICROPHONE_NOT_HELD = "microphone_not_held", 409, "You don't have the microphone, or its time is over."
    NOTE_NOT_FOR_YOU = "note_not_for_you", 403, "You were not at the table when this was sent."
    NOTE_OWN = "note_own", 409, "This is your own voice note."
    NOTE_SILENT = "note_silent", 422, "Nothing can be heard in this recording."
    NOTE_TOO_LONG = "note_too_long", 422, "A voice note has at most seven seconds."
    NOTE_TYPE_UNKNOWN = "note_type_unknown", 415, "Send Opus or AAC in WebM, Ogg or MP4, and nothing beside it."
    NOTE_UNKNOWN = "note_unknown", 404, "There is no such voice note, or not any more."
    NOTE_UNREADABLE = "note_unreadable", 422, "This recording can't be read."
    NOTE_USED = "note_used", 409, "You have had your voice note of this round."
    REPORT_LATE = "report_late", 409, "The time to report this voice note is over."
    UPLOAD_TICKET_EXPIRED = "upload_ticket_expired", 403, "The time to send this voice note is over."
    UPLOAD_TICKET_INVALID = "upload_ticket_invalid", 403, "This ticket is not valid, or not yours."
    UPLOAD_TICKET_MISSING = "upload_ticket_missing", 400, "The header Upload-Ticket is needed."
    VOICE_BANNED = "voice_banned", 403, "You may not send voice notes."

    # Bots, asked by the table.
    DECISION_FAILED = "decision_failed", 503, "The bot failed on this position."
    DECISION_TOO_SLOW = "decision_too_slow", 503, "The bot did not decide in time."
    LEVEL_UNKNOWN = "level_unknown", 422, "Bots of this game have no such level."
    VIEW_INVALID = "view_invalid", 422, "A bot can't read this position."

    # The gateway of a local installation.
    PROCESS_UNKNOWN = "process_unknown", 404, "There is no such process; /play/tables/ is served by any."
    SERVICE_UNREACHABLE = "service_unreachable", 503, "The service behind this path does not answer. Try again."

    # Said by the Python client to its user, never sent.
    ANSWER_UNREADABLE = "answer_unreadable", 502, "The server's answer could not be read."
    COMMANDS_TOO_MANY = "commands_too_many", 429, "Too many commands wait for their answers."
    EVENTS_MISSED = "events_missed", 409, "Events came faster than they were read: some were thrown away."
    NO_ANSWER = "no_answer", 504, "The table did not answer in time."
    NO_DECISION_DUE = "no_decision_due", 409, "The table waits for no such decision."
    SOCKET_CLOSED = "socket_closed", 409, "This socket was closed."
    UNREACHABLE = "unreachable", 503, "The server can't be reached. Try again."


class Refusal(msgspec.Struct, frozen=True):
    """What is the same for every refusal with this code. `retry`: the very same request may succeed later."""

    code: str
    status: int
    sentence: str
    retry: bool


def _all() -> dict[str, Refusal]:
    of_rules = [Refusal(code.value, RULES_STATUS, code.sentence, retry=False) for code in RuleRefusal]
    others = [Refusal(code.value, code.status, code.sentence, code.retry) for code in Reason]
    return {refusal.code: refusal for refusal in (*of_rules, *others)}


REFUSALS: Mapping[str, Refusal] = MappingProxyType(_all())

"""The NATS subjects, and who may publish and subscribe to which. Open this before adding one."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

# wallet
WALLET_STAKE = "wallet.stake"
WALLET_SETTLE = "wallet.settle"
WALLET_REFUND = "wallet.refund"
WALLET_GRANT = "wallet.grant"
WALLET_BALANCES = "wallet.balances"
WALLET_ADJUST = "wallet.adjust"
WALLET_OF_ACCOUNT = "wallet.of_account"
WALLET_AUDIT = "wallet.audit"
WALLET_AUDIT_TABLES = "wallet.audit_tables"
WALLET_QUEUE = "wallet"

# lobby
LOBBY_CHANGE_MAINTENANCE = "lobby.change_maintenance"
LOBBY_MAINTENANCE = "lobby.maintenance"
LOBBY_MAINTENANCE_CHANGED = "lobby.maintenance_changed"
LOBBY_BLOCKERS = "lobby.blockers"
LOBBY_BLOCK_CHANGED = "lobby.block_changed"
LOBBY_SHUT_OUT = "lobby.shut_out"
LOBBY_SHUT_OUTS = "lobby.shut_outs"
LOBBY_QUEUE = "lobby"
LOBBY_CHAINS = "lobby.chains"
LOBBY_VERIFY_AUDIT_LOG = "lobby.verify_audit_log"

# table
TABLE_WHERE = "table.where"
TABLE_MILESTONES = "table.milestones"
TABLE_RETIRED = "table.retired"
TABLE_LOG = "table.log"
TABLE_STATE = "table.state"
TABLE_FROZEN = "table.frozen"
TABLE_VERIFY = "table.verify"
TABLE_COINS = "table.coins"
TABLE_REPLAY = "table.replay"
TABLE_AUDIT = "table.audit"
TABLE_SEAT = "table.seat"
TABLE_SERVED = "table.served"
TABLE_QUEUE = "table"

# bot
BOT_DECIDE = "bot.decide"
BOT_QUEUE = "bot"

# media, asked by moderators
MEDIA_REPORTED_NOTES = "media.reported_notes"
MEDIA_NOTE_LINK = "media.note_link"
MEDIA_JUDGE_NOTE = "media.judge_note"
MEDIA_BAN_VOICE = "media.ban_voice"
MEDIA_LIFT_VOICE_BAN = "media.lift_voice_ban"
MEDIA_VOICE_RIGHTS = "media.voice_rights"
MEDIA_QUEUE = "media"

# media's object stores: what nobody has reported ends there by itself
SOUND_BUCKET = "VOICE_NOTES"
SOUND_BUCKET_REPORTED = "VOICE_NOTES_REPORTED"

# milestones, kept in JetStream
MILESTONE_STREAM = "MILESTONES"
MILESTONE_SUBJECTS = "milestone.table.>"
# The lobby's place in the stream, one for all its processes.
MILESTONE_CONSUMER = "lobby"
# Whoever comes late asks the table service: the stream only has to reach over an outage.
MILESTONE_SECONDS_KEPT = 30 * 24 * 3600
MILESTONE_DUPLICATES_SECONDS = 120


def table_create(process_id: str) -> str:
    """Where one table process takes new tables."""
    return f"table.at.{process_id}.create"


def table_look(process_id: str) -> str:
    """Where one table process tells what anybody may know of a table it owns."""
    return f"table.at.{process_id}.look"


def table_leave_alone(process_id: str) -> str:
    """Where one table process frees the seat of a host who sits alone and is brought to another table."""
    return f"table.at.{process_id}.leave_alone"


def table_take(process_id: str) -> str:
    """Where one table process hears that another has given it shards."""
    return f"table.at.{process_id}.take"


def table_relay(process_id: str) -> str:
    """Where a table process hears players whose sockets are at another one."""
    return f"table.at.{process_id}.relay"


def relay_frames(relay: str) -> str:
    """Where a table process hears what the tables of others show to its sockets."""
    return f"table.relay.{relay}"


def table_operate(process_id: str) -> str:
    """Where one table process hears what operators do to a table of its shards."""
    return f"table.at.{process_id}.operate"


def table_asked(process_id: str, question: str) -> str:
    """Where one table process answers a question, which has a subject of its own, for processes of another cell."""
    return f"table.at.{process_id}.asked.{question.rpartition('.')[2]}"


def sound_stream(bucket: str) -> str:
    """The stream that an object store is."""
    return f"OBJ_{bucket}"


def table_note(process_id: str) -> str:
    """Where one table process hears what becomes of a recording."""
    return f"table.at.{process_id}.note"


def milestone(table_id: str) -> str:
    """Where the milestones of one table are published."""
    return f"milestone.table.{table_id}"


def milestone_table(subject: str) -> str | None:
    """The table whose milestones are published there; None for what is no id."""
    try:
        return str(UUID(subject.rpartition(".")[2]))
    except ValueError:
        return None


# What a service may ask of JetStream: to make the stream where it is missing, never to change or empty it; and, as its
# one reader, to take from it.
_MAKE_MILESTONES = (f"$JS.API.STREAM.INFO.{MILESTONE_STREAM}", f"$JS.API.STREAM.CREATE.{MILESTONE_STREAM}")
_TAKE_MILESTONES = (
    f"$JS.API.CONSUMER.INFO.{MILESTONE_STREAM}.{MILESTONE_CONSUMER}",
    f"$JS.API.CONSUMER.CREATE.{MILESTONE_STREAM}.{MILESTONE_CONSUMER}.{MILESTONE_SUBJECTS}",
    f"$JS.API.CONSUMER.MSG.NEXT.{MILESTONE_STREAM}.{MILESTONE_CONSUMER}",
    f"$JS.ACK.{MILESTONE_STREAM}.{MILESTONE_CONSUMER}.>",
)

# What media may do to its object stores: make them, write, read, and delete single things.
_KEEP_SOUNDS = tuple(
    subject
    for bucket in (SOUND_BUCKET, SOUND_BUCKET_REPORTED)
    for subject in (
        f"$O.{bucket}.>",
        *(f"$JS.API.STREAM.{act}.{sound_stream(bucket)}" for act in ("INFO", "CREATE", "MSG.GET", "PURGE")),
    )
)
# What moderators ask of media, over the lobby.
_MODERATE = (
    MEDIA_REPORTED_NOTES,
    MEDIA_NOTE_LINK,
    MEDIA_JUDGE_NOTE,
    MEDIA_BAN_VOICE,
    MEDIA_LIFT_VOICE_BAN,
    MEDIA_VOICE_RIGHTS,
)

# What every table process hears at once, and asks for where it may have missed it.
_TOLD_BY_LOBBY = (LOBBY_MAINTENANCE_CHANGED, LOBBY_BLOCK_CHANGED, LOBBY_SHUT_OUT)

# What administrators ask of tables, over the lobby.
_SEEN = (TABLE_LOG, TABLE_STATE, TABLE_FROZEN, TABLE_VERIFY)

# Service -> (may publish, may subscribe), and the admin, as whom operators' commands ask. Its own inbox is added by the
# server's configuration.
PERMISSIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lobby": (
        (
            TABLE_WHERE,
            TABLE_MILESTONES,
            table_create("*"),
            table_look("*"),
            table_leave_alone("*"),
            WALLET_GRANT,
            WALLET_ADJUST,
            WALLET_OF_ACCOUNT,
            WALLET_AUDIT,
            *_MODERATE,
            *_TOLD_BY_LOBBY,
            *_SEEN,
            table_operate("*"),
            *_MAKE_MILESTONES,
            *_TAKE_MILESTONES,
        ),
        (
            TABLE_SERVED,
            LOBBY_CHANGE_MAINTENANCE,
            LOBBY_MAINTENANCE,
            LOBBY_BLOCKERS,
            LOBBY_SHUT_OUTS,
            LOBBY_CHAINS,
            LOBBY_VERIFY_AUDIT_LOG,
        ),
    ),
    "table": (
        (
            WALLET_STAKE,
            WALLET_SETTLE,
            WALLET_REFUND,
            WALLET_BALANCES,
            BOT_DECIDE,
            MEDIA_VOICE_RIGHTS,
            LOBBY_MAINTENANCE,
            LOBBY_BLOCKERS,
            LOBBY_SHUT_OUTS,
            TABLE_RETIRED,
            table_take("*"),
            table_relay("*"),
            relay_frames("*"),
            table_asked("*", "*"),
            TABLE_SERVED,
            MILESTONE_SUBJECTS,
            *_MAKE_MILESTONES,
        ),
        (
            TABLE_WHERE,
            TABLE_MILESTONES,
            TABLE_RETIRED,
            TABLE_SERVED,
            *_SEEN,
            TABLE_COINS,
            *_TOLD_BY_LOBBY,
            "table.at.>",
            relay_frames("*"),
        ),
    ),
    "wallet": (
        (TABLE_COINS,),
        (
            WALLET_STAKE,
            WALLET_SETTLE,
            WALLET_REFUND,
            WALLET_GRANT,
            WALLET_BALANCES,
            WALLET_ADJUST,
            WALLET_OF_ACCOUNT,
            WALLET_AUDIT,
            WALLET_AUDIT_TABLES,
        ),
    ),
    "bot": ((), (BOT_DECIDE,)),
    "media": ((TABLE_WHERE, table_note("*"), *_KEEP_SOUNDS), _MODERATE),
    "admin": (
        (
            TABLE_WHERE,
            TABLE_LOG,
            TABLE_VERIFY,
            WALLET_AUDIT,
            WALLET_AUDIT_TABLES,
            LOBBY_CHAINS,
            LOBBY_VERIFY_AUDIT_LOG,
            table_operate("*"),
            LOBBY_CHANGE_MAINTENANCE,
        ),
        (),
    ),
}

"""The players' socket: frames of the client and of the table. Open this to talk to a table."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec

from darbar_contracts.refusals import Reason
from darbar_contracts.tables import JsonObject, TableTerms
from darbar_contracts.talk import Phrase as Phrase
from darbar_contracts.talk import VoteAbout as VoteAbout
from darbar_contracts.talk import VoteView as VoteView
from darbar_rules.game import Legal

PROTOCOL = 1
FRAME_BYTES_MAX = 4096
FRAMES_A_SECOND_MAX = 20
COMMAND_ID_CHARACTERS_MIN = 16
COMMAND_ID_CHARACTERS_MAX = 32
SEED_STRING_CHARACTERS_MAX = 64

CommandId = str
CommandIdText = Annotated[
    str,
    msgspec.Meta(pattern=rf"^[A-Za-z0-9_-]{{{COMMAND_ID_CHARACTERS_MIN},{COMMAND_ID_CHARACTERS_MAX}}}$"),
]
TableReason = Reason  # The name that the table service still uses.


class Frame(msgspec.Struct, frozen=True, gc=False, tag_field="type", forbid_unknown_fields=True):
    """What a client sends: one JSON object a text message, unknown fields refused."""


class Hello(Frame, frozen=True, tag="hello"):
    """The first frame. `version` is the last one the client has (0: none); it gets the rest or a snapshot."""

    protocol: int
    token: str
    version: int = 0


class FreshToken(Frame, frozen=True, tag="fresh_token"):
    """A newer token, so that the socket does not end with the old one."""

    token: str


class Ping(Frame, frozen=True, tag="ping"):
    """Answered by a heartbeat with the table's version."""


class Sit(Frame, frozen=True, tag="sit"):
    """Take a seat: the one named, or the next by the table's order (TL-4)."""

    id: CommandId
    seat: int | None = None


class StartNow(Frame, frozen=True, tag="start_now"):
    """Begin the count-in with bots in the empty seats; with all seats taken, end the first count-in (TL-9)."""

    id: CommandId


class Ready(Frame, frozen=True, tag="ready"):
    """Ready for the next round: when everyone present says so, the count-in ends at once (TL-9)."""

    id: CommandId


class Deal(Frame, frozen=True, tag="deal"):
    """The host deals, where the game leaves that to the host: the count-in ends (TL-10)."""

    id: CommandId


class Leave(Frame, frozen=True, tag="leave"):
    """Give the seat up (TL-11, TL-29, TL-35, TL-38)."""

    id: CommandId


class ImBack(Frame, frozen=True, tag="im_back"):
    """Take the seat over from the bot that plays it (TL-16)."""

    id: CommandId


class SendBotAway(Frame, frozen=True, tag="send_bot_away"):
    """Take a bot out of its seat, before a game or between rounds (TL-25)."""

    id: CommandId
    seat: int


class SendPlayerAway(Frame, frozen=True, tag="send_player_away"):
    """The host takes a player out of their seat before a game; they can't sit down here again for a while (TL-8)."""

    id: CommandId
    seat: int


class AskVote(Frame, frozen=True, tag="ask_vote"):
    """Ask the others for something. `seat`: whom the host would like as partner, or which seat a bot is to have."""

    id: CommandId
    about: VoteAbout
    seat: int | None = None


class AnswerVote(Frame, frozen=True, tag="answer_vote"):
    """Agree, or not, in the vote with this number."""

    id: CommandId
    vote: int
    agree: bool


class ChangeOptions(Frame, frozen=True, tag="change_options"):
    """The host gives options another value, before the first count-in, where the game lets them be changed (TL-1)."""

    id: CommandId
    options: JsonObject


class Say(Frame, frozen=True, tag="say"):
    """A phrase or a reaction, for everybody at the table just now (TL-45). It is answered with `done`."""

    id: CommandId
    phrase: Phrase


class Mute(Frame, frozen=True, tag="mute"):
    """Hear no more, or again, at this table what the player in this seat says (TL-45). It is answered with `done`."""

    id: CommandId
    seat: int
    muted: bool


class AskMicrophone(Frame, frozen=True, tag="ask_microphone"):
    """Ask for the table's microphone, to record the voice note of this round (TL-47): answered with `upload_ticket`
    and `done`."""

    id: CommandId


class CancelNote(Frame, frozen=True, tag="cancel_note"):
    """Give the microphone back without a note; it was this round's (TL-47). It is answered with `done`."""

    id: CommandId


class SeedCommit(Frame, frozen=True, tag="seed_commit"):
    """During a count-in: sha256 in hex of the string this client adds to the next deal's chance."""

    id: CommandId
    sha256: str


class SeedOpen(Frame, frozen=True, tag="seed_open"):
    """At zero: the string that was committed."""

    id: CommandId
    string: str


TABLE_FRAMES = (
    Hello,
    FreshToken,
    Ping,
    Sit,
    StartNow,
    Ready,
    Deal,
    Leave,
    ImBack,
    SendBotAway,
    SendPlayerAway,
    AskVote,
    AnswerVote,
    ChangeOptions,
    Say,
    Mute,
    AskMicrophone,
    CancelNote,
    SeedCommit,
    SeedOpen,
)


# What the table sends. The owner writes event frames by hand, part by part (a public part is encoded once for all);
# these types say what they hold, and clients decode with them.


class ServerFrame(msgspec.Struct, frozen=True, tag_field="type"):
    """What the table sends. Unknown fields are allowed: an older client lives with a newer table."""


class Welcome(ServerFrame, frozen=True, tag="welcome"):
    """The answer to hello; frames or a snapshot up to `version` follow. `seat` None: a spectator. `announcement` as in
    `announced`."""

    protocol: int
    table_id: str
    seat: int | None
    version: int
    announcement: str | None = None


class SeatView(msgspec.Struct, frozen=True):
    """Who holds a seat: `kind` is free, player or bot. `away`: a bot plays for a player who is not here.

    `committed`: the player's string for the next deal is promised. `ready`: for the next round (TL-9). `expects`: of a
    free seat, whether anybody comes there, or a player and a bot by vote alone (TL-27).
    """

    kind: str = "free"
    name: str | None = None
    avatar: str | None = None
    away: bool = False
    bot_plays: bool = False
    ready: bool = False
    committed: bool = False
    expects: Literal["anybody", "player"] | None = None


FREE_SEAT = SeatView(expects="anybody")
# Only a vote brings a bot there.
BARRED_SEAT = SeatView(expects="player")


class TableView(msgspec.Struct, frozen=True):
    """What everybody at a table knows of it, around the cards. A snapshot brings all of it; events change it.

    `game_number` and `round` count from 1, `attempt` the count-ins of a round, `bag` the bags of filter flags.
    `started`: its game has been dealt for, and is not over.
    """

    table_id: str
    terms: TableTerms
    phase: str
    host: int
    game_number: int
    round: int
    attempt: int
    bag: int | None
    seats: tuple[SeatView, ...]
    started: bool = False
    vote: VoteView | None = None

    @property
    def people(self) -> tuple[int, ...]:
        """The seats that players hold."""
        return tuple(number for number, seat in enumerate(self.seats) if seat.kind == "player")

    @property
    def free(self) -> tuple[int, ...]:
        return tuple(number for number, seat in enumerate(self.seats) if seat.kind == "free")


class Snapshot(ServerFrame, frozen=True, tag="snapshot"):
    """All that this seat may know at a version: `table` for every game, `game` the game's view.

    `vote_remaining_ms`: what a running vote has left.
    """

    version: int
    seat: int | None
    table: TableView
    game: JsonObject | None = None
    legal: Legal | None = None
    remaining_ms: int | None = None
    vote_remaining_ms: int | None = None


class EventFrame(ServerFrame, frozen=True, tag="event"):
    """One version of the table as this seat may see it.

    `id` is there for the seat whose command made it, and is its acknowledgement. `legal` is there when this seat may
    decide something next: off turn it has `also` alone (KR-8). `remaining_ms` is the time that the seats on turn have.
    """

    version: int
    kind: str
    public: JsonObject
    secret: JsonObject | None = None
    id: str | None = None
    legal: Legal | None = None
    remaining_ms: int | None = None


class RefusedFrame(ServerFrame, frozen=True, tag="refused"):
    """A command that changed nothing; `retry` says that the same id may be sent again later."""

    code: str
    message: str
    id: str | None = None
    details: JsonObject = {}
    retry: bool = False


class Done(ServerFrame, frozen=True, tag="done"):
    """A command that is answered again, or that needed no event; `version` is where its event stands."""

    id: str
    version: int


class Heartbeat(ServerFrame, frozen=True, tag="heartbeat"):
    """Sent at least every HEARTBEAT_SECONDS: a client that has less than `version` asks again with hello."""

    version: int


class Said(ServerFrame, frozen=True, tag="said"):
    """What the player in a seat says just now. It has no version and never comes again (TL-45)."""

    seat: int
    phrase: str


class MicrophoneHeld(ServerFrame, frozen=True, tag="microphone"):
    """Who records just now, and for how long the microphone is held for them; `seat` None: nobody (TL-47)."""

    seat: int | None
    remaining_ms: int | None = None


class UploadTicketGiven(ServerFrame, frozen=True, tag="upload_ticket"):
    """To whoever has the microphone: goes with the recording to POST /v1/voice-notes, as the header Upload-Ticket."""

    id: str
    ticket: str


class NoteReady(ServerFrame, frozen=True, tag="note_ready"):
    """A voice note of the player in this seat, for who was seated when it was sent: all play it together, at `plays_at`
    or at once when that is over (TL-49). `path` needs no token for ten minutes; `seat` None: they have left."""

    note_id: str
    seat: int | None
    milliseconds: int
    plays_at: datetime
    plays_in_ms: int
    path: str


class Announced(ServerFrame, frozen=True, tag="announced"):
    """What operators tell every table, for instance that maintenance is near; None: no more (TL-40)."""

    text: str | None


class Closing(ServerFrame, frozen=True, tag="closing"):
    """The last frame before the table closes a socket, and why.

    `path` is there when the table has moved: where its new owner is reached, at once.
    """

    code: str
    message: str
    path: str | None = None


HEARTBEAT_SECONDS = 5
AnyServerFrame = (
    Welcome
    | Snapshot
    | EventFrame
    | RefusedFrame
    | Done
    | Heartbeat
    | Said
    | MicrophoneHeld
    | UploadTicketGiven
    | NoteReady
    | Announced
    | Closing
)

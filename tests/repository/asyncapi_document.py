"""A table's socket as an AsyncAPI document. Open this to see how a frame or an event becomes a message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import get_args, get_type_hints

import msgspec
from api_schemas import REF, Schema, Schemas

from darbar_contracts import frames
from darbar_contracts.frames import TABLE_FRAMES, CommandIdText, TableView
from darbar_contracts.reading import DecisionFrames
from darbar_contracts.refusals import REFUSALS
from darbar_contracts.route import JSON
from darbar_rules.game import AnyGame, Legal
from darbar_rules.games import ALL
from darbar_table.domain.events import KIND_OF, By
from darbar_table.domain.seat_view import PUBLIC_FIELDS

VERSION = str(frames.PROTOCOL)
CHANNEL = "#/channels/table"
COMMAND_ID: Schema = msgspec.json.schema(CommandIdText)
VERSION_OF_TABLE: Schema = {"type": "integer", "minimum": 1}
MILLISECONDS: Schema = {"type": "integer", "minimum": 0, "description": "What is left of the time on the clock."}
DECIDERS = [by for by in get_args(By) if by != "player"]
# Frames whose fields are what the type says; events and snapshots are written below.
SERVER_FRAMES = (
    frames.Welcome,
    frames.RefusedFrame,
    frames.Done,
    frames.Heartbeat,
    frames.Said,
    frames.MicrophoneHeld,
    frames.UploadTicketGiven,
    frames.NoteReady,
    frames.Announced,
    frames.Closing,
)
ABOUT = """What is spoken on a table's WebSocket. Every message is one JSON object in one text message; its `type`
says which. A client says `hello` first, and then commands, each with an `id` of its own. The table answers with
`welcome`, events and snapshots. An event is known by its `kind`; what a kind holds depends on the game, so its message
is named after the game: `court_piece.card_played`. Kinds of the table itself are the same everywhere:
`table.seat_taken`.

`public` is the same for everybody, `secret` is there for the one seat that may know it. A client ignores fields and
kinds that it does not know. Cards are a rank and a suit (`AS`, `TC`, `2D`; of two decks the second copy is `AS#2`),
seats are numbers from 0, `turn` is the number of the decision that is due, `to_act` the seat that is on turn."""


def asyncapi() -> Schema:
    """The whole document."""
    schemas = Schemas()
    client = dict(_client_messages(schemas))
    server = dict(_server_messages(schemas))
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Darbar, a table's socket", "version": VERSION, "description": ABOUT},
        "defaultContentType": JSON,
        "channels": {"table": _channel([*client, *server])},
        "operations": {
            "hear": _operation("receive", "What a client may send.", list(client)),
            "tell": _operation("send", "What a table sends.", list(server)),
        },
        "components": {"messages": client | server, "schemas": _without_unused(schemas.by_name, client | server)},
    }


def _channel(messages: list[str]) -> Schema:
    return {
        "address": "/play/tables/{table_id}/socket",
        "title": "A table",
        "description": "`socket.direct` of an HTTP answer is the same socket at the process that owns the table.",
        "parameters": {"table_id": {"description": "The table's id."}},
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
        "bindings": {"ws": {"method": "GET"}},
    }


def _operation(action: str, summary: str, messages: list[str]) -> Schema:
    references = [{"$ref": f"{CHANNEL}/messages/{name}"} for name in messages]
    return {"action": action, "channel": {"$ref": CHANNEL}, "summary": summary, "messages": references}


def _message(name: str, payload: Schema, summary: str) -> tuple[str, Schema]:
    return name, {"name": name, "summary": summary, "payload": payload}


def _client_messages(schemas: Schemas) -> Iterator[tuple[str, Schema]]:
    """What a client may send, decisions of every game included."""
    every: tuple[type[frames.Frame], ...] = (*TABLE_FRAMES, *DecisionFrames().by_kind.values())
    for frame in every:
        kind = str(frame.__struct_config__.tag)
        [payload] = schemas.taken([frame])
        schema = schemas.by_name[frame.__name__]
        if "id" in schema["properties"]:
            schema["properties"]["id"] = COMMAND_ID
        yield _message(kind, payload, _first_line(schema.get("description")) or _of_games(kind))


def _server_messages(schemas: Schemas) -> Iterator[tuple[str, Schema]]:
    code = schemas.named("Code", {"title": "Code", "enum": sorted(REFUSALS), "description": _codes()})
    for frame in SERVER_FRAMES:
        [payload] = schemas.sent([frame])
        schema = schemas.by_name[frame.__name__]
        if "code" in schema["properties"]:
            schema["properties"]["code"] = code
        yield _message(str(frame.__struct_config__.tag), payload, _first_line(schema["description"]))
    legal = _legal(schemas)
    yield from _table_events(schemas, legal)
    for game in ALL:
        yield _snapshot(game, schemas, legal)
        yield from _game_events(game, schemas, legal)


def _of_games(kind: str) -> str:
    decisions = {f"`{game.name}`": game.decisions[kind] for game in ALL if kind in game.decisions}
    [decision] = set(decisions.values())
    # A dataclass without a sentence of its own is given its signature.
    about = _first_line(decision.__doc__)
    return f"{'' if about.startswith(decision.__name__) else about} Of {', '.join(decisions)}.".lstrip()


def _codes() -> str:
    return "\n".join(f"`{code}`: {refusal.sentence}" for code, refusal in sorted(REFUSALS.items()))


def _legal(schemas: Schemas) -> Schema:
    """As a frame brings it: a kind of which there is nothing is left out."""
    own = Schemas()
    own.sent([Legal])
    schema = own.by_name["Legal"]
    for part in schema["properties"].values():
        part["minItems"] = 1
    del schema["required"]
    return schemas.named("LegalNow", schema | {"title": "LegalNow"})


def _snapshot(game: AnyGame, schemas: Schemas, legal: Schema) -> tuple[str, Schema]:
    [table], [view] = schemas.sent([TableView]), schemas.sent([game.view_type], prefix=f"{game.name}.")
    payload = _frame(
        "snapshot",
        {"version": VERSION_OF_TABLE, "seat": {"type": ["integer", "null"]}, "table": table},
        {"game": view, "legal": legal, "remaining_ms": MILLISECONDS, "vote_remaining_ms": MILLISECONDS},
    )
    return _message(f"{game.name}.snapshot", payload, f"All that a seat may know of a table of {game.title}.")


def _table_events(schemas: Schemas, legal: Schema) -> Iterator[tuple[str, Schema]]:
    for event, names in PUBLIC_FIELDS.items():
        kind, types = KIND_OF[event], get_type_hints(event)
        fields = [(name, types[name]) for name in names]
        public = msgspec.defstruct(f"{event.__name__}Public", fields, frozen=True)
        [shown] = schemas.sent([public])
        yield _message(f"table.{kind}", _event(kind, {"public": shown}, legal), _first_line(event.__doc__))


def _game_events(game: AnyGame, schemas: Schemas, legal: Schema) -> Iterator[tuple[str, Schema]]:
    for kind, types in game.shown.items():
        [public] = schemas.sent([types.public], prefix=f"{game.name}.")
        schema = schemas.by_name[public["$ref"].removeprefix(REF)]
        # Who decided is said when it was no player.
        schema = schema | {"properties": {**schema["properties"], "by": {"enum": DECIDERS}}}
        parts = {"public": schema}
        if types.secret is not None:
            [parts["secret"]] = schemas.sent([types.secret], prefix=f"{game.name}.")
        yield _message(f"{game.name}.{kind}", _event(kind, parts, legal), f"{game.title}: {kind.replace('_', ' ')}.")


def _event(kind: str, parts: Schema, legal: Schema) -> Schema:
    public = {"version": VERSION_OF_TABLE, "kind": {"const": kind}, "public": parts["public"]}
    secret = {"secret": parts["secret"]} if "secret" in parts else {}
    return _frame("event", public, {**secret, "id": COMMAND_ID, "legal": legal, "remaining_ms": MILLISECONDS})


def _frame(type: str, needed: Schema, optional: Schema) -> Schema:
    properties = {"type": {"const": type}, **needed, **optional}
    return {"type": "object", "properties": properties, "required": ["type", *needed]}


def _first_line(text: str | None) -> str:
    return (text or "").partition("\n")[0]


def _without_unused(schemas: Mapping[str, Schema], messages: Schema) -> Schema:
    """The schemas that a message leads to, sorted."""
    used: dict[str, Schema] = {}
    todo = _names_in(messages)
    while todo:
        name = todo.pop()
        if name not in used:
            used[name] = schemas[name]
            todo += _names_in(schemas[name])
    return dict(sorted(used.items()))


def _names_in(schema: Schema) -> list[str]:
    return re.findall(rf'"{REF}([^"]+)"', msgspec.json.encode(schema).decode())

"""The contracts as TypeScript, for the web client; `make documents` writes them.

Open this when a type of the web client is missing or says less than the Python type does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import get_args

import msgspec

from darbar_contracts import api
from darbar_contracts.frames import TABLE_FRAMES, AnyServerFrame
from darbar_contracts.reading import DecisionFrames
from darbar_contracts.voice import VoiceRights
from darbar_contracts.wallet import EntryList, WalletView
from darbar_rules.games import ALL

HEADER = """// Written by `make documents` from libs/contracts: change that.
"""

Value = bool | int | float | str | None


_RENAMED = {
    "ref": "$ref",
    "any_of": "anyOf",
    "prefix_items": "prefixItems",
    "additional": "additionalProperties",
}


class Schema(msgspec.Struct, frozen=True, rename=_RENAMED):
    """As much of JSON Schema as the contracts need."""

    ref: str | None = None
    type: str | None = None
    description: str = ""
    enum: tuple[Value, ...] = ()
    any_of: tuple[Schema, ...] = ()
    properties: Mapping[str, Schema] = {}
    required: tuple[str, ...] = ()
    prefix_items: tuple[Schema, ...] = ()
    items: Schema | bool | None = None
    additional: Schema | bool | None = None


def typescript() -> str:
    """The whole module."""
    asked = [*_structs(api.__dict__), EntryList, WalletView, VoiceRights]
    decisions = list(DecisionFrames().by_kind.values())
    views = [game.view_type for game in ALL]
    frames = get_args(AnyServerFrame)
    kinds: list[type | UnionType] = [*TABLE_FRAMES, *decisions, *frames, *asked, *dict.fromkeys(views)]
    references, components = msgspec.json.schema_components(kinds, ref_template="{name}")
    schemas = msgspec.convert(components, dict[str, Schema])
    names = {reference: _name(reference) for reference in schemas}
    parts = [_declared(names[reference], schema, names) for reference, schema in sorted(schemas.items())]
    roots = [names[str(reference["$ref"])] for reference in references]
    commands = roots[: len(TABLE_FRAMES) + len(decisions)]
    parts.append(_union("ClientFrame", commands))
    parts.append(_union("ServerFrame", roots[len(commands) : len(commands) + len(frames)]))
    parts.append(_union("GameView", roots[-len(set(views)) :]))
    return "\n".join([HEADER, *parts])


def _structs(module: Mapping[str, object]) -> Iterator[type]:
    """The messages that a module defines itself."""
    for value in module.values():
        if isinstance(value, type) and issubclass(value, msgspec.Struct) and value.__module__ == module["__name__"]:
            yield value


def _name(reference: str) -> str:
    """A name that is there twice comes with its module: the `RoundEnded` of King is `KingRoundEnded`."""
    *module, name = re.split(r"[._](?=[A-Za-z])", reference)
    game = "".join(part.capitalize() for part in module if part not in ("darbar", "rules", "contracts", "games"))
    return re.sub(r"(Events|State|View|Tricks)$", "", game) + name


def _declared(name: str, schema: Schema, names: Mapping[str, str]) -> str:
    if not schema.properties:
        return f"export type {name} = {_type(schema, names)};\n"
    lines = [f"/** {schema.description.split('. ')[0].splitlines()[0].rstrip('.')}. */"] if schema.description else []
    lines.append(f"export interface {name} {{")
    for key, value in schema.properties.items():
        mark = "" if key in schema.required else "?"
        lines.append(f"  {key}{mark}: {_type(value, names)};")
    return "\n".join([*lines, "}", ""])


def _type(schema: Schema, names: Mapping[str, str]) -> str:
    if schema.ref is not None:
        return names[schema.ref]
    if schema.any_of:
        return " | ".join(_type(option, names) for option in schema.any_of)
    if schema.enum:
        return " | ".join(msgspec.json.encode(value).decode() for value in schema.enum)
    match schema.type:
        case "array":
            return _array(schema, names)
        case "object":
            inner = _type(schema.additional, names) if isinstance(schema.additional, Schema) else "unknown"
            return f"Record<string, {inner}>"
        case "integer":
            return "number"
        case None:
            return "unknown"
        case plain:
            return plain


def _array(schema: Schema, names: Mapping[str, str]) -> str:
    if schema.prefix_items:
        return f"[{', '.join(_type(item, names) for item in schema.prefix_items)}]"
    inner = _type(schema.items, names) if isinstance(schema.items, Schema) else "unknown"
    return f"({inner})[]" if " | " in inner else f"{inner}[]"


def _union(name: str, members: list[str]) -> str:
    return f"export type {name} =\n" + "\n".join(f"  | {member}" for member in dict.fromkeys(members)) + ";\n"

"""JSON Schema of what is sent and taken, for the documents of the API. Open this when a schema is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

REF = "#/components/schemas/"

Schema = dict[str, Any]


class Schemas:
    """The schemas of one document, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, Schema] = {}

    def sent(self, types: Iterable[type], *, prefix: str = "") -> list[Schema]:
        """References to types that are only sent: every field is there, whatever its default. A TypedDict says itself
        which are. `prefix` keeps types of one name in two games apart."""
        return self._added(types, prefix, is_sent=True)

    def taken(self, types: Iterable[type]) -> list[Schema]:
        """References to types that a client writes: what has a default may be left out."""
        return self._added(types, "", is_sent=False)

    def named(self, name: str, schema: Schema) -> Schema:
        """A reference to a schema that is no type."""
        assert self.by_name.setdefault(name, schema) == schema, f"two schemas are called {name}"
        return {"$ref": REF + name}

    def _added(self, types: Iterable[type], prefix: str, *, is_sent: bool) -> list[Schema]:
        references, found = msgspec.json.schema_components(list(types), ref_template=f"{REF}{prefix}{{name}}")
        for name, schema in found.items():
            self.named(prefix + name, _plain(schema, is_sent=is_sent) | {"title": prefix + name})
        return [dict(reference) for reference in references]


def _plain(schema: Any, *, is_sent: bool) -> Any:
    """In the words that every reader of schemas knows, old ones too."""
    if isinstance(schema, list):
        return [_plain(item, is_sent=is_sent) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _plain(part, is_sent=is_sent) for name, part in schema.items()}
    properties = made.get("properties", {})
    if is_sent and properties:
        always = {name for name, part in properties.items() if part.pop("default", made) is not made}
        made["required"] = [name for name in properties if name in always or name in schema.get("required", ())]
    if not made.get("required", True):
        del made["required"]
    if "prefixItems" in made:
        first, *others = made.pop("prefixItems")
        assert all(item == first for item in others), "a row of things of different kinds"
        made["items"] = first
    return _with_joined_types(made)


def _with_joined_types(schema: Schema) -> Schema:
    """A number or null, without an anyOf around it."""
    parts: Sequence[Schema] = schema.get("anyOf", ())
    if len(parts) == 2 and parts[1] == {"type": "null"} and set(parts[0]) <= {"type", "minimum", "maximum", "pattern"}:
        rest = {name: part for name, part in schema.items() if name != "anyOf"}
        return {**parts[0], "type": [parts[0]["type"], "null"], **rest}
    return schema

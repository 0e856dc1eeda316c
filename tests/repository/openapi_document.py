"""The HTTP routes as an OpenAPI document. Open this to see how a route of the contracts becomes an operation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from http import HTTPStatus

from api_schemas import REF, Schema, Schemas

from darbar_contracts.api import Problem
from darbar_contracts.public.routes import BY_SERVICE
from darbar_contracts.refusals import REFUSALS, Reason, Refusal
from darbar_contracts.route import (
    IDEMPOTENCY_KEY_HEADER,
    IDEMPOTENCY_KEY_PATTERN,
    JSON,
    PATH_VALUES,
    Route,
)
from darbar_contracts.voice import UPLOAD_TICKET_HEADER
from darbar_kit.http import BODY_BYTES_MAX

VERSION = "1"
# What may fail behind any route, but for what clients say to themselves.
UNAVAILABLE = sorted(reason for reason in Reason if reason.status == 503 and reason is not Reason.UNREACHABLE)
RETRY_AFTER = {
    "Retry-After": {"description": "In how many seconds to ask again.", "schema": {"type": "integer", "minimum": 1}}
}
ABOUT = f"""Darbar's tables over HTTP. Begin with `POST /v1/guests`, send the `access_token` of its answer as
`Authorization: Bearer ...`, open a table or find one, and connect to the socket that the answer names: what is spoken
there is in `/v1/asyncapi.json`.

Bodies are JSON of at most {BODY_BYTES_MAX} bytes and hold no field that is not named here. Answers may get more fields
at any time. Every refusal is a `Problem`; decide by its `code`, which never gets another meaning. Whatever the code of
a 503 is, ask again. A fault of ours is a 500 with the code `internal`."""


def openapi() -> Schema:
    """The whole document."""
    schemas = Schemas()
    schemas.sent([Problem])
    responses: dict[str, Schema] = {}
    paths: dict[str, Schema] = {}
    for service, routes in BY_SERVICE.items():
        for route in routes:
            made = {"tags": [service], **_operation(route, schemas, responses)}
            paths.setdefault(route.path, {})[route.method.lower()] = made
    return {
        "openapi": "3.1.0",
        "info": {"title": "Darbar", "version": VERSION, "description": ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "tags": [{"name": service} for service in BY_SERVICE],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.by_name.items())),
            "responses": dict(sorted(responses.items())),
            "securitySchemes": {"access_token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _operation(route: Route, schemas: Schemas, responses: dict[str, Schema]) -> Schema:
    made: Schema = {"operationId": route.name, "summary": route.does}
    if parameters := list(_parameters(route, schemas)):
        made["parameters"] = parameters
    if route.token != "none":
        made["security"] = [{"access_token": []}] if route.token == "needed" else [{}, {"access_token": []}]
    if route.body is not None:
        [body] = schemas.taken([route.body])
        made["requestBody"] = {"required": route.token != "optional", "content": {JSON: {"schema": body}}}
    if route.recording:
        binary: Schema = {"schema": {"type": "string", "format": "binary"}}
        made["requestBody"] = {"required": True, "content": dict.fromkeys(route.recording, binary)}
    made["responses"] = {**_answers(route, schemas), **_refusals(route, responses)}
    return made


def _parameters(route: Route, schemas: Schemas) -> Iterator[Schema]:
    for name in re.findall(r"{(\w+)}", route.path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": PATH_VALUES[name],
            "schema": {"type": "string", "minLength": 1},
        }
    if route.idempotency_key != "none":
        yield {
            "name": IDEMPOTENCY_KEY_HEADER,
            "in": "header",
            "required": route.idempotency_key == "needed",
            "description": "A new one for each table that is wanted: the same key and body get the same answer.",
            "schema": {"type": "string", "pattern": f"^{IDEMPOTENCY_KEY_PATTERN}$"},
        }
    if route.recording:
        yield {
            "name": UPLOAD_TICKET_HEADER,
            "in": "header",
            "required": True,
            "description": "Out of the socket's `upload_ticket`, which answers `ask_microphone`.",
            "schema": {"type": "string", "minLength": 1},
        }
    if route.query is not None:
        query = Schemas()
        query.taken([route.query])
        schema = query.by_name[route.query.__name__]
        for name, part in schema["properties"].items():
            yield {
                "name": name,
                "in": "query",
                "required": name in schema.get("required", ()),
                "schema": _without_null(part),
            }


def _without_null(schema: Schema) -> Schema:
    """What is not asked for is left out of a query."""
    made = {name: part for name, part in schema.items() if part is not None}
    if "anyOf" in made:
        made |= made.pop("anyOf")[0]
    if isinstance(made.get("type"), list):
        made["type"] = made["type"][0]
    return made


def _answers(route: Route, schemas: Schemas) -> Schema:
    made: Schema = {}
    for status, answer in route.answers.items():
        described: Schema = {"description": HTTPStatus(status).phrase}
        if isinstance(answer, str):
            described["content"] = {answer: {"schema": {"type": "object" if answer == JSON else "string"}}}
        elif answer is not None:
            [schema] = schemas.sent([answer])
            described["content"] = {JSON: {"schema": schema}}
        made[str(status)] = described
    return made


def _refusals(route: Route, responses: dict[str, Schema]) -> Schema:
    """By status; those that many routes have are named once, in `responses`."""
    made: Schema = {}
    codes = [REFUSALS[code] for code in (*route.refusals, *UNAVAILABLE)]
    for status in sorted({refusal.status for refusal in codes}):
        refusals = [refusal for refusal in codes if refusal.status == status]
        name = "unavailable" if status == HTTPStatus.SERVICE_UNAVAILABLE else refusals[0].code
        if name == "unavailable" or len(refusals) == 1:
            responses[name] = _refusal(status, refusals)
            made[str(status)] = {"$ref": f"#/components/responses/{name}"}
        else:
            made[str(status)] = _refusal(status, refusals)
    return made


def _refusal(status: int, refusals: Sequence[Refusal]) -> Schema:
    codes = {"properties": {"code": {"enum": sorted(refusal.code for refusal in refusals)}}}
    made: Schema = {
        "description": refusals[0].sentence if len(refusals) == 1 else HTTPStatus(status).phrase,
        "content": {JSON: {"schema": {"allOf": [{"$ref": f"{REF}Problem"}, codes]}}},
    }
    return made | {"headers": RETRY_AFTER} if any(refusal.retry for refusal in refusals) else made

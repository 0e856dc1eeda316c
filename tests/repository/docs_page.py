"""Both documents of the API as one page for people: no script, nothing from elsewhere. Open this to change its form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from api_schemas import REF, Schema

from darbar_contracts.refusals import REFUSALS

HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Darbar: the API</title>
<style>
:root { color-scheme: light dark; --line: #8885; --quiet: #8882 }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem 4rem }
h1, h2 { line-height: 1.2 } h2 { border-top: 2px solid var(--line); padding-top: 1rem; margin-top: 3rem }
h3 { margin: 2rem 0 .3rem; overflow-wrap: anywhere } p { margin: .5rem 0 }
code { font: .9em ui-monospace, monospace; background: var(--quiet); padding: .1em .3em; border-radius: .2em }
table { border-collapse: collapse; margin: .5rem 0; display: block; overflow-x: auto }
td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line) }
nav ul { columns: 18rem; padding-left: 1rem }
</style>
"""


def docs_page(http: Schema, socket: Schema) -> str:
    """The page, from the OpenAPI and the AsyncAPI document."""
    return "\n".join([HEAD, *_body(http, socket), ""])


def _body(http: Schema, socket: Schema) -> Iterator[str]:
    operations = [
        (f"{method.upper()} {path}", made) for path, all_of in http["paths"].items() for method, made in all_of.items()
    ]
    messages = socket["components"]["messages"]
    yield "<h1>Darbar: the API</h1>"
    yield (
        '<p>The same for programs: <a href="/v1/openapi.json">/v1/openapi.json</a> (HTTP) and '
        '<a href="/v1/asyncapi.json">/v1/asyncapi.json</a> (the socket of a table).</p>'
    )
    yield from _contents("HTTP", ((f"http-{made['operationId']}", title) for title, made in operations))
    yield from _contents("Socket", ((f"message-{name}", name) for name in messages))
    yield '<nav><p><a href="#types">Types</a>, <a href="#refusals">Refusals</a></p></nav>'
    yield f"<h2>HTTP</h2>{_text(http['info']['description'])}"
    for title, made in operations:
        yield from _operation(title, made, http)
    yield f"<h2>Socket</h2>{_text(socket['info']['description'])}"
    for name, message in messages.items():
        yield f'<h3 id="message-{name}">{name}</h3><p>{_marked(message["summary"])}</p>'
        yield from _fields(message["payload"], socket)
    yield '<h2 id="types">Types</h2>'
    for name, schema in sorted({**http["components"]["schemas"], **socket["components"]["schemas"]}.items()):
        yield from _type(name, schema, socket)
    yield '<h2 id="refusals">Refusals</h2>'
    rows = [
        (f"<code>{code}</code>", str(refusal.status), escape(refusal.sentence))
        for code, refusal in sorted(REFUSALS.items())
    ]
    yield from _table(("code", "status", "sentence"), rows)


def _contents(title: str, links: Iterable[tuple[str, str]]) -> Iterator[str]:
    items = "\n".join(f'<li><a href="#{anchor}">{escape(text)}</a>' for anchor, text in links)
    yield f"<nav><h3>{title}</h3>\n<ul>\n{items}\n</ul></nav>"


def _operation(title: str, made: Schema, http: Schema) -> Iterator[str]:
    yield f'<h3 id="http-{made["operationId"]}">{escape(title)}</h3><p>{_marked(made["summary"])}</p>'
    security = made.get("security", [])
    if security:
        yield f"<p>Access token: {'may be sent' if {} in security else 'needed'}.</p>"
    rows = [
        (
            f"<code>{parameter['name']}</code>",
            parameter["in"],
            _words(parameter["schema"]),
            _marked(parameter.get("description", "")),
        )
        for parameter in made.get("parameters", [])
    ]
    if rows:
        yield from _table(("parameter", "in", "type", ""), rows)
    if "requestBody" in made:
        yield f"<p>Body: {_content(made['requestBody'])}</p>"
    answers = ((status, _resolved(answer, http)) for status, answer in made["responses"].items())
    yield from _table(("status", "answer"), [(status, _answer(status, answer)) for status, answer in answers])


def _answer(status: str, answer: Schema) -> str:
    if status == "503":
        return '<a href="#refusals">any code of this status</a>'
    codes = re.search(r"'enum': \[([^\]]+)\]", str(answer))
    return ", ".join(f"<code>{code}</code>" for code in re.findall(r"\w+", codes[1])) if codes else _content(answer)


def _content(holder: Schema) -> str:
    described = [f"{_words(made['schema'])} ({media})" for media, made in holder.get("content", {}).items()]
    return ", ".join(described) or "nothing"


def _resolved(answer: Schema, document: Schema) -> Schema:
    if "$ref" not in answer:
        return answer
    made: Schema = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    return made


def _type(name: str, schema: Schema, socket: Schema) -> Iterator[str]:
    yield f'<h3 id="type-{name}">{name}</h3>'
    if name == "Code":
        yield '<p>One of the <a href="#refusals">refusals</a>.</p>'
        return
    yield _text(schema.get("description", ""))
    if "properties" in schema:
        yield from _fields(schema, socket)
    else:
        yield f"<p>{_words(schema)}</p>"


def _fields(schema: Schema, document: Schema) -> Iterator[str]:
    """A row a field; the parts of an event that are written where they are used have rows of their own."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].removeprefix(REF)]
    yield from _table(("field", "type", ""), list(_rows(schema, "")))


def _rows(schema: Schema, within: str) -> Iterator[tuple[str, ...]]:
    for name, part in schema.get("properties", {}).items():
        always = name in schema.get("required", ())
        default = f"{part['default']}".lower() if isinstance(part.get("default"), bool) else part.get("default")
        usual = "" if default is None else f"{default} when left out"
        yield f"<code>{within}{name}</code>", _words(part), usual or ("" if always else "may be missing")
        if "properties" in part:
            yield from _rows(part, f"{within}{name}.")


def _words(schema: Schema) -> str:
    """A type in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REF)
        return f'<a href="#type-{name}">{name}</a>'
    if "const" in schema or "enum" in schema:
        return " or ".join(f"<code>{escape(str(value))}</code>" for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " or ".join(_words(part) for part in schema["anyOf"])
    if isinstance(schema.get("type"), list):
        return " or ".join(schema["type"])
    if schema.get("type") == "array":
        return f"list of {_words(schema.get('items', {}))}"
    limits = [f"{name} {schema[name]}" for name in ("minimum", "maximum") if name in schema]
    pattern = [f"<code>{escape(schema['pattern'])}</code>"] if "pattern" in schema else []
    return " ".join([schema.get("type", "anything"), *limits, *pattern])


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if rows:
        yield "<table><tr>" + "".join(f"<th>{head}" for head in heads)
        yield from ("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in rows)
        yield "</table>"


def _text(description: str) -> str:
    return "".join(f"<p>{_marked(part)}</p>" for part in description.split("\n\n") if part)


def _marked(text: str) -> str:
    """Escaped; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))

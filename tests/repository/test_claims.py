"""What documents claim and a program can look up: defaults, labels, commands, variables, codes, names in answers.

Open this when a page is said to be wrong.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

import msgspec
import pytest
from test_docs import CODE_SPAN, FENCE, documents
from test_operations import metrics_of, of_services
from test_shape import LABELS
from test_tidy import dotted
from tracked import ROOT, Source, expect_none, sources

from darbar_contracts.tables import TermsLimits
from darbar_local.commands import command_parser
from darbar_local.exit_codes import ExitCode
from darbar_local.services import ALL
from darbar_local.settings import (
    ADMIN_PREFIX,
    AdminSettings,
    GivenServers,
    MigrateSettings,
    ServeSettings,
    UpSettings,
)

DARBAR_COMMAND = re.compile(r"(?:\.venv/bin/)?darbar ((?:up|serve|migrate|thaw|void|rights|version)(?: [^`#\n]*)?)")
VARIABLE = re.compile(r"\bDARBAR_[A-Z_]+[A-Z]\b")
NAME = re.compile(r"`([^`]+)`")
# Beginnings of variables of what is not a service or the command: test runs, and the service of docs/howto.
OTHER_VARIABLES = ("DARBAR_TEST_", "DARBAR_ECHO_")
# How a page names a label, where it is not the label's own name.
WORDING = {"by": "who decided"}


def operations() -> str:
    return (ROOT / "docs/operations.md").read_text()


def section(document: str, title: str) -> str:
    """From a heading to the next one of its rank, or a higher one."""
    rank = len(title) - len(title.lstrip("#"))
    _, found, after = document.partition(f"{title}\n")
    assert found, f"there is no {title}"
    return re.split(rf"^#{{1,{rank}}} ", after, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[tuple[str, str, str]]:
    """The cells of every row of its tables, three of them; heads and the lines below them are left out."""
    lines = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in (*line, "", "")[:3]] for line in lines]
    return [(row[0], row[1], row[2]) for row in cells if "`" in row[0] or row[0].isdigit()]


def wrong_defaults(document: str, service: str, settings: type[msgspec.Struct]) -> Iterator[str]:
    known = {field.name.upper(): spelled(field.default) for field in msgspec.structs.fields(settings)}
    for names, defaults, _ in rows(section(document, f"### {service.capitalize()}")):
        of_names = NAME.findall(names)
        given = [part.strip() for part in defaults.split(",")] if len(of_names) > 1 else [defaults.strip()]
        if len(given) != len(of_names):
            yield f"{service}: {names}: {len(given)} defaults"
        for name, default in zip(of_names, given, strict=False):
            if known.get(name) != default:
                yield f"{service}: {name} is {known.get(name)!r} without a setting, not {default!r}"


def spelled(default: object) -> str:
    """As the document writes it: nothing for what has to be given."""
    match default:
        case bool():
            return "on" if default else "off"
        case float() | int():
            return f"{default:g}" if isinstance(default, float) else str(default)
        case str() as text:
            return text or "empty"
        case tuple():
            return "none" if not default else ", ".join(map(str, default))
        case _:
            return ""


def unnamed_labels(document: str, labels: Mapping[str, list[str]]) -> Iterator[str]:
    """`by reason`, in the row of a metric that has the label `reason`; no other label is promised."""
    for names, said, _ in rows(section(document, "## Metrics")):
        promised = {
            label for label in LABELS if re.search(rf"\bby (\w+, )*(\w+ and )?{WORDING.get(label, label)}\b", said)
        }
        for name in NAME.findall(names):
            has = set(labels.get(name, ()))
            if has - promised:
                yield f"{name}: its row does not say by {', '.join(sorted(has - promised))}"
            if promised - set().union(*(labels.get(other, ()) for other in NAME.findall(names))):
                yield f"{name}: its row says by {', '.join(sorted(promised))}, and it has {sorted(has)}"


def labels_of(source: Source) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Call)
            and dotted(node.func) in ("Counter", "CounterMetricFamily", "Gauge", "Histogram")
            and node.args
        ):
            lists = [part.elts for part in node.args if isinstance(part, ast.List | ast.Tuple)]
            name = node.args[0]
            if isinstance(name, ast.Constant):
                found[str(name.value)] = [
                    str(item.value) for elts in lists for item in elts if isinstance(item, ast.Constant)
                ]
        if isinstance(node, ast.Call) and dotted(node.func) == "Supervisor" and isinstance(node.args[0], ast.Constant):
            found[f"{node.args[0].value!s}_task_restarts"] = ["task"]
    return found


def wrong_commands(document: Source) -> Iterator[str]:
    """Every `darbar ...` in code marks or a block is a command line that `darbar` takes."""
    fences = "\n".join(FENCE.findall(document.text))
    spans = "\n".join(CODE_SPAN.findall(FENCE.sub("", document.text)))
    for line in re.findall(r"^(?:\.venv/bin/)?darbar .*$", fences + "\n" + spans, re.MULTILINE):
        found = DARBAR_COMMAND.match(line)
        words = found[1].split() if found else line.split()[1:]
        if len(words) == 1 and words[0] in ("up", "serve", "migrate"):
            continue  # Spoken of, not to be typed.
        try:
            command_parser().parse_args(["table" if word == "SERVICE" else word for word in words])
        except SystemExit:
            yield f"{document.path}: `darbar {' '.join(words)}` is no command"


def unknown_variables(document: Source, known: frozenset[str]) -> Iterator[str]:
    for name in sorted(set(VARIABLE.findall(document.text)) - known):
        if not name.startswith(OTHER_VARIABLES):
            yield f"{document.path}: nothing reads {name}"


def variables() -> frozenset[str]:
    """Every variable that is read somewhere."""
    names = {f"DARBAR_{field.upper()}" for field in UpSettings.__struct_fields__}
    names |= {ADMIN_PREFIX + field.upper() for field in AdminSettings.__struct_fields__}
    names |= {f"DARBAR_TERMS_{field.upper()}" for field in TermsLimits.__struct_fields__}
    for service in ALL:
        for settings in (service.settings_type, ServeSettings, MigrateSettings):
            names |= {service.prefix + field.upper() for field in settings.__struct_fields__}
    return frozenset(names | {field.upper() for field in GivenServers.__struct_fields__})


def missing_names(source: Source) -> set[str]:
    """What /readyz may say is missing: named in a service's own question, or a task that the supervisor watches."""
    names: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in ("_missing", "ready"):
            lists = [inner for inner in ast.walk(node) if isinstance(inner, ast.List | ast.Call)]
            parts = [part for inner in lists for part in (inner.elts if isinstance(inner, ast.List) else inner.args)]
            names |= {str(part.value) for part in parts if isinstance(part, ast.Constant)}
        if isinstance(node, ast.Call) and dotted(node.func).endswith(".watch") and node.args:
            names.add(ast.unparse(node.args[0]).strip("f'\"").replace("{", "<").replace("}", ">"))
    return names


@pytest.mark.parametrize("service", [service.name for service in ALL])
def test_the_defaults_of_a_service_are_those_of_the_page(service: str) -> None:
    settings = next(known.settings_type for known in ALL if known.name == service)
    expect_none(wrong_defaults(operations(), service, settings))


def test_what_a_table_may_agree_on_is_as_the_page_says() -> None:
    told: dict[str, str] = {}
    for names, defaults, _ in rows(section(operations(), "### What a table may agree on")):
        told |= dict(zip(NAME.findall(names), defaults.split(", "), strict=True))
    fields = msgspec.structs.fields(TermsLimits)
    assert told == {f"DARBAR_TERMS_{field.name.upper()}": spelled(field.default) for field in fields}


def test_every_label_of_a_metric_is_on_the_page() -> None:
    labels = {name: found for source in of_services() for name, found in labels_of(source).items()}
    assert {name for source in of_services() for name in metrics_of(source)} >= set(labels)
    expect_none(unnamed_labels(operations(), labels))


def test_every_darbar_command_of_a_document_is_one() -> None:
    expect_none(finding for document in documents() for finding in wrong_commands(document))


def test_every_variable_of_a_document_is_read() -> None:
    known = variables()
    expect_none(finding for document in documents() for finding in unknown_variables(document, known))


def test_every_exit_code_is_on_the_page() -> None:
    told = [int(code) for code, *_ in rows(section(operations(), "## Start and stop")) if code.isdigit()]
    assert told == sorted({*ExitCode, 2})


def test_every_name_that_readiness_gives_is_on_the_page() -> None:
    apps = [source for source in sources() if re.fullmatch(r"services/\w+/darbar_\w+/app\.py", source.path)]
    given = set().union(*(missing_names(source) for source in apps))
    told = {name for names, *_ in rows(section(operations(), "## Health")) for name in NAME.findall(names)}
    assert told == given


class _Settings(msgspec.Struct, frozen=True, kw_only=True):
    nats_url: str
    seconds: float = 7.0
    origins: tuple[str, ...] = ()
    is_fast: bool = False


GOOD_ROWS = "### Echo\n\n| setting | default | what |\n|---|---|---|\n| `NATS_URL` | | the bus |\n"


@pytest.mark.parametrize(
    "row",
    ["| `SECONDS` | 8 | x |", "| `ORIGINS` | empty | x |", "| `SECONDS`, `IS_FAST` | 7 | x |", "| `GONE` | 1 | x |"],
)
def test_a_planted_wrong_default_is_found(row: str) -> None:
    assert list(wrong_defaults(f"{GOOD_ROWS}{row}\n", "echo", _Settings))


def test_right_defaults_are_let_through() -> None:
    good = f"{GOOD_ROWS}| `SECONDS`, `IS_FAST` | 7, off | x |\n| `ORIGINS` | none | x |\n"
    assert not list(wrong_defaults(good, "echo", _Settings))


def test_planted_labels_are_found() -> None:
    page = "## Metrics\n\n| metric | x |\n|---|---|\n| `echo_a` | by reason: many |\n| `echo_b` | how many |\n"
    assert not list(unnamed_labels(page, {"echo_a": ["reason"], "echo_b": []}))
    assert list(unnamed_labels(page, {"echo_a": ["kind"], "echo_b": []}))
    assert list(unnamed_labels(page, {"echo_a": ["reason"], "echo_b": ["kind"]}))


@pytest.mark.parametrize("text", ["`darbar up --nothing`", "```\n.venv/bin/darbar serve nobody\n```", "`darbar fly`"])
def test_a_planted_wrong_command_is_found(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(wrong_commands(Source("a.md", text)))
    assert capsys.readouterr().err


def test_a_planted_unknown_variable_is_found() -> None:
    assert list(unknown_variables(Source("a.md", "set DARBAR_TABLE_SPEED=1"), variables()))
    assert not list(unknown_variables(Source("a.md", "DARBAR_TABLE_COUNT_IN_SECONDS, DARBAR_DATA"), variables()))


def test_planted_names_of_readiness_are_read() -> None:
    text = (
        "async def _missing(app):\n    return ['nats'] if x else [*y, 'children']\ns.watch(f'child_{number}', work)\n"
    )
    assert missing_names(Source("a.py", text)) == {"nats", "children", "child_<number>"}

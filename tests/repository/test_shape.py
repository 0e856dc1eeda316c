"""Where a file may be and how large things may grow. Open this when a new file or folder is refused."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest
from tracked import Source, expect_none, sources, tracked_paths

MODULES_IN_A_FOLDER_MAX = 14
ROOMS_OF_THE_TABLE_MAX = 15
# In production code: where types are given up. Make it less, never more.
ANY_WORDS_MAX = 183
TYPES_IGNORED_MAX = 10

# What a service may have at its top, and why it is there. A name that is missing means: it has no such thing.
SERVICE_PARTS: Mapping[str, str] = {
    "app": "makes each part once and passes it on",
    "settings": "what an operator can set",
    "metrics": "what it counts",
    "http": "its routes",
    "socket": "the players' WebSocket",
    "bus": "what other services ask it, and tell it",
    "milestone_consumer": "takes the milestones of tables",
    "middlewares": "what holds for every HTTP request",
    "limits": "how often somebody may ask",
    "handlers": "what happens for one question or command: asks domain, store and other services",
    "engine": "what lives between two questions: tasks, state in memory, child processes",
    "shards": "which process owns what",
    "store": "the database, and nothing else that knows SQL",
    "domain": "pure rules: no database, no bus, no clock",
    "migrations": "its database, step by step",
    "testing": "doubles that other packages' tests use",
    "queries.sql": "its statements, when the store is one file",
    "py.typed": "its types are checked by who imports it",
    "__init__": "makes it a package",
}
SERVICE_PARTS_NEEDED = frozenset({"__init__", "app", "settings", "metrics", "domain", "py.typed"})
SERVICE_FILES_NEEDED = ("README.md", "pyproject.toml")
# With a store come the other three.
STORE_PARTS = frozenset({"store", "migrations"})

LABELS: Mapping[str, str] = {
    "reason": "a code, or why something went wrong",
    "kind": "which of a few sorts",
    "by": "who decided",
    "route": "a path's pattern",
    "method": "of HTTP",
    "status": "of HTTP",
    "limit": "which limit",
    "game": "which game",
    "task": "which long task",
}


def crowded_folders(paths: tuple[str, ...]) -> Iterator[str]:
    for folder, count in sorted(modules_of_folders(paths).items()):
        if count > MODULES_IN_A_FOLDER_MAX:
            yield f"{folder} has {count} modules, {MODULES_IN_A_FOLDER_MAX} at most: put what belongs together into one"


def modules_of_folders(paths: tuple[str, ...]) -> Counter[str]:
    """Of production code, without `__init__`."""
    modules = [path for path in paths if re.search(r"/darbar_\w+/(.*/)?(?!__init__)\w+\.py$", path)]
    return Counter(path.rpartition("/")[0] for path in modules)


def misshapen_services(paths: tuple[str, ...]) -> Iterator[str]:
    for service, parts in parts_of_services(paths).items():
        yield from (f"services/{service}: nothing of a service is called {part}" for part in parts - set(SERVICE_PARTS))
        yield from (f"services/{service} has no {part}" for part in sorted(SERVICE_PARTS_NEEDED - parts))
        if parts & STORE_PARTS:
            yield from (f"services/{service} has a database and no {part}" for part in sorted(STORE_PARTS - parts))
        for name in SERVICE_FILES_NEEDED:
            if f"services/{service}/{name}" not in paths:
                yield f"services/{service} has no {name}"
        if not any(path.startswith(f"services/{service}/tests/test_") for path in paths):
            yield f"services/{service} has no tests"


def parts_of_services(paths: tuple[str, ...]) -> dict[str, set[str]]:
    """The names at the top of each service's package."""
    parts: dict[str, set[str]] = {}
    for path in paths:
        if found := re.match(r"services/(\w+)/darbar_\1/([^/]+)", path):
            parts.setdefault(found[1], set()).add(found[2].removesuffix(".py"))
    return parts


def apps_that_are_built_otherwise(source: Source) -> Iterator[str]:
    """`build_app(settings: Settings) -> web.Application`, so that every wiring calls the same function."""
    if not re.fullmatch(r"services/\w+/darbar_\w+/app\.py", source.path):
        return
    made = [node for node in source.tree.body if isinstance(node, ast.FunctionDef) and node.name == "build_app"]
    signatures = [ast.unparse(node).split("\n")[0] for node in made]
    if signatures != ["def build_app(settings: Settings) -> web.Application:"]:
        yield f"{source.path}: no `def build_app(settings: Settings) -> web.Application:`"


def classes_with_other_names(source: Source) -> Iterator[str]:
    """settings.py has Settings, metrics.py has Metrics."""
    if found := re.fullmatch(r"services/\w+/darbar_\w+/(settings|metrics)\.py", source.path):
        classes = {node.name for node in source.tree.body if isinstance(node, ast.ClassDef)}
        if found[1].capitalize() not in classes:
            yield f"{source.path}: no class {found[1].capitalize()}"


def strange_metrics(source: Source) -> Iterator[str]:
    """Their names begin with the service, their labels are words that have one meaning everywhere."""
    found = re.fullmatch(r"services/(\w+)/darbar_\w+/metrics\.py", source.path)
    for node in ast.walk(source.tree) if found else ():
        if not (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("Counter", "CounterMetricFamily", "Gauge", "Histogram")
        ):
            continue
        name = str(next(item.value for item in node.args if isinstance(item, ast.Constant)))
        if found and not name.startswith(f"{found[1]}_"):
            yield f"{source.path}:{node.lineno}: {name} does not begin with {found[1]}_"
        labels = [item for part in node.args if isinstance(part, ast.List | ast.Tuple) for item in part.elts]
        for label in (str(item.value) for item in labels if isinstance(item, ast.Constant)):
            if label not in LABELS:
                yield f"{source.path}:{node.lineno}: {name} has the label {label}: none of {', '.join(LABELS)}"


def production() -> list[Source]:
    """Python that runs outside tests and measurements."""
    return [
        source
        for source in sources()
        if source.is_python and "tests" not in source.path.split("/") and not source.path.startswith("bench/")
    ]


def count(pattern: str) -> Counter[str]:
    """How often it stands in each file of production code."""
    return Counter({source.path: len(re.findall(pattern, source.text)) for source in production()})


def test_types_are_given_up_no_more_often_than_before() -> None:
    anything, ignored = count(r"\bAny\b"), count(r"# type: ignore")
    assert anything.total() <= ANY_WORDS_MAX, anything.most_common(10)
    assert ignored.total() <= TYPES_IGNORED_MAX, ignored.most_common(10)


def test_no_folder_has_too_many_modules() -> None:
    expect_none(crowded_folders(tracked_paths()))


def test_every_service_has_the_same_shape() -> None:
    assert len(parts_of_services(tracked_paths())) >= 4
    expect_none(misshapen_services(tracked_paths()))


def test_every_service_is_built_set_and_counted_alike() -> None:
    checks = (apps_that_are_built_otherwise, classes_with_other_names, strange_metrics)
    expect_none(finding for source in sources() if source.is_python for check in checks for finding in check(source))


def test_the_table_service_has_no_more_rooms_than_one_can_remember() -> None:
    rooms = parts_of_services(tracked_paths())["table"] - {"__init__", "py.typed", "migrations"}
    assert len(rooms) <= ROOMS_OF_THE_TABLE_MAX


def test_a_planted_crowded_folder_is_found() -> None:
    full = tuple(f"libs/x/darbar_x/m{number}.py" for number in range(MODULES_IN_A_FOLDER_MAX))
    assert not list(crowded_folders((*full, "libs/x/darbar_x/__init__.py", "libs/x/tests/test_a.py")))
    assert list(crowded_folders((*full, "libs/x/darbar_x/one_more.py")))


GOOD_SERVICE = (
    *(f"services/media/darbar_media/{part}.py" for part in sorted(SERVICE_PARTS_NEEDED - {"py.typed"})),
    *("services/media/darbar_media/py.typed", "services/media/README.md", "services/media/pyproject.toml"),
    "services/media/tests/test_media.py",
)


def test_a_service_of_the_usual_shape_is_let_through() -> None:
    stored = ("services/media/darbar_media/store/queries.sql", "services/media/darbar_media/migrations/0001_pre_x.sql")
    assert not list(misshapen_services(GOOD_SERVICE))
    assert not list(misshapen_services((*GOOD_SERVICE, *stored)))


@pytest.mark.parametrize(
    "paths",
    [
        (*GOOD_SERVICE, "services/media/darbar_media/things.py"),
        (*GOOD_SERVICE, "services/media/darbar_media/store.py"),
        *(tuple(path for path in GOOD_SERVICE if path != left_out) for left_out in GOOD_SERVICE),
    ],
)
def test_a_planted_misshapen_service_is_found(paths: tuple[str, ...]) -> None:
    assert list(misshapen_services(paths))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("app", "def build_app(settings: Settings, more: int) -> web.Application: ...\n"),
        ("app", "async def build_app(settings: Settings) -> web.Application: ...\n"),
        ("settings", "class MediaSettings(Struct): ...\n"),
        ("metrics", "class Counters: ...\n"),
        ("metrics", "class Metrics:\n    x = Counter('notes', 'Notes')\n"),
        ("metrics", "class Metrics:\n    x = Counter('media_notes', 'Notes', ['code'])\n"),
    ],
)
def test_a_planted_service_that_is_built_otherwise_is_found(name: str, text: str) -> None:
    source = Source(f"services/media/darbar_media/{name}.py", text)
    assert [*apps_that_are_built_otherwise(source), *classes_with_other_names(source), *strange_metrics(source)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("app", "def build_app(settings: Settings) -> web.Application:\n    return web.Application()\n"),
        ("settings", "class Settings(Struct): ...\n"),
        ("metrics", "class Metrics:\n    x = Counter('media_notes', 'Notes', ['reason'])\n"),
    ],
)
def test_a_service_that_is_built_alike_is_let_through(name: str, text: str) -> None:
    source = Source(f"services/media/darbar_media/{name}.py", text)
    assert not [*apps_that_are_built_otherwise(source), *classes_with_other_names(source), *strange_metrics(source)]

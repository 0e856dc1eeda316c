"""What holds for files of any kind: migrations, locks, Makefile, scripts. Open this when one is called untidy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, groupby, pairwise

import pytest
from tracked import Source, expect_none, sources, tracked_paths

MAKE_TARGETS_MAX = 15
SQL_FILE_LINES_MAX = 400

# Written so that this file does not find itself.
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X)\b")
MACHINE_PATH = re.compile(r"(?<![\w./~}$-])/(?:root|home|work|Users)/\w")
REGISTRY_HOST = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs\.org|registry\.yarnpkg\.com|proxy\.golang\.org"
    r"|(?:deb|security)\.debian\.org|archive\.ubuntu\.com|dl-cdn\.alpinelinux\.org|index\.crates\.io"
)
LOCK_LEAK = re.compile(r"://|--(?:extra-)?index-url|--find-links|--trusted-host|\bfile:|@\s*/")
LOCKED = re.compile(r"^[a-z0-9][a-z0-9._-]*(\[[a-z,]+\])?==\S+( ;.*)? \\$")
MIGRATION_NAME = re.compile(r"(\d{4})_(pre|post)_[a-z0-9]+(_[a-z0-9]+)*\.sql")
QUERY_NAME = re.compile(r"^-- ([a-z][a-z0-9_]*) --$", re.MULTILINE)
TARGET = re.compile(r"^([a-z][a-z0-9-]*):(?!=)(.*)$")
MAKE_LOGIC = re.compile(r"\$\(shell|^\s*(?:ifeq|ifdef|ifneq|ifndef|define)\b|^\t@?(?:if|for|while|case)\b|\|\||&&")


def unfinished_work(source: Source) -> Iterator[str]:
    yield from lines_with(source, UNFINISHED, "finish it, or write it down where work is planned")


def machine_paths(source: Source) -> Iterator[str]:
    yield from lines_with(source, MACHINE_PATH, "a path of somebody's machine")


def registry_hosts(source: Source) -> Iterator[str]:
    yield from lines_with(source, REGISTRY_HOST, "which registry to ask is set on the machine, not here")


def lock_leaks(source: Source) -> Iterator[str]:
    if source.name.endswith(".lock"):
        yield from lines_with(source, LOCK_LEAK, "a lock names no host and no path")


def unhashed_locks(source: Source) -> Iterator[str]:
    """Each requirement is one exact version, and its next line is a hash."""
    if not source.name.endswith(".lock"):
        return
    lines = [*source.lines, ""]
    for number, (line, following) in enumerate(pairwise(lines), 1):
        starts = line and not line.startswith((" ", "#"))
        if starts and not (LOCKED.match(line) and following.startswith("    --hash=sha256:")):
            yield f"{source.path}:{number}: not one exact version with its hashes"


def long_sql_files(source: Source) -> Iterator[str]:
    if source.path.endswith(".sql") and len(source.lines) > SQL_FILE_LINES_MAX:
        yield f"{source.path}: {len(source.lines)} lines, {SQL_FILE_LINES_MAX} at most"


def nameless_queries(source: Source) -> Iterator[str]:
    """A queries.sql is made of blocks that begin with `-- name --`, each with a name of its own."""
    if source.name != "queries.sql":
        return
    head, *_ = re.split(r"^-- [a-z]", source.text, maxsplit=1, flags=re.MULTILINE)
    if any(line and not line.startswith("--") for line in head.splitlines()):
        yield f"{source.path}: SQL above the first name"
    names = QUERY_NAME.findall(source.text)
    if not names:
        yield f"{source.path}: no query has a name"
    yield from (f"{source.path}: {name} is there twice" for name in sorted(set(names)) if names.count(name) > 1)


def careless_scripts(source: Source) -> Iterator[str]:
    shell = source.path.endswith(".sh") or source.text.startswith("#!/usr/bin/env bash")
    if shell and "set -euo pipefail" not in source.text:
        yield f"{source.path}: a script begins with `set -euo pipefail`"


def unexplained_targets(source: Source) -> Iterator[str]:
    if source.path != "Makefile":
        return
    targets = list(make_targets(source.text))
    if len(targets) > MAKE_TARGETS_MAX:
        yield f"Makefile: {len(targets)} targets, {MAKE_TARGETS_MAX} at most"
    yield from (f"Makefile: {name} has no ## line" for name, rest in targets if "## " not in rest)


def logic_in_the_makefile(source: Source) -> Iterator[str]:
    if source.path == "Makefile":
        yield from lines_with(source, MAKE_LOGIC, "logic: call a program or a script of this repository")


def make_targets(makefile: str) -> Iterator[tuple[str, str]]:
    """Name and the rest of its line."""
    for line in makefile.splitlines():
        if found := TARGET.match(line):
            yield found[1], found[2]


def lines_with(source: Source, pattern: re.Pattern[str], complaint: str) -> Iterator[str]:
    for number, line in enumerate(source.lines, 1):
        if found := pattern.search(line):
            yield f"{source.path}:{number}: {found.group().strip()}: {complaint}"


def misplaced_migrations(paths: tuple[str, ...]) -> Iterator[str]:
    """In each folder: NNNN_pre_name.sql or NNNN_post_name.sql, numbered from 0001 without a gap or a twin."""
    migrations = [path for path in paths if "/migrations/" in path]
    for folder, inside in groupby(migrations, lambda path: path.rpartition("/")[0]):
        names = sorted(path.rpartition("/")[2] for path in inside)
        yield from (
            f"{folder}/{name}: not NNNN_(pre|post)_name.sql" for name in names if not MIGRATION_NAME.match(name)
        )
        numbers = [int(found[1]) for name in names if (found := MIGRATION_NAME.fullmatch(name))]
        if numbers != list(range(1, len(names) + 1)):
            yield f"{folder}: numbers {numbers} do not run from 1 without a gap"


Check = Callable[[Source], Iterator[str]]
CHECKS: tuple[Check, ...] = (
    unfinished_work,
    machine_paths,
    registry_hosts,
    lock_leaks,
    unhashed_locks,
    long_sql_files,
    nameless_queries,
    careless_scripts,
    unexplained_targets,
    logic_in_the_makefile,
)

SLASH = "/"
DOT = "."
PLANTED: tuple[tuple[Check, str, str], ...] = (
    (unfinished_work, "a.py", "# TO" + "DO: later\n"),
    (unfinished_work, "a.md", "FIX" + "ME\n"),
    (machine_paths, "a.md", f"see {SLASH}root{SLASH}x\n"),
    (machine_paths, "a.py", f"X = '{SLASH}home{SLASH}ann'\n"),
    (machine_paths, "a.py", f"X = '{SLASH}work{SLASH}x'\n"),
    (registry_hosts, "a.toml", f"url = 'https://pypi{DOT}org/simple'\n"),
    (registry_hosts, "Dockerfile", f"RUN curl deb{DOT}debian{DOT}org\n"),
    (lock_leaks, "a.lock", "a @ https:" + "//example.org/a.whl\n"),
    (lock_leaks, "a.lock", "--index-url x\n"),
    (unhashed_locks, "a.lock", "aiohttp==3.14.5\n"),
    (unhashed_locks, "a.lock", "aiohttp>=3 \\\n    --hash=sha256:00\n"),
    (unhashed_locks, "a.lock", "aiohttp==3.14.5 \\\n    # via x\n"),
    (long_sql_files, "a.sql", "SELECT 1;\n" * (SQL_FILE_LINES_MAX + 1)),
    (nameless_queries, "x/queries.sql", "SELECT 1;\n"),
    (nameless_queries, "x/queries.sql", "SELECT 1;\n-- append --\nSELECT 1;\n"),
    (nameless_queries, "x/queries.sql", "-- append --\nSELECT 1;\n-- append --\nSELECT 2;\n"),
    (careless_scripts, "a.sh", "echo 1\n"),
    (careless_scripts, ".ci/x", "#!/usr/bin/env bash\nset -e\n"),
    (unexplained_targets, "Makefile", "run:\n\techo\n"),
    (unexplained_targets, "Makefile", "".join(f"a{number}: ## a\n" for number in range(MAKE_TARGETS_MAX + 1))),
    (logic_in_the_makefile, "Makefile", "X = $(shell date)\n"),
    (logic_in_the_makefile, "Makefile", "run: ## run\n\tif true; then echo; fi\n"),
    (logic_in_the_makefile, "Makefile", "run: ## run\n\ta && b\n"),
)
LET_THROUGH: tuple[tuple[Check, str, str], ...] = (
    (machine_paths, "a.md", f"GET /v1/home/x and ./work/x and https://example.org/home/x and {SLASH}root{SLASH}...\n"),
    (lock_leaks, "a.lock", "    # via -r requirements.in\n"),
    (unhashed_locks, "a.lock", "pyjwt[crypto]==2.1 ; sys_platform == 'linux' \\\n    --hash=sha256:00\n    # via x\n"),
    (nameless_queries, "x/queries.sql", "-- What the store asks.\n\n-- append --\n-- Stores events.\nSELECT 1;\n"),
    (unexplained_targets, "Makefile", "X := 1\nrun: setup ## run it\n\techo\n"),
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_repository_has_no(check: Check) -> None:
    expect_none(chain.from_iterable(check(source) for source in sources()))


@pytest.mark.parametrize(("check", "path", "text"), PLANTED)
def test_a_planted_violation_is_found(check: Check, path: str, text: str) -> None:
    assert list(check(Source(path, text)))


@pytest.mark.parametrize(("check", "path", "text"), LET_THROUGH)
def test_tidy_files_are_let_through(check: Check, path: str, text: str) -> None:
    assert not list(check(Source(path, text)))


def test_every_check_is_tried_on_a_planted_violation() -> None:
    assert {check for check, _, _ in PLANTED} == set(CHECKS)


def test_migrations_are_named_and_numbered() -> None:
    expect_none(misplaced_migrations(tracked_paths()))


@pytest.mark.parametrize(
    "names",
    [
        ("0001_first.sql",),
        ("0002_pre_first.sql",),
        ("0001_pre_first.sql", "0003_pre_third.sql"),
        ("0001_pre_first.sql", "0001_post_twin.sql"),
        ("0001_pre_first.sql", "notes.txt"),
    ],
)
def test_a_misplaced_migration_is_found(names: tuple[str, ...]) -> None:
    assert list(misplaced_migrations(tuple(f"services/x/darbar_x/migrations/{name}" for name in names)))


def test_migrations_in_order_are_let_through() -> None:
    names = ("0001_pre_first.sql", "0002_post_drop_old_name.sql")
    assert not list(misplaced_migrations(tuple(f"services/x/darbar_x/migrations/{name}" for name in names)))

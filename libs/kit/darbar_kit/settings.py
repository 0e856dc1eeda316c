"""Where settings come from. Open this when a variable isn't read: this file alone looks at the environment."""

import os
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import TypeVar

import msgspec

# How much of two names must be the same for one to be taken for a misspelt other; all begin in the same way.
_ALIKE = 0.85

_Settings = TypeVar("_Settings", bound=msgspec.Struct)


class SettingsInvalid(Exception):
    """Every variable that is missing or wrong, one line each; no value is repeated, it may be a secret."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


def load(settings_type: type[_Settings], *, prefix: str, environ: Mapping[str, str] | None = None) -> _Settings:
    """Reads `prefix` + FIELD_NAME for each field. An empty variable counts as not given.

    A field that is a struct itself is shared by several services, which all read the same variables: with the prefix
    DARBAR_SHOP_ its field `sizes` is read from DARBAR_SIZES_ + FIELD_NAME.
    """
    source = os.environ if environ is None else environ
    values: dict[str, object] = {}
    problems: list[str] = []
    for field in msgspec.structs.fields(settings_type):
        if _is_shared(field):
            try:
                values[field.name] = load(field.type, prefix=_shared_prefix(prefix, field), environ=source)
            except SettingsInvalid as error:
                problems += error.problems
            continue
        variable = prefix + field.name.upper()
        text = source.get(variable, "")
        if text == "":
            if field.required:
                problems.append(f"{variable} is missing")
            continue
        try:
            values[field.name] = _value(text, field.type)
        except msgspec.ValidationError as error:
            problems.append(f"{variable} is wrong: {_without_value(str(error))}")
    if not problems:
        try:
            # Also runs __post_init__ of the settings, which may know rules between two fields.
            return msgspec.convert(values, settings_type, strict=True)
        except msgspec.ValidationError as error:
            problems.append(f"{prefix}*: {_without_value(str(error))}")
    raise SettingsInvalid(problems)


def names(settings_type: type[msgspec.Struct], prefix: str) -> list[str]:
    """The variables that `load` reads, in the order of the fields."""
    found: list[str] = []
    for field in msgspec.structs.fields(settings_type):
        shared = names(field.type, _shared_prefix(prefix, field)) if _is_shared(field) else None
        found += [prefix + field.name.upper()] if shared is None else shared
    return found


def unknown(environ: Mapping[str, str], known: Collection[str], *, prefix: str) -> list[str]:
    """A line for each variable with this prefix that nothing reads: misspelt, or of another version."""
    problems = []
    for name in sorted(environ):
        if name.startswith(prefix) and name not in known:
            meant = get_close_matches(name, known, n=1, cutoff=_ALIKE)
            problems.append(f"{name} is no setting" + (f" (is {meant[0]} meant?)" if meant else ""))
    return problems


def environment() -> dict[str, str]:
    """A copy of the environment, for a child process that must inherit it."""
    return dict(os.environ)


def _is_shared(field: msgspec.structs.FieldInfo) -> bool:
    return isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)


def _shared_prefix(prefix: str, field: msgspec.structs.FieldInfo) -> str:
    return f"{prefix.partition('_')[0]}_{field.name.upper()}_"


def _value(text: str, field_type: object) -> object:
    # Lists and objects are written as JSON; a simple value is written as it is.
    if text[:1] in "[{":
        try:
            return msgspec.json.decode(text.encode(), type=field_type, strict=False)
        except (msgspec.DecodeError, msgspec.ValidationError):
            pass
    return msgspec.convert(text, field_type, strict=False)


def _without_value(message: str) -> str:
    # "Invalid enum value 'hunter2'" would show the value.
    head, quote, _ = message.partition("'")
    return head.rstrip() if quote else message

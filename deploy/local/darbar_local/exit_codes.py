"""Why `darbar` ends with something else than 0. Open this to add a way to fail, or to look an exit code up."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum

import asyncpg

from darbar_kit.bus import ServerTooOld
from darbar_kit.database import StorageUnsafe
from darbar_kit.errors import Unavailable
from darbar_kit.service import CannotListen
from darbar_kit.settings import SettingsInvalid
from darbar_local.console import print_error


class ExitCode(IntEnum):
    """Told to scripts: add one, never give one another meaning. 2 is argparse's, for a wrong command line; 6 was for
    children that had ended, which are started again now."""

    FINE = 0
    BUG = 1
    PORT_TAKEN = 3
    ALREADY_RUNNING = 4
    DATA_NEWER = 5
    SETTINGS_WRONG = 7
    SERVER_FAILED = 8
    MIGRATION_REFUSED = 9
    SERVICE_FAILED = 10
    FOLDER_UNUSABLE = 11
    REFUSED = 12
    UNANSWERED = 13
    UNFINISHED = 14
    AUDIT_FAILED = 15


class Failure(Exception):
    """Ends the command with one line on stderr; the reader can do something about it."""

    def __init__(self, code: ExitCode, message: str) -> None:
        self.code = code
        super().__init__(message)


def exit_code_of(run: Callable[[], None]) -> int:
    """Runs a command. What ends it before its time is one line on stderr."""
    try:
        run()
    except Failure as failure:
        print_error(str(failure))
        return failure.code
    except SettingsInvalid as error:
        print_error("; ".join(error.problems))
        return ExitCode.SETTINGS_WRONG
    return ExitCode.FINE


@contextmanager
def failures_told() -> Iterator[None]:
    """What a person can mend becomes one line; anything else is a bug and keeps its traceback."""
    try:
        yield
    except SettingsInvalid as error:
        raise Failure(ExitCode.SETTINGS_WRONG, "; ".join(error.problems)) from error
    except (Unavailable, StorageUnsafe, ServerTooOld, asyncpg.PostgresError) as error:
        raise Failure(ExitCode.SERVICE_FAILED, f"a service can't start: {error}") from error
    except CannotListen as error:
        raise _not_listening(error) from error
    except OSError as error:
        raise Failure(ExitCode.SERVICE_FAILED, f"a service can't start: {error}") from error


def _not_listening(error: CannotListen) -> Failure:
    match error.errno:
        case errno.EADDRINUSE:
            return Failure(
                ExitCode.PORT_TAKEN, f"{error.strerror}; stop what uses it, or choose another one with --port"
            )
        case errno.EACCES:
            return Failure(ExitCode.SETTINGS_WRONG, f"{error.strerror}; choose a --port above 1023")
        case _:
            return Failure(ExitCode.SETTINGS_WRONG, f"{error.strerror}; --host must be an address of this machine")

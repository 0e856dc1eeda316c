"""Why `darbar` ends with something else than 0. Open this to add a way to fail, or to look an exit code up."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Told to scripts: add one, never give one another meaning. 2 is argparse's, for a wrong command line."""

    FINE = 0
    BUG = 1
    PORT_TAKEN = 3
    ALREADY_RUNNING = 4
    DATA_NEWER = 5
    CHILD_ENDED = 6
    SETTINGS_WRONG = 7
    SERVER_FAILED = 8
    MIGRATION_REFUSED = 9
    SERVICE_FAILED = 10
    FOLDER_UNUSABLE = 11


class Failure(Exception):
    """Ends the command with one line on stderr; the reader can do something about it."""

    def __init__(self, code: ExitCode, message: str) -> None:
        self.code = code
        super().__init__(message)

"""What `darbar` tells the person at the terminal. Open this to change how progress looks."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

PROGRESS_SECONDS = 1.0


def print_line(line: str = "") -> None:
    """One line on stdout, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def print_error(line: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"darbar: {line}\n")
    sys.stderr.flush()


@contextmanager
def step(doing: str) -> Iterator[None]:
    """Tells what was done and how long it took. Nothing when it failed: then a failure is told."""
    began = time.monotonic()
    yield
    print_line(f"  {doing} ({time.monotonic() - began:.1f} s)")


class Progress:
    """Tells how far something is, once a second and at its end."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._told_at = time.monotonic()

    def tell(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - self._told_at >= PROGRESS_SECONDS:
            self._told_at = now
            print_line(f"  {done} of {total} {self._noun}")

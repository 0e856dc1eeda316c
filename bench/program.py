"""What a script of rows does as a program: options in, one JSON line a row out. Open this to change how it is run."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable

import msgspec
import uvloop
from bench.rows import Row

HELP = {"seconds": "of each window"}


def main(bench: Callable[..., Awaitable[list[Row]]], description: str | None, **defaults: float) -> int:
    """Runs it with its options, which have these defaults; 0 when every row met its target."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=HELP.get(name))

    async def run() -> list[Row]:
        return await bench(**vars(parser.parse_args()))

    found = uvloop.run(run())
    for row in found:
        print(msgspec.json.encode(row).decode())
    return 0 if all(row.met for row in found) else 1

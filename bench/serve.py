"""One service in a process of its own, as in production: settings from variables, logs as JSON, uvloop.

python -m bench.serve table PORT
"""

from __future__ import annotations

import sys
from importlib import import_module

from darbar_kit import logs, service
from darbar_kit.settings import load


def main() -> None:
    name, port = sys.argv[1], int(sys.argv[2])
    settings_type = import_module(f"darbar_{name}.settings").Settings
    settings = load(settings_type, prefix=f"DARBAR_{name.upper()}_")
    logs.configure(name, human=False)
    service.run(import_module(f"darbar_{name}.app").build_app, settings, host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()

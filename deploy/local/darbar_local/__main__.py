"""`python -m darbar_local` is the `darbar` command. Open commands.py for what it does."""

import sys

from darbar_local.commands import main

if __name__ == "__main__":
    sys.exit(main())

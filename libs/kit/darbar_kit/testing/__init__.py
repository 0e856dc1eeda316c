"""What tests of every service use: real servers and databases, waiting with a limit, a proxy that cuts connections.

The fixtures are a pytest plugin: `pytest_plugins = ["darbar_kit.testing.fixtures"]`.
"""

from darbar_kit.testing.clock import ManualClock
from darbar_kit.testing.cutting_proxy import Cut, CuttingProxy
from darbar_kit.testing.faults import closed_database, end_sessions, keep_ending_sessions
from darbar_kit.testing.fixtures import MakeDatabase, MakeNats, TestDatabase
from darbar_kit.testing.tunnel import Tunnel
from darbar_kit.testing.waiting import eventually

__all__ = [
    "Cut",
    "CuttingProxy",
    "MakeDatabase",
    "MakeNats",
    "ManualClock",
    "TestDatabase",
    "Tunnel",
    "closed_database",
    "end_sessions",
    "eventually",
    "keep_ending_sessions",
]

"""What tests of every service use: real servers and databases, waiting with a limit, a proxy that cuts connections.

The fixtures are a pytest plugin: `pytest_plugins = ["darbar_kit.testing.fixtures"]`.
"""

from darbar_kit.testing.cutting_proxy import Cut, CuttingProxy
from darbar_kit.testing.fixtures import MakeDatabase, MakeNats, TestDatabase
from darbar_kit.testing.waiting import eventually

__all__ = ["Cut", "CuttingProxy", "MakeDatabase", "MakeNats", "TestDatabase", "eventually"]

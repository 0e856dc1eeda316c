"""Fixtures of every test in this repository. Open this when a fixture isn't found."""

pytest_plugins = ["darbar_kit.testing"]

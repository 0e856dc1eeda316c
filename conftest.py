"""Fixtures of every test in this repository. Open this when a fixture isn't found."""

import pytest

pytest_plugins = ["darbar_kit.testing.fixtures"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests have counted, one line each."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in getattr(report, "user_properties", ()):
            if name == "count" and report.when == "call":
                terminalreporter.write_line(f"{report.nodeid.rpartition('::')[2]}: {value}")

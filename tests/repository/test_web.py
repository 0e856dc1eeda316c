"""What the web client has from elsewhere in this repository is not older than it. Open this when a type is stale."""

from recorded_games import FOLDER, files
from tracked import ROOT

from darbar_contracts.typescript import typescript

CONTRACTS = "web/src/contracts.ts"


def test_the_web_client_has_the_types_of_today() -> None:
    written = (ROOT / CONTRACTS).read_text()
    assert written == typescript(), f"python -m darbar_contracts.typescript {CONTRACTS}"


def test_the_web_client_is_tested_with_the_frames_of_today() -> None:
    for name, text in files().items():
        assert (FOLDER / name).read_text() == text, "python tests/repository/recorded_games.py"

"""The transcript of the client author's guide is played again: the same seeds, the same frames."""

from __future__ import annotations

from pathlib import Path

from table_stack import StartTable
from transcript import play, seeds

TRANSCRIPT = Path(__file__).parents[3] / "docs" / "transcript.txt"


async def test_a_game_played_again_sends_what_the_transcript_says(start_table: StartTable, tmp_path: Path) -> None:
    stack = await start_table(fresh_seed=seeds(), count_in_seconds=30.0)
    lines = await play(stack)
    said = tmp_path / TRANSCRIPT.name
    said.write_text("\n".join(lines) + "\n")
    assert lines == TRANSCRIPT.read_text().splitlines(), f"look at what is new, and then: cp {said} {TRANSCRIPT}"

"""What bench/results.json says about its targets follows from its figures."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import asyncpg
import msgspec
import pytest

from darbar_kit.testing import MakeDatabase
from darbar_rules.games import BY_NAME

if TYPE_CHECKING:
    from bench.rows import Row

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module; the scripts of this folder are no installed package."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.rows")


def serving(rows: Any, *, value: float = 8000, reference: float = 10_000, **beside: float) -> Row:
    figures = {"table_core": 0.95, "bare_moves_per_cpu_second": reference, "refused": 0, **beside}
    made: Row = rows.made("serving", "moves", value=value, reference="bare", reference_value=reference, beside=figures)
    return made


def test_met_follows_from_the_figures_of_the_last_run(rows: Any) -> None:
    results = rows.read_results()
    for row in results:
        assert row.met == rows.met_of(row), row
        assert list(row.voids) == list(rows.voids_of(row.beside, rows.target_of(row), row.reference_value)), row
    if not results:
        pytest.skip("nothing has been measured here yet")


def test_a_ratio_of_at_least_the_target_meets_it(rows: Any) -> None:
    assert serving(rows, value=4000).met
    assert not serving(rows, value=3999).met


def test_a_table_process_that_was_not_busy_does_not_count(rows: Any) -> None:
    row = serving(rows, table_core=0.89)
    assert row.voids == ("client_limited",)
    assert not row.met
    assert "client_limited" in rows.line(row)


def test_a_slow_reference_voids_the_row(rows: Any) -> None:
    row = serving(rows, value=7900, reference=7999)
    assert row.voids == ("reference_slow",)
    assert not row.met


@pytest.mark.parametrize("figure", ["refused", "closed", "lost"])
def test_a_refused_command_or_a_lost_move_voids_the_row(rows: Any, figure: str) -> None:
    assert serving(rows, **{figure: 1.0}).voids == ("refusals",)


def test_bytes_and_memory_must_stay_below_their_targets(rows: Any) -> None:
    def bytes_of(value: float) -> Row:
        made: Row = rows.made("serving_bytes", "bytes", value=value, reference="", reference_value=0, beside={})
        return made

    assert bytes_of(700).met
    assert not bytes_of(701).met


def rules(rows: Any, *, value: float, reference: float, name: str = "rules_court_piece") -> Row:
    made: Row = rows.made(name, "moves/s", value=value, reference="RLCard", reference_value=reference, beside={})
    return made


def test_rules_must_be_nearly_as_fast_as_the_rules_of_others_that_keep_less(rows: Any) -> None:
    assert rules(rows, value=90_000, reference=100_000).met
    slower = rules(rows, value=89_999, reference=100_000)
    assert not slower.met
    assert not rows.met_of(slower)


def test_rules_with_a_view_must_be_twice_as_fast_as_the_environments_of_others(rows: Any) -> None:
    assert rules(rows, value=80_000, reference=40_000, name="rules_with_view_king_20").met
    assert not rules(rows, value=79_999, reference=40_000, name="rules_with_view_king_20").met


def test_rules_without_the_games_of_others_to_measure_beside_do_not_count(rows: Any) -> None:
    row = rules(rows, value=900_000, reference=0)
    assert row.voids == ("no_reference",)
    assert not row.met
    assert not rows.met_of(row)
    assert "no_reference NOT MET" in rows.line(row)


def test_kernels_that_no_compiler_has_seen_give_no_compiled_figures(rows: Any) -> None:
    def playouts(compiled: float) -> Row:
        beside = {"compiled": compiled}
        made: Row = rows.made(
            "playouts_compiled", "moves/s", value=9e6, reference="plain", reference_value=8e5, beside=beside
        )
        return made

    assert playouts(3.0).met
    assert playouts(0.0).voids == ("not_compiled",)
    assert "target 5,000,000 | not_compiled NOT MET" in rows.line(playouts(0.0))


@pytest.mark.usefixtures("rows")
def test_rows_of_kernels_without_a_compiler_have_the_plain_figure_alone() -> None:
    bench = importlib.import_module("bench.kernels_bench")
    figures = importlib.import_module("bench.kernel_figures")
    plain = [figures.Figures(compiled=False, moves_a_second=5e5, worlds_a_second=1e4, result=1)] * 3
    found = {row.row: row for row in bench.rows_of(plain, [])}
    assert [name for name, row in found.items() if row.met] == ["playouts_plain"]
    assert found["worlds_compiled"].voids == ("not_compiled",)


@pytest.mark.usefixtures("rows")
def test_the_slowest_of_the_searching_policies_is_held_against_the_target_of_a_decision() -> None:
    bench = importlib.import_module("bench.kernels_bench")
    figures = importlib.import_module("bench.kernel_figures")

    def spent(p95: float) -> Any:
        return figures.Spent(p95=p95, middle=p95 / 2, decisions=100)

    slow = figures.Decisions(compiled=False, spent={"court_piece": spent(40.0), "king_20": spent(151.0)})
    quick = figures.Decisions(compiled=True, spent={"court_piece": spent(20.0), "king_20": spent(7.0)})
    found = {row.row: row for row in bench.decision_rows([slow, quick])}
    assert found["strong_decision_plain"].value == 151.0
    assert not found["strong_decision_plain"].met
    assert found["strong_decision_compiled"].met
    without = {row.row: row for row in bench.decision_rows([slow])}
    assert without["strong_decision_compiled"].voids == ("not_compiled",)


def test_every_game_has_its_rows(rows: Any) -> None:
    bench = importlib.import_module("bench.rules_bench")
    assert {game for game, _ in bench.TABLES.values()} == set(BY_NAME)
    assert all(f"{kind}_{name}" in rows.TARGETS for kind in ("rules", "rules_with_view") for name in bench.TABLES)


@pytest.mark.usefixtures("rows")
def test_peers_that_are_not_there_give_no_figure() -> None:
    peers = importlib.import_module("bench.rules_peers")
    assert peers.Peers(None, None).measure("rlcard_rules") is None


def test_a_row_without_a_target_here_is_held_against_its_own(rows: Any) -> None:
    text = {
        "row": "wallet_transfers",
        "unit": "transfers/s",
        "value": 3000,
        "reference": "naive",
        "reference_value": 100,
        "ratio": 30,
        "target": 15,
        "met": True,
    }
    row = rows.read(msgspec.json.encode(text))
    assert rows.met_of(row)
    assert not rows.met_of(msgspec.structs.replace(row, target=31))


def test_results_keep_the_rows_of_other_runs(rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "RESULTS", tmp_path / "results.json")
    first = serving(rows)
    other = msgspec.structs.replace(first, row="append")
    rows.write_results([first, other])
    rows.write_results([serving(rows, value=9000)])
    assert [(row.row, row.value) for row in rows.read_results()] == [("serving", 9000), ("append", 8000)]


def test_a_generator_that_did_not_keep_its_pace_voids_the_row(rows: Any) -> None:
    def latency(pace_kept: float) -> Row:
        made: Row = rows.made(
            "latency_p50", "ms", value=4, reference="", reference_value=5, beside={"pace_kept": pace_kept}
        )
        return made

    assert latency(0.95).met
    assert latency(0.94).voids == ("pace_lost",)


async def test_the_statement_that_others_are_measured_beside_stores_events(
    rows: Any, make_database: MakeDatabase
) -> None:
    assert rows
    append = importlib.import_module("bench.append_bench")
    database = await make_database("tables", ROOT / "services/table/darbar_table/migrations")
    statement = append.queries("darbar_table.store")["append_moves"]
    connection = await asyncpg.connect(database.owner_url)
    try:
        await append.register(connection)
        stored = await connection.fetchval(statement, append.PROCESS, *append.columns([uuid4(), uuid4()], 1))
    finally:
        await connection.close()
    assert stored == 2


def test_a_row_without_a_target_is_shown_and_counts_only_beside_the_program_of_others(rows: Any) -> None:
    def beside_colyseus(reference: float) -> Row:
        made: Row = rows.made(
            "serving_colyseus", "moves", value=5000, reference="Colyseus", reference_value=reference, beside={}
        )
        return made

    shown = beside_colyseus(20_000)
    assert shown.met
    assert rows.met_of(shown)
    assert "ratio 0.25 | no target" in rows.line(shown)
    assert beside_colyseus(0).voids == ("no_reference",)


ROW = b'{"row":"append","unit":"e","value":1,"reference":"r","reference_value":1,"ratio":1,"target":0.7,"met":true}'


def test_a_script_that_fails_loses_no_row_of_the_others_and_is_named(
    rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run = importlib.import_module("bench.run")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "fails_bench.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "bench" / "works_bench.py").write_text(f"print({ROW.decode()!r})\n")
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(rows, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(run, "SCRIPTS", {"latency_p50": "fails_bench", "append": "works_bench"})
    monkeypatch.setattr("sys.argv", ["run"])

    assert run.main() == 1
    said = capfd.readouterr()
    assert "fails_bench: code 3, without latency_p50" in said.err
    assert "failed: latency_p50" in said.err
    assert [(row.row, row.machine) for row in rows.read_results()] == [("append", run.described())]
    assert "| append | 1 e | 1 r | 1.00 | 0.7 | met |" in said.out


def test_every_row_that_has_a_target_is_given_by_a_script(rows: Any) -> None:
    run = importlib.import_module("bench.run")
    assert set(rows.TARGETS) <= set().union(*map(run.rows_of, run.wanted("")))


def test_documents_take_the_figures_of_the_rows(rows: Any) -> None:
    figures = importlib.import_module("bench.figures")
    values = {"serving": 6129.4, "append": 109_592.0, "serving_memory": 42.61, "wallet_transfers": 6839.0}
    found = [rows.Row(name, "", value, "", 0, 0, 1, True) for name, value in values.items()]
    before = "| moves (row `serving`) | 1 |\n| 1,000,000 | 1 | 1 |\nA process of 3,500 tables needs 1 MiB.\n"
    after = "| moves (row `serving`) | 6,129 |\n| 1,000,000 | 333,333 | 403,333 | 91 | 286 | 8 | 184 % |\n"
    assert figures.scaled(before, found) == f"{after}A process of 3,500 tables needs 146 MiB.\n"
    marks = "<!-- figures -->\nold\n<!-- end of figures -->\nrest\n"
    assert "old" not in (changed := figures.marked(marks, figures.whole(found)))
    assert "| serving | 6,129 " in changed
    assert changed.endswith("<!-- end of figures -->\nrest\n")


def test_documents_name_what_the_rows_were_measured_with_and_not_what_writes_them(rows: Any) -> None:
    figures = importlib.import_module("bench.figures")
    one, other = (
        rows.Row(name, "", 1, "", 0, 0, 1, True, machine=f"Python of {name}.") for name in ("serving", "bots")
    )
    for text in (figures.whole([one]), figures.in_short([one])):
        assert text.startswith("Python of serving.\n")
        assert figures.described() not in text
    assert figures.whole([one, other]).startswith("serving: Python of serving.\nbots: Python of bots.\n")

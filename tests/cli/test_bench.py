from __future__ import annotations

import json

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from command_line import Run
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.bench import compare as comparing
from argosy.bench.cases import CASES
from argosy.bench.data import tables_of, user_names
from argosy.bench.digest import digest
from argosy.bench.engines import OURS, PEERS, Kind
from argosy.bench.side import SideFailed, open_side

_ROWS = st.lists(st.tuples(st.none() | st.integers(-9, 9), st.integers(-(2**63), 2**63 - 1)), max_size=30)


def _table(rows: list[tuple[int | None, int]]) -> pa.Table:
    return pa.table({"k": pa.array([k for k, _ in rows], pa.int64()), "a": pa.array([a for _, a in rows], pa.int64())})


@settings(max_examples=80, deadline=None)
@given(_ROWS, st.randoms(use_true_random=False))
def test_the_digest_does_not_depend_on_the_order_of_rows_or_columns_or_on_chunks(
    rows: list[tuple[int | None, int]], random: object
) -> None:
    other = list(rows)
    random.shuffle(other)  # type: ignore[attr-defined]
    half = len(other) // 2
    chunked = pa.concat_tables([_table(other[:half]), _table(other[half:])]).select(["a", "k"])
    assert digest(_table(rows)) == digest(chunked)


@settings(max_examples=80, deadline=None)
@given(_ROWS, _ROWS)
def test_the_digest_differs_when_the_rows_do(
    rows: list[tuple[int | None, int]], others: list[tuple[int | None, int]]
) -> None:
    same = sorted(map(str, rows)) == sorted(map(str, others))
    assert (digest(_table(rows)) == digest(_table(others))) == same


def test_values_that_changed_rows_are_noticed() -> None:
    assert digest(_table([(1, 2), (3, 4)])) != digest(_table([(1, 4), (3, 2)]))


def test_a_sum_has_the_same_digest_in_whatever_type_it_comes() -> None:
    wide = duckdb.sql("SELECT 7::HUGEINT AS a, 1::BIGINT AS k").to_arrow_table()
    assert digest(wide) == digest(_table([(1, 7)]))


def test_rows_out_of_order_are_no_answer_to_a_sort() -> None:
    right, wrong = _table([(1, 0), (2, 0)]), _table([(2, 0), (1, 0)])
    assert digest(right) == digest(wrong)
    assert digest(right, sorted_by="k") != digest(wrong, sorted_by="k")


@given(st.lists(st.integers(0, 99_999_999), max_size=20))
def test_string_keys_are_the_numbers_with_eight_digits(numbers: list[int]) -> None:
    assert user_names(np.array(numbers, np.int64)).to_pylist() == [f"user_{one:08d}" for one in numbers]


@pytest.mark.parametrize("name", CASES)
def test_every_side_makes_the_same_tables(name: str) -> None:
    case = CASES[name]
    left, right = tables_of(case, 1000)
    assert (left, right) == tables_of(case, 1000)
    assert (right is None) == (case.kind != "join")
    assert left.column("k").null_count / 1000 == pytest.approx(case.null_share, abs=0.05)


def test_six_in_ten_rows_are_a_group() -> None:
    left, _ = tables_of(CASES["group_by"], 100_000)
    assert len(left.column("k").unique()) / 100_000 == pytest.approx(0.6, abs=0.01)


def test_argosy_and_the_installed_engines_agree_and_are_timed(argosy: Run) -> None:
    shown = argosy("bench", "null_join", "--rows", "2_000", "--rounds", 2, "--against", "polars,duckdb", "--json")
    assert shown.exit_code == 0, shown.output
    (result,) = json.loads(shown.stdout)
    assert result["case"] == "null_join"
    assert result["num_rows"] == 2000
    assert [peer["engine"] for peer in result["peers"]] == ["polars", "polars-streaming", "duckdb", "duckdb-arrow"]
    assert all(len(peer["seconds"]) == len(peer["ours"]) == 2 and peer["ratio"] > 0 for peer in result["peers"])


def test_the_table_names_the_best_of_the_others(argosy: Run) -> None:
    shown = argosy("bench", "sort", "--rows", "1_000", "--rounds", 1, "--ranks", 1, "--against", "duckdb")
    assert shown.exit_code == 0, shown.output
    assert "times as fast as the best of DuckDB" in shown.output


def test_engines_that_are_not_installed_are_skipped_with_a_line(argosy: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = Kind(name="ray", title="Ray Data", asked_as="ray", module="ray", package="not_there", is_quiet=False)
    monkeypatch.setattr(comparing, "PEERS", (ray,))
    shown = argosy("bench", "sort", "--rows", 100, "--rounds", 1, "--ranks", 1, "--against", "ray")
    assert shown.exit_code == 0, shown.output
    assert "skipped, as not installed: ray" in shown.output


def test_a_wrong_answer_is_no_benchmark() -> None:
    with pytest.raises(comparing.WrongAnswer, match="duckdb found 5 rows"):
        comparing._require_equal({"argosy": (4, 1), "duckdb": (5, 1)})


def test_a_peer_that_fails_is_named_and_left_out() -> None:
    broken = Kind(name="no_such_engine", title="Broken", asked_as="broken", module="nothing", package="argosy")
    duck = next(kind for kind in PEERS if kind.name == "duckdb")
    result = comparing.compare(CASES["sort"], 100, 1, [broken, duck], 1)
    assert [one.kind.name for one in result.peers] == ["duckdb"]
    assert "no_such_engine" in result.failed["no_such_engine"]


def test_argosy_itself_may_not_fail() -> None:
    with (
        open_side(OURS, CASES["sort"], 100, 0) as side,
        pytest.raises(SideFailed, match="ranks must be a whole number of at least 1, not 0"),
    ):
        side.check()


@pytest.mark.parametrize("scaling", ["weak", "strong"])
def test_the_benchmark_of_radical_cylon_runs(scaling: str, argosy: Run) -> None:
    shown = argosy("bench", "cylon", "join", f"--{scaling}", "3_000", "--ranks", 2, "--iterations", 2, "--json")
    assert shown.exit_code == 0, shown.output
    (result,) = json.loads(shown.stdout)
    assert result["rows_per_rank"] == (3000 if scaling == "weak" else 1500)
    assert result["max_val"] == (6000 if scaling == "weak" else 3000)
    assert result["num_result_rows"] == _cylon_join_rows(result["rows_per_rank"], result["max_val"], num_ranks=2)
    assert len(result["seconds"]) == 2


def _cylon_join_rows(rows: int, max_val: int, num_ranks: int) -> int:
    sides: list[list[int]] = [[], []]
    for rank in range(num_ranks):
        rng = np.random.default_rng(seed=rank)
        for side in sides:
            side += rng.integers(0, int(0.9 * max_val), size=(rows, 2))[:, 0].tolist()
    left, right = (np.bincount(side, minlength=max_val) for side in sides)
    return int(left @ right)


def test_published_figures_are_labelled_as_such(argosy: Run) -> None:
    shown = argosy("bench", "cylon", "sort", "--weak", "1_000", "--ranks", 1, "--iterations", 1)
    assert "1.4-1.9 M rows per second and rank, published, on other machines" in shown.output


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["fly"], "no benchmark is called fly"),
        (["join", "--against", "excel"], "no engine is called excel"),
        (["cylon", "fly"], "cylon has no fly"),
        (["cylon", "--weak", "1", "--strong", "1"], "not both"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(words: list[str], answer: str, argosy: Run) -> None:
    shown = argosy("bench", *words)
    assert shown.exit_code == 2
    assert answer in shown.output

"""The methods of a frame, and what they return."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame import reference
from frame.random_frames import Drawn, frames
from hypothesis import HealthCheck, given, settings

import argosy
from argosy import DataFrame, col, count, lit, when
from argosy.errors import FrameError
from argosy.frame.plan import Sample, Shuffle, Sort

FRAME = argosy.from_pydict({"k": [2, 1, 2, None], "a": [1.5, None, 3.0, math.nan], "s": ["x", "y", "x", None]})


def rows(frame: DataFrame) -> list[tuple[object, ...]]:
    """In the order of the frame."""
    return reference.rows_of(frame.collect())


def test_select_takes_names_expressions_and_keywords() -> None:
    frame = FRAME.select("s", (col("k") + 1).alias("next"), twice=col("k") * 2, one=1)
    assert frame.columns == ["s", "next", "twice", "one"]
    assert rows(frame) == [("x", 3, 4, 1), ("y", 2, 2, 1), ("x", 3, 4, 1), (None, None, None, 1)]


def test_a_list_of_names_may_stand_for_the_names() -> None:
    assert FRAME.select(["k", "s"]).columns == FRAME.select("k", "s").columns == FRAME[["k", "s"]].columns
    assert FRAME.group_by(["k", "s"]).agg().columns == ["k", "s"]
    assert FRAME.drop(["k", "s"]).columns == ["a"]


def test_select_of_aggregates_is_one_row() -> None:
    assert rows(FRAME.select(n=count(), total=col("k").sum())) == [(4, 5)]


def test_with_columns_replaces_in_place_and_sees_columns_as_they_were() -> None:
    frame = FRAME.with_columns(k=col("k") * 10, old=col("k"), t=lit("t"))
    assert frame.columns == ["k", "a", "s", "old", "t"]
    assert rows(frame.select("k", "old"))[:2] == [(20, 2), (10, 1)]


def test_filter_keeps_rows_for_which_all_conditions_are_true() -> None:
    assert rows(FRAME.filter(col("k") == 2, col("a") > 2)) == [(2, 3.0, "x")]
    assert rows(FRAME.filter(~(col("k") == 2))) == [(1, None, "y")]


def test_drop_and_rename() -> None:
    assert FRAME.drop("a").columns == ["k", "s"]
    assert FRAME.rename({"a": "k", "k": "a"}).columns == ["a", "k", "s"]
    assert rows(FRAME.rename({"a": "k", "k": "a"}).select("a").head(2)) == [(2,), (1,)]


def test_sort_puts_nulls_last_either_way_unless_asked() -> None:
    assert [row[0] for row in rows(FRAME.sort("k"))] == [1, 2, 2, None]
    assert [row[0] for row in rows(FRAME.sort("k", descending=True))] == [2, 2, 1, None]
    assert [row[0] for row in rows(FRAME.sort("k", nulls_first=True))] == [None, 1, 2, 2]


def test_sort_takes_expressions_and_one_direction_for_each_key() -> None:
    frame = argosy.from_pydict({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}).sort(col("a") % 2, "b", descending=[False, True])
    assert frame.columns == ["a", "b"]
    assert [row[0] for row in rows(frame)] == [4, 2, 3, 1]


def test_nan_is_the_largest_number() -> None:
    assert [row[0] for row in rows(FRAME.sort("a").select("a"))] == [1.5, 3.0, reference.NAN, None]


def test_group_by_makes_one_group_of_nulls() -> None:
    frame = FRAME.group_by("k").agg(col("a").max(), n=count(), share=col("a").count() / count())
    assert frame.columns == ["k", "a", "n", "share"]
    assert rows(frame.sort("k")) == [(1, None, 1, 0.0), (2, 3.0, 2, 1.0), (None, reference.NAN, 1, 1.0)]


def test_a_computed_key_may_have_the_name_of_the_column_it_comes_from() -> None:
    frame = argosy.from_pydict({"a": [1, 2, 3, 4]}).group_by(col("a") % 2).agg(total=col("a").sum())
    assert frame.columns == ["a", "total"]
    assert rows(frame.sort("a")) == [(0, 6), (1, 4)]


def test_group_by_without_keys_is_one_row_also_when_there_are_none() -> None:
    empty = FRAME.filter(col("k") > 99)
    assert rows(empty.group_by().agg(n=count(), total=col("k").sum())) == [(0, None)]
    assert rows(empty.group_by("k").agg(n=count())) == []


def test_join_names_keys_once_and_others_with_a_suffix() -> None:
    other = argosy.from_pydict({"k": [2, 2, 7], "a": [10, 20, 30]})
    frame = FRAME.join(other, on="k")
    assert frame.columns == ["k", "a", "s", "a_right"]
    assert sorted(row[3] for row in rows(frame)) == [10, 10, 20, 20]
    assert FRAME.join(other, on="k", suffix="_2").columns == ["k", "a", "s", "a_2"]


def test_a_full_join_has_the_key_of_whichever_side_is_there() -> None:
    other = argosy.from_pydict({"key": [2, 7], "b": [1, 2]})
    frame = FRAME.select("k", "s").join(other, left_on="k", right_on="key", how="full")
    assert sorted(rows(frame), key=str) == sorted(
        [(2, "x", 1), (2, "x", 1), (1, "y", None), (None, None, None), (7, None, 2)], key=str
    )


def test_semi_and_anti_joins_part_the_rows() -> None:
    other = argosy.from_pydict({"k": [2, None]})
    assert rows(FRAME.join(other, on="k", how="semi").select("k")) == [(2,), (2,)]
    assert sorted(rows(FRAME.join(other, on="k", how="anti").select("k")), key=str) == [(1,), (None,)]


def test_keys_of_one_family_are_compared_in_the_type_that_holds_both() -> None:
    left = argosy.from_arrow(pa.table({"k": pa.array([1, 2], pa.int32())}))
    right = argosy.from_arrow(pa.table({"k": pa.array([2, 2**40], pa.int64())}))
    assert left.join(right, on="k", how="full").schema.field("k").type == pa.int64()
    assert sorted(rows(left.join(right, on="k", how="full"))) == [(1,), (2,), (2**40,)]
    assert left.join(right, on="k", how="semi").schema == left.schema
    words = argosy.from_arrow(pa.table({"k": pa.array(["a", "b"]).dictionary_encode()}))
    assert rows(words.join(argosy.from_pydict({"k": ["b"]}), on="k")) == [("b",)]


def test_set_operations_return_distinct_rows_and_match_columns_by_name() -> None:
    one = argosy.from_pydict({"a": [1, 1, None, 2], "b": [1, 1, None, 2]})
    other = argosy.from_pydict({"b": [None, 3, 2, 2], "a": [None, 3, 2, 2]})
    assert sorted(rows(one.union(other)), key=str) == [(1, 1), (2, 2), (3, 3), (None, None)]
    assert sorted(rows(one.intersect(other)), key=str) == [(2, 2), (None, None)]
    assert rows(one.difference(other)) == [(1, 1)]
    assert len(one.concat(other, one)) == 12
    assert rows(one.concat(other))[4:6] == [(None, None), (3, 3)]


def test_many_frames_are_put_together_in_their_order() -> None:
    frames = [argosy.from_pydict({"a": [number]}) for number in range(101)]
    assert [row[0] for row in rows(frames[0].concat(*frames[1:]))] == list(range(101))


def test_unique_keeps_the_first_row() -> None:
    assert sorted(rows(FRAME.unique("s").select("k", "s")), key=str) == [(1, "y"), (2, "x"), (None, None)]
    assert len(FRAME.concat(FRAME).unique()) == 4


def test_head_tail_and_slice() -> None:
    frame = argosy.from_pydict({"a": list(range(10))})
    numbers = {
        "head": frame.head(),
        "tail": frame.tail(2),
        "none": frame.tail(0),
        "middle": frame.slice(3, 2),
        "rest": frame.slice(8),
        "end": frame.slice(-3, 2),
        "before": frame.slice(-12, 4),
    }
    found = {name: [row[0] for row in rows(one)] for name, one in numbers.items()}
    assert found == {
        "head": [0, 1, 2, 3, 4],
        "tail": [8, 9],
        "none": [],
        "middle": [3, 4],
        "rest": [8, 9],
        "end": [7, 8],
        "before": [0, 1],
    }


def test_samples_and_shuffles_are_the_same_for_the_same_seed() -> None:
    frame = argosy.from_pydict({"a": list(range(50))})
    assert rows(frame.shuffle(1)) == rows(frame.shuffle(1)) != rows(frame.shuffle(2))
    assert sorted(rows(frame.shuffle(1))) == rows(frame)
    assert len(set(rows(frame.sample(n=7)))) == 7
    assert len(frame.sample(n=70)) == 50
    assert rows(frame.sample(fraction=0.5, seed=3)) == rows(frame.sample(fraction=0.5, seed=3))


def test_repartition_keeps_the_rows() -> None:
    assert rows(FRAME.repartition()) == rows(FRAME)
    assert sorted(rows(FRAME.repartition("k")), key=str) == sorted(rows(FRAME), key=str)


def test_describe_says_what_is_in_each_column() -> None:
    frame = argosy.from_pydict({"n": [1, 2, 3, None], "s": ["b", "a", None, None], "l": [[1], [], [2], [3]]})
    table = frame.describe().collect()
    assert table.column_names == ["statistic", "n", "s"]
    found = {row["statistic"]: (row["n"], row["s"]) for row in table.to_pylist()}
    assert found["count"] == (3.0, "2")
    assert found["nulls"] == (1.0, "2")
    assert found["mean"] == (2.0, None)
    assert found["min"] == (1.0, "a")
    assert found["50%"] == (2.0, None)
    assert found["max"] == (3.0, "b")


def test_len_counts_rows_and_a_frame_has_no_truth_value() -> None:
    assert len(FRAME) == 4
    assert len(FRAME.filter(col("k") > 1)) == 2
    with pytest.raises(TypeError, match="len"):
        bool(FRAME)


def test_a_frame_looks_up_columns_by_name() -> None:
    assert rows(FRAME.filter(FRAME["k"] == 1)) == [(1, None, "y")]
    with pytest.raises(TypeError, match="filter"):
        FRAME[0]  # type: ignore[index]


def test_repr_shows_the_schema_and_runs_nothing() -> None:
    failing = argosy.from_pydict({"s": ["not a number"]}).with_columns(n=col("s").cast("int64"))
    assert repr(failing) == "DataFrame: 2 columns, 1 row\n  s  string\n  n  int64"
    assert "rows not yet known" in repr(FRAME.filter(col("k") > 1))
    with pytest.raises(FrameError):
        failing.collect()


def test_a_notebook_shows_the_first_rows_of_a_table_in_memory() -> None:
    html = argosy.from_pydict({"<a>": ["<b>", None]})._repr_html_()
    assert "&lt;a&gt;" in html
    assert "<td>&lt;b&gt;</td>" in html
    assert "<td>null</td>" in html
    assert "<td>" not in FRAME.filter(col("k") > 1)._repr_html_()


def test_when_chooses_between_values() -> None:
    frame = FRAME.select(kind=when(col("k") == 2).then(lit("two")).otherwise(lit("other")))
    assert [row[0] for row in rows(frame)] == ["two", "other", "two", "other"]


def test_a_persisted_frame_is_a_frame() -> None:
    kept = FRAME.filter(col("k") == 2).persist()
    assert len(kept) == 2
    assert sorted(rows(kept.select("a"))) == [(1.5,), (3.0,)]


def test_files_are_written_and_read_again(tmp_path: Path) -> None:
    assert FRAME.write_parquet(tmp_path / "parquet") == 4
    assert sorted(rows(argosy.read_parquet(tmp_path / "parquet")), key=str) == sorted(rows(FRAME), key=str)
    FRAME.select("k", "s").write_csv(tmp_path / "csv")
    assert sorted(row[0] for row in rows(argosy.read_csv(tmp_path / "csv").filter(col("k") > 0))) == [1, 2, 2]
    pq.write_table(FRAME.collect(), tmp_path / "one.parquet")
    with pytest.raises(FrameError):
        argosy.read_parquet(tmp_path / "one.parquetx")


@given(frames(max_steps=5))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_frame_is_what_the_reference_says(drawn: Drawn) -> None:
    plan = drawn.frame.plan
    draws = any(isinstance(one, Sample | Shuffle) for one in plan.walk())
    try:
        wanted = reference.run(plan)
    except FrameError:
        return
    found = drawn.frame.collect()
    assert found.schema.names == plan.schema.names
    assert found.schema.types == plan.schema.types
    if draws:
        return
    assert reference.same_rows(found, wanted, in_order=drawn.ordered)
    if isinstance(plan, Sort):
        assert reference.is_sorted(found, plan)

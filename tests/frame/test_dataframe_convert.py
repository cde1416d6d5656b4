"""To and from other libraries."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import argosy
from argosy import col
from argosy.errors import TypeMismatch

TABLE = pa.table({"a": [1, 2, None], "s": ["x", "é", None]})


def test_a_pyarrow_table_comes_in_without_a_copy_and_goes_out_again() -> None:
    frame = argosy.from_arrow(TABLE)
    assert frame.collect().column("a").chunk(0).buffers()[1].address == TABLE.column("a").chunk(0).buffers()[1].address
    assert argosy.from_arrow(frame) is frame
    assert argosy.from_arrow(TABLE.to_batches()[0]).collect() == TABLE


@pytest.mark.parametrize(
    "make", [pl.from_arrow, lambda table: table.to_reader(), lambda table: duckdb.from_arrow(table)]
)
def test_whatever_hands_out_an_arrow_stream_comes_in(make: object) -> None:
    assert callable(make)
    found = argosy.from_arrow(make(TABLE)).collect()
    assert found.to_pydict() == TABLE.to_pydict()


def test_pandas_comes_in_and_goes_out() -> None:
    data = pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=pd.Index([7, 8], name="i"))
    assert argosy.from_pandas(data).columns == ["a", "b"]
    assert argosy.from_pandas(data, index=True).columns == ["a", "b", "i"]
    assert argosy.from_pandas(data).collect()["b"].to_pylist() == ["x", None]
    back = argosy.from_pandas(data).filter(col("a") > 1).to_pandas()
    assert back["b"].isna().tolist() == [True]


def test_lists_and_arrays_come_in() -> None:
    frame = argosy.from_pydict({"a": np.arange(3), "b": [1.0, None, 2.0]})
    assert frame.collect().to_pydict() == {"a": [0, 1, 2], "b": [1.0, None, 2.0]}


def test_polars_and_duckdb_read_a_frame() -> None:
    frame = argosy.from_arrow(TABLE).filter(col("a") > 1)
    assert frame.to_polars().to_dict(as_series=False) == {"a": [2], "s": ["é"]}
    assert pl.DataFrame(frame).shape == (1, 2)
    assert pa.table(frame).to_pydict() == {"a": [2], "s": ["é"]}
    assert duckdb.from_arrow(pa.table(frame)).sum("a").fetchall() == [(2,)]


class TestTensors:
    """Columns as tensors."""

    @pytest.fixture(autouse=True)
    def _needs_torch(self) -> None:
        pytest.importorskip("torch")

    def test_numbers_share_their_memory(self) -> None:
        table = pa.table({"a": pa.array([1, 2, 3]), "b": pa.array([0.5, 1.0, 2.0], pa.float32())})
        tensors = argosy.from_arrow(table).to_torch()
        assert tensors["a"].tolist() == [1, 2, 3]
        assert tensors["a"].data_ptr() == table["a"].chunk(0).buffers()[1].address
        assert str(tensors["b"].dtype) == "torch.float32"

    def test_booleans_chunks_and_lists_of_fixed_size_become_tensors(self) -> None:
        table = pa.table(
            {
                "t": pa.chunked_array([[True], [False, True]]),
                "v": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float64(), 2)),
            }
        )
        tensors = argosy.from_arrow(table).to_torch()
        assert tensors["t"].tolist() == [True, False, True]
        assert tensors["v"].tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]

    def test_only_the_columns_that_were_asked_for(self) -> None:
        frame = argosy.from_pydict({"a": [1], "s": ["x"]})
        assert list(frame.to_torch(["a"])) == ["a"]
        assert frame.filter(col("a") > 1).to_torch(["a"])["a"].shape == (0,)

    def test_what_a_tensor_cannot_hold_says_what_to_do(self) -> None:
        frame = argosy.from_arrow(TABLE)
        with pytest.raises(TypeMismatch, match="fill_null"):
            frame.to_torch(["a"])
        with pytest.raises(TypeMismatch, match="cast"):
            frame.filter(col("s") == "x").to_torch(["s"])


def test_nulls_are_told_also_where_there_is_no_torch() -> None:
    with pytest.raises(TypeMismatch, match="fill_null"):
        argosy.from_arrow(TABLE).to_torch(["a"])


def test_strings_of_a_polars_frame_are_keys_like_others() -> None:
    given = pl.DataFrame({"k": ["a", "b", "a", None], "v": [1, 2, 3, 4]})
    frame = argosy.from_arrow(given)
    assert frame.join(frame, on="k").collect().num_rows == 5
    assert frame.sort("k").filter(col("v") > 1).collect()["k"].to_pylist() == ["a", "b", None]

"""What somebody tries who comes from another dataframe: the answer says what to write here."""

from __future__ import annotations

import copy
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import argosy
from argosy import DataFrame, col
from argosy.errors import ArgosyError, FrameError, TypeMismatch
from argosy.frame.elsewhere import _HERE

FRAME = argosy.from_pydict({"celsius": [1.5, 2.5], "room": ["a", "b"]})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda frame: frame.celsius, 'frame["celsius"] or col("celsius")'),
        (lambda frame: frame.groupby("room"), "group_by(...)"),
        (lambda frame: frame.merge(frame), "join(other, on=...)"),
        (lambda frame: frame.shape, "len(frame) and frame.columns"),
        (lambda frame: frame.no_such_thing, "a frame has no 'no_such_thing'"),
    ],
)
def test_a_name_from_elsewhere_says_what_it_is_here(call: Callable[[DataFrame], Any], says: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(says)):
        call(FRAME)


@pytest.mark.parametrize("name", _HERE)
def test_what_is_offered_instead_is_there_and_what_it_replaces_is_not(name: str) -> None:
    assert not hasattr(DataFrame, name)
    offered = re.match(r"[a-z_]+", _HERE[name])
    assert offered is not None
    assert offered[0] == "len" or hasattr(DataFrame, offered[0])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: argosy.from_pydict({"a": 1}), "a list or an array for each name, but 'a' is 1"),
        (lambda: argosy.from_pydict({"a": "text"}), "'a' is 'text'"),
        (lambda: argosy.from_pydict({"a": [1, "x"]}), "cannot make a column of these values"),
        (lambda: argosy.from_pandas(pa.table({"a": [1]})), "from_pandas() takes a pandas frame, not Table"),
        (lambda: FRAME.group_by("room").agg({"celsius": "mean"}), 'name=col("a").sum()'),
        (lambda: FRAME.write_parquet("x", compresion="zstd"), "compresion"),
        (lambda: argosy.read_csv("x.csv", sep=";"), "read_csv() got an unexpected keyword argument 'sep'"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_told_at_the_call(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(TypeError, match=re.escape(says)):
        call()


def test_columns_of_several_lengths_are_named() -> None:
    with pytest.raises(ValueError, match=re.escape("{'a': 1, 'b': 2}")):
        argosy.from_pydict({"a": [1], "b": [1, 2]})


def test_a_number_that_does_not_fit_names_a_type_that_is_wider_indeed() -> None:
    big = argosy.from_pydict({"a": [2**62]})
    with pytest.raises(
        FrameError, match=re.escape("does not fit into int64; cast to a wider type first, such as .cast('float64')")
    ):
        big.select(x=col("a") * 4).collect()


def test_a_frame_is_copied_like_any_other_object() -> None:
    assert copy.copy(FRAME).collect().equals(FRAME.collect())


@pytest.mark.parametrize(
    "error",
    [
        argosy.errors.UnknownColumn("a", ["b"]),
        argosy.errors.BadFile("path", "why"),
        argosy.errors.DiskFull("path", "writing"),
        TypeMismatch("says"),
    ],
)
def test_the_errors_of_frames_survive_the_way_from_a_rank(error: ArgosyError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


CELLS = [
    "import argosy; from argosy import col; pilot = argosy.Pilot(ranks=2)",
    "frame = argosy.from_pydict({'k': [1, 2, 1], 'a': [1, 2, 3]})",
    "sums = frame.group_by('k').agg(total=col('a').sum()).sort('k')",
    "frame",
    "print(sums.collect().to_pylist())",
    "scale = 3",
    "def scaled(table, comm):\n    return scale * comm.allreduce(table.num_rows)",
    "print(pilot.submit(scaled, sums, ranks=2).result())",
    "scale = 4",
    "print(pilot.submit(lambda table, comm: scale * comm.allreduce(table.num_rows), sums, ranks=2).result())",
    "pilot.close()",
    "print(len(sums.collect()))",
]


def test_frames_in_a_notebook_take_the_functions_of_its_cells(tmp_path: Path) -> None:
    """A notebook's cells are compiled one by one into `__main__`, which has no file."""
    kernel = f"import __main__\nfor cell in {CELLS!r}:\n    exec(compile(cell, '<cell>', 'exec'), __main__.__dict__)"
    environment = os.environ | {"ARGOSY_RUNS": str(tmp_path / "runs")}
    done = subprocess.run(
        [sys.executable, "-c", kernel], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=50
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[{'k': 1, 'total': 4}, {'k': 2, 'total': 2}]", "6", "8", "2"]

"""Memory that is not an array's own: two mappings of one file, buffers of Python and of libraries, Arrow tables."""

from __future__ import annotations

import array
import ctypes
import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
import torch

import argosy
from argosy.tree.memory import Memory
from argosy.tree.owners import is_mapped_once, spans_within

START = np.random.default_rng(0).normal(size=1 << 16)
Two = tuple[Any, Any]


def two_segments(folder: Path) -> Iterator[Two]:
    one = shared_memory.SharedMemory(create=True, size=START.nbytes)
    other = shared_memory.SharedMemory(name=one.name)
    yield (np.ndarray(START.shape, buffer=segment.buf) for segment in (one, other))  # type: ignore[misc]
    one.unlink()
    for segment in (one, other):
        with suppress(BufferError):
            segment.close()


def two_memmaps(folder: Path) -> Iterator[Two]:
    START.tofile(folder / "file")
    yield tuple(np.asarray(np.memmap(folder / "file", START.dtype, "r+")) for _ in range(2))


def two_mmaps(folder: Path) -> Iterator[Two]:
    START.tofile(folder / "file")
    with (folder / "file").open("r+b") as file:
        yield tuple(np.frombuffer(mmap.mmap(file.fileno(), 0)) for _ in range(2))


def one_bytearray(folder: Path) -> Iterator[Two]:
    buffer = bytearray(START.tobytes())
    yield np.frombuffer(buffer), np.frombuffer(memoryview(buffer)[8:])[:-1]


def one_array_of_python(folder: Path) -> Iterator[Two]:
    buffer = array.array("d", START)
    yield np.frombuffer(buffer), np.frombuffer(buffer)


def one_c_array(folder: Path) -> Iterator[Two]:
    buffer = (ctypes.c_double * len(START))(*START)
    yield np.ctypeslib.as_array(buffer), np.frombuffer(buffer)


def a_pointer(folder: Path) -> Iterator[Two]:
    own = START.copy()
    pointer = own.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    yield own, np.ctypeslib.as_array(pointer, START.shape)


def an_interface(folder: Path) -> Iterator[Two]:
    own = START.copy()

    class Lends:
        __array_interface__ = own.__array_interface__

    yield own, np.asarray(Lends())


def one_tensor(folder: Path) -> Iterator[Two]:
    tensor = torch.tensor(START)
    yield tensor.numpy(), tensor.numpy()


def a_tensor_over_an_array(folder: Path) -> Iterator[Two]:
    own = START.copy()
    yield own, torch.from_numpy(own).numpy()


def through_dlpack(folder: Path) -> Iterator[Two]:
    tensor = torch.tensor(START)
    yield np.from_dlpack(tensor), tensor.numpy()


def a_pandas_frame(folder: Path) -> Iterator[Two]:
    own = START.copy()
    seen = pd.DataFrame({"x": own}, copy=False)["x"].to_numpy()
    seen.flags.writeable = True
    yield own, seen


LENT = {
    function.__name__: function
    for function in (
        two_segments, two_memmaps, two_mmaps, one_bytearray, one_array_of_python, one_c_array, a_pointer, an_interface,
        one_tensor, a_tensor_over_an_array, through_dlpack, a_pandas_frame,
    )
}  # fmt: skip


def study(a: Any, b: Any) -> Any:
    told = []
    for k in range(3):
        a.sort()
        a += k
        mean = float(b.sum()) + float(b[5])
        b[::2] = np.sin(b[::2]) * mean
        told.append((mean, a[:100].copy()))
    return told


@contextmanager
def lent(make: Callable[[Path], Iterator[Two]], folder: Path) -> Iterator[Two]:
    generator = make(folder)
    yield tuple(next(generator))  # type: ignore[misc]
    for _ in generator:
        pass


@pytest.mark.parametrize("make", list(LENT.values()), ids=list(LENT))
def test_two_arrays_over_one_memory_are_read_and_written_in_order(make: Any, tmp_path: Path) -> None:
    with lent(make, tmp_path) as (a, b):
        plain, left = study(a, b), a.copy()
    for _ in range(2):
        with lent(make, tmp_path) as (a, b):
            found = argosy.futurize(study, grain=0, threads=3)(a, b)
            assert a.tobytes() == left.tobytes()
        for (mean, head), (same_mean, same_head) in zip(plain, found, strict=True):
            assert mean == same_mean
            assert head.tobytes() == same_head.tobytes()


def test_memory_that_may_have_a_second_address_is_told_from_the_rest(tmp_path: Path) -> None:
    once = {"one_bytearray", "one_array_of_python", "a_pandas_frame"}
    never = {"two_segments", "two_memmaps", "two_mmaps", "one_tensor", "through_dlpack"}
    for name in once | never:
        with lent(LENT[name], tmp_path) as (a, _):
            assert is_mapped_once(a) == (name in once), name
    assert is_mapped_once(START[1:].reshape(-1, 3))
    assert is_mapped_once(np.frombuffer(START.tobytes()))
    assert not is_mapped_once(polars.Series([1.0]).to_numpy())


def tables(x: Any) -> dict[str, Any]:
    column = pa.array(x)
    assert column.buffers()[1].address == x.__array_interface__["data"][0]
    return {
        "arrays": pa.Table.from_arrays([column], names=["x"]),
        "pydict": pa.Table.from_pydict({"x": column}),
        "pandas": pa.Table.from_pandas(pd.DataFrame({"x": x}, copy=False)),
        "batches": pa.Table.from_batches([pa.RecordBatch.from_arrays([column], names=["x"])]),
        "slices": pa.table({"x": pa.chunked_array([column[:100], column[100:]])}),
        "struct": pa.table({"s": pa.StructArray.from_arrays([column], names=["x"]), "x": column}),
        "a batch": pa.RecordBatch.from_arrays([column], names=["x"]),
    }


def over_a_table(x: Any, table: Any) -> Any:
    x.sort()
    first = table.take([0, 5, 7])
    x *= 2.0
    table = table.sort_by("x")
    x += 1.0
    return first, table


@pytest.mark.parametrize("kind", list(tables(START)))
def test_an_array_under_a_table_is_written_in_order(kind: str) -> None:
    x = START.copy()
    plain = [part.to_pydict() for part in over_a_table(x, tables(x)[kind])]
    for _ in range(2):
        again = START.copy()
        found = argosy.futurize(over_a_table, grain=0, threads=3)(again, tables(again)[kind])
        assert [part.to_pydict() for part in found] == plain
        assert again.tobytes() == x.tobytes()


def made_inside(x: Any) -> Any:
    table = pa.Table.from_arrays([pa.array(x)], names=["x"])
    x.sort()
    first = table.take([0, 5, 7])
    x *= 2.0
    return first.to_pydict(), table.sort_by("x").to_pydict()


def test_a_table_made_inside_is_known_by_its_addresses_too() -> None:
    assert argosy.futurize(made_inside, grain=0, threads=3)(START.copy()) == made_inside(START.copy())


def over_a_frame(x: Any, frame: Any) -> Any:
    x.sort()
    first = frame.head(3).collect()
    x *= 2.0
    return first.to_pydict(), frame.head(3).collect().to_pydict()


def test_an_array_under_a_frame_is_written_in_order() -> None:
    def call(function: Any) -> Any:
        x = START.copy()
        return function(x, argosy.from_arrow(pa.table({"x": pa.array(x)})))

    assert call(argosy.futurize(over_a_frame, grain=0, threads=3)) == call(over_a_frame)


def test_a_table_waits_for_the_arrays_that_it_lies_in_and_for_no_others() -> None:
    memory, under, beside = Memory(), np.zeros(10), np.zeros(10)
    table = pa.table({"x": pa.array(under), "words": pa.array(["a", "b"] * 5).dictionary_encode()})
    tokens = [memory.token_of(value) for value in (under[2:], table, beside, table["x"].chunk(0).to_numpy())]
    one, same, other, view = (token.root() for token in tokens if token is not None)
    assert one is same is view
    assert other is not one


class Strange:
    """A class that says it never changes, over something that nobody knows."""

    __argosy_value__ = True
    __argosy_pure__: frozenset[str] = frozenset()

    def __init__(self, held: Any) -> None:
        self.held = held


def test_a_value_of_which_nobody_knows_what_it_holds_is_one_with_all() -> None:
    strange, early, late = Strange(object()), np.zeros(3), np.zeros(3)
    assert spans_within(strange) is None
    memory = Memory()
    tokens = [memory.token_of(value) for value in (early, strange, late)]
    assert len({id(token.root()) for token in tokens if token is not None}) == 1

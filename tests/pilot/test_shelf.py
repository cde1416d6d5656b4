"""Large cargo goes through files that are mapped, and leaves none behind."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import argosy
from argosy.errors import CannotPickle, RankLost
from argosy.pilot import cargo, shelf
from argosy.pilot import pilot as pilots
from argosy.pilot.shelf import LARGE_NBYTES, Box, Parcel, Shelf

lengths = st.lists(st.sampled_from([0, 1, 63, 64, 65, 5000, 2**20 - 1, 2**20]), min_size=1, max_size=4)
LARGE = 4 * LARGE_NBYTES


def files(pilot: argosy.Pilot) -> list[Path]:
    """Of values; MPI keeps segments of its own beside them."""
    everything = [file for folder in pilot._shelf.folders for file in folder.iterdir()]
    return [file for file in everything if not file.name.startswith(("sm_segment", "vader_segment"))]


@pytest.fixture
def pilot_without_a_shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[argosy.Pilot]:
    monkeypatch.setattr(pilots, "make_folders", lambda _: [])
    with argosy.Pilot(ranks=2, folder=tmp_path) as pilot:
        yield pilot


# The shelf alone


@given(lengths=lengths, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_what_was_put_on_it_is_found_and_goes_with_its_parcel(lengths: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    parts = [random.bytes(length) for length in lengths]
    with tempfile.TemporaryDirectory() as folder:
        box = Shelf([folder]).put(parts)
        assert box is not None
        parcel = Parcel(box)
        opened = parcel.open()
        assert [bytes(part) for part in opened] == parts
        del parcel
        assert list(Path(folder).iterdir()) == []
        assert [bytes(part) for part in opened] == parts, "they outlive the file"


@pytest.mark.parametrize("nbytes", [5000, 2**21])
def test_what_one_writes_nobody_else_sees(nbytes: int, tmp_path: Path) -> None:
    box = Shelf([tmp_path]).put([bytes(nbytes)])
    assert box is not None
    (mine,), (other,) = box.open(), box.open()
    mine[:] = b"x" * nbytes
    assert bytes(other) == bytes(box.open()[0]) == bytes(nbytes)


def test_every_buffer_starts_where_kernels_like_it(tmp_path: Path) -> None:
    box = Shelf([tmp_path]).put([b"x", b"y" * 7, b"z" * 2**20])
    assert box is not None
    assert [np.frombuffer(part, np.uint8).ctypes.data % 64 for part in box.open()] == [0, 0, 0]


def test_a_mapping_holds_no_descriptor(tmp_path: Path) -> None:
    box = Shelf([tmp_path]).put([bytes(2**21)])
    assert box is not None
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    opened = [box.open() for _ in range(5)]
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    assert len(opened) == 5


def test_without_room_the_next_folder_is_taken_and_then_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, roomy = tmp_path / "small", tmp_path / "roomy"
    small.mkdir()
    roomy.mkdir()
    monkeypatch.setattr(shelf, "free_nbytes", lambda folder: 10_000 if folder == small else 100_000)
    both = Shelf([tmp_path / "missing", small, roomy])
    found = [both.put([bytes(nbytes)]) for nbytes in (5_000, 50_000, 500_000)]
    assert [box and Path(box.path).parent for box in found] == [small, roomy, None]


def test_a_disk_that_fills_up_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    value = np.arange(LARGE)
    packed = cargo.pack_value(value, Shelf([tmp_path]))
    assert isinstance(packed, bytes)
    assert np.array_equal(cargo.unpack_value(packed), value)
    assert list(tmp_path.iterdir()) == []


def test_a_value_whose_file_is_gone_is_a_clear_error(tmp_path: Path) -> None:
    packed = cargo.pack_value(np.arange(LARGE), Shelf([tmp_path]))
    assert isinstance(packed, Box)
    Path(packed.path).unlink()
    parcel = shelf.receive(packed)
    with pytest.raises(CannotPickle, match="No such file"):
        cargo.unpack_value(parcel)


# With a pilot


def table(nbytes: int) -> pa.Table:
    """Of several chunks, each with nulls, texts and numbers."""
    rows = nbytes // 64
    chunk = pa.table({"n": pa.array(np.arange(rows)), "t": [f"text {i}" if i % 3 else None for i in range(rows)]})
    return pa.concat_tables([chunk, chunk])


VALUES = {
    "table": lambda: table(LARGE),
    "array": lambda: np.arange(LARGE).reshape(64, -1).T,
    "strided array": lambda: np.arange(LARGE)[::2],
    "text": lambda: "é" * LARGE,
    "bytes": lambda: bytes(LARGE),
    "nested": lambda: {"a": [np.arange(LARGE), 1, {"b": np.ones(LARGE, "f4")}], "c": "text"},
    "objects": lambda: [str(number) for number in range(LARGE // 16)],
}


def assert_same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(wanted, pa.Table):
        found.validate(full=True)
        assert found.equals(wanted)
    else:
        np.testing.assert_equal(found, wanted)


@pytest.mark.parametrize("kind", VALUES)
def test_large_values_arrive_as_they_were_there_and_back(pilot: argosy.Pilot, kind: str) -> None:
    value = VALUES[kind]()
    first = pilot.submit(lambda value, comm: value, value, ranks=2)
    again = pilot.submit(lambda value: value, first)
    for future in (first, again):
        assert_same(future.result(), value)


@pytest.mark.parametrize("kind", VALUES)
def test_they_do_so_without_a_shelf_too(pilot_without_a_shelf: argosy.Pilot, kind: str) -> None:
    value = VALUES[kind]()
    first = pilot_without_a_shelf.submit(lambda value, comm: value, value, ranks=2)
    assert_same(pilot_without_a_shelf.submit(lambda value: value, first).result(), value)


def test_a_table_of_300_mb_goes_there_and_back(pilot: argosy.Pilot) -> None:
    sent = pa.table({"a": np.arange(19_000_000), "b": np.arange(19_000_000, dtype="f8")})
    assert pilot.submit(lambda table: table, sent).result().equals(sent)


def test_a_file_stays_as_long_as_somebody_may_need_it(pilot: argosy.Pilot) -> None:
    gc.collect()
    assert files(pilot) == []
    result = pilot.submit(np.arange, LARGE)
    array = result.result()
    assert len(files(pilot)) == 1, "the result is there for tasks that take it"
    assert pilot.submit(lambda value: int(value[-1]), result).result() == LARGE - 1
    del result
    gc.collect()
    assert files(pilot) == []
    assert array.sum() == LARGE * (LARGE - 1) // 2


@pytest.mark.usefixtures("needs_ulfm")
def test_what_a_failed_task_had_already_sent_is_removed(pilot: argosy.Pilot) -> None:
    def send_or_die(comm: Any) -> Any:
        if comm.rank == 1:
            __import__("time").sleep(0.2)
            os.kill(os.getpid(), signal.SIGKILL)
        return np.arange(LARGE)

    with pytest.raises(RankLost):
        pilot.submit(send_or_die, ranks=2).result(timeout=40)
    gc.collect()
    assert files(pilot) == []


def test_a_large_array_can_be_written_to_and_each_rank_has_its_own(pilot: argosy.Pilot) -> None:
    array = np.zeros(LARGE)

    def write(array: Any, comm: Any) -> Any:
        array += comm.rank + 1
        comm.barrier()
        return array

    found = pilot.submit(write, array, ranks=3).results()
    assert [(one.min(), one.max()) for one in found] == [(1, 1), (2, 2), (3, 3)]
    found[0] += 1
    assert array.max() == 0


def test_an_argument_is_sent_as_it_was_at_submit(pilot: argosy.Pilot) -> None:
    array = np.zeros(LARGE)
    busy = pilot.submit(lambda comm: __import__("time").sleep(0.2), ranks=4)
    waits = pilot.submit(lambda array: float(array.max()), array)
    array += 1
    assert waits.result() == 0.0
    assert busy.done()


def test_a_result_can_be_had_after_the_pilot_has_ended(tmp_path: Path) -> None:
    with argosy.Pilot(ranks=2, folder=tmp_path) as pilot:
        future = pilot.submit(lambda comm: np.full(LARGE, comm.rank), ranks=2)
    assert [int(one.max()) for one in future.results()] == [0, 1]
    assert not any(folder.exists() for folder in pilot._shelf.folders)


def test_a_function_may_hold_large_things(pilot: argosy.Pilot) -> None:
    array = np.arange(LARGE)
    assert list(pilot.map(lambda number: int(array[number]), [5, 6, 7])) == [5, 6, 7]
    gc.collect()
    assert files(pilot) == []

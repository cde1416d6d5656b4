"""Tables of samples become traces."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import BadTrace
from argosy.memory.program import from_table

OBJECTS = {"x": (0x10000, 0x4000), "y": (0x20000, 0x1000)}


def samples(**columns):
    return pa.table(columns)


SMALL = samples(Timestamp=[3.0, 0.0, 1.0, 2.0, 4.0], ADDRESS=[0x20010, 0x10000, 0x13FFF, 0x14000, 0x10008])


def touched(traced):
    return {rank.object: rank.touched_nbytes // 64 for rank in traced.ranking()}


def test_samples_go_to_the_objects_that_were_named():
    traced = from_table(SMALL, OBJECTS, windows=4)
    assert touched(traced) == {"x": 3, "y": 1, "other": 1}
    assert [[touch.object for touch in window.touches] for window in traced.trace.windows] == [
        ["x"], ["x"], ["other"], ["x", "y"],
    ]  # fmt: skip
    assert [window.seconds for window in traced.trace.windows] == [1.0] * 4
    assert traced.trace.sizes == {"other": 4096, "x": 0x4000, "y": 0x1000}
    assert traced.status is None
    traced.trace.check()


def test_without_names_pages_that_lie_together_are_objects():
    traced = from_table(SMALL)
    assert touched(traced) == {"pages 0x13000-0x15000": 2, "pages 0x10000-0x11000": 2, "pages 0x20000-0x21000": 1}
    assert any("pages that lie together" in note for note in traced.notes)


def test_stretches_of_a_phase_are_windows():
    table = samples(timestamp=[0, 1, 5, 6, 9], address=[0x10000] * 5, Phase=["read", "read", "solve", "read", None])
    windows = from_table(table, OBJECTS).trace.windows
    assert [(window.name, window.seconds) for window in windows] == [
        ("read", 5), ("solve", 1), ("read", 3), ("no phase", 0),
    ]  # fmt: skip


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 2**47), st.sampled_from("ab")), min_size=1, max_size=40),
    st.integers(1, 9),
    st.booleans(),
)
def test_no_sample_and_no_second_is_lost(rows, windows, phased):
    seconds, addresses, phases = zip(*rows, strict=True)
    columns = {"timestamp": list(seconds), "address": list(addresses)} | ({"phase": list(phases)} if phased else {})
    traced = from_table(samples(**columns), windows=windows)
    assert sum(touched(traced).values()) == len(rows)
    assert traced.heat.nbytes.sum() == 64 * len(rows)
    assert traced.trace.seconds == pytest.approx(max(seconds) - min(seconds))
    assert traced.heat.nbytes.shape[0] == len(traced.trace.windows)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_are_read(tmp_path, kind):
    path = tmp_path / f"samples.{kind}"
    table = SMALL.set_column(1, "address", [[f"{each:#x}" for each in SMALL["ADDRESS"].to_pylist()]])
    (pa.csv.write_csv if kind == "csv" else pa.parquet.write_table)(table, path)
    traced = from_table(path, OBJECTS)
    assert touched(traced) == {"x": 3, "y": 1, "other": 1}
    assert traced.trace.program == path.name


def test_times_know_their_unit_and_numbers_are_told_it():
    ticks = [0, 2_000_000]
    for column in (pa.array(ticks, pa.timestamp("us")), pa.array(ticks, pa.duration("us"))):
        assert from_table(samples(timestamp=column, address=[1, 2])).trace.seconds == pytest.approx(2)
    assert from_table(samples(timestamp=ticks, address=[1, 2]), seconds_per_tick=1e-6).trace.seconds == pytest.approx(2)


def test_addresses_of_the_kernel_are_left_out():
    table = samples(timestamp=[0, 1], address=pa.array([0x10000, 0xFFFFFFFF81000000], pa.uint64()))
    traced = from_table(table, OBJECTS)
    assert touched(traced) == {"x": 1, "y": 0}
    assert any("1 samples at addresses of the kernel" in note for note in traced.notes)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (samples(time=[1.0], address=[1]), "no column 'timestamp'; its columns are: time, address"),
        (samples(timestamp=[1.0], addr=[1]), "no column 'address'"),
        (samples(timestamp=pa.array([], pa.float64()), address=pa.array([], pa.int64())), "is empty"),
        (samples(timestamp=[1.0, None], address=[1, 2]), "1 samples have no timestamp"),
        (samples(timestamp=[1.0, 2.0], address=[1, None]), "1 samples have no address"),
        (samples(timestamp=[1.0, np.nan], address=[1, 2]), "not finite"),
        (samples(timestamp=["noon"], address=[1]), "timestamps are numbers or times, not string"),
        (samples(timestamp=[1.0], address=[1.5]), "addresses are whole numbers or hexadecimal"),
        (samples(timestamp=[1.0], address=["heap"]), "not an address"),
        (samples(timestamp=[1.0], address=pa.array([1 << 63], pa.uint64())), "one of the kernel's"),
    ],
)
def test_a_table_that_is_no_trace_says_why(table, says):
    with pytest.raises(BadTrace, match=says):
        from_table(table)


def test_objects_and_windows_that_make_no_sense_are_refused(tmp_path):
    with pytest.raises(BadTrace, match="'x' and 'z' overlap at 0x13000"):
        from_table(SMALL, OBJECTS | {"z": (0x13000, 10)})
    with pytest.raises(BadTrace, match="called 'other'"):
        from_table(SMALL, {"other": (0, 10)})
    with pytest.raises(BadTrace, match="at least 1 window, not 0"):
        from_table(SMALL, windows=0)
    with pytest.raises(BadTrace, match="there is no table"):
        from_table(tmp_path / "none.csv")
    (tmp_path / "bad.parquet").write_text("not parquet")
    with pytest.raises(BadTrace, match="cannot be read as Parquet"):
        from_table(tmp_path / "bad.parquet")

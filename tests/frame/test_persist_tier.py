"""Frames persisted in this process, in RAM, on disk or in both: the same rows, whichever."""

from __future__ import annotations

import gc
import pickle
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import argosy
from argosy import col, count
from argosy.frame.keep.held import Held
from argosy.frame.plan import Resident

pytestmark = pytest.mark.usefixtures("_pool_of_its_own")

KINDS = {
    "ints": st.integers(-(2**40), 2**40),
    "floats": st.floats(width=64),
    "bools": st.booleans(),
    "text": st.text(max_size=5),
    "lists": st.lists(st.none() | st.integers(0, 9), max_size=3),
    "structs": st.fixed_dictionaries({"x": st.none() | st.integers(0, 9), "y": st.text(max_size=2)}),
}
TYPES = {
    "ints": pa.int64(),
    "floats": pa.float64(),
    "bools": pa.bool_(),
    "text": pa.string(),
    "lists": pa.list_(pa.int32()),
    "structs": pa.struct([("x", pa.int8()), ("y", pa.large_string())]),
    "words": pa.dictionary(pa.int8(), pa.string()),
    "nested words": pa.list_(pa.dictionary(pa.int8(), pa.string())),
    "decimals": pa.decimal128(12, 2),
    "nothing": pa.null(),
}
HOW = st.sampled_from([{"tier": "ram"}, {"tier": "disk"}, {"tier": "auto"}, {"memory": 0}, {"memory": 100}])


@st.composite
def tables(draw: Callable[[st.SearchStrategy[Any]], Any]) -> pa.Table:
    """Some columns with nulls, in chunks that were cut from longer ones, each with a dictionary of its own."""
    names = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=4, unique=True))
    words = st.sampled_from(["", "é", "long enough"])
    values = KINDS | {
        "words": words,
        "nested words": st.lists(words, max_size=2),
        "decimals": st.decimals(-9999, 9999, places=2),
        "nothing": st.none(),
    }
    chunks = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=3))
    columns = []
    for name in names:
        drawn = [draw(st.lists(st.none() | values[name], min_size=n + skip, max_size=n + skip)) for n, skip in chunks]
        arrays = [pa.array(one, TYPES[name])[skip:] for one, (_, skip) in zip(drawn, chunks, strict=True)]
        columns.append(pa.chunked_array(arrays, TYPES[name]))
    return pa.table(columns, names=names)


def as_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def numbers(num_rows: int = 20_000) -> pa.Table:
    generator = np.random.default_rng(0)
    names = [None if i % 11 == 0 else f"n{i % 5}" for i in range(num_rows)]
    return pa.table(
        {
            "k": np.arange(num_rows) % 7,
            "a": generator.random(num_rows),
            "b": generator.integers(0, 100, num_rows),
            "s": pa.array(names).dictionary_encode(),
        }
    )


def held(frame: argosy.DataFrame) -> Held:
    assert isinstance(frame.plan, Resident)
    assert isinstance(frame.plan.future, Held)
    return frame.plan.future


def tiers(frame: argosy.DataFrame) -> dict[str, str]:
    return {name: column.tier for name, column in held(frame).columns.items()}


def nameless_files() -> int:
    """Of this process, open."""
    return sum("(deleted)" in str(link.resolve()) for link in Path("/proc/self/fd").iterdir())


@pytest.fixture(autouse=True)
def _no_file_is_left() -> Iterator[None]:
    gc.collect()
    before = nameless_files()
    yield
    gc.collect()
    assert nameless_files() <= before  # fewer, where another test has left some


@settings(max_examples=40, deadline=None)
@given(table=tables(), how=HOW)
def test_what_is_persisted_comes_back_bit_for_bit(table: pa.Table, how: dict[str, Any]) -> None:
    kept = argosy.from_arrow(table).persist(**how)
    as_before = as_bytes(argosy.from_arrow(table).persist(tier="ram").collect())
    assert as_bytes(kept.collect()) == as_before
    assert len(kept) == table.num_rows
    assert as_bytes(kept.persist(tier="ram").collect()) == as_before


@pytest.mark.parametrize("how", [{"tier": "disk"}, {"memory": 300_000}, {"memory": 0}])
def test_operations_see_no_difference(how: dict[str, Any], tmp_path: Path) -> None:
    plain, kept = argosy.from_arrow(numbers()), argosy.from_arrow(numbers()).persist(**how)
    for ask in (
        lambda frame: frame.filter(col("a") > 0.5).select("s", "b"),
        lambda frame: frame.group_by("s").agg(n=count(), total=col("b").sum()).sort("s"),
        lambda frame: frame.join(frame.group_by("k").agg(m=col("a").max()), on="k").sort("a", "k"),
        lambda frame: frame.sort("b", "a", descending=True),
        lambda frame: frame.head(3),
    ):
        assert ask(kept).collect().equals(ask(plain).collect())
    assert kept.write_parquet(tmp_path / "out") == 20_000
    assert pq.read_table(tmp_path / "out")["a"].equals(numbers()["a"])


def test_without_a_limit_auto_keeps_all_in_ram_where_it_was() -> None:
    table = numbers()
    kept = argosy.from_arrow(table).persist(tier="auto")
    assert set(tiers(kept).values()) == {"ram"}
    assert kept.collect()["a"].chunk(0).buffers()[1].address == table["a"].chunk(0).buffers()[1].address


def test_the_limit_of_the_environment_is_shared_by_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    table = numbers().select(["k", "a"])
    monkeypatch.setenv("ARGOSY_MEMORY", str(3 * table["k"].nbytes))
    frames = [argosy.from_arrow(table).persist() for _ in range(2)]
    assert sum(held(frame).nbytes_in_ram for frame in frames) == 3 * table["k"].nbytes
    del frames
    gc.collect()
    assert set(tiers(argosy.from_arrow(table).persist()).values()) == {"ram"}


def test_what_is_in_ram_for_good_counts_towards_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    table = numbers().select(["k", "a"])
    monkeypatch.setenv("ARGOSY_MEMORY", str(table.nbytes))
    fixed = argosy.from_arrow(table).persist(tier="ram")
    assert set(tiers(argosy.from_arrow(table).persist()).values()) == {"disk"}
    assert len(fixed) == table.num_rows


def test_a_column_that_is_used_moves_into_ram_and_makes_another_leave() -> None:
    table = numbers().select(["k", "a", "b"])
    kept = argosy.from_arrow(table).persist(memory=table["a"].nbytes)
    assert sorted(tiers(kept).values()) == ["disk", "disk", "ram"]
    for times, wanted in enumerate(("a", "b", "k")):
        for _ in range(6 + 5 * times):
            kept.select(total=col(wanted).sum()).collect()
        assert sorted(tiers(kept).values()) == ["disk", "disk", "ram"]
        assert tiers(kept)[wanted] == "ram"
    assert kept.collect().equals(table)


def test_only_columns_that_an_operation_needs_are_counted() -> None:
    kept = argosy.from_arrow(numbers()).persist(tier="disk")
    kept.group_by("k").agg(total=col("a").sum()).collect()
    kept.join(kept.select("k", "b"), on="k", how="semi").select("a").collect()
    assert {name: column.uses for name, column in held(kept).columns.items()} == {"k": 2, "a": 2, "b": 0, "s": 0}


def resident_kib(address: int) -> int:
    """Of the mapping that starts there."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(f"{address:08x}-"))
    return int(next(line for line in lines[start:] if line.startswith("Rss:")).split()[1])


def test_the_pages_of_columns_on_disk_are_dropped_after_each_operation() -> None:
    kept = argosy.from_arrow(numbers()).persist(tier="disk")
    ((start, stop),) = held(kept).columns["a"].mapped
    assert resident_kib(start) == 0
    taken = kept.collect()
    assert taken["a"].to_numpy().sum() > 0
    assert resident_kib(start) >= (stop - start) // 2048
    kept.select("k").collect()
    assert resident_kib(start) == 0
    kept.group_by("k").agg(total=col("a").sum()).collect()
    assert resident_kib(start) == 0


def test_rows_that_were_taken_before_a_move_stay_as_they_are() -> None:
    table = numbers()
    kept = argosy.from_arrow(table).persist(tier="disk")
    taken = kept.collect()
    del kept
    gc.collect()
    assert taken.equals(table)
    del taken


def test_what_is_persisted_in_ram_does_not_lie_in_a_file() -> None:
    kept = argosy.from_arrow(numbers()).persist(tier="disk")
    mapped = [one for column in held(kept).columns.values() for one in column.mapped]
    assert len(mapped) == 4
    for frame in (kept.select("k", "a", "b").persist(tier="ram"), kept.select("k", "a", "b").persist(tier="auto")):
        chunks = [chunk for column in frame.collect().columns for chunk in column.chunks]
        addresses = [one.address for chunk in chunks for one in chunk.buffers() if one is not None]
        assert not any(start <= at < stop for at in addresses for start, stop in mapped)


def test_a_frame_is_persisted_anew_only_for_another_tier() -> None:
    frame = argosy.from_arrow(numbers())
    kept = frame.persist(tier="disk")
    assert frame.persist(tier="disk").plan is kept.plan
    assert frame.persist().plan is kept.plan
    assert kept.persist().plan is kept.plan
    moved = kept.persist(tier="auto")
    assert set(tiers(moved).values()) == {"ram"}
    assert kept.persist().plan is moved.plan


@pytest.mark.parametrize("memory", [0, 200_000])
def test_rows_that_come_in_parts_never_lie_in_ram_all_at_once(memory: int, tmp_path: Path) -> None:
    table = numbers()
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1000)
    kept = argosy.read_parquet(tmp_path / "t.parquet").persist(memory=memory)
    assert held(kept).nbytes_in_ram <= memory
    assert "disk" in tiers(kept).values()
    assert kept.collect().equals(argosy.read_parquet(tmp_path / "t.parquet").collect())


def test_frames_without_rows_or_columns_can_lie_anywhere() -> None:
    empty = argosy.from_arrow(numbers().slice(0, 0)).persist(tier="disk")
    assert empty.collect().equals(numbers().slice(0, 0))
    without_columns = argosy.from_arrow(numbers().select([])).persist(tier="disk")
    assert len(without_columns) == 20_000


def test_tensors_of_a_frame_on_disk_are_those_of_the_table() -> None:
    pytest.importorskip("torch")
    kept = argosy.from_arrow(numbers()).persist(tier="disk")
    assert np.array_equal(kept.to_torch(["a"])["a"].numpy(), numbers()["a"].to_numpy())


def test_a_frame_on_disk_travels_as_its_rows() -> None:
    kept = argosy.from_arrow(numbers()).persist(tier="disk")
    assert pickle.loads(pickle.dumps(held(kept))).equals(numbers())


def test_several_threads_may_use_one_frame_that_moves() -> None:
    table = numbers().select(["k", "a", "b"])
    kept = argosy.from_arrow(table).persist(memory=table["a"].nbytes)
    same: list[bool] = []

    def use(name: str) -> None:
        same.extend(kept.select(name).collect().equals(table.select([name])) for _ in range(20))

    threads = [threading.Thread(target=use, args=(name,)) for name in table.column_names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [True] * 60
    assert all(column.uses == 20 for column in held(kept).columns.values())


def test_explain_names_the_tier() -> None:
    kept = argosy.from_arrow(numbers()).persist(tier="disk")
    assert "Table on the ranks, tier disk: k, a, b, s" in kept.explain()

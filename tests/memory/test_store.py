"""A store: objects keep their values wherever they are, and windows tell what they touched."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import CannotPlace, ObjectFreed, PlacementError, TierFull, UnknownObject
from argosy.memory import Disk, Ram, Store
from argosy.memory.tiers.tier import copy_bytes
from argosy.memory.trace import Window
from argosy.memory.values import flatten


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(slow=Disk(tmp_path), program="test") as store:
        yield store


def test_an_array_is_the_same_in_every_tier(store: Store) -> None:
    array = np.arange(12.0).reshape(3, 4)
    store.put("x", array)
    store.place({"x": "disk"})
    assert store.placement == {"x": "disk"}
    assert (store["x"] == array).all()
    store.update("x")[1, 1] = -1
    store.place({"x": "ram"})
    assert store["x"][1, 1] == -1
    assert array[1, 1] == 5


@given(
    st.lists(st.sampled_from(["ram", "disk"]), max_size=6),
    st.sampled_from(["float32", "int8", "bool", "complex128", "<M8[s]", "U3"]),
    st.sampled_from([(), (0,), (7,), (3, 0, 2), (2, 3, 5)]),
)
@settings(max_examples=40, deadline=None)
def test_moves_keep_every_byte(path: list[str], dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    count = int(np.prod(shape))
    array = np.frombuffer(rng.bytes(count * np.dtype(dtype).itemsize), np.uint8)
    if dtype == "U3":
        array = np.array(["abc", "", "é"] * count)[:count].astype("U3")
    else:
        array = (array & 1 if dtype == "bool" else array).view(dtype)
    value = array.reshape(shape)
    with Store() as store:
        store.put("x", value)
        for tier in path:
            store.place({"x": tier})
        seen = store["x"]
        assert seen.shape == shape
        assert seen.dtype == value.dtype
        assert seen.tobytes() == value.tobytes()


def test_a_tensor_and_a_table_come_back_as_they_were(store: Store) -> None:
    tensor = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3)
    table = pa.table({"a": [1, None, 3], "s": ["x", "yy", None], "l": [[1], [], None]})
    store.put("tensor", tensor, tier="disk")
    store.put("table", table, tier="disk")
    for _ in range(2):
        assert torch.equal(store["tensor"], tensor)
        assert store["table"].equals(table)
        store.place({"tensor": "ram", "table": "ram"})


@given(
    shape=st.lists(st.integers(0, 4), max_size=4).map(tuple),
    swapped=st.permutations(range(4)),
    steps=st.lists(st.sampled_from([1, 1, 2, -1]), min_size=4, max_size=4),
    kind=st.sampled_from(["array", "tensor"]),
)
@settings(max_examples=60, deadline=None)
def test_a_value_keeps_its_numbers_and_the_order_of_its_axes_in_memory(
    shape: tuple[int, ...], swapped: list[int], steps: list[int], kind: str
) -> None:
    axes = [axis for axis in swapped if axis < len(shape)]
    whole = np.arange(np.prod(shape, dtype=int)).reshape(shape).transpose(axes)
    value = whole[(*(slice(None, None, step) for step in steps[: len(shape)]), ...)]
    if kind == "tensor":
        whole = value = torch.from_numpy(whole)
    with Store() as store:
        store.put("x", value)
        for tier in ("ram", "disk"):
            store.place({"x": tier})
            assert store["x"].shape == value.shape
            assert (store["x"] == value).all()
            if value is whole or (value.strides == whole.strides and value.size):
                assert slowest_first(store["x"]) == slowest_first(value)


def slowest_first(value: Any) -> list[int]:
    """Axes of more than one element, as they lie in memory."""
    strides = value.stride() if isinstance(value, torch.Tensor) else value.strides
    return sorted((axis for axis in range(value.ndim) if value.shape[axis] > 1), key=lambda axis: -strides[axis])


def test_a_matrix_in_the_order_of_fortran_stays_so(store: Store) -> None:
    value = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    store.put("x", value, tier="disk")
    assert store["x"].flags.f_contiguous
    store.update("x")[1, 2] = 7
    store.place({"x": "ram"})
    assert store["x"].flags.f_contiguous
    assert store["x"].tolist() == [[0, 1, 2], [3, 4, 7]]


def test_an_array_whose_bytes_lie_where_only_torch_can_look_is_the_same() -> None:
    value = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    flat = flatten("x", value)
    there = torch.empty(flat.form.nbytes, dtype=torch.uint8)
    copy_bytes(flat.source, there)
    assert flat.form.view(there).tolist() == value.tolist()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            np.ma.array([1.0, 2.0], mask=[False, True]),
            r"'x' is a masked array.*put x\.data and np\.ma\.getmaskarray\(x\)",
        ),
        (np.rec.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), r"'x' is a recarray.*put np\.asarray\(x\)"),
        (torch.eye(2).to_sparse(), "'x' is a tensor of layout torch.sparse_coo"),
        (torch.nn.UninitializedParameter(), "'x' is a UninitializedParameter"),
    ],
)
def test_a_value_of_which_a_part_would_be_lost_is_refused(store: Store, value: Any, words: str) -> None:
    with pytest.raises(CannotPlace, match=words):
        store.put("x", value)
    assert "x" not in store


def test_a_tensor_that_is_kept_as_its_conjugate_comes_back_as_what_it_says(store: Store) -> None:
    value = torch.tensor([1 + 2j, 3 - 1j])
    store.put("conjugate", value.conj(), tier="disk")
    store.put("negative", value[:1].conj().imag, tier="disk")
    assert store["conjugate"].tolist() == [1 - 2j, 3 + 1j]
    assert store["negative"].tolist() == [-2.0]


def test_a_value_without_bytes_of_its_own_is_refused(store: Store) -> None:
    with pytest.raises(TypeError, match="'x' is a list; a store holds NumPy arrays"):
        store.put("x", [1, 2])
    with pytest.raises(TypeError, match="array of Python objects"):
        store.put("x", np.array([object()]))
    assert len(store) == 0


def test_a_window_records_what_was_read_and_written_and_where(store: Store) -> None:
    store.put("a", np.zeros(100))
    store.put("b", np.zeros(50), tier="disk")
    store.put("c", np.zeros(10))
    with store.window("sweep"):
        store.write("b")[:] = store["a"][:50]
        store.update("c")[:] += 1
    (window,) = store.trace().windows
    touches = {touch.object: (touch.bytes_read, touch.bytes_written, touch.tier) for touch in window.touches}
    assert touches == {"a": (800, 0, "ram"), "b": (0, 400, "disk"), "c": (80, 80, "ram")}
    assert window.name == "sweep"
    assert window.seconds > 0


def test_counted_bytes_replace_the_whole_object_whenever_they_are_counted(store: Store) -> None:
    store.put("a", np.zeros(100))
    with store.window("w"):
        store.count("a", bytes_read=8)
        _ = store["a"]
    with store.window("w"):
        _ = store.update("a")
        store.count("a", bytes_read=8)
        store.count("a", bytes_written=16)
    first, second = store.trace().windows
    assert [(t.bytes_read, t.bytes_written) for t in (*first.touches, *second.touches)] == [(8, 0), (8, 16)]


def test_what_was_taken_outside_a_window_is_not_recorded(store: Store) -> None:
    store.put("a", np.zeros(4))
    _ = store["a"]
    with store.window("w"):
        pass
    (window,) = store.trace().windows
    assert window.touches == ()


def test_forget_starts_a_new_trace(store: Store) -> None:
    with store.window("w"):
        pass
    store.forget()
    assert store.trace().windows == ()


def test_an_object_freed_in_the_middle_of_its_window_stays(store: Store) -> None:
    store.put("a", np.ones(4))
    store.put("b", np.ones(4))
    with store.window("w"):
        values = store["a"]
        with pytest.raises(ObjectFreed, match="'a' was freed in the middle of window 'w'"):
            store.free("a")
        store.free("b")
        assert values.sum() == 4
    assert set(store) == {"a"}
    assert store["a"].sum() == 4


def test_objects_do_not_move_under_a_window(store: Store) -> None:
    store.put("a", np.ones(4))
    with store.window("w"):
        with pytest.raises(PlacementError, match="cannot move objects in the middle of window 'w'"):
            store.place({"a": "disk"})
        with pytest.raises(PlacementError, match="cannot start window 'v'"), store.window("v"):
            pass
        with pytest.raises(PlacementError, match="cannot put 'b'"):
            store.put("b", np.ones(1))
    assert store.placement == {"a": "ram"}


def test_a_window_that_raises_is_not_recorded_and_ends(store: Store) -> None:
    store.put("a", np.ones(4), tier="disk")
    with pytest.raises(ZeroDivisionError), store.window("w"):
        _ = store["a"] / (1 // 0)
    assert store.trace().windows == ()
    with store.window("again"):
        assert store["a"].sum() == 4


def test_a_window_that_ctrl_c_left_open_says_nothing_when_python_finds_it(tmp_path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):
        gc.collect()  # what other tests left
    with Store(slow=Disk(tmp_path)) as store:
        store.put("x", np.zeros(4))
        window = store.window("w")
        window.__enter__()
        store.update("x")
    del window  # warnings are errors here, also those of what Python cannot raise
    gc.collect()


def test_a_store_closed_inside_a_window_ends_it(tmp_path: Path) -> None:
    store = Store(slow=Disk(tmp_path))
    store.put("x", np.zeros(4))
    with store.window("w"):
        store.update("x")
        store.close()
    assert not store.trace().windows
    store.put("y", np.zeros(2))
    with store.window("again"):
        store.update("y")
    assert [window.name for window in store.trace().windows] == ["again"]


def test_a_tier_that_fills_up_in_a_move_leaves_the_object_whole_where_it_was(tmp_path: Path) -> None:
    with Store(fast=Ram(capacity=1000), slow=Disk(tmp_path, capacity=1600)) as store:
        store.put("a", np.full(100, 1.0))
        store.put("b", np.full(100, 2.0), tier="disk")
        store.put("c", np.full(80, 3.0), tier="disk")
        with pytest.raises(TierFull, match="tier 'ram' is full"):
            store.place({"b": "ram"})
        assert store.placement == {"a": "ram", "b": "disk", "c": "disk"}
        assert [store[name].mean() for name in "abc"] == [1, 2, 3]
        with pytest.raises(TierFull, match="tier 'disk' is full"):
            store.place({"a": "disk"})
        assert [store[name].mean() for name in "abc"] == [1, 2, 3]
        store.free("c")
        store.place({"a": "disk"})
        assert store["a"].sum() == 100


def test_objects_that_leave_the_fast_tier_make_room_for_those_that_enter(tmp_path: Path) -> None:
    with Store(fast=Ram(capacity=800), slow=Disk(tmp_path)) as store:
        store.put("in", np.ones(100), tier="disk")
        store.put("out", np.zeros(100))
        assert store.place({"in": "ram", "out": "disk"}) == 1600
        assert store.placement == {"in": "ram", "out": "disk"}


def test_a_put_that_does_not_fit_keeps_the_old_value(tmp_path: Path) -> None:
    with Store(fast=Ram(capacity=1000), slow=Disk(tmp_path)) as store:
        store.put("a", np.ones(100))
        with pytest.raises(TierFull):
            store.put("a", np.zeros(1000))
        assert store["a"].sum() == 100


def test_unknown_names_are_met_with_the_near_ones(store: Store) -> None:
    store.put("velocity", np.ones(1))
    with pytest.raises(UnknownObject, match="no object 'velocty', did you mean 'velocity'"):
        _ = store["velocty"]
    with pytest.raises(UnknownObject):
        store.place({"velocity": "disk", "mass": "disk"})
    assert store.placement == {"velocity": "ram"}
    with pytest.raises(ValueError, match="no tier 'tape'; this store has 'ram' and 'disk'"):
        store.place({"velocity": "tape"})
    with pytest.raises(ValueError, match="both 'ram'"):
        Store(fast=Ram(), slow=Ram())


def test_a_listener_hears_of_each_window_and_may_move_objects(store: Store) -> None:
    store.put("a", np.ones(4))
    heard: list[str] = []

    def listen(window: Window) -> None:
        heard.append(window.name)
        store.place({"a": "disk"})

    store.on_window_end = listen
    with store.window("w"):
        _ = store["a"]
    assert heard == ["w"]
    assert store.placement == {"a": "disk"}


def test_values_outlive_the_store(tmp_path: Path) -> None:
    with Store(slow=Disk(tmp_path)) as store:
        store.put("a", np.arange(1000.0), tier="disk")
        values = store["a"]
    assert values.sum() == 999 * 500

"""Tensors that are divided over ranks: what any number of ranks wrote, any number read, each what it needs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.comm.ranks import Ranks
from argosy.comm.threads import on_threads
from argosy.errors import BadCheckpoint
from argosy.train.checkpoint import Checkpoints, Rows, StoredRows, made_whole

torch.set_num_threads(1)


def cut(rows: int, rank: int, size: int) -> tuple[int, int]:
    each = -(-rows // size)
    return min(rank * each, rows), min((rank + 1) * each, rows)


def whole(shapes: list[tuple[int, ...]]) -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=draw) for shape in shapes]


def save(ranks: Ranks, folder: Path, shapes: list[tuple[int, ...]], step: int = 1) -> None:
    model: dict[str, Any] = {"plain": torch.arange(3)}
    states: dict[int, Any] = {}
    for number, tensor in enumerate(whole(shapes)):
        first, stop = cut(len(tensor), ranks.rank, ranks.size)
        model[f"w{number}"] = Rows(tensor[first:stop], first, len(tensor))
        states[number] = {"speed": Rows(tensor[first:stop].double(), first, len(tensor)), "step": torch.tensor(4.0)}
    shared = {"model": model, "optimizer": {"state": states}}
    Checkpoints(folder, ranks).save(step, shared=shared, own={}, facts={})


def load(ranks: Ranks, folder: Path, shapes: list[tuple[int, ...]]) -> int:
    found = Checkpoints(folder, ranks).load()
    assert found is not None
    for number, tensor in enumerate(whole(shapes)):
        first, stop = cut(len(tensor), ranks.rank, ranks.size)
        stored = found.shared["model"][f"w{number}"]
        assert isinstance(stored, StoredRows)
        assert torch.equal(stored.read(first, stop), tensor[first:stop])
        assert torch.equal(found.shared["optimizer"]["state"][number]["speed"].whole(), tensor.double())
    assert made_whole(found.shared)["model"]["plain"].tolist() == [0, 1, 2]
    return found.step


shapes = st.lists(
    st.tuples(st.integers(1, 9)) | st.tuples(st.integers(1, 9), st.integers(0, 4)), min_size=1, max_size=4
)


@given(shapes, st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=30)
def test_any_ranks_read_what_any_ranks_wrote(shapes: list[tuple[int, ...]], writers: int, readers: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        on_threads(writers, save, Path(name), shapes)
        assert on_threads(readers, load, Path(name), shapes) == [1] * readers


@pytest.mark.parametrize("how", ["changed", "cut", "missing"])
def test_rows_that_are_damaged_are_passed_over_with_all_the_rest(tmp_path: Path, how: str) -> None:
    some = [(7, 3), (5,)]
    on_threads(2, save, tmp_path, some, 1)
    on_threads(2, save, tmp_path, some, 2)
    file = tmp_path / "step-00000002" / "rows-00001.bin"
    data = bytearray(file.read_bytes())
    data[5] ^= 1
    file.unlink()
    if how != "missing":
        file.write_bytes(data if how == "changed" else data[:-1])
    with pytest.warns(UserWarning, match="is not whole"):
        assert on_threads(3, load, tmp_path, some) == [1] * 3


def test_rows_of_which_some_are_nobodys_are_no_checkpoint(tmp_path: Path) -> None:
    def gap(ranks: Ranks) -> None:
        shared = {"model": {"w": Rows(torch.zeros(2), 3 * ranks.rank, 5)}}
        Checkpoints(tmp_path, ranks).save(1, shared=shared, own={}, facts={})
        with pytest.raises(BadCheckpoint, match="rows 3 and on where those from 2 on should be"):
            Checkpoints(tmp_path, ranks).load()

    on_threads(2, gap)

"""A run that was killed goes on where it was, on as many ranks or others: every sample exactly once in each epoch."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st
from shuffle.ranks import on_ranks
from shuffle.samples import Numbered, number_of, numbers_of_batch
from torch.utils.data import DataLoader

from argosy.errors import BadState
from argosy.shuffle import PartialExchange
from argosy.shuffle.cut import Cut
from argosy.shuffle.holdings import dealt
from argosy.shuffle.lines import Lines
from argosy.shuffle.place import Place

_SAMPLES, _EPOCHS = 211, 3
Notes = list[tuple[int, int, list[int]]]
"""Epoch, batch of this run, and numbers of samples."""


def _learn(
    rank: int, num_ranks: int, folder: Path, run: int, kill_at: int | None, num_workers: int, sharded: bool
) -> None:
    """Ranks go from batch to batch together, note what was in it, and where they are. The last one may be killed."""
    numbers = range(_SAMPLES)[rank::num_ranks] if sharded else range(_SAMPLES)
    samples = [Numbered(_SAMPLES)[number] for number in numbers]
    exchange = PartialExchange(samples, 0.4, seed=1, sharded=sharded)
    loader = exchange.loader(5, num_workers=num_workers)
    state = folder / "state.json"
    if state.exists():
        loader.load_state_dict(json.loads(state.read_text())["state"])
    done = 0
    with (folder / f"run-{run}-{rank}.jsonl").open("w") as notes:
        while exchange.epoch < _EPOCHS:
            for batch in loader:
                done += 1
                print(json.dumps([exchange.epoch, done, numbers_of_batch(batch)]), file=notes, flush=True)
                if rank == num_ranks - 1 and done == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                try:
                    dist.barrier()  # as the gradients of a step are averaged
                except RuntimeError:
                    return
                if rank == 0:
                    new = folder / "new.json"
                    new.write_text(json.dumps({"run": run, "done": done, "state": loader.state_dict()}))
                    new.replace(state)
            if exchange.epoch == _EPOCHS - 1:
                return


def _learned(folder: Path, saved: list[dict[str, int]]) -> list[list[int]]:
    """The samples of each epoch, up to where each run was last saved."""
    epochs: list[list[int]] = [[] for _ in range(_EPOCHS)]
    for record in saved:
        for path in folder.glob(f"run-{record['run']}-*.jsonl"):
            for line in path.read_text().splitlines():
                epoch, done, numbers = json.loads(line)
                if done <= record["done"]:
                    epochs[epoch] += numbers
    return epochs


@pytest.mark.parametrize(
    ("ranks", "num_workers", "sharded"),
    [([4, 3, 5, 2], 0, False), ([2, 2, 2], 1, False), ([3, 3, 3], 0, True)],
)
def test_every_sample_is_learned_from_once_in_each_epoch_whatever_is_killed(
    tmp_path: Path, ranks: list[int], num_workers: int, sharded: bool
) -> None:
    saved = []
    for run, num_ranks in enumerate(ranks):
        kill_at = None if run == len(ranks) - 1 else 4 + 3 * run
        on_ranks(num_ranks, _learn, tmp_path, run, kill_at, num_workers, sharded, may_die=True)
        saved.append(json.loads((tmp_path / "state.json").read_text()))
    assert [record["run"] for record in saved] == list(range(len(ranks)))
    for epoch in _learned(tmp_path, saved):
        assert sorted(epoch) == list(range(_SAMPLES))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), num_samples=st.integers(5, 300), epoch=st.integers(0, 20), fraction=st.floats(0, 1))
def test_what_is_left_goes_to_the_ranks_that_are_there(
    data: st.DataObject, num_samples: int, epoch: int, fraction: float
) -> None:
    place, seen = Place(epoch=epoch), []
    for last in (False, False, False, True):
        num_ranks = data.draw(st.integers(1, min(num_samples, 9)))
        cut = Cut(sharded=False, sizes=(num_samples,), batch=num_ranks, workers=num_ranks, fraction=fraction)
        lines = [place.line(cut, rank, seed=3).ids for rank in range(num_ranks)]
        longest = max(map(len, lines))
        read = longest if last else data.draw(st.integers(0, longest))
        seen += [number for line in lines for number in line[:read].tolist()]
        whose = max(range(num_ranks), key=lambda rank: len(lines[rank]))
        place = place.after(cut, whose, read, seed=3)
        state = json.loads(json.dumps(place.state(dealt(num_samples, num_ranks, fraction=fraction, seed=3))))
        place = Place.from_state(state, dealt(num_samples, 1, fraction=0, seed=3))
    assert sorted(seen) == list(range(num_samples))


def _in_the_middle(rank: int, num_ranks: int) -> Any:
    """Read some, keep the state, read on; and again from the state: with the same object, and with another."""
    exchange = PartialExchange(Numbered(90), 0.5, seed=2)
    passes = iter(exchange)
    before = [number_of(next(passes)) for _ in range(17)]
    state = exchange.state_dict()
    rest = [number_of(sample) for sample in passes]
    following = [number_of(sample) for sample in exchange]
    exchange.load_state_dict(state)
    again = [number_of(sample) for sample in exchange]
    fresh = PartialExchange(Numbered(90), 0.5, seed=2)
    fresh.load_state_dict(state)
    return before, rest, following, again, [number_of(sample) for sample in fresh], [number_of(one) for one in fresh]


def test_a_state_of_any_moment_is_gone_on_from_exactly() -> None:
    for before, rest, following, again, fresh, after_fresh in on_ranks(3, _in_the_middle):
        assert len(before) + len(rest) == 30
        assert not set(before) & set(rest)
        assert again == fresh == rest
        assert after_fresh == following


def test_a_state_of_other_samples_is_refused() -> None:
    state = PartialExchange(Numbered(10)).state_dict()
    for wrong, words in (
        ({**state, "num_samples": 11}, "11 samples, and there are 10"),
        ({**state, "seed": 4}, "seed=4"),
        ({**state, "version": 9}, "version 9"),
        ({"epoch": 1}, "no state"),
        ({**state, "taken": [{"steps": "x"}]}, "no state"),
    ):
        with pytest.raises(BadState, match=words):
            PartialExchange(Numbered(10)).load_state_dict(wrong)


def test_what_others_have_read_ahead_must_be_said() -> None:
    exchange = PartialExchange(Numbered(10))
    ahead = iter(exchange.sampler)
    next(ahead)
    with pytest.raises(BadState, match=r"state_dict\(read=...\)"):
        exchange.state_dict()
    with pytest.raises(BadState, match="cannot have read 11"):
        exchange.state_dict(read=11)
    in_workers = PartialExchange(Numbered(10))
    in_workers.set_epoch(0)
    for _ in DataLoader(in_workers, num_workers=1):
        with pytest.raises(BadState, match=r"state_dict\(read=...\)"):
            in_workers.state_dict()
    resumed = PartialExchange(Numbered(10))
    resumed.load_state_dict(exchange.state_dict(read=4))
    lines = Lines(Cut(sharded=False, sizes=(10,), batch=1, workers=1, fraction=0.1), seed=0, epoch=0)
    whole = lines.these(range(1))[0].ids
    assert np.array_equal([number_of(sample) for sample in resumed], whole[4:])

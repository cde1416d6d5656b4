"""Ranks that are unlike: what goes wrong on one alone ends all, and nothing that only one has is lost."""

from __future__ import annotations

import copy
import traceback
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch import nn
from train.problems import classes, linear
from train.test_fit_ranks import SCHEMES
from train.test_modes import CPU, Frozen

import argosy
from argosy.errors import BadBatch, PeerFailed
from argosy.train import LocalSGD, fit
from argosy.train.learners.norm import average_buffers, synchronised

TRAIN = classes(120)
PLACES = ["model", "dataset", "forward", "loss", "metric", "stop"]


def _fails_on_rank_1(comm: Any, scheme: Any, place: str) -> str:
    """Without help of the pilot, which would end the task: as under mpiexec."""
    calls = {"count": 0}

    def maybe_raise(at: str, after: int = 4) -> None:
        calls["count"] += at == place
        if at == place and comm.rank == 1 and calls["count"] > after:
            raise OSError(f"the cat sat on the {place}")

    class Model(torch.nn.Linear):
        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            maybe_raise("forward")
            return super().forward(rows)

    def build() -> torch.nn.Module:
        maybe_raise("model", after=0)
        return Model(8, 3)

    class Data(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return len(TRAIN[1])

        def __getitem__(self, number: int) -> Any:
            maybe_raise("dataset", after=40)
            return TRAIN[0][number], int(TRAIN[1][number])

    def loss(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        maybe_raise("loss")
        return torch.nn.functional.cross_entropy(output, labels)

    def metric(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        maybe_raise("metric", after=1)
        return (output.argmax(1) == labels).float().mean()

    def stop(_evaluations: Any) -> bool:
        maybe_raise("stop", after=1)
        return False

    try:
        asked = {"scheme": scheme, "metrics": {"right": metric}, "stop": stop, "loss": loss, "epochs": 3}
        fit(build, Data(), valid=TRAIN, batch_size=24, comm=comm, **asked)
    except (OSError, PeerFailed) as error:
        return "".join(traceback.format_exception(error))
    return "nothing"


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_what_one_rank_raises_ends_all_with_its_traceback(pilot: argosy.Pilot, scheme: Any) -> None:
    for place in PLACES if scheme == LocalSGD(every=4) else PLACES[2:5:2]:
        told = pilot.submit(_fails_on_rank_1, scheme, place, ranks=3, timeout=55).results()
        assert "OSError: the cat sat on the " + place in told[1], place
        for words in (told[0], told[2]):
            assert "PeerFailed: rank 1 of this run failed" in words, place
            assert "the cat sat on the " + place in words
            assert "in maybe_raise" in words  # the traceback of that rank


def test_whoever_wants_to_stop_stops_all(pilot: argosy.Pilot) -> None:
    """A clock, or anything else that differs between ranks."""

    def learn(comm: Any) -> tuple[int, str]:
        result = fit(linear, TRAIN, valid=TRAIN, batch_size=24, epochs=5, stop=lambda _: comm.rank == 2, comm=comm)
        return result.steps, result.why_stopped

    assert pilot.submit(learn, ranks=3, timeout=55).results() == [(5, "stop")] * 3


def test_a_user_of_a_pilot_gets_the_exception_itself(pilot: argosy.Pilot) -> None:
    def build() -> torch.nn.Module:
        class Model(torch.nn.Linear):
            def forward(self, rows: torch.Tensor) -> torch.Tensor:
                if torch.distributed.is_initialized() and torch.distributed.get_rank() == 2:
                    raise OSError("the cat sat on the model")
                return super().forward(rows)

        return Model(8, 3)

    for _ in range(3):  # it is not the first to arrive
        with pytest.raises(OSError, match="the cat sat on the model"):
            fit(build, TRAIN, batch_size=24)


CASES: list[tuple[tuple[int, ...], Any]] = [((50, 70, 120), True), ((8, 100, 41), 0.5), ((0, 60, 60), True)]


def _learned_rows(comm: Any, scheme: Any) -> list[Any]:
    """For each case what this rank learned from, in order; or what it said."""
    told: list[Any] = []
    for sizes, shuffle in CASES:
        read: list[int] = []

        def loss(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            read.extend(labels.int().tolist())  # noqa: B023
            return ((output[:, 0] - labels / 1000) ** 2).mean()

        def schedule(share: float) -> float:
            if share == 0:  # at the first step, after what is learned and forgotten
                read.clear()  # noqa: B023
            return 1.0

        first, own = sum(sizes[: comm.rank]), sizes[comm.rank]
        rows = np.random.default_rng(comm.rank).normal(size=own * 8).astype(np.float32)
        inputs = pa.FixedSizeListArray.from_arrays(pa.array(rows), 8)
        table = pa.table({"x": inputs, "label": pa.array(np.arange(first, first + own, dtype=np.float64))})
        try:
            asked: dict[str, Any] = {"scheme": scheme, "shuffle": shuffle, "schedule": schedule, "lr": 1e-3}
            fit(linear, table, loss=loss, batch_size=24, comm=comm, **asked)
        except BadBatch as error:
            told.append(str(error))
        else:
            told.append(read)
    return told


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_ranks_with_unequal_rows_learn_each_once_or_all_say_why_not(pilot: argosy.Pilot, scheme: Any) -> None:
    told = pilot.submit(_learned_rows, scheme, ranks=3, timeout=55).results()
    for (sizes, _), case in zip(CASES[:2], zip(*told, strict=True), strict=False):
        assert sorted(row for own in case for row in own) == list(range(sum(sizes)))
    assert [own[2] for own in told] == [told[0][2]] * 3
    assert told[0][2].startswith("a batch of 8 is larger than the shard of rank 0 (0 rows); take a smaller batch")


def _on_a_rank(comm: Any) -> list[Any]:
    """Constants that a sum over ranks would spoil; frozen parts; counts in half precision; a scaler of each rank."""
    from argosy.comm.ranks import ranks_of
    from argosy.train.group import joined

    told: list[Any] = []
    draw = torch.Generator().manual_seed(comm.rank)
    constant = torch.tensor([torch.finfo(torch.float32).min, float("nan"), float("-inf"), 0.1])
    with joined(ranks_of(comm), CPU) as group:
        own = torch.full((2,), float(comm.rank))
        kept = constant.clone()
        average_buffers([kept, own], group)
        told.append((torch.equal(kept.view(torch.int32), constant.view(torch.int32)), own.tolist()))

        plain = nn.BatchNorm1d(3)
        synced = synchronised(copy.deepcopy(plain), group)
        mine = torch.randn(1500, 3, generator=draw).half() + 3 * comm.rank
        theirs = torch.cat([torch.from_numpy(each) for each in group.ranks.allgather(mine.numpy())])
        output = synced(mine)
        plain(theirs.float())
        told.append((output.dtype, torch.allclose(synced.running_var, plain.running_var, rtol=1e-3)))
        told.append(torch.allclose(synced.running_mean, plain.running_mean, rtol=1e-3))
    labels = torch.from_numpy(TRAIN[1][comm.rank :: 3])
    rows = pa.FixedSizeListArray.from_arrays(pa.array(TRAIN[0][comm.rank :: 3].reshape(-1)), 8)
    table = pa.table({"x": rows, "label": labels.numpy()})
    given = Frozen()
    for name, was in given.body.state_dict().items():
        was.copy_(torch.full_like(was, 0.1) if was.is_floating_point() else was)
        assert name
    for scheme in ("sync", LocalSGD(every=2), "fsdp"):
        result = fit(given, table, valid=table, batch_size=12, epochs=2, lr=0.1, scheme=scheme, comm=comm)
        state = result.model.state_dict()
        told.append([name for name, was in given.state_dict().items() if not torch.equal(state[name], was)])
    return told


def test_on_several_ranks_too(pilot: argosy.Pilot) -> None:
    learned = [name for name in Frozen().state_dict() if name.startswith("head")]
    for told in pilot.submit(_on_a_rank, ranks=3, timeout=55).results():
        assert told[:3] == [(True, [1.0, 1.0]), (torch.float16, True), True]
        assert told[3:] == [learned] * 3


def test_float16_goes_on_to_the_bit_where_each_rank_has_a_scaler_of_its_own(pilot: argosy.Pilot, tmp_path: Any) -> None:
    """Rank 1 overflows, and halves its scale; the others do not."""

    def learn(comm: Any, folder: str) -> Any:
        def loss(output: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.cross_entropy(output, labels) * (40.0 if comm.rank == 1 else 1e-3)

        from argosy.train.precision import Precision as Ours

        scales: list[float] = []
        found = Ours.__init__

        def smaller(self: Any, name: str, device: Any) -> None:
            found(self, name, device)
            self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12, growth_interval=3)
            scales.append(self.scaler)

        Ours.__init__ = smaller  # type: ignore[method-assign]
        try:
            asked: dict[str, Any] = {"batch_size": 12, "scheme": LocalSGD(every=3), "precision": "float16", "lr": 1e-2}
            asked |= {"loss": loss, "comm": comm}
            torch.manual_seed(0)
            model = nn.Linear(8, 3)
            unbroken = fit(model, TRAIN, epochs=4, **asked)
            fit(model, TRAIN, epochs=2, checkpoint=folder, **asked)
            resumed = fit(model, TRAIN, epochs=4, checkpoint=folder, **asked)
        finally:
            Ours.__init__ = found  # type: ignore[method-assign]
        same = torch.equal(unbroken.model.weight, resumed.model.weight)
        return resumed.losses == unbroken.losses, same, scales[0].get_scale(), scales[2].get_scale()

    told = pilot.submit(learn, str(tmp_path / "kept"), ranks=3, timeout=55).results()
    assert len({scale for _, _, scale, _ in told}) > 1, "the ranks have scales of their own"
    assert [scale for _, _, scale, _ in told] == [scale for _, _, _, scale in told]
    assert all(losses and model for losses, model, _, _ in told)


def test_ranks_without_held_out_samples_evaluate_too(pilot: argosy.Pilot) -> None:
    """Where the model takes all ranks, one without samples makes nothing a NaN."""

    def learn(comm: Any) -> Any:
        rows = TRAIN[0][:0] if comm.rank == 0 else TRAIN[0][comm.rank :: 3]
        cells = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), 8)
        table = pa.table({"x": cells, "label": np.zeros(len(rows), np.int64)})
        return fit(
            nn.Linear(8, 3), TRAIN, batch_size=12, valid=table, scheme="fsdp", metrics="accuracy", comm=comm
        ).metrics

    told = pilot.submit(learn, ranks=3, timeout=55).results()
    assert told[0] == told[1] == told[2]
    assert 0 <= told[0]["accuracy"] <= 1

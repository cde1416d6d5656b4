"""Frames, trainings and tasks side by side on the ranks of one pilot."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argosy
from argosy import col
from argosy.tree.task import task

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[argosy.Pilot]:
    with argosy.Pilot(ranks=4, folder=tmp_path_factory.mktemp("runs")) as shared:
        yield shared


def linear() -> Any:
    return torch.nn.Linear(2, 2)


def samples(rows: int = 64) -> tuple[Any, Any]:
    inputs = np.random.default_rng(0).normal(size=(rows, 2)).astype(np.float32)
    return inputs, (inputs[:, 0] > inputs[:, 1]).astype(np.int64)


def learn(seed: int, **options: Any) -> Any:
    return argosy.train.fit(linear, samples(), batch_size=16, epochs=2, lr=0.1, seed=seed, ranks=1, **options)


def in_threads(*work: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(work)) as threads:
        return [future.result() for future in [threads.submit(one) for one in work]]


class Meets:
    """A model that is only made once so many are being made at the same time, each on its own rank."""

    def __init__(self, folder: Path, number: int, size: int) -> None:
        self.folder, self.number, self.size = folder, number, size

    def __call__(self) -> Any:
        (self.folder / str(self.number)).touch()
        while len(list(self.folder.iterdir())) < self.size:
            time.sleep(0.01)
        return linear()


def test_four_trainings_of_one_rank_run_side_by_side(pilot: argosy.Pilot, tmp_path: Path) -> None:
    def one(number: int) -> Any:
        return argosy.train.fit(Meets(tmp_path, number, 4), samples(), batch_size=16, lr=0.1, ranks=1)

    assert [trained.steps for trained in in_threads(*(lambda number=n: one(number) for n in range(4)))] == [4] * 4


def test_trainings_side_by_side_give_what_they_give_alone(pilot: argosy.Pilot) -> None:
    together = in_threads(*(lambda seed=s: learn(seed) for s in range(4)))
    assert [trained.losses for trained in together] == [learn(seed).losses for seed in range(4)]


def test_frames_tasks_and_trainings_of_several_threads_do_not_disturb_one_another(pilot: argosy.Pilot) -> None:
    frame = argosy.from_pydict({"k": [1, 2, 3, 1] * 50, "a": list(range(200))})
    sums = frame.group_by("k").agg(total=col("a").sum()).sort("k")
    add = task(ranks=2)(lambda x, comm: comm.allreduce(x))
    answers = in_threads(
        lambda: sums.persist().collect()["total"].to_pylist(),
        lambda: add(5),
        lambda: learn(3).losses,
        lambda: len(frame.filter(col("a") > 9)),
        lambda: sums.collect()["total"].to_pylist(),
        lambda: add(6),
    )
    totals = [sum(a for a in range(200) if [1, 2, 3, 1][a % 4] == k) for k in (1, 2, 3)]
    assert answers == [totals, 10, learn(3).losses, 190, totals, 12]


def test_a_frame_that_several_trainings_learn_from_is_made_once(pilot: argosy.Pilot) -> None:
    inputs, labels = samples()
    columns = {"x": inputs[:, 0], "y": inputs[:, 1], "label": labels}
    frame = argosy.from_pydict(columns).filter(col("label") >= 0)

    def one(seed: int) -> Any:
        return argosy.train.fit(linear, frame, features=["x", "y"], label="label", batch_size=16, lr=0.1, seed=seed)

    trained = in_threads(*(lambda seed=s: one(seed) for s in range(3)))
    assert [one.samples for one in trained] == [64] * 3
    assert frame.__argosy_future__() is frame.__argosy_future__()


def broken() -> Any:
    raise ArithmeticError("no model today")


def test_a_failing_training_leaves_the_others_alone(pilot: argosy.Pilot) -> None:
    def fails() -> None:
        with pytest.raises(ArithmeticError, match="no model today"):
            argosy.train.fit(broken, samples(), batch_size=16, ranks=1)

    _, trained, _ = in_threads(fails, lambda: learn(1), fails)
    assert trained.steps == 8

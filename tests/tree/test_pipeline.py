"""Frames, trainings and tasks side by side on the ranks of one pilot: in threads, and in a futurized function."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
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


# In a futurized function ---------------------------------------------------------------------------------------------


@task
def met(folder: str, name: str, size: int) -> str:
    """Returns once so many tasks are here at the same time."""
    Path(folder, name).touch()
    while len(list(Path(folder).iterdir())) < size:
        time.sleep(0.01)
    return name


@task
def fails(after: float) -> int:
    time.sleep(after)
    raise ArithmeticError(f"after {after} seconds")


@task(pure=False)
def writes(path: Path, line: str) -> int:
    with path.open("a") as file:
        file.write(line + "\n")
    return len(line)


def two_tasks(folder: str) -> str:
    first = met(folder, "a", 2)
    second = met(folder, "b", 2)
    return first + second


def both_fail() -> tuple[int, int]:
    first = fails(0.2)
    second = fails(0.0)
    return first, second


def in_order(path: Path) -> list[int]:
    lengths = []
    for line in ("one", "three", "two"):
        length = writes(path, line)
        lengths.append(length)
    return lengths


def a_study(numbers: list[int], seed: int) -> tuple[list[int], int, float, list[float]]:
    frame = argosy.from_pydict({"k": numbers, "a": list(range(len(numbers)))})
    sums = frame.group_by("k").agg(total=(col("a") * 2).sum()).sort("k").persist()
    many = frame.filter(col("a") > 1).collect()
    trained = argosy.train.fit(linear, samples(), batch_size=16, lr=0.1, seed=seed, ranks=1)
    other = argosy.train.fit(linear, samples(), batch_size=16, lr=0.2, seed=seed, ranks=1)
    best = trained
    if other.losses[-1] < trained.losses[-1]:
        best = other
    return sums.collect()["total"].to_pylist(), many.num_rows, best.losses[-1], other.losses


def test_tasks_that_do_not_need_one_another_run_side_by_side(pilot: argosy.Pilot, tmp_path: Path) -> None:
    """Each waits for the other, so one after another they would never end."""
    assert argosy.futurize(two_tasks)(str(tmp_path)) == "ab"


def test_the_first_exception_of_the_program_surfaces_not_the_first_in_time(pilot: argosy.Pilot) -> None:
    with pytest.raises(ArithmeticError, match=r"after 0\.2 seconds"):
        argosy.futurize(both_fail)()


def test_tasks_that_can_be_seen_run_in_their_order(pilot: argosy.Pilot, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    assert argosy.futurize(in_order)(path) == [3, 5, 3]
    assert path.read_text().split() == ["one", "three", "two"]


def test_a_futurized_study_gives_what_the_plain_one_gives(pilot: argosy.Pilot) -> None:
    study = argosy.futurize(a_study)
    assert study([1, 2, 1, 3], 5) == study.plain([1, 2, 1, 3], 5)
    assert study([3, 3], 6) == study.plain([3, 3], 6)


def test_the_example_keeps_the_best_of_its_trainings(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent.parent / "examples" / "pipeline.py"
    environment = os.environ | {"ARGOSY_RUNS": str(tmp_path / "runs")}
    command = [sys.executable, example, tmp_path / "here"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=55, check=False)
    assert done.returncode == 0, done.stderr
    assert "the best of 4 learning rates is 0.3" in done.stdout
    shares = [int(share) for share in re.findall(r"(\d+)%", done.stdout)]
    assert sum(shares) == pytest.approx(100, abs=2)


def in_a_comprehension(folder: str) -> list[str]:
    return [met(folder, name, 3) for name in ("a", "b", "c")]


def in_a_loop(folder: str) -> list[str]:
    names = []
    for name in ("a", "b", "c"):
        found = met(folder, name, 3)
        names.append(found)
    return names


def in_a_function_of_its_own(folder: str) -> list[str]:
    first = met(folder, "a", 3)
    second = one_more(folder, "b")
    third = one_more(folder, "c")
    return [first, second, third]


def one_more(folder: str, name: str) -> Any:
    return met(folder, name, 3)


@pytest.mark.parametrize("program", [in_a_comprehension, in_a_loop, in_a_function_of_its_own])
def test_tasks_run_side_by_side_wherever_they_are_called(
    pilot: argosy.Pilot, tmp_path: Path, program: Callable[[str], list[str]]
) -> None:
    assert argosy.futurize(program)(str(tmp_path)) == ["a", "b", "c"]


def test_the_first_element_that_fails_is_the_one_that_is_raised(pilot: argosy.Pilot) -> None:
    def three() -> list[int]:
        return [fails(after) for after in (0.2, 0.0, 0.1)]

    with pytest.raises(ArithmeticError, match=r"after 0\.2 seconds"):
        argosy.futurize(three)()


@task
def sleeps(folder: str) -> int:
    Path(folder, "runs").touch()
    time.sleep(1000)
    return 0


def fails_and_sleeps(folder: str) -> int:
    first = fails(0.2)
    second = sleeps(folder)
    return first + second  # type: ignore[no-any-return]


def sleeps_twice(folder: str) -> int:
    first = sleeps(folder)
    second = sleeps(folder)
    return first + second  # type: ignore[no-any-return]


def test_what_comes_after_a_failure_is_ended_on_the_ranks(pilot: argosy.Pilot, tmp_path: Path) -> None:
    with pytest.raises(ArithmeticError):
        argosy.futurize(fails_and_sleeps)(str(tmp_path))
    assert pilot.submit(lambda comm: comm.size, ranks=4).result() == 4


def test_ctrl_c_ends_all_tasks_of_the_function(pilot: argosy.Pilot, tmp_path: Path) -> None:
    def interrupt() -> None:
        while not (tmp_path / "runs").exists():
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        argosy.futurize(sleeps_twice)(str(tmp_path))
    assert pilot.submit(lambda comm: comm.size, ranks=4).result() == 4

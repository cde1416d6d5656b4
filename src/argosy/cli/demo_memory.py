"""The part of `argosy demo` that places objects: a program over readings, with half of the memory that it wants."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any

from argosy.errors import NoTier
from argosy.units import format_nbytes, format_seconds

if TYPE_CHECKING:
    from argosy.memory import Estimator, Plan, Workload
    from argosy.memory.placement import Placement

NUM_SENSORS = 1500
NUM_HOURS = 24
DAYS = 8
SEASONS = ("spring", "summer", "autumn", "winter")
ROUNDS = 4
"""In which the usual day is learned from the latest ones."""
CAPACITY = "50%"
PLACEMENTS = 10
"""Mixed ones that calibration runs, beside all in RAM and all on disk."""
SECONDS = 2.0
"""What calibration may take; a slow or busy disk gets fewer repeats."""
MOST_REPEATS, LEAST_REPEATS = 4, 2


def memory_story() -> Iterator[tuple[str, str]]:
    """What was done, step by step, each with lines to show below it. In this process, on its RAM and a disk."""
    if find_spec("scipy") is None:
        yield "placing objects needs SciPy, which is not installed here: pip install 'argosy[memory]'", ""
        return
    from argosy.memory import Workload, calibrate, plan

    workload = Workload(name="usual day", objects=make_readings, run=learn_usual_day)
    try:
        repeats = affordable_repeats(workload)
    except NoTier as error:
        yield f"placing objects needs a slower memory than RAM: {error}", ""
        return
    estimator = calibrate(workload, placements=PLACEMENTS, repeats=repeats, noise=float("inf"))
    yield _calibrated(estimator, repeats), ""
    half = plan(estimator, CAPACITY)
    kept = ", ".join(name for name, tier in half.placement.items() if tier == estimator.fast)
    yield f"the plan for half of their bytes keeps in RAM: {kept}; the rest stays on disk", ""
    yield (
        "every placement gave the same answer; what the law said, and what the clock did:",
        _told(workload, estimator, half, repeats),
    )


def affordable_repeats(workload: Workload) -> int:
    """From one run with everything on disk, moves included. Raises `NoTier` where there is no disk."""
    with closing(workload.store()) as store:
        began = time.perf_counter()
        store.place(dict.fromkeys(store, store.slow.name))
        workload.run(store)
        taken = time.perf_counter() - began
    mean_taken = taken / 2  # a placement has half of the objects there
    return int(min(max(SECONDS / (mean_taken * (PLACEMENTS + 2)), LEAST_REPEATS), MOST_REPEATS))


def _calibrated(estimator: Estimator, repeats: int) -> str:
    return (
        f"a program over {len(estimator.objects)} arrays of {format_nbytes(estimator.costs.nbytes)} ran under "
        f"{len(estimator.measured)} placements in RAM and on disk, {repeats} times each; law {estimator.law} is "
        f"{estimator.errors[estimator.law]:.0%} off on those it did not see, and a run varies by {estimator.noise:.0%}"
    )


def _told(workload: Workload, estimator: Estimator, half: Plan, repeats: int) -> str:
    fast, slow = estimator.fast, estimator.slow
    placements: dict[str, Placement] = {
        "everything in RAM": dict.fromkeys(estimator.objects, fast),
        "half in RAM, by the plan": half.placement,
        "half in RAM, first come": first_come(estimator.sizes, half.capacity, fast=fast, slow=slow),
        "everything on disk": dict.fromkeys(estimator.objects, slow),
    }
    seconds = measure_in_turns(workload, placements, repeats)
    width = max(map(len, placements))
    lines = [f"{'':{width}}  {'predicted':>9}  {'measured':>9}"]
    for name, placement in placements.items():
        is_end = len(set(placement.values())) == 1
        predicted = "" if is_end else format_seconds(estimator.predict(placement).seconds)
        lines.append(f"{name:{width}}  {predicted:>9}  {format_seconds(seconds[name]):>9}")
    lines.append("`argosy memory validate` measures how far such predictions may be believed")
    return "\n".join(lines)


def first_come(sizes: dict[str, int], capacity: int, *, fast: str, slow: str) -> dict[str, str]:
    """What a program does that nobody planned for: RAM for each object in order, as long as there is room."""
    placement = {}
    for name, nbytes in sizes.items():
        fits = nbytes <= capacity
        placement[name] = fast if fits else slow
        capacity -= nbytes if fits else 0
    return placement


def measure_in_turns(workload: Workload, placements: dict[str, Placement], repeats: int) -> dict[str, float]:
    """Median seconds of a run under each, after one of each that is not counted. All must give the same answer."""
    taken: dict[str, list[float]] = {name: [] for name in placements}
    answers = {}
    with closing(workload.store()) as store:
        for _ in range(repeats + 1):
            for name, placement in placements.items():
                store.place(placement)
                began = time.perf_counter()
                answers[name] = workload.run(store)
                taken[name].append(time.perf_counter() - began)
            if len(set(answers.values())) > 1:
                raise AssertionError(f"the answer depends on where the objects are: {answers}")
    return {name: median(seconds[1:]) for name, seconds in taken.items()}


def make_readings() -> dict[str, Any]:
    """Days of each season, the latest days with how far each reading is trusted, and what is made of them."""
    import numpy as np

    draw = np.random.default_rng(0)
    shape = (DAYS, NUM_SENSORS * NUM_HOURS)
    readings = {name: draw.normal(20, 3, shape).astype(np.float32) for name in (*SEASONS, "latest")}
    return {
        **readings,
        "trust": draw.random(shape, dtype=np.float32),
        "usual": np.zeros(shape[1], np.float32),
        "oddness": np.zeros(shape, np.float32),
    }


def learn_usual_day(store: Any) -> tuple[float, ...]:
    """How odd the latest days are, and by how much their usual day is warmer than that of each season."""
    import numpy as np

    with store.window("begin"):
        np.mean(store["latest"], axis=0, out=store.write("usual"))
    for _ in range(ROUNDS):
        with store.window("learn"):
            usual = store.update("usual")
            usual += ((store["latest"] - usual) * store["trust"]).mean(axis=0)
    with store.window("judge"):
        np.abs(store["latest"] - store["usual"], out=store.write("oddness"))
    with store.window("score"):
        odd = float(store["oddness"].mean())
    warmer = []
    for season in SEASONS:
        with store.window(f"look back at {season}"):
            warmer.append(float(store["usual"].mean() - store[season].mean()))
    return (odd, *warmer)

"""The part of `argosy demo` that is one plain function: two models learn side by side, and the better one is kept."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from statistics import median
from typing import TYPE_CHECKING, Any

import argosy
from argosy.cli.demo_train import NUM_HOURS, NUM_ROOMS, make_days
from argosy.units import format_seconds

if TYPE_CHECKING:
    from argosy import DataFrame
    from argosy.tree.explaining.record import Ran

SEEN = argosy.col("sensor") % 5 > 0
HELD_OUT = argosy.col("sensor") % 5 == 0
STEPS = 500
ROUNDS = 3
Answer = tuple[str, float, list[float]]
"""What a model looks at, how many of the thermometers held out it gets right, and its weights."""


def tree_story() -> Iterator[tuple[str, str]]:
    """What was done, step by step, each with lines to show below it. On the open pilot, or here if there is none."""
    days = make_days()
    day_of, room_of = days.select("sensor", "day"), days.select("sensor", "room")
    plain = study.plain(day_of, room_of)
    yield (
        f"a function joined two frames, trained two models one after the other and kept the better: {_told(plain)}",
        "",
    )
    futurized = study(day_of, room_of)
    if futurized != plain:
        raise AssertionError(f"futurized it gives {_told(futurized)}, and as plain Python {_told(plain)}")
    yield "the same function under @argosy.futurize gave the same answer, to the last bit of the weights", ""
    plainly, as_tree = _median_seconds(study.plain, study, day_of, room_of)
    yield (
        f"plain Python takes {format_seconds(plainly)} for it, the tree {format_seconds(as_tree)} (now both are warm)",
        "",
    )
    with redirect_stdout(io.StringIO()):
        explained = study.explain(day_of, room_of)
    yield "what ran at the same time, from study.explain(...):", _overlaps(explained.expressions)


def _median_seconds(one: Callable[..., Any], other: Callable[..., Any], *args: Any) -> tuple[float, float]:
    """Both in turns."""
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(ROUNDS):
        for function, taken in zip((one, other), seconds, strict=True):
            began = time.perf_counter()
            function(*args)
            taken.append(time.perf_counter() - began)
    return median(seconds[0]), median(seconds[1])


@argosy.futurize
def study(day_of: DataFrame, room_of: DataFrame) -> Answer:
    """The model that tells rooms apart best."""
    known = day_of.join(room_of, on="sensor").sort("sensor").persist()
    seen = known.filter(SEEN)
    held_out = known.filter(HELD_OUT)
    train = seen.collect()
    valid = held_out.collect()
    by_hour = learn(train, valid, wave=False)
    by_wave = learn(train, valid, wave=True)
    better: Answer = by_wave if by_wave[1] > by_hour[1] else by_hour
    return better


@argosy.task
def learn(train: Any, valid: Any, wave: bool) -> Answer:
    """A linear model of each hour of the day, or of the day's wave alone: when it is warmest, and by how much."""
    import numpy as np

    hours = np.arange(NUM_HOURS) * 2 * np.pi / NUM_HOURS
    view = np.stack([np.cos(hours), np.sin(hours)], axis=1) if wave else np.eye(NUM_HOURS)
    days, rooms = _arrays(train)
    shift, inputs = days.mean(axis=0), (days - days.mean(axis=0)) @ view
    wanted = np.eye(NUM_ROOMS)[rooms]
    weights = np.zeros((inputs.shape[1], NUM_ROOMS))
    for _ in range(STEPS):
        scores = np.exp(inputs @ weights)
        weights -= inputs.T @ (scores / scores.sum(axis=1, keepdims=True) - wanted) / len(inputs) / inputs.var()
    days, rooms = _arrays(valid)
    right = ((days - shift) @ view @ weights).argmax(axis=1) == rooms
    return "the day's wave" if wave else "every hour", float(right.mean()), weights.ravel().tolist()


def _arrays(table: Any) -> tuple[Any, Any]:
    """One row of temperatures for each thermometer, and the number of its room."""
    days = table["day"].combine_chunks().flatten().to_numpy().astype("float64")
    return days.reshape(-1, NUM_HOURS), table["room"].to_numpy()


def _told(answer: Answer) -> str:
    model, right, _ = answer
    return f"{right:.1%} of the rooms are told right from {model}, where chance is {1 / NUM_ROOMS:.1%}"


def _overlaps(runs: tuple[Ran, ...]) -> str:
    shown = [run for run in runs if run.statement.text.partition(" = ")[2].startswith(("learn", "seen.", "held_out."))]
    width = max(len(run.statement.text) for run in shown)
    return "\n".join(
        f"{run.statement.text:{width}}  {run.where}: {format_seconds(run.seconds)}, "
        f"{run.overlapped / run.seconds:.0%} of it beside others"
        for run in shown
    )

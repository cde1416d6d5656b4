"""The same work done in several ways: in turns, timed, with the same answer to the last bit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import numpy as np
from figures import Figure, spread

Sides = Mapping[str, Callable[[], Any]]
Seconds = dict[str, list[float]]
_WARM_UP = 3


class DifferentAnswer(Exception):
    """A futurized function answered differently from the plain one: there is no benchmark."""


def same(answer: object, expected: object) -> bool:
    """In types, shapes and every bit, -0.0 and NaN included."""
    if type(answer) is not type(expected):
        return False
    if isinstance(expected, np.ndarray) and isinstance(answer, np.ndarray):
        alike = answer.dtype == expected.dtype and answer.shape == expected.shape
        return alike and answer.tobytes() == expected.tobytes()
    if isinstance(expected, (tuple, list)) and isinstance(answer, (tuple, list)):
        return len(answer) == len(expected) and all(map(same, answer, expected))
    return np.asarray(answer).tobytes() == np.asarray(expected).tobytes()


def check(what: str, answer: object, expected: object) -> None:
    if not same(answer, expected):
        raise DifferentAnswer(f"{what}: the answer is\n{answer!r}\nbut plain Python's is\n{expected!r}")


def in_turns(what: str, sides: Sides, rounds: int, peers: Sides | None = None, *, warm_up: int = _WARM_UP) -> Seconds:
    """Seconds of each side, one after another, the first of one round the last of the next.

    The answers of `sides` are compared in every round; the first of them is right. `peers` are timed alike, but another
    library sums in another order: theirs only have to be close.
    """
    ways = {**sides, **(peers or {})}
    seconds: Seconds = {name: [] for name in ways}
    for turn in range(warm_up + rounds):
        answers = {}
        for name in ways if turn % 2 == 0 else reversed(ways):
            begin = time.perf_counter()
            answers[name] = ways[name]()
            took = time.perf_counter() - begin
            if turn >= warm_up:
                seconds[name].append(took)
        expected = answers[next(iter(sides))]
        for name in sides:
            check(f"{what}, {name}", answers[name], expected)
        for name in peers or {}:
            _check_close(f"{what}, {name}", answers[name], expected)
    return seconds


def processor_seconds(work: Callable[[], Any], rounds: int) -> float:
    """Of all threads of this process, for one round: steady also where others use the machine."""
    begin = time.process_time()
    for _ in range(rounds):
        work()
    return (time.process_time() - begin) / rounds


def cores_used(work: Callable[[], Any], rounds: int) -> float:
    """Processor time over time: how many cores plain NumPy uses."""
    time.sleep(0.3)  # threads of an earlier matrix product may still spin
    work()
    time.sleep(0.3)
    begin = time.perf_counter()
    processor = processor_seconds(work, rounds)
    return processor * rounds / (time.perf_counter() - begin)


def ratio(seconds: Seconds, over: str, under: str) -> float:
    """Round by round, so that a slow minute of the machine hits both sides."""
    return median(one / other for one, other in zip(seconds[over], seconds[under], strict=True))


def times(what: str, seconds: Seconds, *, unit: str = "ms", scale: float = 1e3) -> list[Figure]:
    """One line for each side."""
    return [
        Figure(
            what=f"{what}: {name}",
            value=median(values) * scale,
            unit=unit,
            note=f"+-{spread(values):.0%} of {len(values)}",
        )
        for name, values in seconds.items()
    ]


def _check_close(what: str, answer: Any, expected: Any) -> None:
    pairs = zip(answer, expected, strict=True) if isinstance(expected, tuple) else [(answer, expected)]
    for ours, theirs in pairs:
        if not np.allclose(ours, theirs, rtol=1e-6, atol=1e-9):
            raise DifferentAnswer(f"{what}: the answer is\n{ours!r}\nfar from\n{theirs!r}")

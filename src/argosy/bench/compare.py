"""The sides of one case in turn, round by round, after their answers were found to be equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from argosy.bench.cases import Case
from argosy.bench.engines import ASKED, OURS, PEERS, Kind
from argosy.bench.side import Side, SideFailed, open_side
from argosy.errors import ArgosyError

_WARM_UP = 2
"""Rounds that do not count; the check before them is one more. Fresh memory is slow when it is first touched."""


class WrongAnswer(ArgosyError):
    """An engine's result is not that of Argosy: no benchmark."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """An engine's rounds, and those of Argosy that were between them."""

    kind: Kind
    seconds: tuple[float, ...]
    ours: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """How many times as fast Argosy is."""
        return median(self.seconds) / median(self.ours)


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    case: Case
    num_rows: int
    num_ranks: int
    num_result_rows: int
    ours: tuple[float, ...]
    """All rounds of Argosy: it meets the quiet engines together, and each of the others alone."""
    peers: tuple[Timing, ...]
    failed: dict[str, str]
    """By engine, what it said."""

    def best(self, asked: Sequence[str] = ASKED) -> Timing | None:
        """Of the engines that go by these names, the one that Argosy is the least ahead of."""
        return min((one for one in self.peers if one.kind.asked_as in asked), key=lambda one: one.ratio, default=None)

    def as_dict(self) -> dict[str, Any]:
        peers = [
            {
                "engine": one.kind.name,
                "label": one.kind.label,
                "median_seconds": median(one.seconds),
                "seconds": one.seconds,
                "ours": one.ours,
                "ratio": one.ratio,
            }
            for one in self.peers
        ]
        return {**asdict(self), "case": self.case.name, "median_seconds": median(self.ours), "peers": peers}


def peers_of(asked: Sequence[str]) -> tuple[list[Kind], list[str]]:
    """The engines that go by these names, and the names of those that are not installed."""
    if unknown := [name for name in asked if name not in ASKED]:
        raise ValueError(f"no engine is called {', '.join(unknown)}; there are {', '.join(ASKED)}")
    wanted = [kind for kind in PEERS if kind.asked_as in asked]
    missing = list(dict.fromkeys(kind.asked_as for kind in wanted if not kind.is_installed))
    return [kind for kind in wanted if kind.is_installed], missing


def compare(
    case: Case,
    num_rows: int,
    num_ranks: int,
    peers: Sequence[Kind],
    num_rounds: int,
    say: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Time Argosy and these engines. Raises `WrongAnswer` when two results differ.

    Only sides that use no processor while they wait are up together. A peer that fails is named and left out. `say` is
    told what is being done.
    """
    quiet = [kind for kind in peers if kind.is_quiet]
    groups = [[kind] for kind in peers if not kind.is_quiet]
    ours: list[float] = []
    timings: list[Timing] = []
    failed: dict[str, str] = {}
    answers: dict[str, tuple[int, int]] = {}
    for group in [quiet, *groups] if quiet or not groups else groups:
        seconds = _in_turns(case, num_rows, num_ranks, group, num_rounds, answers, failed, say)
        mine = tuple(seconds.pop(OURS.name))
        ours += mine
        timings += [
            Timing(kind=kind, seconds=tuple(seconds[kind.name]), ours=mine) for kind in group if kind.name in seconds
        ]
    return Comparison(
        case=case,
        num_rows=num_rows,
        num_ranks=num_ranks,
        num_result_rows=answers[OURS.name][0],
        ours=tuple(ours),
        peers=tuple(timings),
        failed=failed,
    )


def _in_turns(
    case: Case,
    num_rows: int,
    num_ranks: int,
    peers: Sequence[Kind],
    num_rounds: int,
    answers: dict[str, tuple[int, int]],
    failed: dict[str, str],
    say: Callable[[str], None],
) -> dict[str, list[float]]:
    """Seconds of every round, by engine; what each answered goes to `answers`, why it did not to `failed`."""
    with ExitStack() as stack:
        sides: list[Side] = []
        for kind in (OURS, *peers):  # one after another: making tables takes all of the machine
            say(f"{case.name}: {kind.title} makes its tables")
            side = stack.enter_context(open_side(kind, case, num_rows, num_ranks))
            with _noted(side, failed):
                answers[kind.name] = side.check()
                sides.append(side)
        _require_equal(answers)
        seconds: dict[str, list[float]] = {side.kind.name: [] for side in sides}
        for number in range(_WARM_UP + num_rounds):
            for side in sides:
                if side.kind.name in failed:
                    continue
                say(f"{case.name}: {side.kind.title}, {_which(number, num_rounds)}")
                with _noted(side, failed):
                    taken = side.round()
                    if number >= _WARM_UP:
                        seconds[side.kind.name].append(taken)
    return {name: times for name, times in seconds.items() if name not in failed}


def _which(number: int, num_rounds: int) -> str:
    counted = number - _WARM_UP + 1
    return f"round {counted} of {num_rounds}" if counted > 0 else "to warm up"


@contextmanager
def _noted(side: Side, failed: dict[str, str]) -> Iterator[None]:
    """A peer that fails does not end the comparison; Argosy does."""
    try:
        yield
    except SideFailed as failure:
        if side.kind is OURS:
            raise
        failed[side.kind.name] = str(failure)


def _require_equal(answers: dict[str, tuple[int, int]]) -> None:
    ours = answers[OURS.name]
    for name, answer in answers.items():
        if answer != ours:
            raise WrongAnswer(
                f"{name} found {answer[0]:,} rows with digest {answer[1]}, argosy {ours[0]:,} with {ours[1]}; "
                "one of them is wrong (-1 means rows out of order), so there is nothing to compare"
            )

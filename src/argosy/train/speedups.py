"""How much sooner a model has learned with more workers: measured, over targets and seeds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import TooFewSeeds, TrainError
from argosy.train.curves import Crossing, best_so_far, crossing_of, higher_is_better
from argosy.train.run import Run

AUTO_SHARES = (0.6, 0.8, 0.95)
"""Automatic targets lie so far on the way from the baseline's first evaluation to what all of its seeds reach."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeedupRow:
    """One number of workers and one target, against the baseline."""

    workers: int
    target: float
    s_par: float
    e_stat: float
    s_learn: float
    low: float | None
    """Of the interval of `s_learn`; None where none was asked for."""
    high: float | None
    e_stat_low: float | None
    e_stat_high: float | None
    sure: float | None
    """Of the two intervals: how sure they are. With few seeds that is less than was asked for, and all that can be said
    without knowing how times scatter: 50 % with 2 seeds of each, 75 % with 3, 88 % with 4, 94 % with 5."""
    censored: bool
    """So many runs never reached the target that `e_stat` and `s_learn` are upper bounds."""
    missed: int
    """Runs that never reached the target."""
    residual: float
    """Of the identity s_learn = s_par * e_stat, as a share: with sums over the runs that reached the target, since
    medians of three figures need not multiply. 0 where throughput does not change on the way, NaN without such runs."""
    seeds: int
    kind: str = "measured"
    s_par_kind: str = "measured"


@dataclass(frozen=True, kw_only=True, slots=True)
class Speedup:
    """What `speedup` found; `str()` of it is a table."""

    metric: str
    higher: bool
    baseline: int
    targets: tuple[float, ...]
    confidence: float | None
    rows: tuple[SpeedupRow, ...]

    @property
    def largest_residual(self) -> float:
        """Of the identity s_learn = s_par * e_stat, over all rows."""
        return max((row.residual for row in self.rows if not math.isnan(row.residual)), default=0.0)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: numbers that are not finite are None."""
        told = {name: getattr(self, name) for name in ("metric", "higher", "baseline", "confidence")}
        rows = [{name: _plain(value) for name, value in asdict(row).items()} for row in self.rows]
        return {**told, "targets": list(self.targets), "largest_residual": _plain(self.largest_residual), "rows": rows}

    def __str__(self) -> str:
        against = f"{self.baseline} worker" + ("s" if self.baseline != 1 else "")
        note = "" if self.baseline == 1 else " (there is no run with 1 worker)"
        sure = min((row.sure for row in self.rows if row.sure is not None), default=None)
        percent = "" if sure is None else f"{_percent(sure)} interval"
        figures = f"{'S_par':>9} {'E_stat':>9} {'S_learn':>9}"
        head = f"{'workers':>7} {'target':>9} {figures}  {percent:<16} {'seeds':>5}  missed"
        lines = [f"learning speed-up by {self.metric}, against {against}{note}", head]
        for row in self.rows:
            bound = "<=" if row.censored else ""
            interval = "" if row.low is None or row.high is None else f"{row.low:.3g} .. {row.high:.3g}"
            par = f"{row.s_par:.3g}" + ("*" if row.s_par_kind == "modelled" else "")
            lines.append(
                f"{row.workers:>7} {row.target:>9.4g} {par:>9} {f'{bound}{row.e_stat:.3g}':>9} "
                f"{f'{bound}{row.s_learn:.3g}':>9}  {interval:<16} {row.seeds:>5}  {row.missed or ''}".rstrip()
            )
        lines.append(f"largest residual of S_learn = S_par x E_stat: {self.largest_residual:.1%}")
        if sure is not None and self.confidence is not None and sure < self.confidence:
            enough = next(count for count in itertools.count(2) if sureness(count, 1) >= self.confidence)
            wanted = _percent(self.confidence)
            lines.append(f"so few seeds make an interval {_percent(sure)} sure; for {wanted} take {enough} of each")
        if any(row.s_par_kind == "modelled" for row in self.rows):
            lines.append("* modelled, and S_learn with it; all else is measured")
        return "\n".join(lines)


def speedup(
    runs: Sequence[Any],
    *,
    targets: str | Sequence[float] = "auto",
    metric: str | None = None,
    higher: bool | None = None,
    baseline: int | None = None,
    s_par: Mapping[int, float] | None = None,
    confidence: float | None = 0.9,
) -> Speedup:
    """Parallel speed-up, statistical efficiency and learning speed-up of runs with several numbers of workers.

    With n_p(t) the samples and T_p(t) the training time until p workers reach the target t of a held-out metric, each
    the median over seeds, and 1 standing for the baseline:

        S_par = throughput_p / throughput_1     E_stat = n_1 / n_p     S_learn = T_1 / T_p = S_par * E_stat

    This definition of learning speed-up is Argosy's own. A target is reached where the best value so far first crosses
    it, on a straight line between evaluations. The interval lies between two seeds of each side: as
    sure as `row.sure` says, however times scatter.

    A run that never reaches a target is never dropped. It counts as reaching it after all others; where that makes the
    median endless, the row is `censored`: its figures are upper bounds, from what the runs did see, printed as
    `<= x`. A baseline run that misses a target counts as reaching it at once. So neither makes a figure look better.

    `runs` are `Run` records, ledgers or paths of ledgers. `higher` (larger is better) is guessed from the metric's
    name. Automatic targets are chosen from the baseline alone. The baseline is the smallest number of workers unless
    given. `s_par` gives modelled parallel speed-ups by workers, for virtual ones; then s_learn = s_par * e_stat. With
    one seed there is no interval: `TooFewSeeds` unless `confidence=None`.
    """
    if metric is not None:
        arguments.text("metric", metric)
    if higher is not None:
        higher = arguments.flag("higher", higher)
    if baseline is not None:
        baseline = arguments.whole("baseline", baseline, least=1, most=2**31 - 1)
    if confidence is not None:
        confidence = _confidence(confidence)
    if s_par is not None:
        told = arguments.mapping("s_par", s_par, "a dictionary from numbers of workers to speed-ups")
        s_par = {arguments.whole("s_par", p): arguments.number("s_par", s, above=0) for p, s in told.items()}
    groups = _groups([_run_of(run) for run in arguments.items("runs", runs, "a list of runs")])
    base = min(groups) if baseline is None else baseline
    if base not in groups:
        raise TrainError(f"there is no run with the baseline of {base} workers; there are: {_listed(groups)}")
    metric = _metric_of(groups, metric)
    if higher is None:
        higher = higher_is_better(metric)
    if confidence is not None:
        _check_seeds(groups)
    if isinstance(targets, str) and targets != "auto":
        raise TrainError(f"targets are 'auto' or numbers, not {arguments.show(targets)}")
    aims = _auto_targets(groups[base], metric, higher) if isinstance(targets, str) else _targets(targets)
    if not aims:
        raise TrainError("there are no targets; give some, or 'auto'")
    if s_par is not None and (unsaid := sorted(set(groups) - set(s_par) - {base})):
        raise TrainError(f"s_par says nothing about {_listed(unsaid)} workers; it says: {_listed(s_par)}")
    rows = []
    for workers in sorted(groups):
        for target in aims:
            ours, theirs = ([crossing_of(run, metric, target, higher) for run in groups[p]] for p in (workers, base))
            _check_target(target, base, theirs, ours, groups[base], metric, higher)
            given = None if s_par is None else 1.0 if workers == base else s_par[workers]
            rows.append(_row(workers, base, target, groups, ours, theirs, given, confidence))
    return Speedup(
        metric=metric, higher=higher, baseline=base, targets=aims, confidence=confidence, rows=tuple(rows)
    )  # fmt: skip


def sureness(count: int, from_end: int) -> float:
    """How sure it is that the median lies between the values `from_end` places from either end of so many sorted ones:
    whatever they are distributed like, each is above the median or below it as a coin falls."""
    beyond = sum(math.comb(count, k) for k in range(from_end))
    return 1 - 2 * beyond / 2**count


def _from_end(count: int, confidence: float) -> int:
    """The narrowest such interval that is as sure as asked, or else the widest, from the least to the largest value."""
    return max([at for at in range(1, (count + 1) // 2 + 1) if sureness(count, at) >= confidence], default=1)


def _row(
    workers: int,
    base: int,
    target: float,
    groups: Mapping[int, Sequence[Run]],
    ours: Sequence[Crossing],
    theirs: Sequence[Crossing],
    given: float | None,
    confidence: float | None,
) -> SpeedupRow:
    same = workers == base
    paces = [median(run.samples_per_second for run in groups[p]) for p in (workers, base)]
    s_par = given if given is not None else paces[0] / paces[1] if paces[1] > 0 else math.nan
    fields = ("samples", "seconds")
    ratios = [(1.0, False, 1.0, 1.0) if same else _ratio(ours, theirs, name, confidence) for name in fields]
    (e_stat, censored, e_low, e_high), (s_learn, _, low, high) = ratios
    if given is not None:
        s_learn, low, high = (given * value for value in (e_stat, e_low, e_high))
    asked = confidence is not None
    return SpeedupRow(
        workers=workers,
        target=target,
        s_par=s_par,
        e_stat=e_stat,
        s_learn=s_learn,
        low=low if asked else None,
        high=high if asked else None,
        e_stat_low=e_low if asked else None,
        e_stat_high=e_high if asked else None,
        sure=None if confidence is None else confidence if same else _sure(len(ours), len(theirs), confidence),
        censored=censored,
        missed=sum(not crossing.reached for crossing in ours),
        residual=0.0 if given is not None or same else _residual(groups[workers], ours, groups[base], theirs),
        seeds=len(ours),
        s_par_kind="measured" if given is None else "modelled",
    )


def _residual(
    our_runs: Sequence[Run], ours: Sequence[Crossing], their_runs: Sequence[Run], theirs: Sequence[Crossing]
) -> float:
    """Time to target, against samples to target at the throughput of the whole runs, on both sides."""
    sides = []
    for runs, crossings in ((our_runs, ours), (their_runs, theirs)):
        there = [(run, at) for run, at in zip(runs, crossings, strict=True) if at.reached]
        if not there:
            return math.nan
        foreseen = sum(at.samples for _, at in there) * sum(_seconds(run) for run, _ in there)
        foreseen = _divided(foreseen, float(sum(run.evaluations[-1].samples for run, _ in there)))
        sides.append(_divided(sum(at.seconds for _, at in there), foreseen))
    return abs(_divided(sides[1], sides[0]) - 1)


def _seconds(run: Run) -> float:
    return run.evaluations[-1].samples / run.samples_per_second if run.samples_per_second > 0 else math.nan


def _sure(ours: int, theirs: int, confidence: float) -> float:
    return min(confidence, *(sureness(count, _from_end(count, confidence)) for count in (ours, theirs)))


def _ratio(
    ours: Sequence[Crossing], theirs: Sequence[Crossing], name: str, confidence: float | None
) -> tuple[float, bool, float, float]:
    """The baseline's median over ours, whether it is a bound only, and its interval."""
    over = np.sort(np.array([getattr(at, name) if at.reached else 0.0 for at in theirs], np.float64))
    under = np.sort(np.array([getattr(at, name) if at.reached else math.inf for at in ours], np.float64))
    value = _divided(_median(over), _median(under))
    censored = bool(np.isinf(_median(under)))
    if censored:
        value = _divided(_median(over), _median(np.array([getattr(at, name) for at in ours], np.float64)))
    if confidence is None:
        return value, censored, value, value
    at_over, at_under = (_from_end(len(values), confidence) for values in (over, under))
    low = _divided(float(over[at_over - 1]), float(under[-at_under]))
    high = _divided(float(over[-at_over]), float(under[at_under - 1]))
    return value, censored, min(low, value), max(high, value)


def _median(values: Floats) -> Any:
    """Over the last axis. The mean of the middle two is endless when one of them is."""
    ordered = np.sort(values, axis=-1)
    count = values.shape[-1]
    return (ordered[..., (count - 1) // 2] + ordered[..., count // 2]) / 2


def _divided(over: float, under: float) -> float:
    return float(over / under) if under > 0 else math.inf


def _run_of(given: Any) -> Run:
    if isinstance(given, Run):
        return given
    if isinstance(given, (str, Path)):
        from argosy.train.ledger.record import read

        return read(Path(given)).run()
    if callable(getattr(given, "run", None)):
        run: Run = given.run()
        return run
    raise TrainError(f"runs are Run records, ledgers or paths of ledgers, not {type(given).__qualname__}")


def _groups(runs: Sequence[Run]) -> dict[int, list[Run]]:
    if not runs:
        raise TrainError("there are no runs to compare; give some with one worker and some with more")
    groups: dict[int, list[Run]] = {}
    for run in runs:
        group = groups.setdefault(run.workers, [])
        if any(other.seed == run.seed for other in group):
            raise TrainError(f"seed {run.seed} with {run.workers} workers is there twice; give each run once")
        group.append(run)
    return groups


def _metric_of(groups: Mapping[int, Sequence[Run]], asked: str | None) -> str:
    names = [{name for at in run.evaluations for name in at.metrics} for group in groups.values() for run in group]
    common = sorted(set.intersection(*names))
    if asked is None:
        if len(common) == 1:
            return common[0]
        raise TrainError(f"say by which metric to judge; all runs have: {', '.join(common) or 'none in common'}")
    for group in groups.values():
        for run in group:
            there = sorted({name for at in run.evaluations for name in at.metrics})
            if asked not in there:
                near = get_close_matches(asked, there, n=1)
                hint = f", did you mean {near[0]!r}?" if near else ""
                which = f"the run with {run.workers} workers and seed {run.seed}"
                raise TrainError(f"{which} has no metric {asked!r}{hint}; it has: {', '.join(there) or 'none'}")
    return asked


def _confidence(given: Any) -> float:
    try:
        return arguments.probability("confidence", given)
    except ValueError as error:
        raise TrainError(str(error)) from None


def _targets(given: Any) -> tuple[float, ...]:
    wanted = "'auto' or a list of numbers"
    each = arguments.items("targets", given, wanted)
    return tuple(arguments.number("targets", one, wanted=wanted) for one in each)


def _check_seeds(groups: Mapping[int, Sequence[Run]]) -> None:
    if few := [workers for workers, group in groups.items() if len(group) < 2]:
        raise TooFewSeeds(
            f"an interval needs several seeds, but there is one only with {_listed(few)} workers; "
            "run more seeds, or ask for no interval with confidence=None"
        )


def _auto_targets(runs: Sequence[Run], metric: str, higher: bool) -> tuple[float, ...]:
    curves = [[best for _, best in best_so_far(run, metric, higher)] for run in runs]
    start = median(curve[0] for curve in curves)
    end = (min if higher else max)(curve[-1] for curve in curves)
    if not (end > start if higher else end < start) or not math.isfinite(end - start):
        raise TrainError(
            f"no targets can be chosen: {metric} of the baseline goes from {start:.4g} to {end:.4g} in the worst seed; "
            "train longer, evaluate more often, or give targets"
        )
    return tuple(start + share * (end - start) for share in AUTO_SHARES)


def _check_target(
    target: float,
    base: int,
    theirs: Sequence[Crossing],
    ours: Sequence[Crossing],
    runs: Sequence[Run],
    metric: str,
    higher: bool,
) -> None:
    reached = sum(at.reached for at in theirs)
    if 2 * reached <= len(theirs):
        finals = [list(best_so_far(run, metric, higher))[-1][1] for run in runs]
        worst = (min if higher else max)(finals)
        raise TrainError(
            f"{metric} of {target:g} is reached by {reached} of {len(theirs)} runs of the baseline, {base} workers; "
            f"all of them reach {worst:.4g}: choose an easier target or train longer"
        )
    if any(at.reached and (at.samples <= 0 or at.seconds <= 0) for at in (*theirs, *ours)):
        raise TrainError(f"{metric} of {target:g} is reached before anything was learned; choose a harder target")


def _listed(numbers: Any) -> str:
    return ", ".join(str(number) for number in sorted(numbers))


def _percent(share: float) -> str:
    """Rounded down: never surer than it is."""
    return f"{math.floor(share * 1000 + 1e-9) / 10:.3g} %"


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value

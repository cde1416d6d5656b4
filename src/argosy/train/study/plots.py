"""Findings as pictures: what more workers are worth, how many samples they waste, and whether it was foreseen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from argosy.train.study.findings import Findings, Row

Figure = Any
MISSING = "no plots: matplotlib is not installed; get it with `pip install 'argosy[plots]'`"
_KINDS = ("png", "svg")


def write_plots(findings: Findings, folder: Path) -> list[Path]:
    """One picture of each, as PNG and as SVG. Raises ImportError without matplotlib."""
    from matplotlib.figure import Figure as Canvas

    paths = []
    for name, draw in _DRAWN.items():
        canvas = Canvas(figsize=(6.4, 4.4), layout="constrained")
        draw(canvas.subplots(), findings)
        for kind in _KINDS:
            paths.append(folder / f"{name}.{kind}")
            canvas.savefig(paths[-1], dpi=150)
    return paths


def _s_par(axes: Figure, findings: Findings) -> None:
    rows = findings.of("measured", findings.targets[0])
    workers = [row.workers for row in rows]
    axes.plot(workers, workers, color="0.6", linestyle=":", label="ideal")
    axes.plot(workers, [row.s_par for row in rows], marker="o", label=rows[0].s_par_kind)
    _finish(axes, workers, f"{findings.task}: parallel speed-up", "S_par", logarithmic=True)


def _s_learn(axes: Figure, findings: Findings) -> None:
    workers = sorted({row.workers for row in findings.rows})
    axes.plot(workers, workers, color="0.6", linestyle=":", label="ideal")
    axes.axhline(findings.ceiling, color="0.6", linestyle="--", label=f"ceiling {findings.ceiling:.1f}")
    _by_target(axes, findings, lambda row: (row.s_learn, row.low, row.high))
    _finish(axes, workers, f"{findings.task}: learning speed-up", "S_learn", logarithmic=True)


def _e_stat(axes: Figure, findings: Findings) -> None:
    workers = sorted({row.workers for row in findings.rows})
    _by_target(axes, findings, lambda row: (row.e_stat, row.e_stat_low, row.e_stat_high))
    axes.set_ylim(0, None)
    _finish(axes, workers, f"{findings.task}: statistical efficiency", "E_stat", logarithmic=False)


def _prediction(axes: Figure, findings: Findings) -> None:
    """Points on the diagonal were foreseen exactly."""
    measured = {(row.workers, row.target): row for row in findings.of("measured")}
    ends: list[float] = []
    for number, target in enumerate(findings.targets):
        pairs = [(measured[row.workers, target], row) for row in findings.of("modelled", target)]
        pairs = [(one, other) for one, other in pairs if not one.censored]
        x, y = [one.samples for one, _ in pairs], [other.samples for _, other in pairs]
        ends += x + y
        axes.plot(x, y, marker="o", linestyle="", color=f"C{number}", label=f"{findings.metric} {target:.3g}")
    span = [min(ends), max(ends)]
    axes.plot(span, span, color="0.6", linestyle=":", label="as measured")
    axes.fill_between(span, [0.8 * end for end in span], [1.2 * end for end in span], color="0.9", label="within 20 %")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("samples to target, measured")
    axes.set_ylabel("samples to target, predicted")
    axes.set_title(f"{findings.task}: prediction over measurement")
    axes.legend(fontsize="small")


def _by_target(axes: Figure, findings: Findings, of: Callable[[Row], tuple[float, float | None, float | None]]) -> None:
    """Measured as points with intervals, modelled as lines; upper bounds as triangles that point down."""
    for number, target in enumerate(findings.targets):
        color = f"C{number}"
        for row in findings.of("measured", target):
            value, low, high = of(row)
            if low is not None and high is not None:
                axes.plot([row.workers] * 2, [low, high], color=color, linewidth=1)
            axes.plot([row.workers], [value], color=color, marker="v" if row.censored else "o")
        model = findings.of("modelled", target)
        label = f"{findings.metric} {target:.3g}"
        axes.plot([row.workers for row in model], [of(row)[0] for row in model], color=color, alpha=0.6, label=label)
    axes.plot([], [], color="0.3", marker="o", linestyle="", label="measured")
    axes.plot([], [], color="0.3", alpha=0.6, label="modelled")


def _finish(axes: Figure, workers: list[int], title: str, label: str, *, logarithmic: bool) -> None:
    axes.set_xscale("log", base=2)
    if logarithmic:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xticks(workers, [str(number) for number in workers])
    axes.set_xlabel("workers")
    axes.set_ylabel(label)
    axes.set_title(title)
    axes.legend(fontsize="small")


_DRAWN: dict[str, Callable[[Figure, Findings], None]] = {
    "s_par": _s_par,
    "s_learn": _s_learn,
    "e_stat": _e_stat,
    "prediction": _prediction,
}

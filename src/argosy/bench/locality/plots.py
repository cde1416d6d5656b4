"""Findings as a picture: accuracy against the share that is exchanged, one panel for each way to train."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argosy.bench.locality.findings import Row
from argosy.bench.locality.plan import Plan

MISSING = "no plot: matplotlib is not installed; get it with `pip install 'argosy[plots]'`"
_COLORS = {"random": "C0", "sorted": "C3", "dirichlet": "C1"}


def write_plot(plan: Plan, rows: Sequence[Row], folder: Path) -> Path:
    """As SVG, with its letters left as text: small, and the same whenever it is drawn. Raises ImportError without
    matplotlib."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    size = (2.6 * len(plan.norms) + 0.8, 2.3 * len(plan.every) + 0.8)
    canvas = Figure(figsize=size, layout="constrained")
    panels = canvas.subplots(len(plan.every), len(plan.norms), sharex=True, sharey=True, squeeze=False)
    for down, every in enumerate(plan.every):
        for across, norm in enumerate(plan.norms):
            drawn = [row for row in rows if (row.norm, row.every) == (norm, every)]
            _panel(panels[down, across], plan, drawn)
            panels[down, across].set_title(f"BatchNorm {norm}, every {every}", fontsize="small")
    for panel in panels[-1]:
        panel.set_xlabel("share exchanged, Q")
    for panel in panels[:, 0]:
        panel.set_ylabel("accuracy, %")
    panels[0, 0].legend(fontsize="small")
    canvas.suptitle(
        f"{plan.task}: {plan.workers} workers; bars: one standard deviation between seeds", fontsize="medium"
    )
    path = folder / f"{plan.task}.svg"
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "argosy"}):
        canvas.savefig(path, metadata={"Date": None})
    return path


def _panel(axes: Any, plan: Plan, rows: Sequence[Row]) -> None:
    """Shares stand at equal distances: on a line of numbers most of them would be at its left end."""
    place = {fraction: number for number, fraction in enumerate(plan.fractions)}
    for row in rows:
        axes.errorbar(
            [place[cell.fraction] for cell in row.cells],
            [cell.mean for cell in row.cells],
            [cell.deviation or 0.0 for cell in row.cells],
            color=_COLORS[row.shards],
            marker="o",
            markersize=3,
            linewidth=1,
            label=row.shards,
        )
    axes.set_xticks(list(place.values()), [f"{fraction:g}" for fraction in place])
    axes.grid(alpha=0.3)

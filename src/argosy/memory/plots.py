"""Three pictures: what a run touched and when, predicted against measured time, and time against capacity.

Each takes values and a path whose ending says the format (png, svg or pdf). matplotlib is loaded when the first is
drawn; no window is ever opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.memory.trace import Trace

FORMATS = ("png", "svg", "pdf")
MISSING = "no plot: matplotlib is not installed; get it with `pip install 'argosy[plots]'`"
BAND = 0.10
"""Half width of the band in which a prediction counts as right."""

_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#999999"  # told apart by every kind of eyes
_MOST_NAMED_WINDOWS = 40


def check_plot(path: str | Path) -> None:
    """Can a picture be written there? Ask before a long measurement, not after it.

    Raises ImportError without matplotlib, ValueError for another format, FileNotFoundError for a folder that is not.
    """
    _figure()
    target = Path(path)
    if target.suffix.lower().lstrip(".") not in FORMATS:
        raise ValueError(f"{target} is not the name of a picture; let it end with .{', .'.join(FORMATS)}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} for {target.name}")


def plot_touches(trace: Trace, path: str | Path) -> Path:
    """A heat map: windows from left to right, objects from the hottest per byte down, colour by bytes touched."""
    column = {name: i for i, name in enumerate(trace.objects)}
    nbytes = np.zeros((len(trace.windows), len(column)))
    for at, window in enumerate(trace.windows):
        for touch in window.touches:
            nbytes[at, column[touch.object]] += touch.bytes_read + touch.bytes_written
    sizes = np.maximum(np.array(list(trace.sizes.values()), dtype=np.float64), 1)
    coldest_first = np.argsort(-nbytes.sum(axis=0) / sizes, kind="stable")[::-1]

    canvas = _figure()(figsize=(9, max(3.0, 1.4 + 0.26 * len(column))), layout="constrained")
    from matplotlib.colors import LogNorm

    axes = canvas.add_subplot()
    shown = np.ma.masked_equal(nbytes.T[coldest_first], 0)
    most = max(float(nbytes.max(initial=1)), 2)
    least = min(float(shown.min()) if shown.count() else 1.0, most / 2)
    across, down = np.arange(len(trace.windows) + 1), np.arange(len(column) + 1)
    picture = axes.pcolormesh(across, down, shown, norm=LogNorm(least, most), cmap="viridis", rasterized=True)
    axes.set_yticks(down[:-1] + 0.5, [trace.objects[at] for at in coldest_first], fontsize="small")
    if len(trace.windows) <= _MOST_NAMED_WINDOWS:
        names = [window.name for window in trace.windows]
        axes.set_xticks(across[:-1] + 0.5, names, rotation=90, fontsize="x-small")
    axes.set_xlabel("window, in the order of time")
    axes.set_ylabel("object, the hottest per byte on top")
    axes.set_title(f"{trace.program or 'trace'}: what each window touched (white: nothing)")
    canvas.colorbar(picture, ax=axes, label="bytes read and written")
    return _save(canvas, path)


def plot_validation(
    measured: NDArray[np.float64], predicted: NDArray[np.float64], path: str | Path, *, title: str
) -> Path:
    """One point a placement, and the band of 10 % around a prediction that is right."""
    canvas = _figure()(figsize=(6, 6), layout="constrained")
    axes = canvas.add_subplot()
    right = np.abs(predicted / measured - 1) <= BAND
    ends = np.array([min(measured.min(), predicted.min()) * 0.95, max(measured.max(), predicted.max()) * 1.05])
    band = f"within {BAND:.0%} of measured"
    axes.fill_between(ends, ends * (1 - BAND), ends * (1 + BAND), color="0.9", linewidth=0, label=band)
    axes.plot(ends, ends, color=_GREY, linestyle="--", linewidth=1, label="predicted = measured")
    for chosen, color, marker, what in ((right, _BLUE, "o", "inside"), (~right, _ORANGE, "^", "outside")):
        if chosen.any():
            label = f"{what}: {int(chosen.sum())} of {len(right)}"
            axes.scatter(measured[chosen], predicted[chosen], s=16, color=color, marker=marker, alpha=0.75, label=label)
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_aspect("equal")
    axes.set_xlabel("measured seconds of one run")
    axes.set_ylabel("predicted seconds of one run")
    axes.set_title(title)
    axes.legend(loc="upper left", fontsize="small")
    return _save(canvas, path)


def plot_curve(
    points: Sequence[tuple[int, float]],
    path: str | Path,
    *,
    title: str,
    chosen: tuple[int, float] | None = None,
) -> Path:
    """Predicted seconds against the capacity of the fast tier in bytes; `chosen` is one plan, marked."""
    unit, name = _unit(max((nbytes for nbytes, _ in points), default=0))
    canvas = _figure()(figsize=(7, 4.5), layout="constrained")
    axes = canvas.add_subplot()
    steps = [nbytes / unit for nbytes, _ in points]
    seconds = [took for _, took in points]
    axes.plot(steps, seconds, color=_BLUE, marker="o", markersize=3.5, label="best plan (predicted)")
    if chosen is not None:
        at, took_there = chosen
        axes.plot([at / unit], [took_there], "D", color=_ORANGE, label="this plan (predicted)")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"capacity of the fast tier, {name}")
    axes.set_ylabel("predicted seconds of one run")
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return _save(canvas, path)


def _unit(nbytes: int) -> tuple[int, str]:
    """The largest unit of which there is at least one."""
    units = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
    return next((each for each in units if nbytes >= each[0]), (1, "bytes"))


def _figure() -> Any:
    """A figure that belongs to no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(MISSING) from error
    return Figure


def _save(canvas: Any, path: str | Path) -> Path:
    target = Path(path)
    canvas.savefig(target, dpi=150)
    return target

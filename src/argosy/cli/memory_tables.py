"""What `argosy memory` knows, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from argosy.units import format_nbytes, format_seconds

if TYPE_CHECKING:
    from rich.table import Table

    from argosy.memory.estimator import Estimator
    from argosy.memory.trace import Trace

_MOST_KINDS = 20


def table_of(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """The first column to the left, the others to the right; folded where they must be."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for at, column in enumerate(columns):
        widest = max(map(len, column.split()))
        table.add_column(column, justify="right" if at else "left", overflow="fold", min_width=widest)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def ranking_table(trace: Trace) -> Table:
    """Objects by bytes touched per byte, the hottest first; last what no placement can move."""
    from argosy.memory.program.result import FIXED

    moved = {name: [0, 0] for name in trace.objects}
    for window in trace.windows:
        for touch in window.touches:
            moved[touch.object][0] += touch.bytes_read
            moved[touch.object][1] += touch.bytes_written
    heat = {name: sum(moved[name]) / max(size, 1) for name, size in trace.sizes.items()}
    order = sorted(heat, key=lambda name: (name in FIXED, -heat[name]))
    rows = [(name, *map(format_nbytes, (trace.sizes[name], *moved[name])), f"{heat[name]:.2f}") for name in order]
    return table_of(("object", "size", "read", "written", "touched per byte"), rows)


def windows_table(trace: Trace) -> Table | None:
    """Kinds of windows; None where there are too many to be kinds."""
    kinds: dict[str, list[float]] = {}
    for window in trace.windows:
        kinds.setdefault(window.name, []).append(window.seconds)
    if len(kinds) > _MOST_KINDS:
        return None
    rows = [(name, str(len(each)), format_seconds(sum(each))) for name, each in kinds.items()]
    return table_of(("window", "times", "seconds in all"), rows)


def objects_table(estimator: Estimator) -> Table:
    """What each object costs in the slow tier, the dearest per byte first. All seconds are predicted."""
    import numpy as np

    from argosy.memory.costs import density

    costs = estimator.costs
    fast = np.zeros((1, len(costs.objects)), dtype=np.bool_)
    alone = costs.total(np.eye(len(costs.objects), dtype=np.bool_)) - costs.total(fast)[0]
    per_gib = density(costs) * (1 << 30)
    rows = [
        (costs.objects[at], format_nbytes(costs.sizes[at]), _signed(float(alone[at])), f"{per_gib[at]:.3f}")
        for at in np.argsort(-per_gib, kind="stable")
    ]
    return table_of(("object", "size", "if slow, predicted", "predicted seconds saved per GiB"), rows)


def laws_table(estimator: Estimator) -> Table:
    """Mean error of each law that was tried, on placements that it had not seen."""
    rows = [
        (f"{law} (chosen)" if law == estimator.law else law, f"{error:.1%}") for law, error in estimator.errors.items()
    ]
    return table_of(("law", "mean error, left one out"), rows)


def estimator_lines(estimator: Estimator) -> str:
    """What was run, and what its two ends took."""
    ends = [
        f"{tier} alone {format_seconds(seconds)}"
        for row, seconds in zip(estimator.measured, estimator.seconds, strict=True)
        if (tier := estimator.slow if row.all() else None if row.any() else estimator.fast)
    ]
    moves = estimator.moves
    return (
        f"{estimator.program}: {format_nbytes(estimator.costs.nbytes)}, objects: {len(estimator.objects)}, law: "
        f"{estimator.law}, placements: {len(estimator.measured)}\n"
        f"measured: {', '.join(ends)}; noise of a run {estimator.noise:.1%}; "
        f"1 GiB goes to {estimator.fast} in {format_seconds(moves.seconds(1 << 30, 0))}, "
        f"to {estimator.slow} in {format_seconds(moves.seconds(0, 1 << 30))}"
    )


_FIGURES = {
    "law": "{}",
    "placements": "{}",
    "mean_error": "{:.1%}",
    "largest_error": "{:.1%}",
    "within_10_percent": "{:.1%}",
    "kendall_tau": "{:.3f}",
    "regret": "{:.1%}",
    "noise": "{:.1%}",
}


def figures_table(what: str, figures: Mapping[str, Mapping[str, Any]]) -> Table:
    """Validations side by side, one row each: those figures that any of them has."""
    keys = [key for key in _FIGURES if key != what and any(key in each for each in figures.values())]
    rows = [(name, *(_cell(each.get(key), _FIGURES[key]) for key in keys)) for name, each in figures.items()]
    return table_of((what, *(key.replace("_", " ") for key in keys)), rows)


def _cell(value: Any, form: str) -> str:
    return "" if value is None else form.format(value)


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{format_seconds(abs(seconds))}"

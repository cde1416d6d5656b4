"""Findings as a table: one line for each way to train and kind of shards, one column for each share."""

from __future__ import annotations

from collections.abc import Sequence

from argosy.bench.locality.findings import MARGIN, Cell, Row
from argosy.bench.locality.plan import GLOBAL, Plan

MARKS = {"equivalent": "=", "worse": "-", "better": "+", "open": "?"}
LEGEND = (
    f"Against Q = 1 with the same seeds: `=` equivalent, within {MARGIN} point (TOST, 5 %); `-` worse, `+` better by "
    "the 90 % interval of the difference, and not equivalent; `?` open: more seeds would tell. In brackets: how many "
    "seeds there are, where fewer."
)


def title_of(plan: Plan) -> str:
    trial = plan.trial("", plan.norms[0], plan.every[0], GLOBAL, 0)
    return (
        f"{plan.task}: accuracy in per cent, mean and standard deviation over {plan.seeds} seeds; {plan.workers} "
        f"workers with {plan.shard} of {trial.samples:,} samples each, {trial.batch} in a step, {trial.epochs} epochs, "
        f"{trial.held_out:,} samples held out; workers are averaged every so many steps"
    )


def head(plan: Plan) -> list[str]:
    return ["BatchNorm", "every", "shards", *(f"Q = {fraction:g}" for fraction in plan.fractions)]


def lines(plan: Plan, rows: Sequence[Row]) -> list[list[str]]:
    found = [{cell.fraction: cell for cell in row.cells} for row in rows]
    return [
        [row.norm, str(row.every), row.shards, *(_told(cells.get(fraction), plan.seeds) for fraction in plan.fractions)]
        for row, cells in zip(rows, found, strict=True)
    ]


def markdown(plan: Plan, rows: Sequence[Row]) -> str:
    names = head(plan)
    ruled = ["---"] * 3 + ["---:"] * (len(names) - 3)
    body = [f"| {' | '.join(cells)} |" for cells in (names, ruled, *lines(plan, rows))]
    return "\n".join([title_of(plan), "", *body, "", LEGEND, ""])


def _told(cell: Cell | None, seeds: int) -> str:
    if cell is None:
        return ""
    spread = "" if cell.deviation is None else f" ± {cell.deviation:.1f}"
    if cell.seeds < seeds:
        spread += f" ({cell.seeds})"
    mark = "" if cell.against is None else f" {MARKS[cell.against.verdict]}"
    return f"{cell.mean:.1f}{spread}{mark}"

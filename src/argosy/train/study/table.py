"""Findings as text: the ceiling first, then one line for each number of workers and target."""

from __future__ import annotations

from argosy.train.study.findings import Findings, Row

_HEAD = ("workers", "target", "S_par", "E_stat", "S_learn", "interval", "E_stat predicted", "off by", "missed")


def ceiling_of(findings: Findings) -> str:
    """The first number to be shown."""
    return (
        f"ceiling of learning speed-up: {findings.ceiling:,.1f} (noise scale {findings.phi:,.0f} samples, "
        f"{findings.phi_low:,.0f} to {findings.phi_high:,.0f}; {findings.batch} samples a worker)"
    )


def table_of(findings: Findings) -> str:
    modelled = {(row.workers, row.target): row for row in findings.of("modelled")}
    lines = [_cells(row, modelled.get((row.workers, row.target))) for row in findings.of("measured")]
    widths = [max(len(cells[column]) for cells in [_HEAD, *lines]) for column in range(len(_HEAD))]
    about = f"task {findings.task}, seeds: {findings.seeds}, learning-rate rule {findings.lr_rule}"
    text = [ceiling_of(findings), f"{about}, targets of {findings.metric}", ""]
    text += ["  ".join(map(str.rjust, cells, widths)).rstrip() for cells in [_HEAD, *lines]]
    text.append("")
    if any(row.s_par_kind == "modelled" for row in findings.of("measured")):
        text.append("* modelled from the measured time of a step and the link, and S_learn with it; E_stat is measured")
    text.append(f"largest residual of S_learn = S_par x E_stat, by the runs' own time: {findings.largest_residual:.1%}")
    if findings.largest is not None:
        text.append(f"each worker is worth at least half a worker up to {findings.largest:,} workers (modelled)")
    text += findings.notes
    return "\n".join(text)


def _cells(row: Row, model: Row | None) -> tuple[str, ...]:
    bound = "<= " if row.censored else ""
    return (
        f"{row.workers:,}",
        f"{row.target:.4g}",
        f"{row.s_par:.3g}" + ("*" if row.s_par_kind == "modelled" else ""),
        f"{bound}{row.e_stat:.3g}",
        f"{bound}{row.s_learn:.3g}",
        "" if row.low is None or row.high is None else f"{row.low:.3g} .. {row.high:.3g}",
        "" if model is None else f"{model.e_stat:.3g}",
        "" if model is None or model.error is None or row.workers == 1 else f"{model.error:.0%}",
        f"{row.missed} of {row.seeds}" if row.missed else "",
    )

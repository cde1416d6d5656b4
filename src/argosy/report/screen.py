"""A view of a run, drawn for a terminal."""

from __future__ import annotations

from collections import Counter

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from argosy.report.live import TASK_STATES, View
from argosy.units import format_seconds

NUM_RANKS_ONE_BY_ONE = 16
"""With more ranks than this, a line is a node."""
QUIET_SECONDS = 10.0
"""When no event came for so long, say so: the run may be at work on long tasks, or gone."""

RANK_STATES = ("busy", "idle", "lost")
STYLES = {"busy": "green", "idle": "dim", "lost": "red", "running": "green", "failed": "red", "cancelled": "yellow"}


def draw(view: View, now: float, num_lines: int = 20) -> RenderableType:
    """One frame. The table of ranks or nodes takes at most `num_lines` lines."""
    parts: list[RenderableType] = [_run_line(view, now), _task_line(view, now), Text()]
    many = len(view.ranks) > NUM_RANKS_ONE_BY_ONE
    parts.append(_node_table(view, num_lines) if many else _rank_table(view, now))
    if view.failures:
        parts += [Text(), Text("failed last", style="bold")]
        parts += [_failure_line(failure.name, failure.error) for failure in reversed(view.failures)]
    return Group(*parts)


def _run_line(view: View, now: float) -> Text:
    line = Text(view.name or "run", style="bold")
    mpi = view.mpi or "MPI unknown"
    fault = "a lost rank costs one task" if view.ulfm else "a lost rank restarts the world"
    age = f"ran {format_seconds(view.age(now))}" if view.ended is not None else format_seconds(view.age(now))
    there = view.num_ranks_there
    ranks = f"{there} ranks" if there == view.num_ranks else f"{there} of {view.num_ranks} ranks"
    line.append(f"  {ranks} · {mpi} ({fault}) · {age}", style="not bold")
    if view.num_lost:
        line.append(f" · {view.num_lost} lost", style="red")
    quiet = 0.0 if view.last_event is None else now - view.last_event
    if view.ended is None and quiet > QUIET_SECONDS:
        line.append(f" · no event for {format_seconds(quiet)}", style="yellow")
    return line


def _task_line(view: View, now: float) -> Text:
    line = Text(f"{view.num_tasks} tasks  ")
    for state in TASK_STATES:
        if view.count(state):
            line.append(f"{view.count(state)} {state}  ", style=STYLES.get(state, ""))
    span = "over the run" if view.ended is not None else "now"
    line.append(f"· {view.tasks_per_second(now):.1f} tasks/s {span}")
    return line


def _rank_table(view: View, now: float) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("node", "rank", "state", "task", "for"):
        table.add_column(heading, justify="right" if heading in ("rank", "for") else "left", no_wrap=True)
    for node, ranks in view.nodes().items():
        for number in ranks:
            rank = view.ranks[number]
            task = "" if rank.task is None else f"{rank.task} {rank.task_name}"
            ago = "" if view.ended is not None else format_seconds(max(0.0, now - rank.since))
            state = Text(rank.state, style=STYLES[rank.state])
            table.add_row(node if number == ranks[0] else "", str(number), state, Text(task), ago)
    return table


def _node_table(view: View, num_lines: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("node", no_wrap=True)
    for heading in ("ranks", *RANK_STATES):
        table.add_column(heading, justify="right")
    nodes = view.nodes()
    for node, ranks in list(nodes.items())[:num_lines]:
        states = Counter(view.ranks[rank].state for rank in ranks)
        counts = [Text(str(states[state]), style=STYLES[state] if states[state] else "dim") for state in RANK_STATES]
        table.add_row(node, str(len(ranks)), *counts)
    if len(nodes) > num_lines:
        table.add_row(f"and {len(nodes) - num_lines} nodes more", "", "", "", "")
    return table


def _failure_line(name: str, error: str) -> Text:
    reason = error.strip().splitlines()[-1] if error.strip() else "no reason given"
    return Text.assemble("  ", (name, "red"), "  ", reason, overflow="ellipsis", no_wrap=True)

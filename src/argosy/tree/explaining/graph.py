"""An explanation as a graph in the language of Graphviz: a node for each source line, an edge for what waits."""

from __future__ import annotations

import json

from argosy.tree.explaining.causes import direct_causes
from argosy.tree.explaining.critical import critical_path
from argosy.tree.explaining.record import CONTROL, IN_TURN, Ran, Recording
from argosy.tree.explaining.rows import Row, rows_of
from argosy.tree.explaining.statements import Function
from argosy.units import format_seconds


def graph_of(recording: Recording) -> str:
    """Bold is the critical path, grey runs in its turn, and a dotted edge is order alone."""
    rows = rows_of(recording.runs)
    places = {run.number: number for number, row in enumerate(rows) for run in row.runs}
    chain = critical_path(recording.runs)
    critical = {places[run.number] for run in chain if run.number in places}
    lines = [f"digraph {json.dumps(recording.function.name)} {{", '  node [shape=box fontname="monospace"];']
    lines += [f"  n{number} [{_look(row, number in critical, recording.function)}];" for number, row in enumerate(rows)]
    edges: dict[tuple[int, int], dict[str, None]] = {}
    for run in recording.runs:
        for cause in direct_causes(run, recording.runs):
            if run.number in places and cause.number in places:
                label = "" if cause.how == CONTROL else cause.name
                edges.setdefault((places[cause.number], places[run.number]), {}).setdefault(label, None)
    for (one, two), names in edges.items():
        lines.append(f"  n{one} -> n{two} [label={json.dumps(', '.join(filter(None, names)))}];")
    for one, two in _in_order(recording.runs, places):
        if (one, two) not in edges:
            lines.append(f"  n{one} -> n{two} [style=dotted];")
    return "\n".join([*lines, "}"]) + "\n"


def _look(row: Row, critical: bool, called: Function) -> str:
    times = f" x {row.count}" if row.count > 1 else ""
    function = "" if row.statement.function == called else f"{row.statement.function.name} "
    label = f"{function}{row.statement.line}  {row.statement.text}\n{format_seconds(row.seconds)}{times}, {row.where}"
    style = [*(["filled"] if any(run.where == IN_TURN for run in row.runs) else []), *(["bold"] if critical else [])]
    return f"label={json.dumps(label, ensure_ascii=False)}" + (f' style="{",".join(style)}"' if style else "")


def _in_order(runs: tuple[Ran, ...], places: dict[int, int]) -> dict[tuple[int, int], None]:
    """From and to what runs alone, where no other edge leads there."""
    found: dict[tuple[int, int], None] = {}
    alone: int | None = None
    loose: dict[int, None] = {}
    for run in runs:
        if run.number not in places:
            continue
        place = places[run.number]
        if run.alone:
            found.update(dict.fromkeys((one, place) for one in loose if one != place))
            if alone is not None and not loose and alone != place:
                found.setdefault((alone, place))
            alone, loose = place, {}
            continue
        for cause in run.causes:
            loose.pop(places.get(cause.number, -1), None)
        loose[place] = None
        if alone is not None and not run.causes and alone != place:
            found.setdefault((alone, place))
    return found

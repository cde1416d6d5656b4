"""An explanation as a trace that ui.perfetto.dev opens: the Chrome trace-event format, times in microseconds.

One track for each thread and for each place where the call waited for a pilot; a slice for each run, named by its
source line; arrows from what was waited for.
"""

from __future__ import annotations

from typing import Any

from argosy.tree.explaining.record import NOT_RUN, PILOT, Part, Ran, Recording

_PID = 1
_LEAST = 0.001
"""A nanosecond: an arrow must lie inside of the slice that it leaves."""


def trace_of(recording: Recording) -> dict[str, Any]:
    """The whole trace, ready for `json.dump`."""
    shown = {run.number: run for run in recording.runs if run.state != NOT_RUN}
    records = [_meta("process_name", 0, name=str(recording.function))]
    for lane, name in sorted(_tracks(recording).items()):
        records += [_meta("thread_name", lane, name=name), _meta("thread_sort_index", lane, sort_index=lane)]
    records += [_slice(run) for run in shown.values()]
    records += [_part(run, part) for run in shown.values() for part in run.parts]
    arrows = [
        (shown[cause.number], run, cause.name)
        for run in shown.values()
        for cause in run.causes
        if cause.number in shown
    ]
    for number, (one, two, name) in enumerate(arrows):
        common = {"name": name, "cat": "waits for", "id": number, "pid": _PID}
        leaves = max(_microseconds(one.started), round(_end(one) - _LEAST, 3))
        records.append(common | {"ph": "s", "tid": one.lane, "ts": leaves})
        records.append(common | {"ph": "f", "bp": "e", "tid": two.lane, "ts": _microseconds(two.started)})
    return {"traceEvents": records, "displayTimeUnit": "ms"}


def _tracks(recording: Recording) -> dict[int, str]:
    """The names of lanes; what waits for a pilot follows after the threads."""
    waits = sorted({run.lane for run in recording.runs if run.where == PILOT})
    lanes = {run.lane for run in recording.runs}
    lanes |= {part.lane for run in recording.runs for part in run.parts}
    names = {lane: f"thread {lane}" for lane in lanes}
    return names | {0: "calling thread"} | {lane: f"pilot {number}" for number, lane in enumerate(waits, start=1)}


def _slice(run: Ran) -> dict[str, Any]:
    args: dict[str, Any] = {
        "function": run.statement.function.name,
        "line": run.line,
        "where": run.where,
        "state": run.state,
        "nbytes": run.nbytes,
    }
    args |= {"reason": run.reason} if run.reason else {}
    start = _microseconds(run.started)
    return {
        "ph": "X", "name": f"{run.line}: {run.statement.text}", "cat": run.where, "pid": _PID, "tid": run.lane,
        "ts": start, "dur": round(_end(run) - start, 3), "args": args,
    }  # fmt: skip


def _part(run: Ran, part: Part) -> dict[str, Any]:
    start = _microseconds(part.started)
    return {
        "ph": "X", "name": f"{run.line}: a part of {run.statement.text}", "cat": "part", "pid": _PID, "tid": part.lane,
        "ts": start, "dur": round(_end(part) - start, 3), "args": {"line": run.line},
    }  # fmt: skip


def _end(run: Ran | Part) -> float:
    return max(_microseconds(run.ended), round(_microseconds(run.started) + _LEAST, 3))


def _microseconds(time: float) -> float:
    return round(time * 1e6, 3)


def _meta(what: str, tid: int, **args: Any) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": _PID, "tid": tid, "args": args}

"""Valid calls of placements: stores, tiers, traces, estimators, plans; and amounts of memory."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hostile.judging import Case
from hostile.kinds import (
    a,
    amount,
    anything,
    either,
    flag,
    fresh,
    function,
    listed,
    mapping,
    number,
    of,
    optional,
    path,
    some_text,
    text,
    whole,
    words,
)

from argosy import memory
from argosy.memory.costs import Costs
from argosy.memory.moves import Moves
from argosy.units import format_nbytes, format_seconds, parse_nbytes


def workload() -> memory.Workload:
    def run(store: memory.Store) -> None:
        with store.window("sum"):
            store.update("x")[:] += 1
        with store.window("read"):
            store["y"].sum()

    return memory.Workload(name="small", objects=lambda: {"x": np.ones(1000), "y": np.ones(500)}, run=run)


def costs() -> Costs:
    return Costs(
        objects=("x", "y"), sizes=(8000, 4000), windows=("sum", "read"), order=(0, 1), floor=np.full(2, -np.inf),
        base=np.array([1.0, 2.0]), slow=np.array([[0.5, 0.0], [0.0, 0.25]]),
    )  # fmt: skip


def moves() -> Moves:
    return Moves(fetch_seconds_per_byte=1e-6, evict_seconds_per_byte=1e-6)


@functools.cache
def estimator() -> memory.Estimator:
    return memory.Estimator(
        program="small", fast="ram", slow="disk", law="linear", costs=costs(), moves=moves(), noise=0.1, spread=0.1, errors={"linear": 0.1},
        measured=np.array([[False, False], [True, True]]), seconds=(3.0, 3.75),
    )  # fmt: skip


def store() -> memory.Store:
    made = memory.Store()
    made.put("x", np.ones(100))
    made.put("y", np.ones(50))
    return made


@functools.cache
def trace() -> memory.Trace:
    with store() as held:
        with held.window("sum"):
            held["x"].sum()
        return held.trace()


def saved(what: Any, name: str) -> str:
    target = Path(tempfile.mkdtemp(prefix="hostile-memory-")) / name
    what.save(target)
    return str(target)


def out() -> str:
    return str(Path(tempfile.mkdtemp(prefix="hostile-memory-")) / "out")


def _in_store(doing: Any) -> Any:
    def call(**values: Any) -> Any:
        with store() as held:
            return doing(held, **values)

    return call


def _counted(held: memory.Store, name: Any, **more: Any) -> Any:
    with held.window("w"):
        held.count(name, **more)
    return [(touch.object, touch.bytes_read, touch.bytes_written) for touch in held.trace().windows[0].touches]


def _windowed(held: memory.Store, name: Any) -> Any:
    with held.window(name):
        held["x"].sum()
    return held.trace().to_arrow().num_rows


def _put(held: memory.Store, name: Any, value: Any, **more: Any) -> Any:
    held.put(name, value, **more)
    return held.placement, held.sizes


def _placed(held: memory.Store, placement: Any, **more: Any) -> Any:
    return held.place(placement, **more), held.placement


def _made(**more: Any) -> Any:
    with memory.Store(**more) as held:
        held.put("x", np.ones(10))
        return held.placement, held.program


def _applied(held: Any, plan: Any) -> Any:
    with memory.apply(held, plan):
        return held.placement


def cases() -> list[Case]:
    above = number(above=0)
    tier = optional(of(memory.Ram, memory.Disk, memory.Numa))
    work = fresh(workload, of(memory.Workload))
    known = a("x", words("x", "y"), "object")
    no = a(False, optional(either(flag, function)))
    return [
        Case(name="parse_nbytes", call=parse_nbytes, arguments={"text": a("2GiB", either(whole(0), text), "memory", "amount of memory")}, finish=lambda r: r, typo=False),
        Case(name="format_nbytes", call=format_nbytes, arguments={"nbytes": a(2000, either(whole(), number(infinite=True)))}, finish=lambda r: r),
        Case(name="format_seconds", call=format_seconds, arguments={"seconds": a(2.5, number(infinite=True))}, finish=lambda r: r),
        Case(name="Ram", call=memory.Ram, arguments={"capacity": a("1MiB", optional(amount))}, finish=lambda r: r.hold(100).nbytes),
        Case(name="Ram.hold", call=memory.Ram().hold, arguments={"nbytes": a(100, whole(0))}, finish=lambda r: r.nbytes),
        Case(name="Disk", call=memory.Disk, arguments={"folder": a(str(Path.cwd()), optional(path)), "capacity": a("1MiB", optional(amount))}, finish=lambda r: r.hold(100).nbytes),
        Case(name="Disk.hold", call=memory.Disk().hold, arguments={"nbytes": a(100, whole(0))}, finish=lambda r: r.nbytes),
        Case(name="Numa", call=memory.Numa, arguments={"node": a(0, whole(0), "NUMA node"), "capacity": a("1MiB", optional(amount))}, finish=lambda r: r.name),
        Case(name="Hbm", call=memory.Hbm, arguments={"device": a(0, whole(0)), "capacity": a("1MiB", optional(amount))}, finish=lambda r: r.name, slow=True),
        Case(name="PinnedHost", call=memory.PinnedHost, arguments={"device": a(0, whole(0)), "mode": a("zero-copy", words("zero-copy", "staged")), "prefetch": a(True, flag), "capacity": a("1MiB", optional(amount))}, finish=lambda r: r.name, slow=True),
        Case(name="Store", call=_made, arguments={"fast": a(None, tier, "tier"), "slow": a(None, tier, "tier"), "program": a("p", text)}, finish=lambda r: r),
        Case(name="Store.put", call=_in_store(_put), arguments={"name": a("z", some_text), "value": a(np.ones(3), anything, "z"), "tier": a("disk", optional(words("ram", "disk")))}, finish=lambda r: r),
        *(Case(name=f"Store.{name}", call=_in_store(lambda held, name_, method=name: getattr(held, method)(name_)), arguments={"name_": known}, finish=lambda r: None if r is None else float(r.size), typo=False) for name in ("free", "__getitem__", "write", "update")),
        Case(name="Store.__contains__", call=_in_store(lambda held, name: name in held), arguments={"name": a("x", anything)}, typo=False),
        Case(name="Store.count", call=_in_store(_counted), arguments={"name": known, "bytes_read": a(8, whole(0)), "bytes_written": a(4, whole(0))}, finish=lambda r: r),
        Case(name="Store.window", call=_in_store(_windowed), arguments={"name": a("w", text, "window")}, finish=lambda r: r, typo=False),
        Case(name="Store.place", call=_in_store(_placed), arguments={"placement": a({"x": "disk"}, mapping, "object", "tier")}, finish=lambda r: r),
        Case(name="Workload", call=lambda **m: memory.Workload(**m), arguments={"name": a("w", text), "objects": fresh(lambda: lambda: {"x": np.ones(3)}, function), "run": a(len, function)}, finish=lambda w: w.store().close()),
        Case(name="Workload.store", call=lambda **m: workload().store(**m), arguments={"fast": a(None, tier, "tier"), "slow": a(None, tier, "tier")}, finish=lambda r: r.close()),
        Case(name="calibrate", call=lambda workload, **m: memory.calibrate(workload, progress=False, fast=memory.Ram(), slow=_slow(), **m), arguments={"workload": work, "design": a("endpoints", words("random", "one-at-a-time", "endpoints")), "repeats": a(2, whole(1)), "law": a("linear", text), "placements": a(None, optional(whole(1))), "noise": a(1000.0, number(0, infinite=True)), "seed": a(0, whole(0))}, finish=lambda r: r.objects, slow=True),
        Case(name="calibrate tiers", call=lambda **m: memory.calibrate(workload(), "endpoints", 2, law="linear", noise=1000.0, **m), arguments={"fast": a(None, tier, "tier"), "slow": a(None, tier, "tier"), "progress": no}, finish=lambda r: r.objects, slow=True),
        Case(name="validate", call=lambda workload, **m: memory.validate(workload, progress=False, **m), arguments={"workload": fresh(workload, either(of(memory.Workload), text)), "estimator": a(estimator(), optional(of(memory.Estimator))), "placements": a(2, whole(1)), "seed": a(0, whole(0)), "repeats": a(2, optional(whole(1))), "seconds": a(5.0, optional(above))}, finish=lambda r: r.program, slow=True),
        Case(name="plan", call=memory.plan, arguments={"estimator": a(estimator(), of(memory.Estimator, Costs)), "capacity": a("50%", either(whole(0), text)), "solver": a("exact", words("auto", "greedy", "exact", "exhaustive", "phases", "belady", "lru", "hysteresis", "learned")), "must_be_fast": a(["y"], listed, "object"), "moves": a(None, optional(of(Moves))), "time_limit_seconds": a(5.0, number(above=0, infinite=True))}, finish=lambda r: (r.placement, r.seconds)),
        Case(name="plan of costs", call=memory.plan, arguments={"estimator": a(costs(), of(memory.Estimator, Costs)), "capacity": a(9000, either(whole(0), text)), "solver": a("phases", words("auto", "greedy", "exact", "exhaustive", "phases", "belady", "lru", "hysteresis", "learned")), "moves": a(moves(), optional(of(Moves)))}, finish=lambda r: (r.placement, r.seconds)),
        Case(name="Moves", call=Moves, arguments={"fetch_seconds_per_byte": a(1.0, number(0), "seconds per byte"), "evict_seconds_per_byte": a(1.0, number(0), "seconds per byte")}, finish=lambda r: r.seconds(1, 1)),
        Case(name="apply", call=lambda plan: _applied(store(), plan), arguments={"plan": fresh(lambda: memory.plan(estimator(), "50%", solver="greedy"), of(memory.Plan))}, finish=lambda r: r, typo=False),
        Case(name="apply to", call=lambda store: _applied(store, memory.plan(estimator(), "50%", solver="greedy")), arguments={"store": fresh(store, of(memory.Store))}, finish=lambda r: r, typo=False),
        Case(name="Estimator.predict", call=estimator().predict, arguments={"placement": a({"x": "ram", "y": "disk"}, mapping, "object", "placed", "placement")}, finish=lambda r: r.seconds),
        Case(name="Estimator.predict_many", call=estimator().predict_many, arguments={"slow": a([[False, True]], of(list, tuple, np.ndarray), "placements")}, finish=lambda r: r.tolist()),
        Case(name="Estimator.save", call=estimator().save, arguments={"path": fresh(out, path)}),
        Case(name="Estimator.load", call=memory.Estimator.load, arguments={"path": fresh(lambda: saved(estimator(), "e.json"), path)}, finish=lambda r: r.objects),
        Case(name="Trace.save", call=trace().save, arguments={"path": fresh(out, path)}),
        Case(name="Trace.load", call=memory.Trace.load, arguments={"path": fresh(lambda: saved(trace(), "t.arrow"), path)}, finish=lambda r: r.objects),
        Case(name="Trace.from_arrow", call=memory.Trace.from_arrow, arguments={"table": fresh(lambda: trace().to_arrow(), of(pa.Table), "trace")}, finish=lambda r: r.objects),
        Case(name="from_traces", call=memory.from_traces, arguments={"fast": a(trace(), of(memory.Trace)), "slow": a(trace(), of(memory.Trace)), "by": a("operation", words("operation", "share")), "fast_tier": a("f", some_text), "slow_tier": a("s", some_text), "moves": a(moves(), optional(of(Moves)))}, finish=lambda r: r.objects),
        Case(name="Plan.from_json", call=memory.Plan.from_json, arguments={"fields": fresh(lambda: memory.plan(estimator(), "50%", solver="greedy").to_json(), mapping, "plan")}, finish=lambda r: r.placement),
        Case(name="program.match", call=memory.program.match, arguments={"trace_fast": a(trace(), of(memory.Trace)), "trace_slow": a(trace(), of(memory.Trace)), "by": a("share", words("operation", "share"))}, finish=len),
        Case(name="program.from_table", call=memory.program.from_table, arguments={"table_or_path": fresh(lambda: pa.table({"timestamp": [1, 2, 3], "address": [4096, 8192, 4096]}), either(path, of(pa.Table)), "table"), "objects": a({"o": (4096, 4096)}, optional(mapping)), "windows": a(2, whole(1), "window"), "seconds_per_tick": a(1.0, above)}, finish=lambda r: r.trace.objects),
        Case(name="program.trace", call=memory.program.trace, arguments={"command": a(["/bin/true"], of(list, tuple), "program"), "source": a("valgrind", words("auto", "perf", "valgrind")), "windows": a(2, whole(1), "window"), "timeout_seconds": a(5.0, optional(above)), "cwd": a("/", optional(path)), "time_natively": a(False, flag), "on_progress": a(None, optional(function))}, finish=lambda r: r.source, slow=True),
        Case(name="miniapps.load", call=memory.miniapps.load, arguments={"name": a("cg", text, "mini-app"), "nbytes": a("1MiB", optional(amount), "footprint"), "iterations": a(2, optional(whole(1)))}, finish=lambda r: r.name, slow=True),
        Case(name="learned_policy", call=lambda **m: memory.learning.learned_policy(**m), arguments={"path": a(None, optional(path)), "costs": a(costs(), optional(of(Costs)))}, finish=lambda r: type(r).__name__),
        Case(name="PlacementEnv", call=lambda **m: memory.learning.PlacementEnv(**m), arguments={"costs": a(costs(), of(Costs)), "moves": a(moves(), of(Moves)), "capacity": a(8000, whole(0)), "costs_are_known": a(True, flag)}, finish=lambda r: r.none),
        Case(name="follow", call=lambda **m: _followed(**m), arguments={"capacity": a(500, whole(0)), "moves": a(moves(), of(Moves)), "costs": a(None, optional(of(Costs)))}, finish=lambda r: None),
        Case(name="trace_torch", call=lambda **m: _traced(**m), arguments={"objects": fresh(lambda: {"x": _tensor()}, mapping), "program": a("p", text), "large_nbytes": a(100, whole(0))}, finish=lambda r: r, slow=True),
    ]  # fmt: skip


def _slow() -> Any:
    return memory.Disk(str(Path.cwd()))


def _followed(**more: Any) -> Any:
    policy = memory.learning.learned_policy(costs=costs())
    with store() as held, memory.learning.follow(held, policy, **more), held.window("w"):
        held["x"].sum()


def _tensor() -> Any:
    import torch

    return torch.ones(100)


def _traced(**more: Any) -> Any:
    import torch

    with memory.trace_torch(**more) as recorded:
        torch.ones(10) + 1
    return recorded.trace().program

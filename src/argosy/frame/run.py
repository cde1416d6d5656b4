"""Run a plan where the data is to be: on the ranks of the open pilot, or in this process where there is none."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import psutil
import pyarrow as pa

from argosy.errors import ResultTooLarge
from argosy.frame import resident
from argosy.frame.estimate import estimate
from argosy.frame.home import home_of
from argosy.frame.io.write import Stage, abort, commit, open_stage, write_part
from argosy.frame.keep.asked import Asked
from argosy.frame.keep.held import Held
from argosy.frame.keep.hold import hold
from argosy.frame.keep.pool import pool
from argosy.frame.known import known_rows
from argosy.frame.loading import loading
from argosy.frame.plan import Memory, Operation, Resident, Scan
from argosy.frame.prepare import prepare
from argosy.frame.rewrite import rewrite
from argosy.pilot.future import Future
from argosy.resources import Need
from argosy.resources.discover.memory import available_nbytes, memory_nbytes
from argosy.units import format_nbytes

if TYPE_CHECKING:
    from argosy.frame.context import Context
    from argosy.frame.rows import Rows
    from argosy.pilot.pilot import Pilot

_SHARE = 0.75
"""Of the machine's memory that frames may use when nobody has said how much."""
_FAR = 4
"""How far an estimate must be above what there is room for, so that a known number of rows is not even tried."""
_ROW_GROUP_NBYTES = 64 << 20
"""Of a Parquet file that is written, in memory, where there is enough of it."""
_RERUNS = 2
"""How often a plan is run again after the loss of a rank."""


def num_ranks(plan: Operation) -> int:
    """How many ranks would run it."""
    pilot = home_of(plan)
    return 1 if pilot is None else pilot.allocation.num_ranks


def collect(plan: Operation) -> pa.Table:
    """All rows, in order, in this process. Raises `ResultTooLarge` instead of running out of memory."""
    room = int(available_nbytes() * _SHARE)
    if known_rows(plan) is not None and estimate(plan).nbytes > _FAR * room:
        raise _too_large(estimate(plan).nbytes, room)
    tables = _on_ranks(_collect, plan, room, name="collect")
    return pa.concat_tables(tables, promote_options="permissive").replace_schema_metadata(None)


def count_rows(plan: Operation) -> int:
    return int(sum(_on_ranks(_count, plan, name="len")))


def persist(plan: Operation, asked: Asked) -> Resident:
    """The plan's rows, left on the ranks. Warns of columns that could not be put on disk."""
    pilot = home_of(plan)
    if pilot is None:
        kept: Any = _on_ranks(_persist, plan, asked, name="persist")[0]
        facts = [_facts(kept)]
    else:
        kept = _submit(pilot, _persist, plan, asked, name="persist", keep=True)
        need = Need(ranks=kept.num_ranks)
        facts = _wait(kept, pilot._submit(_facts, (kept,), {}, need, retries_on_loss=_RERUNS, name="persist"))
    for rank, one in enumerate(facts):
        for problem in one.problems:
            where = "" if pilot is None else f" on rank {rank}"
            warnings.warn(f"persisted columns stay in RAM{where}: {problem}", RuntimeWarning, stacklevel=3)
    return Resident(
        future=kept,
        kept_schema=facts[0].schema,
        num_rows=sum(one.num_rows for one in facts),
        nbytes=sum(one.nbytes for one in facts),
        asked=asked,
    )


def lent(kept: Resident) -> Future:
    """The Future of each rank's table, for a task: of columns that move, as they lie when the task comes for them."""
    future = kept.future
    assert isinstance(future, Future)
    if kept.asked.tier == "ram":
        return future
    pilot, need = cast("Pilot", future.owner), Need(ranks=future.num_ranks)
    return pilot._submit(_lend, (future,), {}, need, retries_on_loss=_RERUNS, name="lend", keep=True)


def write(plan: Operation, path: str | os.PathLike[str], kind: Any, overwrite: bool, options: dict[str, Any]) -> int:
    """One file for each rank, all or nothing; returns the number of rows."""
    stage = open_stage(path, overwrite)
    try:
        num_rows = int(sum(_on_ranks(_write, plan, stage, kind, options, name=f"write {kind}")))
        commit(stage)
    except BaseException:
        abort(stage)
        raise
    return num_rows


# In the process that asks --------------------------------------------------------------------------------------------


def _on_ranks(function: Callable[..., Any], plan: Operation, *args: Any, name: str) -> list[Any]:
    """What the function returns on every rank."""
    pilot = home_of(plan)
    if pilot is None:
        prepare()
        return [function(_ready(rewrite(plan), shared=False), *args, comm=None)]
    return _wait(_submit(pilot, function, plan, *args, name=name))


def _submit(
    pilot: Pilot, function: Callable[..., Any], plan: Operation, *args: Any, name: str, keep: bool = False
) -> Future:
    prepare()
    need = Need(ranks=pilot.allocation.num_ranks)
    plan = _ready(rewrite(plan), shared=True)
    return pilot._submit(function, (plan, *args), {}, need, retries_on_loss=_RERUNS, name=name, keep=keep)


def _wait(*futures: Future) -> list[Any]:
    """What every rank returned in the last of these, each of which takes the one before; or what the first of them that
    failed raised. Whoever presses Ctrl-C has the ranks back: nobody waits for this any more."""
    try:
        for one in futures[:-1]:
            if error := one.exception():
                raise error
        return futures[-1].results()
    except BaseException:
        for one in futures:
            one.cancel()
        raise


def _ready(plan: Operation, shared: bool) -> Operation:
    """What the ranks need of a plan: of files, the pieces that the predicate leaves, looked for here and not by every
    rank; a frame that was persisted in this process is a table like any other to the ranks of a pilot."""
    if isinstance(plan, Scan) and plan.predicate is not None:
        pruned = replace(plan, source=replace(plan.source, pieces=plan.source.prune(plan.predicate)))
        estimate(pruned)  # travels with it
        return pruned
    if isinstance(plan, Resident) and not isinstance(plan.future, Future) and shared:
        return Memory(table=resident.plain(resident.table_of(plan)))
    if isinstance(plan, Memory) and shared:
        return Memory(table=_compact(plan.table))
    return plan.with_inputs(*(_ready(one, shared) for one in plan.inputs)) if plan.inputs else plan


def _compact(table: pa.Table) -> pa.Table:
    """A slice carries the memory of what it was cut from; copy it before it travels."""
    if table.get_total_buffer_size() <= 2 * table.nbytes + (1 << 20):
        return table
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


# On every rank -------------------------------------------------------------------------------------------------------


def _collect(plan: Operation, room: int, comm: Any) -> pa.Table:
    context = context_of(comm)
    with pool.using(plan):
        table = _execute(plan, context).table()
    needed = sum(context.ranks.allgather(table.nbytes))
    if needed > room:
        raise _too_large(needed, room)
    return table


def _too_large(needed: float, room: int) -> ResultTooLarge:
    return ResultTooLarge(
        f"the result has {format_nbytes(needed)}, but this process has room for {format_nbytes(room)}; "
        "leave it on the ranks with persist(), or write it with write_parquet()"
    )


def _count(plan: Operation, comm: Any) -> int:
    with pool.using(plan):
        return sum(table.num_rows for table in _execute(plan, context_of(comm)).batches())


def _persist(plan: Operation, asked: Asked, comm: Any) -> pa.Table | Held:
    context = context_of(comm)
    with pool.using(plan) as mapped:
        return hold(_execute(plan, context), asked, context, mapped)


class _Facts(NamedTuple):
    """What the process that asked learns of each rank's rows."""

    schema: pa.Schema
    num_rows: int
    nbytes: int
    problems: tuple[str, ...]


def _facts(kept: pa.Table | Held) -> _Facts:
    problems = kept.problems if isinstance(kept, Held) else ()
    return _Facts(kept.schema.remove_metadata(), kept.num_rows, kept.nbytes, problems)


def _lend(kept: Held) -> pa.Table:
    return pool.lend(kept)


def _write(plan: Operation, stage: Stage, kind: Any, options: dict[str, Any], comm: Any) -> int:
    context = context_of(comm)
    if kind == "parquet":
        options = {"row_group_nbytes": min(_ROW_GROUP_NBYTES, context.batch_nbytes), **options}
    with pool.using(plan):
        rows = _execute(plan, context)
        return write_part(stage, kind, context.ranks.rank, rows.batches(), rows.schema, **options)


def _execute(plan: Operation, context: Context) -> Rows:
    with loading():
        from argosy.frame.execute import execute
    return execute(plan, context)


def context_of(comm: Any) -> Context:
    from argosy.comm.ranks import ranks_of
    from argosy.frame.buffers import keep_idle
    from argosy.frame.context import Context

    ranks = ranks_of(comm)
    promised, folder = _promise()
    if promised is None:
        share = int(memory_nbytes() * _SHARE / ranks.size)
    else:
        share = max(promised - psutil.Process().memory_info().rss, promised // 4)
        keep_idle(share // 8)
    return Context(ranks=ranks, share_nbytes=share, folder=folder)


def _promise() -> tuple[int | None, Path]:
    """What the pilot has promised that this rank stays below, and where it may spill to."""
    from argosy.pilot.worker.context import current

    spill = os.environ.get("ARGOSY_SPILL")
    try:
        task = current()
    except RuntimeError:
        return None, Path(spill or tempfile.gettempdir())
    return task.memory_per_rank, Path(spill) if spill else task.folder / "spill"

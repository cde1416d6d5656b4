"""The pilot: one allocation, many tasks."""

from __future__ import annotations

import inspect
import itertools
import os
import shutil
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

import argosy
from argosy.errors import CannotPickle, LaunchFailed, NeedNotMet, NoMPI, PilotClosed
from argosy.pilot import cargo, wire
from argosy.pilot import folder as run_folder
from argosy.pilot.controller import Controller, TaskRecord
from argosy.pilot.crew import Crew
from argosy.pilot.current import current_pilot as current_pilot
from argosy.pilot.current import remember
from argosy.pilot.executable import Executable, run_executable
from argosy.pilot.fleet import Fleet
from argosy.pilot.future import Future
from argosy.pilot.launch.launched import Launched
from argosy.pilot.launch.mpiexec import Mpiexec, find_mpiexec, mpi_variables
from argosy.pilot.progress import waiting_for
from argosy.pilot.schedule import Schedule
from argosy.pilot.settings import Settings
from argosy.pilot.shelf import Parcel, Shelf, make_folders
from argosy.pilot.task import Task
from argosy.pilot.together import joins
from argosy.pilot.worker.context import current
from argosy.resources import Allocation, Need
from argosy.resources.discover.local import this_machine
from argosy.units import parse_nbytes

_FETCH_AGAIN = 2
"""How often a kept value is fetched again when its rank dies meanwhile."""


class Pilot:
    """Ranks that stay up, and a queue of tasks for them.

        with argosy.Pilot(ranks=4) as pilot:
            future = pilot.submit(lambda comm: comm.allreduce(comm.rank), ranks=3)
            print(future.result())

    Leaving the `with` block waits for all tasks; leaving it by an exception, or Ctrl-C, ends them. Either way no
    process is left behind, nor when this process is killed.
    """

    def __init__(
        self,
        ranks: int | None = None,
        *,
        launcher: str = "auto",
        memory: str | int | None = None,
        gpus: int | None = None,
        folder: str | os.PathLike[str] | None = None,
        name: str = "",
    ) -> None:
        """`ranks`: one for each core unless told. `memory`: of each node that tasks may claim together, like "16GiB".

        The ranks of a node share `memory` alike. Operations of frames that need more than a rank's share go through the
        disk; columns of persisted frames may take half of it, and the least useful of them lie on disk beyond that.
        `folder`: where the run's own folder is made (`$ARGOSY_RUNS` or `~/.argosy/runs` unless told).
        """
        if launcher not in ("auto", "mpiexec"):
            raise ValueError(f"unknown launcher {launcher!r}; there are 'auto' and 'mpiexec'")
        if ranks is not None and ranks < 1:
            raise ValueError(f"a pilot needs at least 1 rank, not {ranks}")
        nbytes = None if memory is None else parse_nbytes(memory)
        if nbytes is not None and nbytes <= 0:
            raise ValueError(f"the memory of a pilot must be above 0 bytes, not {memory!r}; write it like '16GiB'")
        mpiexec = find_mpiexec()
        if mpiexec is None:
            raise NoMPI(
                "there is no mpiexec on this machine; get one with `pip install 'argosy[mpi]'`, "
                "or load your site's MPI module; `argosy doctor` tells more"
            )
        self.allocation = this_machine(ranks, nbytes, gpus)
        self.folder = run_folder.create(None if folder is None else Path(folder))
        self.name = name or Path(sys.argv[0] or "python").name
        self._numbers = itertools.count()
        self._schedule = Schedule(self.allocation)
        self._closed = False
        memory_of_ranks = None if nbytes is None else _memory_of_ranks(self.allocation)
        self.memory_per_rank = None if memory_of_ranks is None else min(memory_of_ranks)
        """How many bytes each rank may have: its share of `memory`; None when nothing was said."""
        self._start(mpiexec, memory_of_ranks)
        remember(self)

    # Tasks -----------------------------------------------------------------------------------------------------------

    def submit(
        self,
        fn: Callable[..., Any] | Executable,
        /,
        *args: Any,
        ranks: int | None = None,
        gpus: float = 0,
        cores: int = 1,
        memory: str | int | None = None,
        timeout: float | None = None,
        retries: int = 0,
        priority: int = 0,
        name: str | None = None,
        keep: bool = False,
        **kwargs: Any,
    ) -> Future:
        """Run `fn(*args, **kwargs)` on so many ranks, each with its own `gpus`, `cores` and `memory`.

        A parameter named `comm` receives an `mpi4py.MPI.Intracomm` of the task's ranks. A Future among the arguments,
        at any depth, is waited for, and its result put in its place; one of a kept task brings this task to that
        task's ranks, where each rank gets its own value. `timeout` is in seconds, from each start. `retries` is how
        often it may be started again after an exception, a timeout or the loss of a rank.
        """
        need = _need(ranks, gpus, cores, memory)
        return self._submit(
            fn,
            args,
            kwargs,
            need,
            inherit_ranks=ranks is None,
            timeout=timeout,
            retries=retries,
            priority=priority,
            name=name,
            keep=keep,
        )

    def map(
        self, fn: Callable[..., Any], items: Iterable[Any], *, ranks: int | None = None, **options: Any
    ) -> Iterator[Any]:
        """`fn(item)` for each item, as tasks; yields their results in the order of the items, like `Executor.map`.

        All are submitted at once. `options` are those of `submit`.
        """
        packed = None if isinstance(fn, Executable) else cargo.pack_function(fn, self._shelf)
        need = _need(ranks, options.pop("gpus", 0), options.pop("cores", 1), options.pop("memory", None))
        known = {"timeout": None, "retries": 0, "priority": 0, "name": None, "keep": False}
        if unknown := options.keys() - known.keys():
            raise TypeError(f"map() got an unexpected option {min(unknown)!r}; it takes those of submit()")
        known |= options
        futures = [
            self._submit(fn, (item,), {}, need, inherit_ranks=ranks is None, packed=packed, **known)  # type: ignore[arg-type]
            for item in items
        ]
        return self._results(futures)

    # Life ------------------------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether it takes tasks."""
        return not self._closed and not self._controller.is_over

    def close(self, cancel: bool = False) -> None:
        """Wait for all tasks, or end them, and then end the ranks. More calls do nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            if not cancel:
                waiting_for(self._controller)
        finally:
            self._shut()

    def __enter__(self) -> Pilot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close(cancel=kind is not None)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<argosy.Pilot {self.name!r} {state}, {self.allocation.num_ranks} ranks, {self.folder}>"

    # What a Future asks of its pilot ---------------------------------------------------------------------------------

    def cancel(self, future: Future) -> None:
        self._controller.cancel(future.id)

    def release(self, future: Future) -> None:
        self._controller.release(future.id, soon=future.kept)

    def fetch(self, future: Future, every_rank: bool) -> Future:
        """Bring a kept value here: from every rank, or from the first alone. What is lost on the way is made again."""
        need, name = Need(ranks=future.num_ranks), f"fetch {future.name}"
        return self._submit(_own_piece, (future, every_rank), {}, need, name=name, retries_on_loss=_FETCH_AGAIN)

    def is_own_thread(self) -> bool:
        return self._controller.is_own_thread()

    # Inside ----------------------------------------------------------------------------------------------------------

    def _submit(
        self,
        fn: Callable[..., Any] | Executable,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        need: Need,
        *,
        inherit_ranks: bool = False,
        timeout: float | None = None,
        retries: int = 0,
        retries_on_loss: int = 0,
        priority: int = 0,
        name: str | None = None,
        keep: bool = False,
        packed: tuple[bytes | Parcel, dict[int, Future]] | None = None,
    ) -> Future:
        """What `submit` does, with two more things to say, for the parts of Argosy above the pilot.

        `inherit_ranks`: as many ranks as the first kept value among the arguments has, whatever the need says.
        `retries_on_loss`: how often it may be started again when a rank was lost in it, before that uses one of its
        `retries`; an exception of the function or a timeout never uses it. Values that were lost with the rank are made
        again first.
        """
        if not self.is_open:
            raise PilotClosed("this pilot has ended; start another one")
        if isinstance(fn, Executable):
            fn, args, name = run_executable, (fn, *args), name or str(fn)
        if not callable(fn):
            raise TypeError(f"submit takes a function or an argosy.Executable, not {type(fn).__qualname__}")
        if timeout is not None and timeout <= 0:
            raise ValueError(f"timeout is in seconds and must be above 0, not {timeout}")
        if retries < 0:
            raise ValueError(f"retries must not be negative: {retries}")
        if retries_on_loss < 0:
            raise ValueError(f"retries on loss must not be negative: {retries_on_loss}")
        wants_comm = _wants_comm(fn, args, kwargs)
        call = cargo.pack_call(fn, args, kwargs, packed, self._shelf)
        for one in call.inputs:
            if one.owner is not self:
                raise CannotPickle(f"{one!r} belongs to another pilot; pass its result instead")
        kept = tuple(one.id for one in call.inputs if one.kept)
        if kept and inherit_ranks:
            lives_on = next(one.num_ranks for one in call.inputs if one.kept)
            need = Need(
                ranks=lives_on,
                cores_per_rank=need.cores_per_rank,
                gpus_per_rank=need.gpus_per_rank,
                nbytes_per_rank=need.nbytes_per_rank,
            )
        never = self._schedule.can_ever_fit(need)
        if never is not None:
            raise NeedNotMet(never.asked, never.there)
        task = Task(
            id=next(self._numbers),
            need=need,
            name=name or getattr(fn, "__qualname__", None) or type(fn).__qualname__,
            priority=priority,
            timeout_seconds=timeout,
            retries=retries,
            retries_on_loss=retries_on_loss,
            keep=keep,
            after=tuple(one.id for one in call.inputs),
            on=kept,
        )
        future = Future(self, task.id, task.name, need.ranks, keep, cargo.unpack_value)
        self._controller.submit(TaskRecord(task, call, wants_comm, future))
        joins(future)
        return future

    def _results(self, futures: list[Future]) -> Iterator[Any]:
        futures.reverse()
        try:
            while futures:
                yield futures.pop().result()
        finally:
            for future in futures:
                future.cancel()

    def _start(self, mpiexec: Mpiexec, memory_of_ranks: list[int] | None) -> None:
        sockets = Path(tempfile.mkdtemp(prefix="argosy-"))
        server = wire.Server(f"ipc://{sockets}/control")
        server.keys.save(run_folder.key_file(self.folder))
        self._shelf = Shelf(make_folders())
        environment = mpiexec.environment(os.environ, one_machine=True)
        Settings(
            ulfm=mpiexec.ulfm,
            python_path=[path or str(Path.cwd()) for path in sys.path],
            mpiexec=mpiexec.prefix(survive=False),
            mpiexec_environment=mpi_variables(environment),
            environment=mpi_variables(os.environ),
            shelf=[str(place) for place in self._shelf.folders],
            memory_per_rank=memory_of_ranks,
        ).save(self.folder)
        log = run_folder.EventLog(self.folder)
        self._controller = controller = Controller(self._schedule, server, log, self.folder)
        num_ranks = self.allocation.num_ranks
        command = mpiexec.command(num_ranks, [sys.executable, "-m", "argosy.pilot.worker", str(self.folder)])
        secrets = [sockets, *self._shelf.folders, run_folder.key_file(self.folder).parent]
        log_path = run_folder.launcher_log(self.folder)
        crew = Crew(
            Fleet(num_ranks, mpiexec.ulfm),
            server,
            self.folder,
            lambda: Launched(command, environment, log_path, secrets),
            None,
            lambda now, state, rank, fields: controller.record(now, "rank", rank, state, fields),
        )
        self._record_start(mpiexec)
        controller.start(crew)
        self._shut = weakref.finalize(self, _shut, controller, secrets, os.getpid())
        if not controller.wait_until_up():
            said = crew.log_tail()
            self._closed = True
            self._shut()
            raise LaunchFailed(
                f"the ranks did not come up with `{' '.join(command[:6])} ...`; `argosy doctor` may tell why; "
                f"the launcher said:\n{said}"
            )

    def _record_start(self, mpiexec: Mpiexec) -> None:
        nodes = [
            {"name": node.name, "ranks": node.ranks, "cores": node.cores, "gpus": node.gpus, "nbytes": node.nbytes}
            for node in self.allocation.nodes
        ]
        fields = {
            "name": self.name,
            "pid": os.getpid(),
            "mpi": f"{mpiexec.flavour} {mpiexec.version}",
            "ulfm": mpiexec.ulfm,
            "version": argosy.__version__,
            "nodes": nodes,
        }
        self._controller.record(time.monotonic(), "run", 0, "started", fields)


def _shut(controller: Controller, secrets: list[Path], creator: int) -> None:
    """Runs once: at `close`, when the pilot is garbage, or when the interpreter ends."""
    if os.getpid() != creator:
        return  # a fork of the user's process; the pilot is not its own
    controller.close(PilotClosed("the pilot ended before the task had"))
    for path in secrets:
        shutil.rmtree(path, ignore_errors=True)


def _memory_of_ranks(allocation: Allocation) -> list[int]:
    """The ranks of a node share what it has alike."""
    return [node.nbytes // node.ranks for node in allocation.nodes for _ in range(node.ranks)]


def _own_piece(value: Any, every_rank: bool) -> Any:
    return value if every_rank or current().start.position == 0 else None


def _wants_comm(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the function has a parameter `comm` that the caller has left to us."""
    code = getattr(fn, "__code__", None)
    if code is not None and "comm" not in code.co_varnames and not hasattr(fn, "__wrapped__"):
        return False
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return False  # a builtin that does not tell
    if "comm" not in signature.parameters:
        return False
    try:
        return "comm" not in signature.bind_partial(*args, **kwargs).arguments
    except TypeError:
        return False  # the call itself is wrong; it will say so where it is made


@lru_cache(maxsize=256)
def _need(ranks: int | None, gpus: float, cores: int, memory: str | int | None) -> Need:
    return Need(
        ranks=1 if ranks is None else ranks,
        cores_per_rank=cores,
        gpus_per_rank=gpus,
        nbytes_per_rank=0 if memory is None else parse_nbytes(memory),
    )

"""The pilot: one allocation, many tasks."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import argosy
from argosy import arguments
from argosy.comm.parameter import fill
from argosy.errors import CannotPickle, LaunchFailed, NeedNotMet, NoMPI, PilotClosed
from argosy.pilot import cargo, estate, private, wire
from argosy.pilot import folder as run_folder
from argosy.pilot.callbacks import Callback
from argosy.pilot.cargo import Packed
from argosy.pilot.controller import Controller, TaskRecord
from argosy.pilot.crew import Crew, start_limit
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
from argosy.pilot.shelf import Shelf, free_nbytes, make_folders
from argosy.pilot.task import Task
from argosy.pilot.together import joins
from argosy.pilot.wire import silence_limit
from argosy.pilot.worker.context import current
from argosy.resources import Allocation, Asked, Need, judge
from argosy.resources.discover.local import this_machine
from argosy.units import parse_nbytes

_OPTIONS = frozenset({"gpus", "cores", "memory", "timeout", "retries", "priority", "name", "keep"})
_MPI_NBYTES = 16 * 1024 * 1024
"""What the files of an MPI take, and more."""
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
        `gpus`: the first so many, unless told all, of those that `CUDA_VISIBLE_DEVICES` names or the machine has.
        `folder`: where the run's own folder is made (`$ARGOSY_RUNS` or `~/.argosy/runs` unless told).
        """
        arguments.one_of("launcher", launcher, ("auto", "mpiexec"))
        nbytes = None if memory is None else parse_nbytes(memory, "memory", least=1)
        asked_folder = None if folder is None else Path(arguments.path("folder", folder))
        asked_name = arguments.text("name", name)
        allocation = this_machine(ranks, nbytes, gpus)
        silence_limit(), start_limit()  # a variable that says no time is told of before anything is made
        mpiexec = find_mpiexec()
        if mpiexec is None:
            raise NoMPI(
                "there is no mpiexec on this machine; get one with `pip install 'argosy[mpi]'`, "
                "or load your site's MPI module; `argosy doctor` tells more"
            )
        self.allocation = allocation
        self.folder = run_folder.create(asked_folder)
        self.name = asked_name or Path(sys.argv[0] or "python").name
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
        cores: int | None = None,
        memory: str | int | None = None,
        timeout: float | None = None,
        retries: int = 0,
        priority: int = 0,
        name: str | None = None,
        keep: bool = False,
        **kwargs: Any,
    ) -> Future:
        """Run `fn(*args, **kwargs)` on so many ranks, each with its own `gpus`, `cores` and `memory`.

        A parameter named `comm`, wherever it stands, receives an `mpi4py.MPI.Intracomm` of the task's ranks. A Future
        among the arguments, at any depth, is waited for, and its result put in its place; one of a kept task brings
        this task to that task's ranks, where each rank gets its own value. `timeout` is in seconds, from each start.
        `retries` is how often it may be started again after an exception, a timeout or the loss of a rank.
        With `cores` a rank runs on so many cores of its own, and its libraries with as many threads; unless told it
        counts as one core and is held to none. A task that adds more than `memory` to its process, the processes that
        it starts included, ends with `MemoryExceeded`. What a task changes in its process is undone after it.
        """
        asked = judge(
            ranks=ranks,
            gpus=gpus,
            cores=cores,
            memory=memory,
            timeout=timeout,
            retries=retries,
            priority=priority,
            name=name,
            keep=keep,
        )
        return self._submit_as(asked, fn, args, kwargs)

    def map(
        self, fn: Callable[..., Any], items: Iterable[Any], *, ranks: int | None = None, **options: Any
    ) -> Iterator[Any]:
        """`fn(item)` for each item, as tasks; yields their results in the order of the items, like `Executor.map`.

        All are submitted at once. `options` are those of `submit`.
        """
        if unknown := options.keys() - _OPTIONS:
            raise TypeError(f"map() got an unexpected option {min(unknown)!r}; it takes those of submit()")
        asked = judge(ranks=ranks, **options)
        try:
            iterator = iter(items)
        except TypeError:
            raise TypeError(f"items must be something to go through, like a list: {arguments.show(items)}") from None
        futures: list[Future] = []
        packed: list[Packed] = []

        def pack(function: Callable[..., Any]) -> Packed:
            if not packed:
                packed.append(cargo.pack_function(function, self._shelf))
            return packed[0]

        try:
            for item in iterator:
                futures.append(self._submit_as(asked, fn, (item,), {}, pack))  # noqa: PERF401 - each counts if one fails
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return self._results(futures)

    # Life ------------------------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether it takes tasks."""
        return not self._closed and not self._controller.is_over

    def close(self, cancel: bool = False) -> None:
        """Wait for all tasks, or end them, and then end the ranks. More calls do nothing."""
        cancel = arguments.flag("cancel", cancel)
        if self._closed:
            return
        self._closed = True
        try:
            if not cancel:
                waiting_for(self._controller)
        finally:
            self._shut()
        if not cancel:
            self._controller.wait_for_callbacks()

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

    def tell(self, callback: Callback, future: Future) -> None:
        self._controller.tell(callback, future)

    # Inside ----------------------------------------------------------------------------------------------------------

    def leave_to_parent(self) -> None:
        """In the child of a fork: nothing of the pilot is in this process but its name, and it must not wait for it."""
        self._estate.let_go()
        self._controller.leave_to_parent(
            PilotClosed(
                f"this pilot belongs to process {os.getppid()}, of which this one is a fork; call it there, or start "
                "another pilot here"
            )
        )

    def _say_closed(self) -> NoReturn:
        failure = self._controller.failure
        if failure is None:
            raise PilotClosed("this pilot has ended; start another one")
        raise PilotClosed(str(failure)) from failure.__cause__

    def _submit_as(
        self,
        asked: Asked,
        fn: Callable[..., Any] | Executable,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        pack: Callable[[Callable[..., Any]], Packed] | None = None,
    ) -> Future:
        return self._submit(
            fn,
            args,
            kwargs,
            asked.need,
            inherit_ranks=asked.inherit_ranks,
            timeout=asked.timeout,
            retries=asked.retries,
            priority=asked.priority,
            name=asked.name,
            keep=asked.keep,
            pack=pack,
        )

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
        pack: Callable[[Callable[..., Any]], Packed] | None = None,
    ) -> Future:
        """What `submit` does with arguments that were judged, and two more things to say, for Argosy's parts above.

        `inherit_ranks`: as many ranks as the first kept value among the arguments has, whatever the need says.
        `retries_on_loss`: how often it may be started again when a rank was lost in it, before that uses one of its
        `retries`; an exception of the function or a timeout never uses it. Values that were lost with the rank are made
        again first. `pack` packs the function, where many tasks share it.
        """
        if not self.is_open:
            self._say_closed()
        if isinstance(fn, Executable):
            if args or kwargs:
                raise TypeError(f"{fn!r} takes no arguments; put them among its words")
            fn, args, name = run_executable, (fn,), name or str(fn)
        if not callable(fn):
            raise TypeError(f"submit takes a function or an argosy.Executable, not {arguments.show(fn)}")
        name = name or _name_of(fn)
        filled = fill(fn, args, kwargs, cargo.COMMUNICATOR)
        if filled is not None:
            fn, args, kwargs = filled
        call = cargo.pack_call(fn, args, kwargs, pack(fn) if pack is not None else None, self._shelf)
        for one in call.inputs:
            if one.owner is not self:
                raise CannotPickle(f"{one!r} belongs to another pilot; pass its result instead")
        kept = tuple(one.id for one in call.inputs if one.kept)
        if kept and inherit_ranks:
            lives_on = next(one.num_ranks for one in call.inputs if one.kept)
            need = replace(need, ranks=lives_on)
        never = self._schedule.can_ever_fit(need)
        if never is not None:
            raise NeedNotMet(never.asked, never.there)
        task = Task(
            id=next(self._numbers),
            need=need,
            name=name,
            priority=priority,
            timeout_seconds=timeout,
            retries=retries,
            retries_on_loss=retries_on_loss,
            keep=keep,
            after=tuple(one.id for one in call.inputs),
            on=kept,
        )
        future = Future(self, task.id, task.name, need.ranks, keep, cargo.unpack_value)
        self._controller.submit(TaskRecord(task, call, filled is not None, future))
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
        estate.sweep()
        keys = run_folder.key_file(self.folder)
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, keys.parent, ignore_errors=True)
            self._estate = mine = estate.make(keys.parent)
            undo.callback(mine.remove)
            try:
                server = wire.Server(f"ipc://{mine.folder}/control", silence_limit())
                undo.callback(server.close)
                server.keys.save(keys)
                self._shelf = Shelf(make_folders(mine.folders))
                environment = mpiexec.environment(os.environ, one_machine=True)
                environment = mpiexec.folders(*_for_mpi(mine)) | environment  # what it leaves when a rank is killed
                environment[estate.VARIABLE] = str(mine.folder)
                self._save_settings(mpiexec, environment, memory_of_ranks)
                log = run_folder.EventLog(self.folder)
            except OSError as error:
                raise run_folder.not_writable(self.folder, error) from error
            self._controller = controller = Controller(self._schedule, server, log, self.folder)
            undo.pop_all()
        num_ranks = self.allocation.num_ranks
        secrets = [*reversed(mine.folders), keys.parent]

        def launch(number: int) -> Launched:
            return Launched([*command, str(number)], environment, log_path, secrets, mine.lock)

        command = mpiexec.command(num_ranks, [sys.executable, "-m", "argosy.pilot.worker", str(self.folder)])
        log_path = run_folder.launcher_log(self.folder)
        crew = Crew(
            Fleet(num_ranks, mpiexec.ulfm),
            server,
            self.folder,
            launch,
            None,
            lambda now, state, rank, fields: controller.record(now, "rank", rank, state, fields),
        )
        self._record_start(mpiexec)
        controller.start(crew)
        self._shut = weakref.finalize(self, _shut, controller, mine, keys.parent, os.getpid())
        try:
            is_up = controller.wait_until_up()
        except BaseException:  # Ctrl-C
            self._closed = True
            self._shut()
            raise
        if not is_up:
            said = crew.log_tail() if controller.failure is None else str(controller.failure)
            self._closed = True
            self._shut()
            raise LaunchFailed(
                f"the ranks did not come up with `{' '.join(command[:6])} ...`; `argosy doctor` may tell why; "
                f"the launcher said:\n{said}"
            ) from controller.failure

    def _save_settings(self, mpiexec: Mpiexec, environment: dict[str, str], memory_of_ranks: list[int] | None) -> None:
        Settings(
            ulfm=mpiexec.ulfm,
            python_path=[path or str(Path.cwd()) for path in sys.path],
            mpiexec=mpiexec.prefix(survive=False),
            mpiexec_environment=mpi_variables(environment),
            environment=mpi_variables(os.environ),
            shelf=[str(place) for place in self._shelf.folders],
            memory_per_rank=memory_of_ranks,
        ).save(self.folder)

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


def _shut(controller: Controller, mine: estate.Estate, keys: Path, creator: int) -> None:
    """Runs once: at `close`, when the pilot is garbage, or when the interpreter ends."""
    if os.getpid() != creator:
        return  # a fork of the user's process; the pilot is not its own
    if not controller.close(PilotClosed("the pilot ended before the task had")):
        estate.end_processes(mine.folder)
    shutil.rmtree(keys, ignore_errors=True)
    mine.remove()


def _for_mpi(mine: estate.Estate) -> tuple[Path, Path]:
    """Folders for its files and for the memory that its processes share."""
    files = next((place for place in reversed(mine.folders) if free_nbytes(place) >= _MPI_NBYTES), mine.folder)
    made = files / "mpi", mine.folder / "memory"
    for folder in made:
        private.make_folder(folder)
    return made


def _memory_of_ranks(allocation: Allocation) -> list[int]:
    """The ranks of a node share what it has alike."""
    return [node.nbytes // node.ranks for node in allocation.nodes for _ in range(node.ranks)]


def _own_piece(value: Any, every_rank: bool) -> Any:
    return value if every_rank or current().start.position == 0 else None


def _name_of(fn: Callable[..., Any]) -> str:
    """Of a partial that of what it calls."""
    while isinstance(fn, partial):
        fn = fn.func
    name = getattr(fn, "__qualname__", None)
    return name if isinstance(name, str) and name else type(fn).__qualname__

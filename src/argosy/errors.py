"""Everything that can go wrong, by whose fault it was.

    ArgosyError
    ├── PilotError              the pilot itself
    │   ├── NoMPI               there is no usable mpiexec or mpi4py on this machine
    │   ├── LaunchFailed        the ranks did not come up
    │   ├── PilotClosed         a task was submitted to, or lost with, a pilot that has ended
    │   └── FolderNotWritable   the run's folder cannot be made or written to
    ├── NeedNotMet              a task asks for more than the pilot can ever give (also a ValueError)
    ├── CannotPickle            a function, argument or result cannot travel (also a TypeError)
    ├── FrameError              a table, a frame or an expression
    │   ├── UnknownColumn       there is no column of this name (also a KeyError)
    │   ├── TypeMismatch        an expression, key or column has a type that does not fit (also a TypeError)
    │   ├── SchemaMismatch      files or frames that should have the same columns do not
    │   ├── BadFile             a file cannot be read: missing, truncated, corrupt, not what its name says
    │   ├── RanksDiffer         ranks of one call gave other columns or options, or one of them failed; names it
    │   ├── DiskFull            the disk filled up under a spill or a write (also an OSError)
    │   └── ResultTooLarge      a result does not fit into the memory of the process that asked for it
    ├── TrainError              a training run
    │   ├── BadData             the samples cannot be learned from: nulls, unequal lengths, a class never seen
    │   ├── BadBatch            a batch size that does not go with the samples or the workers (also a ValueError)
    │   ├── LossNotFinite       the loss became NaN or infinite; says step, rank and batch
    │   ├── BadCheckpoint       a checkpoint of another model, or none that is whole
    │   ├── RanksDisagree       ranks that should hold the same, or agree on a number, do not
    │   ├── PeerFailed          another rank of the run failed; names it, and what it said
    │   └── TooFewSeeds         an interval was asked for, but there is one seed (also a ValueError)
    ├── ShuffleError            an exchange of samples
    │   ├── BadFraction         a share to exchange that is not from 0 to 1 (also a ValueError)
    │   ├── TooFewSamples       some ranks would have none (also a ValueError)
    │   ├── CannotPack          a sample cannot travel (also a TypeError)
    │   ├── BadState            a state that belongs to other samples, or to no place in an epoch (also a ValueError)
    │   ├── NotOurs             bytes that no rank of this run has sent; they were not unpickled
    │   └── PeerLost            a rank was gone, or fell silent, while samples were exchanged; names it
    ├── TreeError               a futurized function
    │   ├── CannotFuturize      its source is not to be had or cannot be analysed, and strict=True (also a TypeError)
    │   └── NotDifferentiable   something on the way of a gradient has none; names it and the line (also a TypeError)
    ├── PlacementError          which byte lives where
    │   ├── NoTier              this machine lacks a kind of memory that was asked for; says what it lacks
    │   ├── TierFull            a tier filled up in a move; the object stays whole where it was (also an OSError)
    │   ├── CannotPlace         a value that is not made of plain bytes (also a TypeError)
    │   ├── UnknownObject       a store, trace or estimator knows no object of this name (also a KeyError)
    │   ├── ObjectFreed         an object was freed in the middle of a window that used it
    │   ├── TooNoisy            repeats of one run differ by more than the noise that was allowed
    │   ├── BadTrace            a trace that is empty, or of another program (also a ValueError)
    │   └── CapacityTooSmall    what must be fast does not fit; says the least that would do (also a ValueError)
    └── TaskError               one task
        ├── RankLost            a rank died under it
        ├── TaskTimeout         it ran longer than its timeout (also a TimeoutError)
        ├── MemoryExceeded      it took more memory than its `memory=` (also a MemoryError)
        ├── CudaTied            its rank could not be given its GPUs, because CUDA works there with others
        ├── TaskExited          it called sys.exit
        ├── TaskFailed          it raised something that cannot itself travel
        ├── InputFailed         a task whose result it takes did not end well
        ├── ValueLost           the kept value it needs is gone
        └── ExecutableFailed    its program ended with another status than 0

An exception that a task's function raises comes back as itself, with a `RemoteTraceback` as its cause.
"""

from __future__ import annotations

import errno
import signal as signals
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from argosy import arguments
from argosy.units import format_nbytes


class ArgosyError(Exception):
    """Base of all of them. The attributes are the facts; they survive pickling."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), str(self)), self.__dict__


def _rebuild(kind: type[ArgosyError], message: str) -> ArgosyError:
    error = kind.__new__(kind)
    error.args = (message,)
    return error


class PilotError(ArgosyError):
    pass


class NoMPI(PilotError):
    pass


class LaunchFailed(PilotError):
    pass


class PilotClosed(PilotError):
    pass


class FolderNotWritable(PilotError):
    pass


class NeedNotMet(ArgosyError, ValueError):
    def __init__(self, asked: str, there: str) -> None:
        self.asked = asked
        self.there = there
        super().__init__(f"a task needs {asked}, but this pilot has {there}; ask for fewer or start a larger pilot")


class CannotPickle(ArgosyError, TypeError):
    pass


class FrameError(ArgosyError):
    pass


class UnknownColumn(FrameError, KeyError):
    """Says which columns there are, and the nearest name."""

    def __init__(self, name: str, there: Iterable[str]) -> None:
        self.name = name
        self.there = list(there)
        near = get_close_matches(name[:1000], self.there, n=1, cutoff=0.6)
        hint = f", did you mean {near[0]!r}?" if near else ""
        shown = ", ".join(self.there[:30]) + (", ..." if len(self.there) > 30 else "")
        super().__init__(f"there is no column {arguments.show(name)}{hint}; there are: {shown or 'none'}")

    def __str__(self) -> str:
        return str(self.args[0])


class TypeMismatch(FrameError, TypeError):
    pass


class SchemaMismatch(FrameError):
    pass


class BadFile(FrameError):
    def __init__(self, path: str, why: str) -> None:
        self.path = path
        super().__init__(f"{path}: {why}")


class RanksDiffer(FrameError):
    def __init__(self, rank: int, how: str) -> None:
        self.rank = rank
        super().__init__(how)


class DiskFull(FrameError, OSError):
    def __init__(self, path: str, doing: str) -> None:
        self.path = path
        super().__init__(f"the disk is full: {doing} in {path}; free some space or name another folder")

    def __str__(self) -> str:
        return str(self.args[0])


class ResultTooLarge(FrameError):
    pass


class TrainError(ArgosyError):
    pass


class BadData(TrainError):
    pass


class BadBatch(TrainError, ValueError):
    pass


class LossNotFinite(TrainError):
    def __init__(self, loss: float, step: int, rank: int, samples: str, kept: str) -> None:
        self.loss = loss
        self.step = step
        self.rank = rank
        super().__init__(
            f"the loss became {loss} at step {step} on rank {rank}, in the batch with {samples}; "
            f"lower the learning rate, clip gradients, or look at these samples; {kept}"
        )


class BadCheckpoint(TrainError):
    pass


class RanksDisagree(TrainError):
    pass


class PeerFailed(TrainError):
    def __init__(self, rank: int, said: str) -> None:
        self.rank = rank
        super().__init__(f"rank {rank} of this run failed, and the others stopped with it; it said: {said}")


class TooFewSeeds(TrainError, ValueError):
    pass


class ShuffleError(ArgosyError):
    pass


class BadFraction(ShuffleError, ValueError):
    pass


class TooFewSamples(ShuffleError, ValueError):
    pass


class CannotPack(ShuffleError, TypeError):
    pass


class BadState(ShuffleError, ValueError):
    pass


class NotOurs(ShuffleError):
    pass


class PeerLost(ShuffleError):
    def __init__(self, rank: int, said: str) -> None:
        self.rank = rank
        super().__init__(
            f"rank {rank} was lost while samples were exchanged ({said}); the samples of the present epoch are all "
            "still here: go on from the last checkpoint, with as many ranks as are left"
        )


class TreeError(ArgosyError):
    pass


class CannotFuturize(TreeError, TypeError):
    pass


class NotDifferentiable(TreeError, TypeError):
    pass


class PlacementError(ArgosyError):
    pass


class NoTier(PlacementError):
    pass


class TierFull(PlacementError, OSError):
    pass


class CannotPlace(PlacementError, TypeError):
    pass


class UnknownObject(PlacementError, KeyError):
    """Says which objects there are, and the nearest name."""

    def __init__(self, name: str, there: Iterable[str]) -> None:
        self.name = name
        self.there = list(there)
        near = get_close_matches(name[:1000], self.there, n=1, cutoff=0.6)
        hint = f", did you mean {near[0]!r}?" if near else ""
        super().__init__(
            f"there is no object {arguments.show(name)}{hint}; there are: {', '.join(self.there) or 'none'}"
        )

    def __str__(self) -> str:
        return str(self.args[0])


class ObjectFreed(PlacementError):
    pass


class TooNoisy(PlacementError):
    pass


class BadTrace(PlacementError, ValueError):
    pass


class CapacityTooSmall(PlacementError, ValueError):
    def __init__(self, message: str, *, least_nbytes: int) -> None:
        self.least_nbytes = least_nbytes
        super().__init__(message)


class TaskError(ArgosyError):
    pass


class RankLost(TaskError):
    """Names the rank, its node, and the signal or exit code where the launcher knew it.

    `silent`: it neither worked nor died, as when it was stopped or its machine hung, and was killed for that.
    """

    def __init__(
        self,
        task: str,
        rank: int,
        node: str,
        signal: int | None = None,
        exit_code: int | None = None,
        log: str = "",
        silent_seconds: float | None = None,
        broken: str = "",
    ) -> None:
        self.rank = rank
        self.node = node
        self.signal = signal
        self.exit_code = exit_code
        self.silent = silent_seconds is not None
        if silent_seconds is not None:
            how = f"it did not answer for {silent_seconds:g} s, stopped or on a machine that hangs, and was ended"
        elif broken:
            how = f"it was ended because what it sent could not be understood ({broken})"
        elif signal is not None:
            how = f"killed by {signal_name(signal)} (signal {signal})"
        elif exit_code is not None:
            how = f"ended by itself with exit code {exit_code}"
        else:
            how = "gone"
        hint = "; out of memory is a common reason" if signal == signals.SIGKILL and not (self.silent or broken) else ""
        where = f"; its output is in {log}" if log else ""
        super().__init__(
            f"{task} lost rank {rank} on node {node}: {how}{hint}{where}; "
            "give it retries=1 to run again on ranks that live"
        )


class TaskTimeout(TaskError, TimeoutError):
    def __init__(self, task: str, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"{task} ran longer than its timeout of {seconds:g} s and was stopped")


class MemoryExceeded(MemoryError, TaskError):  # this way round: a MemoryError makes itself in a way of its own
    """Names the rank, what was asked for and what was taken."""

    def __init__(self, task: str, rank: int, node: str, asked_nbytes: int, num_ranks: int, took_nbytes: int) -> None:
        """`num_ranks`: so many ranks of a program took that together, started by this one."""
        self.rank = rank
        self.node = node
        self.asked_nbytes = asked_nbytes
        self.num_ranks = num_ranks
        self.took_nbytes = took_nbytes
        each = f" for each of {num_ranks} ranks" if num_ranks > 1 else ""
        super().__init__(
            f"{task} asked for memory={format_nbytes(asked_nbytes)!r}{each} and took {format_nbytes(took_nbytes)} "
            f"on rank {rank}, node {node}, and was ended; ask for more, or have it work on less at a time"
        )


class CudaTied(TaskError):
    def __init__(self, task: str, rank: int, node: str) -> None:
        self.rank = rank
        self.node = node
        super().__init__(
            f"{task} was given GPUs on rank {rank}, node {node}, where CUDA had begun with others in an earlier task, "
            "and a process cannot change them; the rank has been replaced: give the task retries=1 to run again, and "
            "have every task that uses a GPU ask for it with gpus="
        )


class TaskExited(TaskError):
    def __init__(self, code: object) -> None:
        self.code = code
        super().__init__(f"the task called sys.exit({code!r}); return a value or raise an exception instead")


class TaskFailed(TaskError):
    pass


class InputFailed(TaskError):
    pass


class ValueLost(TaskError):
    pass


class ExecutableFailed(TaskError):
    def __init__(self, command: list[str], returncode: int, stderr_tail: str, stderr_path: str) -> None:
        self.command = command
        self.returncode = returncode
        self.stderr_path = stderr_path
        how = f"was killed by {signal_name(-returncode)}" if returncode < 0 else f"ended with status {returncode}"
        said = f"; it said last:\n{stderr_tail}" if stderr_tail else ""
        super().__init__(f"{' '.join(command)} {how}; its stderr is in {stderr_path}{said}")


class RemoteTraceback(Exception):
    """Where a task failed, as text: the cause of the exception that the task raised."""

    def __init__(self, rank: int, node: str, text: str) -> None:
        self.rank = rank
        self.node = node
        self.text = text
        super().__init__(rank, node, text)

    def __str__(self) -> str:
        return f"on rank {self.rank}, node {self.node}:\n{self.text}"


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and those it came from, each once: a user's may lead back to itself."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__context__ if error.__cause__ is None else error.__cause__


def disk_is_full(error: OSError) -> bool:
    """Or the user's share of it, or the file is larger than the file system takes."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return "an unknown signal"

"""Kept values and the tasks that need them: the lost are made again when somebody needs them, the released go."""

from __future__ import annotations

from collections import Counter

from argosy.pilot.capacity import Capacity
from argosy.pilot.entry import Entry, Work
from argosy.pilot.protocol import Cause, Drop, Lost, NeverFits, Raised, TimedOut, ValueGone
from argosy.pilot.residents import Residents, Value
from argosy.pilot.shape import PLAIN, shape_of
from argosy.pilot.task import State


class Lineage:
    """Who needs which value. A value lives until it is released and every task that was submitted for it is over."""

    def __init__(self, work: Work, capacity: Capacity) -> None:
        self._work = work
        self._capacity = capacity
        self._residents = Residents()

    def __len__(self) -> int:
        """How many values are held."""
        return len(self._residents)

    def use(self, entry: Entry) -> Cause | None:
        """Note that a task will run on the values it names, or say which of them cannot be had."""
        for dep in entry.task.on:
            other = self._work.entries.get(dep)
            if other is None or other.kept is None:
                return ValueGone(dep, "its value was released" if entry.finished else "its value was not kept")
            other.kept.users[entry.task.id] = None
        return None

    def leave(self, entry: Entry) -> None:
        """The task is over and needs the values no more."""
        for other in self._leave(entry):
            self.forget_if_unused(other)

    def wait(self, entry: Entry) -> bool:
        """Whether values that the task runs on are lost. They are made again then, and it waits for them."""
        for dep in entry.task.on:
            other = self._work.entries[dep]
            if other.kept is None or other.kept.value is Value.HELD:
                continue
            entry.waits = (entry.waits or set()) | {dep}
            other.kept.waiters.append(entry.task.id)
            if other.kept.value is Value.LOST:
                self._remake(other)
        return bool(entry.waits)

    def ranks_for(self, entry: Entry) -> tuple[tuple[int, ...], Cause | None]:
        """The ranks of the values that the task runs on, or why they do not do."""
        capacity, need, shape = self._capacity, entry.task.need, shape_of(entry.task.need)
        first, *others = entry.task.on
        ranks = self._ranks_of(first)
        for dep in others:
            if self._ranks_of(dep) != ranks:
                return ranks, ValueGone(dep, f"it is not on the same ranks as that of task {first}")
        if need.ranks != len(ranks):
            return ranks, ValueGone(first, f"it is on {len(ranks)} ranks, but the task has {need.ranks}")
        if shape != PLAIN:
            for node, count in Counter(capacity.node_of_rank[rank] for rank in ranks).items():
                if capacity.most(node, shape) < count:
                    name = capacity.allocation.nodes[node].name
                    return ranks, ValueGone(first, f"it is on node {name}, which has less than the task needs")
        return ranks, None

    def home(self, entry: Entry) -> tuple[int, ...] | None:
        """Where a lost value is made again. The caller has made sure that its need can still be met."""
        assert entry.kept is not None
        capacity, shape = self._capacity, shape_of(entry.task.need)
        return self._residents.home(
            entry.kept.ranks, capacity.dead, capacity.node_of_rank, lambda node: capacity.most(node, shape)
        )

    def hold(self, entry: Entry, ranks: tuple[int, ...]) -> None:
        """The task is done and has left a piece of its value on each of these ranks."""
        if entry.kept is not None:
            entry.kept.ranks = ranks
            entry.kept.value = Value.HELD
            self._residents.hold(entry.task.id, ranks)

    def lose(self, rank: int) -> None:
        """A rank died: values with a piece there are lost, their other pieces useless; who is queued for them waits."""
        work = self._work
        for task in self._residents.on(rank):
            kept = work.entries[task].kept
            assert kept is not None
            kept.value = Value.LOST
            self._residents.drop(task, kept.ranks)
            if len(kept.ranks) > 1:
                work.out.append(Drop(task, tuple(other for other in kept.ranks if other != rank)))
            for user in kept.users:
                other = work.entries[user]
                if other.state is State.QUEUED:
                    work.unqueue(other)
                    work.todo.append((other, None))

    def remade(self, entry: Entry, cause: Cause | None) -> None:
        """A lost value was made again, or could not be, for a cause."""
        task, kept = entry.task.id, entry.kept
        assert kept is not None
        waiters, kept.waiters = kept.waiters, []
        if cause is not None:
            kept.value = Value.LOST
        entry.state = State.DONE
        self._work.settle_waiting(waiters, task, ValueGone(task, _why(cause)) if cause is not None else None)
        self.forget_if_unused(entry)

    def forget_if_unused(self, entry: Entry) -> None:
        """Drop a value that is released once nobody needs it. One that is just being made again is dropped then."""
        work = self._work
        unused = [entry]
        while unused:
            entry = unused.pop()
            kept, task = entry.kept, entry.task.id
            if not entry.released or not entry.finished or kept is None or kept.users or entry.attempt is not None:
                continue
            if work.entries.pop(task, None) is None:
                continue
            if kept.value is Value.HELD:
                self._residents.drop(task, kept.ranks)
                work.out.append(Drop(task, kept.ranks))
            elif kept.value is Value.REMAKING:
                work.unqueue(entry)
                entry.state = State.DONE
                unused += self._leave(entry)

    def _leave(self, entry: Entry) -> list[Entry]:
        """The task uses its values no more; whose they were."""
        owners = []
        for dep in entry.task.on:
            other = self._work.entries.get(dep)
            if other is not None and other.kept is not None:
                other.kept.users.pop(entry.task.id, None)
                owners.append(other)
        return owners

    def _remake(self, entry: Entry) -> None:
        """Run a task again whose value is lost. That uses none of its retries, and nobody is told of its end."""
        assert entry.kept is not None
        entry.kept.value = Value.REMAKING
        entry.state = State.WAITING
        entry.waits = None
        entry.forget_attempts()
        self._work.todo.append((entry, self.use(entry)))

    def _ranks_of(self, task: int) -> tuple[int, ...]:
        kept = self._work.entries[task].kept
        return kept.ranks if kept is not None else ()


def _why(cause: Cause) -> str:
    """Why a value could not be made again, in words."""
    match cause:
        case Raised(rank=rank):
            return f"it was lost with its ranks, and making it again failed on rank {rank}"
        case Lost(rank=rank):
            return f"it was lost with its ranks, and rank {rank} was lost while it was made again"
        case TimedOut(seconds=seconds):
            return f"it was lost with its ranks, and making it again took more than {seconds:g} s"
        case NeverFits(asked=asked, there=there):
            return f"it was lost with its ranks; making it again needs {asked}, but this pilot now has {there}"
        case ValueGone(task=task, why=why):
            return f"it was lost with its ranks, and so was what it is made from (task {task}: {why})"
        case _:
            return "it was lost with its ranks"

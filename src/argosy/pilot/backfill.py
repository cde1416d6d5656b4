"""Who may go ahead of the first task in line while it waits: whoever cannot delay it, however long anything runs.

Nobody knows how long a task runs. So a task may start behind a blocked one only if, whichever of the running tasks end,
the blocked one fits afterwards if and only if it would fit without that start. Two rules are enough for that:

(a) Where each rank that runs takes away exactly one place of the head's, only sums count. With F places free and R
    wanted, the head starts at the smallest sum A of sizes of running tasks with F + A >= R at the earliest, and
    A - (R - F) places are to spare.
(b) Elsewhere a task may take from a node what the head can never use there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from argosy.pilot.capacity import Capacity, Reserved
from argosy.pilot.place import place
from argosy.pilot.queue import Line
from argosy.pilot.shape import PLAIN, Shape
from argosy.resources import Slots

_MOST_WORK = 1 << 26
"""Bits that the exact sums may touch; beyond that nothing is to spare."""


def spare_ranks(running: Collection[Mapping[int, int]], free: int, wanted: int) -> int:
    """How many of the free places can be taken without delaying who wants more than are free (rule a).

    `running` says, in parts, how many running tasks there are of each size. Exact, O(wanted x sizes / 64) at worst.
    """
    short = wanted - free
    if sum(counts.get(1, 0) for counts in running) >= short:
        return 0  # the usual case, and cheap
    sizes: Counter[int] = Counter()
    for counts in running:
        sizes.update(counts)
    ascending = sorted(sizes.items())
    reach = 0  # every sum up to here can come
    work = 0
    for at, (size, count) in enumerate(ascending):
        if size > reach + 1:
            ascending = ascending[at:]
            break
        reach += size * count
        if reach >= short:
            return 0
    else:
        ascending = []
    sums, below_wanted = (1 << (reach + 1)) - 1, (1 << wanted) - 1
    for size, count in ascending:
        if size >= wanted:
            break
        count = min(count, wanted // size)
        chunk = 1
        while count:
            chunk = min(chunk, count)
            sums |= (sums << (size * chunk)) & below_wanted
            count -= chunk
            chunk *= 2
            work += wanted
        if work > _MOST_WORK:
            return 0
    enough = sums >> short
    return min(free, (enough & -enough).bit_length() - 1) if enough else free


def harmless_room(capacity: Capacity, node: int, shape: Shape, head: Shape, head_ranks: int) -> int:
    """How many ranks of a shape can go to a node without ever taking from the head what it could use there (rule b)."""
    room = capacity.room(node, shape)
    most = min(capacity.most(node, head), head_ranks)
    if not most or not room:
        return room
    if shape.gpu_parts and head.gpu_parts:
        return 0
    room = min(room, capacity.num_free[node] - most, (capacity.free_cores[node] - most * head.cores) // shape.cores)
    if shape.nbytes and head.nbytes:
        room = min(room, (capacity.free_nbytes[node] - most * head.nbytes) // shape.nbytes)
    return max(room, 0)


def counts_for(shape: Shape, head: Shape) -> bool:
    """Whether each rank of this shape takes exactly one place of the head's, wherever it runs."""
    return shape == head or (head == PLAIN and shape.cores == 1)


class Guard:
    """Stands before the first task in line during one look at the queue. `lift` it before anything is released."""

    def __init__(self, capacity: Capacity, head: Line, running: Mapping[Shape, Mapping[int, int]]) -> None:
        """`running` says how many tasks run of each shape and size."""
        self._capacity = capacity
        self._head = head
        self._spare: int | None = None
        self._reserved: list[Reserved] = []
        if head.pinned is not None:
            self._reserved = capacity.reserve(head.shape, head.pinned)
        elif all(counts_for(shape, head.shape) for shape in running):
            sizes = [{1: capacity.num_absent}, *running.values()]  # a rank that may come is like one that may end
            self._spare = spare_ranks(sizes, capacity.rooms(head.shape).total, head.ranks)

    def claim(self, line: Line) -> Slots | None:
        """Slots for the first task of the line if it fits and cannot delay the head."""
        capacity, head = self._capacity, self._head
        if head.pinned is not None:
            return capacity.try_claim(line.shape, line.ranks, line.pinned)
        if self._spare is None or not counts_for(line.shape, head.shape):
            return self._claim_harmless(line)
        if line.ranks > self._spare:
            return None
        slots = capacity.try_claim(line.shape, line.ranks, line.pinned)
        if slots is not None:
            self._spare -= line.ranks
        return slots

    @property
    def bars_single_cores(self) -> bool:
        """Whether no task with one core for each rank can start any more."""
        return self._spare == 0 and self._head.shape == PLAIN

    def lift(self) -> None:
        self._capacity.unreserve(self._reserved)
        self._reserved = []

    def _claim_harmless(self, line: Line) -> Slots | None:
        capacity, head, shape = self._capacity, self._head, line.shape

        def read(node: int) -> int:
            return harmless_room(capacity, node, shape, head.shape, head.ranks)

        if line.pinned is not None:
            on_node = Counter(capacity.node_of_rank[rank] for rank in line.pinned)
            harmless = all(read(node) >= count for node, count in on_node.items())
            return capacity.claim_ranks(shape, line.pinned) if harmless else None
        rooms = capacity.view((shape, head.shape, head.ranks), shape, read)
        shares = place(rooms, line.ranks)
        return None if shares is None else capacity.claim(shape, shares)

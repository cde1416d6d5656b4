"""What is free, on which node: ranks, cores, GPUs, memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from argosy.pilot.place import Rooms, Shares, place
from argosy.pilot.shape import PARTS, Shape
from argosy.resources import Allocation, Node, Slots


class Reserved(NamedTuple):
    """What is put aside on one node."""

    node: int
    ranks: int
    """A bit for each."""
    cores: int
    nbytes: int
    gpus: list[int]


class _View:
    """Rooms for one shape, true up to a place in the log of changed nodes."""

    __slots__ = ("read", "rooms", "seen")

    def __init__(self, rooms: Rooms, read: Callable[[int], int], seen: int) -> None:
        self.rooms, self.read, self.seen = rooms, read, seen

    def catch_up(self, log: list[int]) -> None:
        read, update = self.read, self.rooms.update
        for node in log[self.seen :] if self.seen else log:
            update(node, read(node))
        self.seen = len(log)


class Capacity:
    """The books. What is claimed is claimed once; what is released must have been claimed.

    Each change appends its node to a log, and a view of the rooms reads the log when it is asked: shapes that nobody
    uses cost nothing.
    """

    def __init__(self, allocation: Allocation) -> None:
        nodes = allocation.nodes
        self.allocation = allocation
        self.node_of_rank = allocation.node_of_each_rank()
        self.first_rank: list[int] = []
        first = 0
        for node in nodes:
            self.first_rank.append(first)
            first += node.ranks
        self.present = bytearray(first)
        self.dead = bytearray(first)
        """Ranks that are gone for good."""
        self.num_absent = first
        """Ranks that are not there but may come."""
        self.free_ranks = 0
        self.num_free = [0] * len(nodes)
        self.free_cores = [node.cores for node in nodes]
        self.free_nbytes = [node.nbytes for node in nodes]
        self.free_gpus = [[PARTS] * node.gpus for node in nodes]
        self._usual_gpus: dict[int, tuple[int, ...]] = {}
        """What each rank had first: CUDA, once it works in a process, stays with the GPUs that it began with."""
        self.living_ranks = [node.ranks for node in nodes]
        """Per node the ranks that are there or may come."""
        self._free = [0] * len(nodes)
        """Per node a bit for each free rank."""
        self._log: list[int] = []
        self._views: dict[Hashable, _View] = {}

    # What there is ---------------------------------------------------------------------------------------------------

    def room(self, node: int, shape: Shape) -> int:
        """How many ranks of this shape the node can take now."""
        cores, parts, nbytes = shape
        room = min(self.num_free[node], self.free_cores[node] // cores)
        if nbytes:
            room = min(room, self.free_nbytes[node] // nbytes)
        if parts and room:
            room = min(room, _gpu_room(self.free_gpus[node], shape))
        return room

    def most(self, node: int, shape: Shape) -> int:
        """How many ranks of this shape the node can take when it is idle and all ranks that may come are there."""
        return min(self.living_ranks[node], _whole_room(self.allocation.nodes[node], shape))

    def rooms(self, shape: Shape) -> Rooms:
        """The rooms of all nodes for this shape."""
        view = self._views.get(shape)
        if view is None:
            return self.view(shape, shape, self._reader(shape))
        if view.seen < len(self._log):
            view.catch_up(self._log)
        return view.rooms

    def view(self, key: Hashable, shape: Shape, read: Callable[[int], int]) -> Rooms:
        """The rooms for a shape as `read` tells them, which must depend on the state of its node and nothing else."""
        view = self._views.get(key)
        if view is None:
            nodes = range(len(self._free))
            whole = max((_whole_room(node, shape) for node in self.allocation.nodes), default=0)
            view = self._views[key] = _View(Rooms(map(read, nodes), whole), read, len(self._log))
        elif view.seen < len(self._log):
            view.catch_up(self._log)
        return view.rooms

    # Claim and release -----------------------------------------------------------------------------------------------

    def claim(self, shape: Shape, shares: Shares) -> Slots:
        """The lowest free ranks of these nodes, with GPUs: the fullest one that has the share, or wholly free ones."""
        cores, parts, nbytes = shape
        ranks: list[int] = []
        nodes: list[int] = []
        gpus: list[tuple[int, ...]] = []
        for node, count in shares:
            free = self._free[node]
            low = free & -free
            first = self.first_rank[node] + low.bit_length() - 1
            side_by_side = (low << count) - low
            if free & side_by_side == side_by_side:
                free ^= side_by_side
                ranks.extend(range(first, first + count))
            else:
                base = self.first_rank[node] - 1
                for _ in range(count):
                    low = free & -free
                    free ^= low
                    ranks.append(base + low.bit_length())
            self._free[node] = free
            nodes += [node] * count
            self.num_free[node] -= count
            self.free_ranks -= count
            self.free_cores[node] -= count * cores
            self.free_nbytes[node] -= count * nbytes
            if parts:
                gpus.extend(self._take_gpus(node, ranks[-count:], shape))
            self._log.append(node)
        return Slots(tuple(ranks), tuple(nodes), tuple(gpus))

    def claim_ranks(self, shape: Shape, ranks: Sequence[int]) -> Slots | None:
        """Exactly these ranks, if all of them and what they need are free."""
        count: dict[int, int] = {}
        for rank in ranks:
            node = self.node_of_rank[rank]
            if not self._free[node] >> (rank - self.first_rank[node]) & 1:
                return None
            count[node] = count.get(node, 0) + 1
        if any(self.room(node, shape) < number for node, number in count.items()):
            return None
        gpus: dict[int, tuple[int, ...]] = {}
        for rank in ranks:
            node = self.node_of_rank[rank]
            self._set_rank(rank, node, free=False)
            self.free_cores[node] -= shape.cores
            self.free_nbytes[node] -= shape.nbytes
        if shape.gpu_parts:
            for node in count:
                mine = [rank for rank in ranks if self.node_of_rank[rank] == node]
                gpus.update(zip(mine, self._take_gpus(node, mine, shape), strict=True))
        self._log.extend(count)
        slots_gpus = tuple(gpus[rank] for rank in ranks) if gpus else ()
        return Slots(tuple(ranks), tuple(self.node_of_rank[rank] for rank in ranks), slots_gpus)

    def try_claim(self, shape: Shape, num_ranks: int, pinned: tuple[int, ...] | None) -> Slots | None:
        """Slots for so many ranks, on exactly the pinned ones if these are given, or None when they are not free."""
        if pinned is not None:
            return self.claim_ranks(shape, pinned)
        shares = place(self.rooms(shape), num_ranks)
        return None if shares is None else self.claim(shape, shares)

    def release(self, shape: Shape, slots: Slots, gone: set[int] | None = None) -> None:
        """Give back what was claimed, except of the ranks that `abandon` gave back before."""
        cores, parts, nbytes = shape
        ranks, nodes, num_ranks = slots.ranks, slots.nodes, len(slots.ranks)
        end = 0
        while end < num_ranks:
            at, node = end, nodes[end]
            end = bisect_right(nodes, node, at)
            count, first = end - at, self.first_rank[node]
            if not gone and not parts and ranks[end - 1] - ranks[at] == count - 1:
                free = ((1 << count) - 1) << (ranks[at] - first)
            else:
                alive = [i for i in range(at, end) if not gone or ranks[i] not in gone]
                count = len(alive)
                free = sum(1 << (ranks[i] - first) for i in alive)
                if parts:
                    for i in alive:
                        self._give_back_gpus(node, parts, slots.gpus[i])
            self._free[node] |= free
            self.num_free[node] += count
            self.free_ranks += count
            self.free_cores[node] += count * cores
            self.free_nbytes[node] += count * nbytes
            self._log.append(node)
        if len(self._log) > 1024 + 2 * len(self._free):
            self._trim()

    def abandon(self, shape: Shape, slots: Slots, rank: int) -> None:
        """The rank died with its claim: what it took besides itself is free."""
        at = slots.ranks.index(rank)
        node = slots.nodes[at]
        self.free_cores[node] += shape.cores
        self.free_nbytes[node] += shape.nbytes
        if shape.gpu_parts:
            self._give_back_gpus(node, shape.gpu_parts, slots.gpus[at])
        self._log.append(node)

    def reserve(self, shape: Shape, ranks: Sequence[int]) -> list[Reserved]:
        """Put aside what these ranks would take, as far as it is free. On their nodes all GPUs, if they take any."""
        reserved = []
        of_node: dict[int, list[int]] = {}
        for rank in ranks:
            of_node.setdefault(self.node_of_rank[rank], []).append(rank)
        for node, mine in of_node.items():
            mask = sum(1 << (rank - self.first_rank[node]) for rank in mine) & self._free[node]
            cores = min(self.free_cores[node], len(mine) * shape.cores)
            nbytes = min(self.free_nbytes[node], len(mine) * shape.nbytes)
            gpus = self.free_gpus[node] if shape.gpu_parts else []
            held = Reserved(node, mask, cores, nbytes, gpus)
            if gpus:
                self.free_gpus[node] = [0] * len(gpus)
            self._shift(held, -1)
            reserved.append(held)
        return reserved

    def unreserve(self, reserved: list[Reserved]) -> None:
        """Undo `reserve`. What was free besides may have been claimed meanwhile; nothing may have been released."""
        for held in reserved:
            if held.gpus:
                self.free_gpus[held.node] = held.gpus
            self._shift(held, +1)

    # Ranks come and go -----------------------------------------------------------------------------------------------

    def join(self, rank: int) -> None:
        """The rank, which was absent, is there and free."""
        node = self.node_of_rank[rank]
        self._usual_gpus.pop(rank, None)
        self.present[rank] = 1
        if self.dead[rank]:
            self.dead[rank] = 0
            self.living_ranks[node] += 1
        else:
            self.num_absent -= 1
        self._set_rank(rank, node, free=True)
        self._log.append(node)

    def leave(self, rank: int, *, returns: bool) -> None:
        """The rank is not there any more. What it had claimed is the business of `abandon`."""
        node = self.node_of_rank[rank]
        if self.present[rank]:
            self.present[rank] = 0
            self.num_absent += 1
            if self._free[node] >> (rank - self.first_rank[node]) & 1:
                self._set_rank(rank, node, free=False)
        if not returns and not self.dead[rank]:
            self.dead[rank] = 1
            self.num_absent -= 1
            self.living_ranks[node] -= 1
        self._log.append(node)

    # Inside ----------------------------------------------------------------------------------------------------------

    def _set_rank(self, rank: int, node: int, *, free: bool) -> None:
        self._free[node] ^= 1 << (rank - self.first_rank[node])
        self.num_free[node] += 1 if free else -1
        self.free_ranks += 1 if free else -1

    def _shift(self, held: Reserved, sign: int) -> None:
        node, count = held.node, sign * held.ranks.bit_count()
        self._free[node] ^= held.ranks
        self.num_free[node] += count
        self.free_ranks += count
        self.free_cores[node] += sign * held.cores
        self.free_nbytes[node] += sign * held.nbytes
        self._log.append(node)

    def _take_gpus(self, node: int, ranks: list[int], shape: Shape) -> list[tuple[int, ...]]:
        """For each rank those it had first, where these are free; others get what is no other rank's, if they can."""
        free, usual = self.free_gpus[node], self._usual_gpus
        wanted, count = min(shape.gpu_parts, PARTS), max(shape.whole_gpus, 1)
        taken: dict[int, tuple[int, ...]] = {}
        for rank in ranks:
            mine = usual.get(rank, ())
            if len(mine) == count and all(free[gpu] >= wanted for gpu in mine):
                taken[rank] = mine
                for gpu in mine:
                    free[gpu] -= wanted
        first = self.first_rank[node]
        others = range(first, first + self.allocation.nodes[node].ranks)
        used = {gpu for rank in others for gpu in usual.get(rank, ())} if len(taken) < len(ranks) else set()
        for rank in ranks:
            if rank not in taken:
                taken[rank] = _take_gpus(free, shape, used)
                usual.setdefault(rank, taken[rank])
        return [taken[rank] for rank in ranks]

    def _give_back_gpus(self, node: int, parts: int, gpus: tuple[int, ...]) -> None:
        for gpu in gpus:
            self.free_gpus[node][gpu] += min(parts, PARTS)

    def _reader(self, shape: Shape) -> Callable[[int], int]:
        if shape.gpu_parts or shape.nbytes:
            return lambda node: self.room(node, shape)
        num_free, free_cores, cores = self.num_free, self.free_cores, shape.cores

        def read(node: int) -> int:
            ranks, room = num_free[node], free_cores[node] // cores
            return ranks if ranks < room else room  # noqa: FURB136 - min() costs twice as much

        return read

    def _trim(self) -> None:
        """Forget the log; a view that has not read it for as long as it takes to make a new one goes with it."""
        used = len(self._log) - len(self._free)
        self._views = {key: view for key, view in self._views.items() if view.seen >= used}
        for view in self._views.values():
            view.catch_up(self._log)
            view.seen = 0
        self._log.clear()


def _whole_room(node: Node, shape: Shape) -> int:
    """How many ranks of this shape the node can take when it is idle and none of its ranks is missing."""
    room = min(node.ranks, node.cores // shape.cores)
    if shape.nbytes:
        room = min(room, node.nbytes // shape.nbytes)
    if shape.gpu_parts:
        room = min(room, _gpu_room([PARTS] * node.gpus, shape))
    return room


def _gpu_room(free: list[int], shape: Shape) -> int:
    if shape.whole_gpus:
        return free.count(PARTS) // shape.whole_gpus
    return sum(parts // shape.gpu_parts for parts in free)


def _take_gpus(free: list[int], shape: Shape, used: set[int]) -> tuple[int, ...]:
    if shape.whole_gpus:
        there = sorted((gpu in used, gpu) for gpu, parts in enumerate(free) if parts == PARTS)
        chosen = sorted(gpu for _, gpu in there[: shape.whole_gpus])
        for gpu in chosen:
            free[gpu] = 0
        return tuple(chosen)
    _, gpu = min((parts, gpu) for gpu, parts in enumerate(free) if parts >= shape.gpu_parts)
    free[gpu] -= shape.gpu_parts
    return (gpu,)

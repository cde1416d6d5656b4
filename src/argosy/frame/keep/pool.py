"""All persisted frames of this process, and the RAM that they share."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from argosy.errors import PlacementError
from argosy.frame.buffers import give_back_unused
from argosy.frame.keep.arriving import Arrived
from argosy.frame.keep.asked import Asked
from argosy.frame.keep.choose import Candidate, choose
from argosy.frame.keep.column import Column, Range, stow
from argosy.frame.keep.files import require_files
from argosy.frame.keep.held import Held
from argosy.frame.keep.moving import move, say_that_they_stay
from argosy.frame.keep.speeds import Speeds, measure
from argosy.frame.keep.uses import columns_read
from argosy.frame.plan import Operation
from argosy.memory.tiers.disk import Disk


class Pool:
    """Decides which columns are in RAM, and moves them: between operations, never under one. Any thread may use it."""

    def __init__(self) -> None:
        self._frames: weakref.WeakSet[Held] = weakref.WeakSet()
        self._tables: list[weakref.ref[pa.Table]] = []
        """Frames that were persisted as tables, in RAM for good."""
        self._speeds: Speeds | None = None
        self.turn = threading.RLock()

    # operations

    @contextmanager
    def using(self, plan: Operation) -> Iterator[list[Range]]:
        """Around an operation: counts what it reads, moves what that makes worth it, and drops the pages read from disk
        afterwards. Gives the addresses of files that its rows may still lie in."""
        read = columns_read(plan)
        with self.turn:
            for held in self._frames:
                if held.was_lent and not held.users:
                    held.rest()
                    held.was_lent = False
            for held, names in read.items():
                self._count(held, names)
            for held in read:
                held.users += 1
        try:
            yield [addresses for held in read for column in held.columns.values() for addresses in column.mapped]
        finally:
            with self.turn:
                for held in read:
                    held.users -= 1
                    if not held.users:
                        held.rest()

    def lend(self, held: Held) -> pa.Table:
        """All of it, to a task of the user."""
        with self.turn:
            self._count(held, held.columns)
            return held.table()

    def _count(self, held: Held, names: Collection[str]) -> None:
        for name in names:
            held.columns[name].uses += 1
        capacity, columns = self._share(held.asked, held)
        if not columns:
            return
        try:
            move(columns, self._chosen(capacity, columns, [], held.disk), held.disk)
        except (PlacementError, OSError) as error:  # there is no disk any more, or no room to measure it
            say_that_they_stay(columns, error)

    # new frames

    def note(self, table: pa.Table) -> pa.Table:
        """This table is persisted as it is, and its bytes count."""
        with self.turn:
            self._tables = [one for one in self._tables if one() is not None]
            self._tables.append(weakref.ref(table))
        return table

    def room(self, asked: Asked) -> int | None:
        """How many bytes of a new frame can be in RAM without moving another; None: all."""
        with self.turn:
            capacity, columns = self._share(asked)
            return None if capacity is None else max(capacity - sum(column.nbytes_in_ram for column in columns), 0)

    def place(
        self,
        arrived: list[Arrived],
        num_rows: int,
        *,
        schema: pa.Schema,
        asked: Asked,
        disk: Disk,
        mapped: Sequence[Range] = (),
    ) -> Held:
        """Each column into its tier; uses up `arrived`. With tier "disk" raises what keeps a column from there; with
        tier "auto" such a column stays in RAM, and the frame says why."""
        with self.turn:
            columns: list[Column] = []
            problems: list[str] = []
            in_ram = self._make_room(arrived, asked, disk, problems)
            no_disk = bool(problems)
            while arrived:
                one, is_chosen = arrived.pop(0), in_ram.pop(0)
                try:
                    column = _in_ram(one, mapped, no_disk) if is_chosen else self._on_disk(one, disk, columns)
                except (PlacementError, OSError) as error:
                    if is_chosen or asked.tier == "disk":
                        raise
                    problems.append(str(error))
                    column = _in_ram(one, mapped, True)
                columns.append(column)
                one.close()
            held = Held(schema, columns, num_rows, asked, disk, tuple(dict.fromkeys(problems)))
            self._frames.add(held)
            give_back_unused()
            return held

    def _make_room(self, arrived: Sequence[Arrived], asked: Asked, disk: Disk, problems: list[str]) -> list[bool]:
        """For each new column, whether it is to be in RAM, from where others have gone for that. All, and a problem
        more, where there is no disk."""
        if asked.tier == "disk":
            return [False] * len(arrived)
        capacity, others = self._share(asked)
        try:
            chosen = self._chosen(capacity, others, arrived, disk)
        except (PlacementError, OSError) as error:  # or no room to measure it
            problems.append(str(error))
            return [True] * len(arrived)
        move(others, chosen[: len(others)], disk)
        return chosen[len(others) :]

    def _on_disk(self, one: Arrived, disk: Disk, siblings: Sequence[Column]) -> Column:
        there = [*siblings, *(column for held in self._frames for column in held.columns.values())]
        require_files(sum(column.on_disk for column in there))
        return Column(one.field, *stow(one.field, one.parts, disk), disk.name)

    # which are where

    def _share(self, asked: Asked, held: Held | None = None) -> tuple[int | None, list[Column]]:
        """The columns that have one limit together, with this frame or a new one, and can move now; and what they may
        take in RAM: None where that is all."""
        if asked.tier == "disk" or asked.nbytes is None:
            return (0 if asked.tier == "disk" else None), []
        if asked.alone:
            frames, capacity = [held] if held is not None else [], asked.nbytes
        else:
            shared = [one for one in self._frames if one.asked.tier == "auto" and not one.asked.alone]
            frames = sorted(shared, key=lambda one: one.number)
            capacity = asked.nbytes - sum(table.nbytes for one in self._tables if (table := one()) is not None)
        every = [(frame, column) for frame in frames for column in frame.columns.values()]
        fixed = [column for frame, column in every if frame.users or column.stays]
        movable = [column for frame, column in every if not (frame.users or column.stays)]
        return capacity - sum(column.nbytes_in_ram for column in fixed), movable

    def _chosen(
        self, capacity: int | None, columns: Sequence[Column], arrived: Sequence[Arrived], disk: Disk
    ) -> list[bool]:
        """For each of both, whether it is to be in RAM."""
        candidates = [Candidate(nbytes=one.nbytes, uses=one.uses, in_ram=not one.on_disk) for one in columns]
        candidates += [Candidate(nbytes=one.nbytes, uses=0, in_ram=True) for one in arrived]
        all_there = all(one.in_ram for one in candidates)
        if capacity is None or (all_there and sum(one.nbytes for one in candidates) <= capacity):
            return [True] * len(candidates)
        if self._speeds is None:
            self._speeds = measure(disk)
        return choose(candidates, capacity, self._speeds)


def _in_ram(one: Arrived, mapped: Sequence[Range], stays: bool) -> Column:
    column = Column(one.field, one.values(mapped))
    column.stays = stays
    return column


pool = Pool()
"""Of this process."""


def _after_fork() -> None:
    """Another thread of the parent may have had its turn just then."""
    pool.turn = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)

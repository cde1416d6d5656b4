"""All persisted frames of this process, and the RAM that they share."""

from __future__ import annotations

import os
import threading
import warnings
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
from argosy.frame.keep.speeds import Speeds, measure
from argosy.frame.keep.uses import columns_read
from argosy.frame.plan import Operation
from argosy.memory.tiers.disk import Disk
from argosy.memory.tiers.ram import Ram


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
        columns = self._movable(held.asked, held)
        try:
            chosen = self._chosen(held.asked, columns, [], held.disk)
        except (PlacementError, OSError):
            return  # there was no disk when it was persisted, which has been said, and there still is none
        _move(columns, chosen, held.disk)

    # new frames

    def note(self, table: pa.Table) -> pa.Table:
        """This table is persisted as it is, and its bytes count."""
        with self.turn:
            self._tables = [one for one in self._tables if one() is not None]
            self._tables.append(weakref.ref(table))
        return table

    def room(self, asked: Asked) -> int | None:
        """How many bytes of a new frame can be in RAM without moving another; None: all."""
        if asked.tier == "disk":
            return 0
        if asked.nbytes is None:
            return None
        with self.turn:
            return max(asked.nbytes - self._fixed(asked) - _nbytes_in_ram(self._movable(asked)), 0)

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
            problems = [one.problem for one in arrived if one.problem]
            others = self._movable(asked)
            try:
                chosen = self._chosen(asked, others, arrived, disk)
            except (PlacementError, OSError) as error:  # there is no disk, or no room to measure it
                problems.append(str(error))
                chosen = [True] * (len(others) + len(arrived))
            _move(others, chosen, disk)
            columns: list[Column] = []
            for in_ram in chosen[len(others) :]:
                one = arrived.pop(0)
                try:
                    columns.append(_in_ram(one, mapped) if in_ram else self._on_disk(one, disk, columns))
                except (PlacementError, OSError) as error:
                    if in_ram or asked.tier == "disk":
                        raise
                    problems.append(str(error))
                    columns.append(_in_ram(one, mapped))
                one.close()
            held = Held(schema, columns, num_rows, asked, disk, tuple(dict.fromkeys(problems)))
            self._frames.add(held)
            give_back_unused()
            return held

    def _on_disk(self, one: Arrived, disk: Disk, siblings: Sequence[Column]) -> Column:
        there = [*siblings, *(column for held in self._frames for column in held.columns.values())]
        require_files(sum(column.on_disk for column in there))
        return Column(one.field, *stow(one.field, one.parts, disk), disk.name)

    # which are where

    def _chosen(self, asked: Asked, columns: Sequence[Column], arrived: Sequence[Arrived], disk: Disk) -> list[bool]:
        """For each of both, whether it is to be in RAM."""
        if asked.tier == "disk":
            return [False] * (len(columns) + len(arrived))
        if asked.nbytes is None:
            return [True] * (len(columns) + len(arrived))
        candidates = [Candidate(nbytes=one.nbytes, uses=one.uses, in_ram=not one.on_disk) for one in columns]
        candidates += [Candidate(nbytes=one.nbytes, uses=0, in_ram=True) for one in arrived]
        capacity = asked.nbytes - self._fixed(asked)
        if all(one.in_ram for one in candidates) and sum(one.nbytes for one in candidates) <= capacity:
            return [True] * len(candidates)
        if self._speeds is None:
            self._speeds = measure(disk)
        return choose(candidates, capacity, self._speeds)

    def _movable(self, asked: Asked, held: Held | None = None) -> list[Column]:
        """Columns that share what was asked for with this frame, or with a new one, and that nobody reads now."""
        if asked.tier != "auto" or asked.nbytes is None:
            return []
        frames = ([held] if held is not None else []) if asked.alone else self._sharing()
        return [column for one in frames if not one.users for column in one.columns.values()]

    def _sharing(self) -> list[Held]:
        """Frames that have one limit together, the oldest first."""
        shared = [one for one in self._frames if one.asked.tier == "auto" and not one.asked.alone]
        return sorted(shared, key=lambda one: one.number)

    def _fixed(self, asked: Asked) -> int:
        """Bytes in RAM that count and cannot move now."""
        if asked.alone:
            return 0
        tables = [int(table.nbytes) for one in self._tables if (table := one()) is not None]
        return sum(tables) + sum(one.nbytes_in_ram for one in self._sharing() if one.users)


def _in_ram(one: Arrived, mapped: Sequence[Range]) -> Column:
    return Column(one.field, one.values(mapped))


def _nbytes_in_ram(columns: Sequence[Column]) -> int:
    return sum(column.nbytes for column in columns if not column.on_disk)


def _move(columns: Sequence[Column], chosen: Sequence[bool], disk: Disk) -> None:
    """Out of RAM first. A column for which there is no room stays where it is, as do those after it."""
    leaving = [column for column, in_ram in zip(columns, chosen, strict=False) if not in_ram and not column.on_disk]
    coming = [column for column, in_ram in zip(columns, chosen, strict=False) if in_ram and column.on_disk]
    try:
        for column in leaving:
            column.move(disk)
        for column in coming:
            column.move(Ram())
    except (PlacementError, OSError) as error:
        warnings.warn(f"columns of persisted frames stay where they are: {error}", RuntimeWarning, stacklevel=2)
    if leaving:
        give_back_unused()


pool = Pool()
"""Of this process."""


def _after_fork() -> None:
    """Another thread of the parent may have had its turn just then."""
    pool.turn = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)

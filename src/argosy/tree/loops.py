"""Loops of a walk: as one expression, iteration by iteration, or plainly, as was seen to be best."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, repeat
from time import perf_counter, process_time
from typing import Any

import numpy as np

from argosy.tree.endings import BREAK, CONTINUE, MORE, NEXT, RETURN
from argosy.tree.expression import Version
from argosy.tree.grain import GIVEN_UP, PROBED_ITERATIONS
from argosy.tree.kinds import Box, is_plain
from argosy.tree.losses import GIVE_UP, GOES_ON, TRY, Loop, Loss
from argosy.tree.piece import Piece
from argosy.tree.turns import Turns

_MOVED_NBYTES = 1 << 20
"""Arrays from this size on may be worth tiles, so that a loop over them is walked."""


class Loops(Turns):
    def loop_while(self, node: ast.While) -> int:
        loop = self.program.loop(node)
        given_up = loop.is_plain and not self.grain.always
        if given_up and not self.flow.awaits_others:
            return self._left(loop, partial(self.plainly, node, GIVEN_UP))
        if self._as_one(node, given_up):
            return NEXT
        if self.grain.small_iteration(loop.seconds):
            return self.plainly(node)
        loss, count = Loss(loop, self.flow), 0
        while self.holds(node.test):
            status = self.block(node.body)
            if status in (BREAK, RETURN):
                loss.end()
                return NEXT if status == BREAK else RETURN
            count += 1
            if count == PROBED_ITERATIONS and self._is_small(loop, loss):
                return self.plainly(node)
            found = GOES_ON if self.grain.always else loss.look()
            if found == TRY:
                found, status = self._try_plainly(node, loss, repeat(None))
                if status != MORE:
                    loss.end()
                    return self.block(node.orelse) if status == CONTINUE else status
            if found == GIVE_UP:
                return self._left(loop, partial(self.plainly, node, given_up_in(count)))
        loss.end()
        return self.block(node.orelse)

    def loop_for(self, node: ast.For) -> int:
        loop = self.program.loop(node)
        given_up = loop.is_plain and not self.grain.always
        if given_up and not self.flow.awaits_others:
            return self._left(loop, partial(self.plainly, node, GIVEN_UP))
        if self._as_one(node, given_up):
            return NEXT
        if self.grain.small_iteration(loop.seconds):
            return self.plainly(node)
        iterable = self.value(node.iter)
        value = self.wait(iterable)
        items = self._items(node, iterable, value)
        if items is None or not self._binds_variables(node.target):
            return self.rest(node, value)
        loss = Loss(loop, self.flow)
        for count, item in enumerate(items, 1):
            self._bind_item(node, iterable, item)
            status = self.block(node.body)
            if status in (BREAK, RETURN):
                loss.end()
                return NEXT if status == BREAK else RETURN
            if count == PROBED_ITERATIONS and self._is_small(loop, loss):
                return self.rest(node, left_of(items))
            found = GOES_ON if self.grain.always else loss.look()
            if found == TRY:
                found, status = self._try_plainly(node, loss, left_of(items))
                if status != MORE:
                    loss.end()
                    return status
            if found == GIVE_UP:
                return self._left(loop, partial(self.rest, node, left_of(items), given_up_in(count)))
        loss.end()
        return self.block(node.orelse)

    def _binds_variables(self, target: ast.expr) -> bool:
        """It is a local variable, or a tuple of such, and none that inner functions see."""
        if isinstance(target, ast.Tuple):
            return all(isinstance(part, ast.Name) and self._binds_variables(part) for part in target.elts)
        return isinstance(target, ast.Name) and target.id in self.program.source.local_names - self.cells.keys()

    def _try_plainly(self, node: ast.For | ast.While, loss: Loss, items: Iterator[Any]) -> tuple[int, int]:
        """Run as many rounds plainly as were walked just before. What to do next, and how they ended."""
        rounds, walked = loss.walked()
        piece = self.program.piece(node, "stretch")
        before, processor = piece.seconds_before, process_time()
        status = self.stretch(node, islice(items, rounds))
        plain = (piece.seconds_before - before, process_time() - processor)
        gives_up = status == MORE and loss.tried(rounds, walked, plain)
        return (GIVE_UP if gives_up else GOES_ON), status

    def _is_small(self, loop: Loop, loss: Loss) -> bool:
        """Measured once: the first iterations to their end, not only until they were issued."""
        if loop.seconds < math.inf:
            return False
        self.flow.drain()
        loop.seconds = loss.spent() / PROBED_ITERATIONS
        return self.grain.small_iteration(loop.seconds)

    def _left(self, loop: Loop, run: Callable[[], int]) -> int:
        """Plainly from here on, as it was given up; after some time of that it is walked once more."""
        self.flow.drain()
        started = perf_counter()
        status = run()
        loop.ran_plainly(perf_counter() - started)
        return status

    def _as_one(self, node: ast.For | ast.While, given_up: bool) -> bool:
        """Issue a whole loop as one expression, when nothing inside of it would gain from being told apart."""
        piece = self.program.piece(node, "simple")
        if piece.escapes or piece.deletes:
            return False
        if not given_up and self.program.is_worth_walking(node, self._has_big_input):
            return False
        missing = frozenset(name for name in piece.inputs if name not in self.variables)
        anew = self._bound_anew(node, piece)
        if missing or anew:
            if self._runs_at_least_once(node, missing):
                piece = self.program.piece_without(node, missing | anew)
            elif missing:
                return False
        return self.issue(piece) is not None

    def _bound_anew(self, node: ast.For | ast.While, piece: Piece) -> frozenset[str]:
        """Variables whose old values, still under way, the loop would wait for only to keep them if it never ran."""
        kept = (piece.unsure - piece.exposed) & self.program.bound_by_iteration(node)
        return frozenset(name for name in kept if name in self.variables and not self.variables[name].ready)

    def _has_big_input(self, names: frozenset[str]) -> bool:
        versions = [self.variables[name] for name in names if name in self.variables]
        return any(
            type(version.value) is np.ndarray and version.value.nbytes >= _MOVED_NBYTES
            for version in versions
            if version.ready
        )

    def _runs_at_least_once(self, node: ast.For | ast.While, missing: frozenset[str]) -> bool:
        """Then what an iteration surely binds is bound after the loop, though it was not before."""
        if not missing <= self.program.bound_by_iteration(node):
            return False
        is_while = isinstance(node, ast.While)
        piece = (
            self.program.piece(node.test, "test")
            if isinstance(node, ast.While)
            else self.program.piece(node.iter, "value")
        )
        if not self.changes_nothing(piece):  # it will be evaluated again
            return False
        outs = self.issue(piece)
        if outs is None:
            return False
        found = self.wait(outs[0])
        return bool(found) if is_while else type(found) in (range, list, tuple) and bool(found)

    def _items(self, node: ast.For, iterable: Version, value: Any) -> Iterator[Any] | None:
        """The elements, each when everything has been written that it may be read from; None: not for us to iterate."""
        kind = self.kind(iterable)
        if type(value) in (range, tuple, str) or (type(value) is np.ndarray and value.ndim > 1):
            items: Iterator[Any] = iter(value)
            return items
        iterates = isinstance(value, (list, dict, set, frozenset)) or (type(value) is np.ndarray and value.ndim == 1)
        if (iterates and is_plain(kind)) or (isinstance(kind, Box) and kind.tag == "iterator" and is_plain(kind.item)):
            if isinstance(value, (dict, set)):  # their iterators remember how many elements there were
                self.settle_items(iterable)
            return _Settled(self, iterable, self.program.stepping(node), iter(value))
        return None

    def settle_items(self, iterable: Version) -> None:
        if self.flow.tracks and self._is_old(iterable):
            self.flow.drain()
            self.look_again()
        else:
            self.settle(iterable)

    def _bind_item(self, node: ast.For, iterable: Version, item: Any) -> None:
        if isinstance(node.target, ast.Name):
            self.variables[node.target.id] = self._item(iterable, item)
            return
        piece = self.program.unpacking(node)
        values = piece(item)
        names = self.program.piece(node.target, "target").outs
        for name, value in zip(names, (values,) if len(names) == 1 else values, strict=True):
            self.variables[name] = self._item(iterable, value)

    def _item(self, iterable: Version, item: Any) -> Version:
        """An element shares the memory of what it is read from; of an old iterator that is not known any more."""
        if not self.flow.tracks or self._is_old(iterable):
            return Version(item)
        return Version(item, None, self.token(iterable), self.flow.age)

    def _is_old(self, iterable: Version) -> bool:
        return iterable.token_age != self.flow.age and not isinstance(iterable.value, (list, dict, set, np.ndarray))


def left_of(items: Iterator[Any]) -> Iterator[Any]:
    """What plain Python goes on with, when nothing is under way any more."""
    return items.items if isinstance(items, _Settled) else items


def given_up_in(rounds: int) -> str:
    return f"{GIVEN_UP}: after {rounds} round{'s' if rounds > 1 else ''} plain Python took over"


class _Settled:
    """The iterator over something that expressions under way may write."""

    def __init__(self, walk: Loops, iterable: Version, step: Callable[..., Any], items: Iterator[Any]) -> None:
        self._walk = walk
        self._step = step
        self._iterable = iterable
        self.items = items

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._walk.settle_items(self._iterable)
        found = self._step(self.items)
        if found is None:
            raise StopIteration
        return found[0]

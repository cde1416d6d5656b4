"""Loops and comprehensions in parts: on all threads when that is faster, and plainly when it is not or may not be.

A part is a stretch of iterations. Before it runs, what it will overwrite is kept; if any part fails or meets a
floating-point error, everything is put back and the whole runs plainly, so that it fails where plain Python does.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from time import perf_counter
from types import FunctionType
from typing import Any

import numpy as np

from argosy.tree.grain import Choice, Grain
from argosy.tree.independent import Independence, independent_elements, independent_iterations
from argosy.tree.kinds import is_still, kind_of
from argosy.tree.pool import Pool
from argosy.tree.regions import overlaps_itself
from argosy.tree.replaced import replaced
from argosy.tree.shape import may_fork
from argosy.tree.share import Shared
from argosy.tree.source import Source

_ITEMS, _WHOLE = "__argosy_items__", "__argosy_whole__"
_WORTH_SECONDS = 400e-6
_PART_SECONDS = 1e-3
_TRIED_SECONDS = 4e-3
"""How much is forked at first, to see whether threads help at all: small NumPy operations hold one another up."""
_GAIN = 0.95
_LIST_MAKERS = frozenset({"sum", "max", "min", "list", "tuple", "sorted", "set"})
_KEEPING_ONE = frozenset({"sum", "max", "min"})
"""What these have read they let go."""
_MOST_NBYTES = 64 << 20
"""Of elements that are made before they are read, where plain Python has one at a time."""


class Fork:
    """How one piece can be cut: what runs a stretch of it, and what makes the whole of the stretches."""

    only_if_long = False
    """With a grain of 0 even a short one is cut."""

    def __init__(
        self,
        piece: Any,
        stretch: Callable[..., Any],
        items: Callable[..., Any],
        judge: Callable[[tuple[Any, ...]], Independence | None],
        finish: Callable[..., Any] | None,
        streams: bool = False,
    ) -> None:
        self.piece = piece
        self._stretch = stretch
        self._items = items
        self._judge = judge
        self._finish = finish
        """Makes the piece's results of the elements of a comprehension; None for a loop."""
        self._streams = streams
        """Elements are read one after another, and then let go."""
        self._judged: dict[tuple[Any, ...], Independence | None] = {}
        self.choice = Choice()

    def runner(self, plan: Any, pool: Pool, grain: Grain) -> Callable[..., Any] | None:
        """What runs the piece in parts; None when it must not be cut."""
        kinds = plan.kinds
        if kinds not in self._judged:
            self._judged[kinds] = self._judge(kinds)
        independence = self._judged[kinds]
        if independence is not None and independence.waits:
            return lambda *values: self._run(independence, values, pool, grain)
        if independence is None or pool.num_threads == 0:
            return None
        return lambda *values: self._run(independence, values, pool, grain)

    def _run(self, independence: Independence, values: tuple[Any, ...], pool: Pool, grain: Grain) -> Any:
        items = self._items(*values)
        if not self._may_cut(items, independence, values):
            return self.piece.function()(*values)
        if independence.waits or grain.always:
            return self._in_parts(independence, values, items, pool, grain)
        in_parts = self.choice.in_parts()
        started = perf_counter()
        if in_parts:
            result = self._in_parts(independence, values, items, pool, grain)
        else:
            result = self.piece.function()(*values)
        self.choice.took(in_parts, (perf_counter() - started) / len(items))
        return result

    def _in_parts(
        self, independence: Independence, values: tuple[Any, ...], items: Any, pool: Pool, grain: Grain
    ) -> Any:
        if self._streams and not independence.waits:
            try:
                return self._finish(*values, self._stream(independence, values, items, pool, grain))  # type: ignore[misc]
            except _PartFailed:
                return self.piece.function()(*values)
        run = _Run(self, independence, values, items, pool, grain)
        results: list[Any] | None = None
        try:
            results = run.side_by_side() if independence.waits else run.all()
        except _PartFailed:
            run.put_back()
        except BaseException:
            run.put_back()
            raise
        if results is None:
            return self.piece.function()(*values)
        if self._finish is None:
            return results[-1]
        return self._finish(*values, [element for part in results for element in part])

    def _stream(
        self, independence: Independence, values: tuple[Any, ...], items: Any, pool: Pool, grain: Grain
    ) -> Iterator[Any]:
        """The elements in order, no more of them ahead than `_MOST_NBYTES` or one for each thread."""
        fewest = pool.num_threads + 1
        start, window = 0, fewest
        while start < len(items):
            made = _Run(self, independence, values, items[start : start + window], pool, grain).all()
            start += window
            nbytes = 1
            for part in made:
                for number, element in enumerate(part):
                    nbytes = max(nbytes, element.nbytes if type(element) is np.ndarray else 1)
                    part[number] = None
                    yield element
            window = max(fewest, _MOST_NBYTES // nbytes)

    def _may_cut(self, items: Any, independence: Independence, values: tuple[Any, ...]) -> bool:
        try:
            if len(items) < 2:
                return False
        except OverflowError:  # a range that nobody goes through to its end
            return False
        if not independence.written:
            return True
        if type(items) is not range or items.step < 0:
            return False
        by_name = dict(zip(self.piece.inputs, values, strict=True))
        others = [outer.get() for outer in independence.outers]
        for name, axis in independence.written:
            array = by_name[name]
            if type(array) is not np.ndarray or array.dtype.hasobject or axis >= array.ndim:
                return False
            if overlaps_itself(array):
                return False
            if items[0] < 0 or items[-1] >= array.shape[axis]:
                return False
            rest = [value for other, value in by_name.items() if other != name]
            if any(_may_share(array, value) for value in [*rest, *others]):
                return False
        return True


class _PartFailed(Exception):
    pass


class _Run:
    """One run in parts."""

    def __init__(self, fork: Fork, independence: Independence, values: tuple[Any, ...], items: Any, pool: Pool,
                 grain: Grain) -> None:  # fmt: skip
        self._fork = fork
        self._written = [(values[fork.piece.inputs.index(name)], axis) for name, axis in independence.written]
        self._values = values
        self._items = items
        self._pool = pool
        self._grain = grain
        self._kept: list[tuple[Any, Any]] = []
        self._results: dict[int, Any] = {}

    def side_by_side(self) -> list[Any]:
        """What each element gave; all wait at the same time. They change nothing, so the first that fails is raised."""
        errors: dict[int, BaseException] = {}

        def one(part: int) -> None:
            try:
                self._results[part] = self._fork._stretch(self._items[part : part + 1], *self._values)
            except BaseException as error:
                errors[part] = error

        Shared(len(self._items), one).run(self._pool, beside=True)
        if errors:
            raise errors[min(errors)]
        return self._in_order()

    def all(self) -> list[Any]:
        """What the stretches gave, in order."""
        items, num_threads = self._items, self._pool.num_threads + 1
        known = self._fork.choice.seconds_in_parts() * len(items)
        if self._grain.always or known > _WORTH_SECONDS:
            self._stretches(0, len(items), (2 if self._grain.always else 4) * num_threads)
            return self._in_order()
        started = perf_counter()
        self._one(0, 1)
        each = perf_counter() - started
        left = len(items) - 1
        if each * left < _WORTH_SECONDS:
            self._one(1, len(items))
            return self._in_order()
        tried = min(left, max(2 * num_threads, int(_TRIED_SECONDS / max(each, 1e-9))))
        started = perf_counter()
        self._stretches(1, 1 + tried, self._num_parts(tried, each, num_threads))
        forked = (perf_counter() - started) / tried
        if tried < left:
            checked = max(1, min(left - tried, tried // (4 * num_threads)))
            started = perf_counter()
            self._one(1 + tried, 1 + tried + checked)
            each = (perf_counter() - started) / checked
            rest = 1 + tried + checked
            if rest < len(items):
                if forked < _GAIN * each:
                    self._stretches(rest, len(items), self._num_parts(len(items) - rest, each, num_threads))
                else:
                    self._one(rest, len(items))
        return self._in_order()

    def _num_parts(self, num_items: int, each: float, num_threads: int) -> int:
        """Some for each thread, so that a late one loses little, but not so short that handing them out counts."""
        return max(num_threads, min(num_items, 4 * num_threads, int(num_items * each / _PART_SECONDS)))

    def _in_order(self) -> list[Any]:
        return [self._results[start] for start in sorted(self._results)]

    def _one(self, start: int, stop: int) -> None:
        if start >= stop:
            return
        part = self._items[start:stop]
        for array, axis in self._written:
            view = array[(slice(None),) * axis + (slice(part.start, part.stop, part.step),)]
            self._kept.append((view, view.copy()))
        try:
            self._results[start] = self._fork._stretch(part, *self._values)
        except Exception as error:
            raise _PartFailed from error

    def _stretches(self, start: int, stop: int, num_parts: int) -> None:
        num_parts = max(1, min(num_parts, stop - start))
        bounds = [start + (stop - start) * part // num_parts for part in range(num_parts + 1)]
        shared = Shared(num_parts, lambda part: self._one(bounds[part], bounds[part + 1]))
        shared.run(self._pool)
        if shared.error is not None:
            raise _PartFailed from shared.error

    def put_back(self) -> None:
        for view, old in self._kept:
            np.copyto(view, old)


def _may_share(array: Any, value: Any) -> bool:
    cls = type(value)
    if cls is np.ndarray:
        return bool(np.may_share_memory(array, value))
    if cls in (list, tuple, set, frozenset):
        return any(_may_share(array, element) for element in value)
    if cls is dict:
        return any(_may_share(array, element) for element in value.values())
    if cls is FunctionType:
        return any(_may_share(array, cell.cell_contents) for cell in value.__closure__ or ())
    return not (cls is np.random.Generator or is_still(kind_of(value)))


def fork_of(piece: Any) -> Fork | None:
    """How a piece can be cut, judged by its syntax; None when it cannot."""
    part = piece.part
    if piece.role not in ("simple", "value"):
        return None
    if piece.role == "simple" and isinstance(part[0], ast.For):
        return _of_loop(piece, part[0]) if may_fork(part[0]) and not piece.escapes and not piece.deletes else None
    if piece.role == "simple" and not isinstance(part[0], (ast.Assign, ast.Return, ast.Expr, ast.AnnAssign)):
        return None
    expression = part if isinstance(part, ast.expr) else part[0].value
    if expression is None or (piece.role == "value" and piece.outs):
        return None
    comprehension = _first_comprehension(expression)
    return _of_comprehension(piece, comprehension) if comprehension is not None else None


def _of_loop(piece: Any, loop: ast.For) -> Fork:
    source: Source = piece.source
    over = ast.copy_location(
        ast.For(target=loop.target, iter=_name(_ITEMS, loop.iter), body=loop.body, orelse=[]), loop
    )
    stretch = source.make([_ITEMS, *piece.inputs], [over, piece.ending()])
    judge = lambda kinds: independent_iterations(source, loop, piece.inputs, kinds)  # noqa: E731
    return Fork(piece, stretch, _giving(piece, loop.iter), judge, None)


def _of_comprehension(piece: Any, node: Any) -> Fork:
    source: Source = piece.source
    first = node.generators[0]
    over = copy.copy(first)
    over.iter = _name(_ITEMS, first.iter)
    part = ast.copy_location(ast.ListComp(elt=node.elt, generators=[over, *node.generators[1:]]), node)
    stretch = source.make([_ITEMS, *piece.inputs], [ast.copy_location(ast.Return(value=part), node)])
    body = [replaced(statement, node, _name(_WHOLE, node)) for statement in piece.body()]
    finish = source.make([*piece.inputs, _WHOLE], body)
    judge = lambda kinds: independent_elements(source, node, piece.inputs, kinds)  # noqa: E731
    streams = isinstance(node, ast.GeneratorExp) and _reader_of(piece.part, node) in _KEEPING_ONE
    return Fork(piece, stretch, _giving(piece, first.iter), judge, finish, streams)


def _reader_of(part: Any, generator: ast.GeneratorExp) -> str:
    """The name of the function that a generator is the argument of."""
    for tree in [part] if isinstance(part, ast.expr) else part:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and generator in node.args and isinstance(node.func, ast.Name):
                return node.func.id
    return ""


def _giving(piece: Any, node: ast.expr) -> Callable[..., Any]:
    """What is iterated over, if it is something that can be cut; otherwise nothing."""
    made = piece.source.make(list(piece.inputs), [ast.copy_location(ast.Return(value=node), node)])

    def items(*values: Any) -> Any:
        found = made(*values)
        return found if type(found) in (range, list, tuple) or (type(found) is np.ndarray and found.ndim) else ()

    return items


def _name(name: str, where: ast.AST) -> Any:
    return ast.copy_location(ast.Name(name, ast.Load()), where)


def _first_comprehension(node: ast.expr) -> Any:
    """A comprehension with work in it that is the first thing evaluated which can fail."""
    if isinstance(node, ast.ListComp):
        work = any(isinstance(part, (ast.Call, ast.BinOp)) for part in ast.walk(node.elt))
        return node if work and _can_be_cut(node) else None
    if isinstance(node, ast.Call) and node.args and _is_dotted(node.func):
        first = node.args[0]
        if isinstance(first, ast.GeneratorExp):
            known = isinstance(node.func, ast.Name) and node.func.id in _LIST_MAKERS
            return first if known and _can_be_cut(first) and len(node.args) == 1 else None
        return _first_comprehension(first)
    if isinstance(node, ast.BinOp):
        return _first_comprehension(node.left)
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return _first_comprehension(node.value)
    return None


def _can_be_cut(node: Any) -> bool:
    binds = any(isinstance(part, ast.NamedExpr) for part in ast.walk(node))
    return not binds and not any(generator.is_async for generator in node.generators)


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)

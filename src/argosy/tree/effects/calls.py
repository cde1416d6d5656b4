"""What a call does: of a known function, of a method of a known kind, of a function whose source is at hand."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from types import FunctionType
from typing import Any, cast

import numpy as np

from argosy.tree.effects.elements import Elements
from argosy.tree.effects.expressions import result_kind
from argosy.tree.effects.values import ATOM_SKETCH, Sketch
from argosy.tree.kinds import (
    ARRAY,
    ATOM,
    MADE,
    NEVER,
    RESULT,
    RNG,
    SLICE,
    UNKNOWN,
    VALUE,
    AnyKind,
    Box,
    Closure,
    Declared,
    Known,
    boxed,
    declared_of,
    is_plain,
    is_still,
    join,
    kind_of,
    of_class,
)  # fmt: skip
from argosy.tree.knowledge import Behaviour, of_container_method, of_function, of_generator_method, of_method
from argosy.tree.shared_names import CONSUMERS

_CONTAINERS: dict[Any, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "set", sorted: "list"}
_NUMBERS_MADE = (
    np.zeros, np.ones, np.empty, np.eye, np.identity, np.arange, np.linspace, np.zeros_like, np.ones_like,
    np.empty_like, np.dot, np.outer, np.sum, np.mean, np.max, np.min, np.argmin, np.argmax, np.linalg.inv,
    np.linalg.solve, np.linalg.norm, np.sort, np.cumsum, np.roll, np.diff, np.fft.fft, np.fft.ifft, np.fft.rfft,
    np.fft.irfft, np.var, np.std, np.argsort, np.convolve, np.interp, np.prod, np.trace,
)  # fmt: skip
"""Functions that give one array of numbers, or a number: never a tuple, a list or an array of objects."""
_LIKE_THEIR_ARGUMENTS = (
    np.array, np.copy, np.full, np.full_like, np.where, np.concatenate, np.stack, np.vstack, np.hstack, np.clip,
    np.tile, np.repeat, np.einsum, np.tensordot, np.median, np.quantile,
)  # fmt: skip
"""The same, if the arguments are arrays of numbers; of None and strings they may make an array of objects."""
_NUMBERS_MADE_BY_METHODS = frozenset({
    "copy", "sum", "mean", "dot", "max", "min", "argmin", "argmax", "std", "var", "prod", "cumsum", "cumprod",
    "round", "clip", "take", "repeat", "trace", "any", "all", "argsort", "searchsorted", "flatten", "astype",
})  # fmt: skip
_ONE_VIEW = (
    np.diag, np.diagonal, np.ravel, np.reshape, np.transpose, np.squeeze, np.expand_dims, np.swapaxes, np.moveaxis,
    np.flip, np.fliplr, np.flipud, np.real, np.imag, np.broadcast_to, np.einsum, np.round, np.nan_to_num, np.asarray,
    np.ascontiguousarray, np.linalg.matrix_power, np.float64, np.float32,
)  # fmt: skip
"""Functions of arrays that give one array, which may be a view, or a number."""
_PLACE_OF_DTYPE: dict[Any, int] = {
    np.zeros: 1, np.ones: 1, np.empty: 1, np.identity: 1, np.zeros_like: 1, np.ones_like: 1, np.empty_like: 1,
    np.arange: 3, np.eye: 3, np.sum: 2, np.mean: 2, np.prod: 2, np.cumsum: 2,
}  # fmt: skip
_STORING = ("append", "insert")
"""Methods of lists that only keep what they are given."""
_LAZY = (zip, enumerate, reversed, iter)


class Arguments:
    """The arguments of one call: their sketches, by position and by keyword."""

    def __init__(self, positional: list[Sketch], keywords: dict[str, Sketch]) -> None:
        self.positional = positional
        self.keywords = keywords

    def every(self) -> list[Sketch]:
        return [*self.positional, *self.keywords.values()]

    def get(self, which: int | str) -> Sketch | None:
        if isinstance(which, str):
            return self.keywords.get(which)
        return self.positional[which] if which < len(self.positional) else None


class Calls(Elements):
    def on_call(self, node: ast.Call) -> Sketch:
        if isinstance(node.func, ast.Attribute):
            base = self.evaluate(node.func.value)
            if not isinstance(base.kind, Known):
                return self._method(node, node.func.attr, base)
        function = self.evaluate(node.func)
        kind = function.kind
        if isinstance(kind, Closure):
            return self.source_call(node, kind.sample, self._arguments(node), function, kind)
        if not isinstance(kind, Known):
            raise self.refuse(node, f"what {ast.unparse(node.func)} does is not known")
        return self._known(node, kind.target)

    def _arguments(self, node: ast.Call, consumer: bool = False) -> Arguments:
        positional = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise self.refuse(argument, "starred arguments of a call are not counted before it")
            if consumer and isinstance(argument, ast.GeneratorExp) and len(node.args) == 1:
                positional.append(self.comprehension(argument))
            else:
                positional.append(self.evaluate(argument))
        keywords = {}
        for word in node.keywords:
            if word.arg is None:
                raise self.refuse(node, "double-starred arguments of a call are not counted before it")
            keywords[word.arg] = self.evaluate(word.value)
        return Arguments(positional, keywords)

    def _known(self, node: ast.Call, target: Any) -> Sketch:
        if declared_of(target) is not None:
            return self._declared(node, target, self._arguments(node), None)
        if of_class(type(target), "__argosy_plain__"):
            target = target.plain
        behaviour = of_function(target)
        if behaviour is not None:
            consumer = getattr(target, "__name__", "") in CONSUMERS
            return self._behave(node, behaviour, self._arguments(node, consumer), None, target)
        if isinstance(target, FunctionType):
            return self.source_call(node, target, self._arguments(node), None, None)
        raise self.refuse(node, f"what {ast.unparse(node.func)} does is not known")

    def source_call(self, node: ast.Call, function: FunctionType, given: Arguments, held: Sketch | None,
                    closure: Closure | None) -> Sketch:  # fmt: skip
        raise NotImplementedError

    def bound_arguments(self, node: ast.Call, function: FunctionType, given: Arguments) -> dict[str, Sketch]:
        """Arguments by the names of the parameters they go to."""
        try:
            bound = inspect.signature(function, follow_wrapped=False).bind(*given.positional, **given.keywords)
        except (TypeError, ValueError) as error:
            raise self.refuse(node, str(error)) from error
        result: dict[str, Sketch] = {}
        for name, parameter in inspect.signature(function, follow_wrapped=False).parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                extra = [cast(Sketch, sketch) for sketch in bound.arguments.get(name, ())]
                item: AnyKind = NEVER
                for sketch in extra:
                    item = join(item, sketch.kind)
                result[name] = self.made(node, boxed("tuple", item), *extra)
            elif parameter.kind is parameter.VAR_KEYWORD:
                words = [cast(Sketch, sketch) for sketch in bound.arguments.get(name, {}).values()]
                item = NEVER
                for sketch in words:
                    item = join(item, sketch.kind)
                result[name] = self.made(node, boxed("dict", item), *words)
            elif name in bound.arguments:
                result[name] = bound.arguments[name]
            else:
                result[name] = self.default_of(node, parameter.default)
        return result

    def default_of(self, node: ast.AST, value: Any) -> Sketch:
        kind = kind_of(value)
        if not is_still(kind):
            raise self.refuse(node, "a default value that may change")
        return Sketch(kind)

    # methods

    def _method(self, node: ast.Call, name: str, base: Sketch) -> Sketch:
        kind = base.kind
        behaviour: Behaviour | None = None
        if isinstance(kind, Declared):
            member = getattr(kind.cls, name, None)
            if declared_of(member) is not None:
                return self._declared(node, member, self._arguments(node), base)
            if name in kind.pure:
                given = self._arguments(node)
                self._all_known(node, given)
                self.read(base)
                return self.made(node, result_kind(member), base, *given.every())
        elif kind in (ATOM, ARRAY, VALUE):
            behaviour = of_method(name)
        elif isinstance(kind, Box) and kind.tag in ("list", "dict", "set", "tuple"):
            behaviour = of_container_method(cast(Any, kind.tag), name)
        elif kind is RNG:
            behaviour = of_generator_method(name)
        if behaviour is None:
            raise self.refuse(node, f"what .{name}() does is not known ({kind})", kind)
        return self._behave(node, behaviour, self._arguments(node, name == "join"), base, name)

    def _declared(self, node: ast.Call, function: Any, given: Arguments, base: Sketch | None) -> Sketch:
        """A function that says itself what its calls do."""
        declared = declared_of(function)
        if not declared.is_pure_with(given.keywords):
            raise self.refuse(node, f"{ast.unparse(node.func)} changes what others can see")
        self._all_known(node, given)
        if base is not None:
            self.read(base)
        if declared.waits:
            self.waits = True
            return self.made(node, result_kind(function))
        return self.made(node, result_kind(function), *given.every(), *([base] if base else []))

    def _all_known(self, node: ast.Call, given: Arguments) -> None:
        for sketch in given.every():
            kind = sketch.kind
            item = kind.item if isinstance(kind, Box) and kind.tag != "iterator" else kind
            if not (is_plain(item) or item is MADE or isinstance(item, (Known, Declared, Closure))):
                raise self.refuse(node, f"an argument of a kind that is not known ({kind})", kind)
            self.read(sketch)

    # known behaviour

    def _behave(
        self, node: ast.Call, behaviour: Behaviour, given: Arguments, base: Sketch | None, target: Any
    ) -> Sketch:
        behaviour = behaviour.when(len(given.positional), given.keywords)
        for which in behaviour.calls:
            called = given.get(which)
            if called is not None and called.kind is not ATOM:
                raise self.refuse(node, f"{ast.unparse(node.func)} calls a function it is given")
        for sketch in given.every():
            kind = sketch.kind
            lazily = behaviour.iterates and isinstance(kind, Box) and kind.tag == "iterator" and is_plain(kind.item)
            is_class = isinstance(kind, Known) and _is_plain_class(kind.target, target)
            no_array = behaviour.takes == "arrays" and isinstance(kind, Box) and kind.tag in ("dict", "set")
            stored = target in _STORING and base is not None and (kind is MADE or isinstance(kind, Declared))
            if no_array or not (is_plain(kind) or lazily or is_class or stored):
                raise self.refuse(node, f"an argument of a kind that is not known ({kind})", kind)
            self.read(sketch)
        if base is not None:
            self.read(base)
        if behaviour.state is not None:
            self.states.add(behaviour.state)
        written = self._written(behaviour, given, base)
        return self._result(node, behaviour, given, base, target, written)

    def _written(self, behaviour: Behaviour, given: Arguments, base: Sketch | None) -> list[Sketch]:
        written = []
        for which in behaviour.writes:
            sketch = base if which == "self" or which == -1 else given.get(which)
            if sketch is None or sketch.kind is ATOM:
                continue
            self.write(sketch)
            written.append(sketch)
            if isinstance(sketch.kind, Box) and sketch.kind.tag != "tuple":
                self.hold(sketch, *given.every())
        return written

    def hold(self, box: Sketch, *held: Sketch) -> None:
        """From now on the box may hold these."""
        around = [sketch.origins for sketch in held if sketch.origins]
        if around and box.origins:
            self.classes.unite(box.origins, *around)

    def widen(self, box: Sketch, item: AnyKind) -> None:
        """From now on the box may hold elements of this kind too, whatever name it goes by."""
        kind = box.kind
        if not isinstance(kind, Box) or join(kind.item, item) == kind.item:
            return
        wider = boxed(kind.tag, join(kind.item, item))
        roots = {self.classes.find(origin) for origin in box.origins}
        for environment in (self.environment, self.inner):
            for name, sketch in environment.items():
                same = {self.classes.find(origin) for origin in sketch.origins} & roots
                if same and isinstance(sketch.kind, Box):
                    inside = (
                        wider if sketch.kind.tag == kind.tag else boxed(sketch.kind.tag, join(sketch.kind.item, wider))
                    )
                    environment[name] = Sketch(join(sketch.kind, inside), sketch.origins)

    def _widen_by_method(self, node: ast.Call, base: Sketch, name: str, given: Arguments) -> None:
        if not name.endswith(("update", "extend")):
            for sketch in given.every():
                self.widen(base, sketch.kind)
            return
        for sketch in given.positional:
            if cast(Box, base.kind).tag != "dict":
                self.widen(base, self.item_of(sketch, node).kind)
            elif isinstance(sketch.kind, Box) and sketch.kind.tag == "dict":
                self.widen(base, sketch.kind.item)
            else:
                raise self.refuse(node, "a dict is updated with pairs")
        for sketch in given.keywords.values():
            self.widen(base, sketch.kind)

    def _result(self, node: ast.Call, behaviour: Behaviour, given: Arguments, base: Sketch | None, target: Any,
                written: list[Sketch]) -> Sketch:  # fmt: skip
        if base is not None and isinstance(base.kind, Box) and written:
            self._widen_by_method(node, base, str(target), given)
        around = [*given.every(), *([base] if base is not None else [])]
        if behaviour.result == "atom":
            return ATOM_SKETCH
        if target is slice:
            return Sketch(SLICE if all(sketch.kind is ATOM for sketch in given.every()) else UNKNOWN)
        if target is np.random.default_rng:
            return self.made(node, RNG, *given.every())
        if _is_one_of(target, _CONTAINERS) or _is_one_of(target, _LAZY):
            return self._container(node, target, given)
        if base is not None and isinstance(base.kind, Box):
            return self._from_box(node, behaviour, base, target, given)
        if behaviour.result == "fresh":
            kind = _kind_made(target, given)
            if kind is VALUE and not self._makes_numbers(node, target):
                return self.made(node, RESULT, *around)
            return self.made(node, kind, *(written if kind is VALUE else around))
        one = base is not None or (_is_one_of(target, _ONE_VIEW) and self._makes_numbers(node, target))
        numbers = all(sketch.kind in (ATOM, ARRAY, VALUE) for sketch in around)
        return self.made(node, VALUE if one and numbers else RESULT, *around)

    def _makes_numbers(self, node: ast.Call, target: Any) -> bool:
        """No dtype is asked for that may be one of objects."""
        place = 0 if target == "astype" else next((n for f, n in _PLACE_OF_DTYPE.items() if f is target), None)
        asked = [word.value for word in node.keywords if word.arg == "dtype"]
        asked += node.args[place : place + 1] if place is not None else []
        return all(self._is_dtype_of_numbers(dtype) for dtype in asked)

    def _is_dtype_of_numbers(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return node.value is None or (isinstance(node.value, str) and not _may_be_objects(node.value))
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return self.evaluate(node.value).kind in (ARRAY, VALUE)
        kind = self.evaluate(node).kind
        return isinstance(kind, Known) and type(kind.target) is type and not _may_be_objects(kind.target)

    def _container(self, node: ast.Call, target: Any, given: Arguments) -> Sketch:
        items = [self.item_of(sketch, node) for sketch in given.positional]
        kind: AnyKind = NEVER
        for sketch in items:
            kind = join(kind, sketch.kind)
        held = given.positional
        if _is_one_of(target, _CONTAINERS):
            return self.made(node, boxed(_CONTAINERS[target], kind), *held)
        if target is zip or target is enumerate:
            return self.made(
                node, boxed("iterator", boxed("tuple", join(kind, ATOM) if target is enumerate else kind)), *held
            )
        return self.made(node, boxed("iterator", kind), *held)

    def _from_box(self, node: ast.Call, behaviour: Behaviour, base: Sketch, name: Any, given: Arguments) -> Sketch:
        kind = cast(Box, base.kind)
        if behaviour.lazy:
            if kind.tag == "dict" and name == "items":
                return self.made(node, boxed("iterator", boxed("tuple", join(ATOM, kind.item))), base)
            return self.made(node, boxed("iterator", ATOM if name == "keys" else kind.item), base)
        if behaviour.result == "alias":
            item: AnyKind = kind.item
            for sketch in given.every():
                item = join(item, sketch.kind)
            if kind.tag == "dict":
                item = join(item, ATOM)  # get without a default gives None
            return self.made(node, item, base, *given.every())
        return self.made(node, kind, base, *given.every())


def _is_plain_class(cls: Any, function: Any) -> bool:
    """A class of Python's or NumPy's own; only to ask what something is an instance of, any class."""
    if type(cls) is not type:
        return False
    return function is isinstance or function is issubclass or cls.__module__ in ("builtins", "numpy")


def _may_be_objects(dtype: Any) -> bool:
    try:
        return bool(np.dtype(dtype).hasobject)
    except TypeError:
        return True


def _is_one_of(target: Any, functions: Iterable[Any]) -> bool:
    return any(target is function for function in functions)


def _kind_made(target: Any, given: Arguments) -> AnyKind:
    """The kind of new memory that a function or a method of an array gives."""
    if isinstance(target, np.ufunc):
        return VALUE if target.nout == 1 else RESULT
    if isinstance(target, str):
        return VALUE if target in _NUMBERS_MADE_BY_METHODS else RESULT
    if _is_one_of(target, _LIKE_THEIR_ARGUMENTS):
        kinds = [sketch.kind for sketch in given.every()]
        kinds = [kind.item if isinstance(kind, Box) else kind for kind in kinds]
        return VALUE if all(kind is ARRAY for kind in kinds) else RESULT
    return VALUE if _is_one_of(target, _NUMBERS_MADE) else RESULT

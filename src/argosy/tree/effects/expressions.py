"""What evaluating an expression reads, writes and gives, by the kinds of what it is made of."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import ModuleType
from typing import Any

from argosy.calls import result_of
from argosy.tree.effects.record import Guard, Opaque, Outer
from argosy.tree.effects.values import ATOM_SKETCH, Classes, Environment, Origin, Sketch, join_sketches
from argosy.tree.kinds import (
    ARRAY,
    ATOM,
    MADE,
    NEVER,
    RESULT,
    SLICE,
    VALUE,
    AnyKind,
    Box,
    Declared,
    Known,
    is_plain,
    is_still,
    join,
    kind_of,
)  # fmt: skip
from argosy.tree.knowledge import of_attribute
from argosy.tree.source import Source

_OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "lshift",
    ast.RShift: "rshift", ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
    ast.Invert: "invert", ast.USub: "neg", ast.UAdd: "pos",
}  # fmt: skip


def result_kind(member: Any) -> AnyKind:
    """The kind of what a function, method or property gives that says of itself what it does."""
    given = result_of(member)
    return MADE if given is None else Declared(given)


class Expressions:
    """One pass over a piece: `environment` in, accesses and the changed environment out."""

    def __init__(self, source: Source, environment: Environment) -> None:
        self.source = source
        self.environment = environment
        self.inner: Environment = {}
        """Variables of the comprehensions around."""
        self.classes = Classes()
        self.reads: list[Sketch] = []
        self.writes: list[tuple[Sketch, bool]] = []
        self.states: set[str] = set()
        self.outers: dict[Outer, Origin] = {}
        self.guards: dict[Any, Guard] = {}
        self.waits = False
        self.closure_origins: frozenset[Origin] = frozenset()
        """Where the memory of captured variables comes from, when the piece is the body of a closure."""
        self.cell_kinds: dict[str, AnyKind] | None = None

    # what happens to memory

    def read(self, sketch: Sketch) -> None:
        if sketch.origins:
            self.reads.append(sketch)

    def write(self, sketch: Sketch) -> None:
        """Of a container this changes which elements it holds, not what is in them."""
        kind = sketch.kind
        if isinstance(kind, Box) and kind.tag == "set":
            raise Opaque("a set is changed: the order of its elements could not be put back", 0)
        if sketch.origins:
            self.writes.append((sketch, isinstance(kind, Box) and kind.tag != "tuple"))

    def made(self, node: ast.AST, kind: AnyKind, *held: Sketch) -> Sketch:
        """New memory, which may hold what is given."""
        if is_still(kind):
            return Sketch(kind)
        here = frozenset({("made", getattr(node, "lineno", 0), getattr(node, "col_offset", 0), type(node).__name__)})
        around = [sketch.origins for sketch in held if sketch.origins]
        if around:
            self.classes.unite(here, *around)
        return Sketch(kind, here.union(*around))

    def refuse(self, node: ast.AST, reason: str, kind: AnyKind | None = None) -> Opaque:
        """`kind` is what stands in the way, if it is a kind."""
        return Opaque(reason, getattr(node, "lineno", 0), for_now=kind is MADE)

    # expressions

    def evaluate(self, node: ast.expr) -> Sketch:
        method: Callable[[Any], Sketch] | None = getattr(self, "on_" + type(node).__name__.lower(), None)
        if method is None:
            raise self.refuse(node, f"{type(node).__name__} is not analysed")
        return method(node)

    def plain(self, node: ast.expr) -> Sketch:
        """Evaluate, and read the whole of it; refuse what may run code of the user's."""
        sketch = self.evaluate(node)
        if not is_plain(sketch.kind):
            raise self.refuse(node, f"{_short(node)} is of a kind that is not known ({sketch.kind})", sketch.kind)
        self.read(sketch)
        return sketch

    def on_constant(self, node: ast.Constant) -> Sketch:  # noqa: ARG002
        return ATOM_SKETCH

    def on_name(self, node: ast.Name) -> Sketch:
        if node.id in self.inner:
            return self.inner[node.id]
        if node.id in self.source.local_names:
            return self.environment.get(node.id, Sketch(NEVER))
        if node.id in self.source.cells:
            return self._captured(node.id)
        return self.outer(Outer(self.source.function.__globals__, node.id), node)

    def _captured(self, name: str) -> Sketch:
        if self.cell_kinds is not None:
            kind = self.cell_kinds[name]
            return Sketch(kind, frozenset() if is_still(kind) else self.closure_origins)
        return self.outer(Outer(self.source.cells[name], name), None)

    def outer(self, outer: Outer, node: ast.AST | None) -> Sketch:
        try:
            value = outer.get()
        except (KeyError, ValueError) as error:
            raise Opaque(f"{outer.name} has no value yet", getattr(node, "lineno", 0)) from error
        kind = kind_of(value)
        self.guards.setdefault(outer, Guard(outer, outer.get, kind))
        if is_still(kind):
            return Sketch(kind)
        origin = self.outers.setdefault(outer, ("outer", len(self.outers)))
        return Sketch(kind, frozenset({origin}))

    def on_attribute(self, node: ast.Attribute) -> Sketch:
        base = self.evaluate(node.value)
        kind = base.kind
        if isinstance(kind, Known) and isinstance(kind.target, ModuleType):
            return self._of_module(kind.target, node)
        if isinstance(kind, Declared):
            found = result_kind(getattr(kind.cls, node.attr, None))
            self.read(base)
            return Sketch(found, frozenset() if is_still(found) else base.origins)
        if kind in (ATOM, ARRAY, VALUE):
            what = of_attribute(node.attr)
            if what == "atom":
                return ATOM_SKETCH
            if what == "alias":
                return Sketch(VALUE, base.origins)
        raise self.refuse(node, f"what .{node.attr} does is not known ({kind})", kind)

    def _of_module(self, module: ModuleType, node: ast.Attribute) -> Sketch:
        name = node.attr
        names = vars(module)  # whatever else it gives when it is asked, it gives by code of its own
        if name not in names or (name[:2] == "__" and name[-2:] != "__"):
            raise self.refuse(node, f"{_short(node)} is not there before it is asked for")
        kind = kind_of(names[name])
        key = (id(module), name)
        self.guards.setdefault(key, Guard(key, lambda: names[name], kind))
        if not is_still(kind):
            raise self.refuse(node, f"{_short(node)} is data of a module that may change")
        return Sketch(kind)

    def on_subscript(self, node: ast.Subscript) -> Sketch:
        base = self.evaluate(node.value)
        index = self.plain_index(node.slice)
        kind = base.kind
        if isinstance(kind, Box) and kind.tag in ("list", "tuple", "dict"):
            self.read(base)
            if isinstance(node.slice, ast.Slice) or index == [SLICE]:
                return self.made(node, kind, base)
            return Sketch(kind.item, frozenset() if is_still(kind.item) else base.origins)
        if kind is ATOM:
            return ATOM_SKETCH
        if kind in (ARRAY, VALUE, RESULT):
            view = self.part_of(node, base)
            self.read(view)
            return self.made(node, VALUE) if copies(index) and kind is not RESULT else view
        if isinstance(kind, Declared) and "__getitem__" in kind.pure:
            self.read(base)
            return self.made(node, result_kind(kind.cls.__getitem__), base)
        raise self.refuse(node, f"what [...] does here is not known ({kind})", kind)

    def part_of(self, node: ast.Subscript, base: Sketch) -> Sketch:
        """A view of an array: of which variable, at which index, if that can be told."""
        if base.kind is RESULT:
            return Sketch(RESULT, base.origins)
        if not isinstance(node.value, ast.Name) or base.via is not None:
            return Sketch(VALUE, base.origins, base.via)
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return Sketch(VALUE, base.origins, None if names & self.inner.keys() else (node.value.id, node.slice))

    def plain_index(self, node: ast.expr) -> list[AnyKind]:
        """The kinds of the parts of an index."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        return [self._index_part(part) for part in parts]

    def _index_part(self, node: ast.expr) -> AnyKind:
        if isinstance(node, ast.Slice):
            for bound in (node.lower, node.upper, node.step):
                if bound is not None:
                    self.plain(bound)
            return ATOM
        if isinstance(node, ast.Starred):
            raise self.refuse(node, "a starred index is not analysed")
        return self.plain(node).kind

    def on_slice(self, node: ast.Slice) -> Sketch:
        self._index_part(node)
        return ATOM_SKETCH

    def on_binop(self, node: ast.BinOp) -> Sketch:
        return self.operate(node, node.op, self.evaluate(node.left), self.evaluate(node.right))

    def operate(self, node: ast.AST, operator: ast.operator, left: Sketch, right: Sketch) -> Sketch:
        if isinstance(left.kind, Declared) or isinstance(right.kind, Declared):
            return self._declared_operator(node, operator, left, right)
        for side in (left, right):
            if not is_plain(side.kind):
                raise self.refuse(node, f"an operator on a kind that is not known ({side.kind})", side.kind)
            self.read(side)
        kinds = (left.kind, right.kind)
        boxes = [kind for kind in kinds if isinstance(kind, Box)]
        if boxes and not {ARRAY, VALUE, RESULT} & {kind for kind in kinds if not isinstance(kind, Box)}:
            if left.kind is ATOM and isinstance(operator, ast.Mod):
                return ATOM_SKETCH
            kind = join(*boxes) if len(boxes) == 2 else boxes[0]
            return self.made(node, kind, left, right)
        if RESULT in kinds:  # lists add up to lists of the same elements
            return self.made(node, RESULT, left, right)
        if ATOM is left.kind is right.kind:
            return ATOM_SKETCH
        matmul = isinstance(operator, ast.MatMult)
        return self.made(node, ARRAY if ARRAY in kinds and not matmul else VALUE)

    def _declared_operator(self, node: ast.AST, operator: ast.AST, *sides: Sketch) -> Sketch:
        name = _OPERATORS.get(type(operator), "")
        for side in sides:
            kind = side.kind
            if isinstance(kind, Declared):
                if not {f"__{name}__", f"__r{name}__"} & kind.pure:
                    raise self.refuse(node, f"an operator on {kind.cls.__name__}")
            elif not is_plain(kind):
                raise self.refuse(node, f"an operator on a kind that is not known ({kind})", kind)
            self.read(side)
        members = [getattr(side.kind.cls, f"__{name}__", None) for side in sides if isinstance(side.kind, Declared)]
        return self.made(node, result_kind(members[0]), *sides)

    def on_unaryop(self, node: ast.UnaryOp) -> Sketch:
        operand = self.evaluate(node.operand)
        if isinstance(operand.kind, Declared):
            return self._declared_operator(node, node.op, operand)
        self._must_be_plain(node, operand)
        if isinstance(node.op, ast.Not) or operand.kind is ATOM:
            return ATOM_SKETCH
        return self.made(node, operand.kind if operand.kind is ARRAY else VALUE)

    def _must_be_plain(self, node: ast.AST, sketch: Sketch) -> None:
        if not is_plain(sketch.kind):
            raise self.refuse(node, f"an operator on a kind that is not known ({sketch.kind})", sketch.kind)
        self.read(sketch)

    def on_compare(self, node: ast.Compare) -> Sketch:
        sides = [self.evaluate(side) for side in [node.left, *node.comparators]]
        if len(sides) == 2 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return ATOM_SKETCH
        if len(sides) == 2 and any(isinstance(side.kind, Declared) for side in sides):
            return self._declared_operator(node, node.ops[0], *sides)
        for side in sides:
            self._must_be_plain(node, side)
        kinds = {side.kind for side in sides if not isinstance(side.kind, Box)}
        if all(isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for op in node.ops):
            return ATOM_SKETCH
        if not kinds & {ARRAY, VALUE, RESULT}:
            return ATOM_SKETCH
        return self.made(node, ARRAY if ARRAY in kinds and len(sides) == 2 else VALUE)

    def on_boolop(self, node: ast.BoolOp) -> Sketch:
        result: Sketch | None = None
        for value in node.values:
            sketch = self.evaluate(value)
            self._must_be_plain(node, sketch)
            result = join_sketches(result, sketch)
        assert result is not None
        return result

    def on_ifexp(self, node: ast.IfExp) -> Sketch:
        self.plain(node.test)
        return join_sketches(self.evaluate(node.body), self.evaluate(node.orelse))

    def on_joinedstr(self, node: ast.JoinedStr) -> Sketch:
        for part in node.values:
            self.evaluate(part)
        return ATOM_SKETCH

    def on_formattedvalue(self, node: ast.FormattedValue) -> Sketch:
        self.plain(node.value)
        if node.format_spec is not None:
            self.evaluate(node.format_spec)
        return ATOM_SKETCH

    def on_namedexpr(self, node: ast.NamedExpr) -> Sketch:
        sketch = self.evaluate(node.value)
        before = self.environment.get(node.target.id)  # it may be skipped
        self.bind(node.target, sketch if before is None else join_sketches(before, sketch))
        return sketch

    def bind(self, target: ast.expr, sketch: Sketch, into: Environment | None = None) -> None:
        raise NotImplementedError

    def on_lambda(self, node: ast.Lambda) -> Sketch:
        raise self.refuse(node, "a lambda is made here")


def copies(index: list[AnyKind]) -> bool:
    """An index with an array or a list in it copies instead of giving a view."""
    return any(kind is ARRAY or (isinstance(kind, Box) and kind.tag == "list") for kind in index)


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else text[:37] + "..."

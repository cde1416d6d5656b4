"""What statements do to variables and memory: straight on, both ways of a branch, loops until nothing changes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from argosy.tree.effects.calls import Calls
from argosy.tree.effects.values import (
    ATOM_SKETCH,
    Environment,
    Sketch,
    join_environments,
    join_sketches,
)  # fmt: skip
from argosy.tree.kinds import ARRAY, ATOM, RESULT, VALUE, Box, Declared, Known, boxed, is_plain, is_still, join

_ROUNDS = 8


class Statements(Calls):
    returned: Sketch | None = None

    def __init__(self, source: Any, environment: Environment) -> None:
        super().__init__(source, environment)
        self._exits: list[list[Environment]] = []
        """For each loop around, the variables as they may be at a break or continue."""

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        method: Callable[[Any], None] | None = getattr(self, "do_" + type(node).__name__.lower(), None)
        if method is None:
            raise self.refuse(node, f"a {type(node).__name__.lower()} statement runs in its turn")
        method(node)

    # binding

    def bind(self, target: ast.expr, sketch: Sketch, into: Environment | None = None) -> None:
        if isinstance(target, ast.Name):
            self._bind_name(target, sketch, into)
        elif isinstance(target, (ast.Tuple, ast.List)):
            item = self.item_of(sketch, target)
            for part in target.elts:
                if isinstance(part, ast.Starred):
                    self.bind(part.value, self.made(part, boxed("list", item.kind), item), into)
                else:
                    self.bind(part, item, into)
        elif isinstance(target, ast.Subscript):
            self._store(target, sketch)
        else:
            raise self.refuse(target, "storing into an attribute is seen by others")

    def _bind_name(self, target: ast.Name, sketch: Sketch, into: Environment | None) -> None:
        if into is None:
            if target.id not in self.source.local_names:
                raise self.refuse(target, f"{target.id} is a global")
            into = self.environment
        into[target.id] = sketch

    def _store(self, target: ast.Subscript, value: Sketch) -> None:
        base = self.evaluate(target.value)
        index = self.plain_index(target.slice)
        kind = base.kind
        if isinstance(kind, Box) and kind.tag in ("list", "dict"):
            if kind.tag == "dict" and not all(is_still(part) for part in index):
                raise self.refuse(target, "a key that may change")
            self.write(base)
            self.hold(base, value)
            many = isinstance(target.slice, ast.Slice)
            self.widen(base, self.item_of(value, target).kind if many else value.kind)
            return
        if kind in (ARRAY, VALUE, RESULT, ATOM):
            if not is_plain(value.kind):
                raise self.refuse(target, f"storing a kind that is not known ({value.kind})", value.kind)
            self.read(value)
            self.write(self.part_of(target, base))
            if kind is RESULT:
                self.hold(base, value)
            return
        raise self.refuse(target, f"what storing at an index does here is not known ({kind})", kind)

    # simple statements

    def do_assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            if isinstance(target, (ast.Tuple, ast.List)) and isinstance(node.value, (ast.Tuple, ast.List)):
                self._unpack_display(target, node.value, value)
            else:
                self.bind(target, value)

    def _unpack_display(self, target: ast.Tuple | ast.List, display: ast.Tuple | ast.List, value: Sketch) -> None:
        """`a, b = b, a`: each gets its own, so that kinds stay apart."""
        starred = any(isinstance(part, ast.Starred) for part in [*target.elts, *display.elts])
        if starred or len(target.elts) != len(display.elts):
            self.bind(target, value)
            return
        values = [self.evaluate(part) for part in display.elts]
        for part, sketch in zip(target.elts, values, strict=True):
            self.bind(part, sketch)

    def do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.evaluate(node.value))

    def do_augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Attribute):
            raise self.refuse(node, "storing into an attribute is seen by others")
        loaded = _loaded(target)
        old = self.evaluate(loaded)
        value = self.evaluate(node.value)
        new = self.operate(node, node.op, old, value)
        if old.kind is not ATOM and not isinstance(old.kind, Declared):
            self.write(old)
            if isinstance(old.kind, Box) or old.kind is RESULT:
                self.hold(old, value)
                if isinstance(old.kind, Box) and isinstance(value.kind, Box):
                    self.widen(old, value.kind.item)
            new = Sketch(join(old.kind, new.kind), old.origins | new.origins, old.via)
        self.bind(target, new)

    def do_expr(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def do_pass(self, node: ast.Pass) -> None:  # noqa: ARG002
        return

    def do_assert(self, node: ast.Assert) -> None:
        self.plain(node.test)
        if node.msg is not None:
            self.plain(node.msg)

    def do_return(self, node: ast.Return) -> None:
        value = self.evaluate(node.value) if node.value is not None else ATOM_SKETCH
        self.returned = value if self.returned is None else join_sketches(self.returned, value)

    def do_raise(self, node: ast.Raise) -> None:
        """An exception of Python's own, made of plain values."""
        made = node.exc
        if made is None or node.cause is not None:
            raise self.refuse(node, "this raise depends on what is being handled")
        call = made if isinstance(made, ast.Call) else None
        raised = self.evaluate(call.func if call else made)
        target = raised.kind.target if isinstance(raised.kind, Known) else None
        if not (isinstance(target, type) and issubclass(target, BaseException) and target.__module__ == "builtins"):
            raise self.refuse(node, "an exception that is not Python's own is raised")
        if call is not None:
            for argument in call.args:
                self.plain(argument)
            if call.keywords:
                raise self.refuse(node, "an exception with keyword arguments")

    def do_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in self.source.local_names:
                self.environment.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                base = self.evaluate(target.value)
                self.plain_index(target.slice)
                if not (isinstance(base.kind, Box) and base.kind.tag in ("list", "dict")):
                    raise self.refuse(node, "what del does here is not known")
                self.write(base)
            else:
                raise self.refuse(node, "what del does here is not known")

    # control

    def do_if(self, node: ast.If) -> None:
        self.plain(node.test)
        before = dict(self.environment)
        self.block(node.body)
        after_body, self.environment = self.environment, before
        self.block(node.orelse)
        self.environment = join_environments(after_body, self.environment)

    def do_break(self, node: ast.Break) -> None:  # noqa: ARG002
        if self._exits:
            self._exits[-1].append(dict(self.environment))

    do_continue = do_break

    def do_while(self, node: ast.While) -> None:
        self._loop(node, lambda: self._test(node.test))

    def _test(self, node: ast.expr) -> None:
        self.plain(node)

    def do_for(self, node: ast.For) -> None:
        iterable = self.evaluate(node.iter)
        self._loop(node, lambda: self.bind(node.target, self.item_of(iterable, node.iter)))

    def _loop(self, node: ast.For | ast.While, start: Callable[[], None]) -> None:
        """A break jumps over the `else`: what was so at a break may be so after it, too."""
        left = self._rounds(node, start)
        self.block(node.orelse)
        if node.orelse:
            for environment in left:
                self.environment = join_environments(self.environment, environment)

    def _rounds(self, node: ast.For | ast.While, start: Callable[[], None]) -> list[Environment]:
        """Until another round changes neither variables nor which memory may be which. How it may be left early."""
        for _ in range(_ROUNDS):
            before, classes = dict(self.environment), self.classes.state()
            self._exits.append([])
            start()
            self.block(node.body)
            left = self._exits.pop()
            for environment in left:
                self.environment = join_environments(self.environment, environment)
            self.environment = join_environments(before, self.environment)
            if self.environment == before and self.classes.state() == classes:
                return left
        raise self.refuse(node, "what the variables of this loop hold does not settle")


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    assert isinstance(target, ast.Subscript)
    return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)

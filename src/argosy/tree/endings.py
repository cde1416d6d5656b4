"""How a piece ends: what a whole compound statement that runs plainly says of a jump or return out of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from argosy.tree.compiling import LOCALS

NEXT, BREAK, CONTINUE, RETURN, MORE = range(5)
"""MORE: of a stretch of rounds, that it ended because it was to be no longer."""
ITEMS = "__argosy_items__"
_CHANGED = (ast.stmt, ast.excepthandler, ast.match_case)
_STATUS, _ONCE = "__argosy_status__", "__argosy_once__"


def unbound(names: frozenset[str], where: ast.AST) -> list[ast.stmt]:
    """`if False: x = None`: x is a local variable without a value."""
    stores = [at(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)), where) for name in sorted(names)]
    return _never(stores, where)


def in_sight(names: frozenset[str], where: ast.AST) -> list[ast.stmt]:
    """`if False: x`: x is a variable that whoever looks at the frame sees."""
    return _never([at(ast.Expr(ast.Name(name, ast.Load())), where) for name in sorted(names)], where)


def _never(statements: list[ast.stmt], where: ast.AST) -> list[ast.stmt]:
    return [at(ast.If(test=ast.Constant(False), body=statements, orelse=[]), where)] if statements else []


def over_items(loop: Any) -> ast.For:
    items = at(ast.Name(ITEMS, ast.Load()), loop.iter)
    return at(ast.For(target=loop.target, iter=items, body=loop.body, orelse=loop.orelse), loop)  # type: ignore[no-any-return]


def stretch_of(loop: Any) -> ast.For:
    """Some rounds of a loop: of a `for` as many as there are items, of a `while` too, if its test holds before each.

    It ends as CONTINUE where the test does not hold; the `else` of the loop is not in it.
    """
    given = at(ast.Name(ITEMS, ast.Load()), loop)
    more = [_status(MORE, loop)]
    if isinstance(loop, ast.For):
        return at(ast.For(target=loop.target, iter=given, body=loop.body, orelse=more), loop)  # type: ignore[no-any-return]
    over = [_status(CONTINUE, loop), at(ast.Break(), loop)]
    test = at(ast.If(test=at(ast.UnaryOp(ast.Not(), loop.test), loop.test), body=over, orelse=[]), loop.test)
    once = ast.Name(_ONCE, ast.Store())
    return at(ast.For(target=once, iter=given, body=[test, *loop.body], orelse=more), loop)  # type: ignore[no-any-return]


def as_it_runs(part: Any, role: str) -> Any:
    """A compound statement, or the rounds of a loop that come as items."""
    if role == "rest":
        return [over_items(part[0])]
    return [stretch_of(part[0])] if role == "stretch" else part


def copied(node: Any) -> Any:
    """A copy of statements; expressions, which are not changed, are shared."""
    fields = {
        name: [copied(item) if isinstance(item, _CHANGED) else item for item in value]
        if isinstance(value, list)
        else value
        for name, value in ast.iter_fields(node)
    }
    made = type(node)(**fields)
    return ast.copy_location(made, node) if hasattr(node, "lineno") else made


def at(made: Any, where: ast.AST) -> Any:
    """At the place of another node, the parts of an expression the user wrote keep their own."""
    return ast.copy_location(made, where)


def truth(test: ast.expr) -> Any:
    return at(ast.IfExp(test=test, body=at(ast.Constant(True), test), orelse=at(ast.Constant(False), test)), test)


def run_once(part: Sequence[ast.stmt], where: ast.AST, says_how: bool = False) -> list[ast.stmt]:
    """The statements, in a loop that runs once where a break or continue would reach outside of them, and the end.

    `says_how`: they say themselves how they ended.
    """
    change = Escapes()
    body = change.several(copied(statement) for statement in part)
    if not change.jumps:
        if says_how:
            return [_status(NEXT, where), *body, ending(ast.Name(_STATUS, ast.Load()))]
        return [*body, ending(at(ast.Constant(NEXT), where))]
    once = ast.For(
        target=ast.Name(_ONCE, ast.Store()), iter=ast.Tuple([ast.Constant(0)], ast.Load()), body=body, orelse=[]
    )
    return [_status(NEXT, where), at(once, where), ending(ast.Name(_STATUS, ast.Load()))]


def _status(status: int, where: ast.AST) -> Any:
    return at(ast.Assign([ast.Name(_STATUS, ast.Store())], ast.Constant(status)), where)


def ending(status: ast.expr) -> ast.stmt:
    """Return how it ended, and all variables that are bound."""
    constant: list[ast.expr] = [ast.Constant(LOCALS), ast.Constant(LOCALS)]  # a constant alone cannot be called
    variables = ast.Call(func=ast.BoolOp(op=ast.Or(), values=constant), args=[], keywords=[])
    return ast.Return(value=ast.Tuple([status, variables], ast.Load()))


class Escapes(ast.NodeTransformer):
    """Makes what reaches outside of a compound statement say so: a jump before it leaves, a return by what it gives."""

    def __init__(self) -> None:
        self.jumps = False
        self.returns = False
        self._loops = 0

    def several(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in statements:
            visited: Any = self.visit(statement)
            found += visited if isinstance(visited, list) else [visited]
        return found

    def visit_FunctionDef(self, node: ast.AST) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef  # noqa: N815

    def _visit_loop(self, node: Any) -> ast.AST:
        self._loops += 1
        node.body = self.several(node.body)
        self._loops -= 1
        node.orelse = self.several(node.orelse)
        return node  # type: ignore[no-any-return]

    visit_For = visit_While = visit_AsyncFor = _visit_loop  # noqa: N815

    def visit_Break(self, node: ast.Break) -> Any:
        return self._jump(node, BREAK)

    def visit_Continue(self, node: ast.Continue) -> Any:
        return self._jump(node, CONTINUE)

    def _jump(self, node: ast.stmt, status: int) -> Any:
        if self._loops:
            return node
        self.jumps = True
        return [_status(status, node), at(ast.Break(), node)]

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.returns = True
        value = node.value or at(ast.Constant(None), node)
        pair = at(ast.Tuple([at(ast.Constant(RETURN), node), value], ast.Load()), node)
        return at(ast.Return(value=pair), node)  # type: ignore[no-any-return]

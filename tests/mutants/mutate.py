"""Small changes to a source file, each of which a test should notice.

What is changed: comparisons, arithmetic, `and` / `or` / `not`, conditions (turned round), constants, returned values,
assigned values, calls made for their effect, `break` / `continue`. What is not: docstrings, annotations, decorators,
texts of errors, `assert` and its like (`zip(strict=True)`), `__all__`, and what only a type checker runs.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.MatMult: ast.Mult,
}  # fmt: skip
_CONDITIONS = (ast.If, ast.While, ast.IfExp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change. `key` says which without line numbers, so that it outlives changes elsewhere in the file."""

    file: str
    key: str
    lines: tuple[int, int]
    """Of the statement that it is in."""
    at: int
    """Which of the file's changes, in the order of `mutants_of`."""


def mutants_of(file: str, source: str) -> list[Mutant]:
    tree = ast.parse(source)
    seen: dict[str, int] = {}
    found = []
    for at, (site, where) in enumerate(_changes(tree)):
        before = ast.unparse(site.shown)
        undo = site.do()
        after = ast.unparse(site.shown)
        undo()
        key = f"{where.name}: {_short(before)} -> {_short(after)}"
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            key += f" #{seen[key]}"
        found.append(Mutant(file, key, where.lines, at))
    return found


def mutated(source: str, at: int) -> ast.Module:
    tree = ast.parse(source)
    for number, (site, _) in enumerate(_changes(tree)):
        if number == at:
            site.do()
            return ast.fix_missing_locations(tree)
    raise IndexError(at)


@dataclass(frozen=True, slots=True)
class _Where:
    name: str
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Site:
    shown: ast.AST
    do: Callable[[], Callable[[], None]]
    """Makes the change, and returns what takes it back."""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 140 else f"{line[:137]}..."


def _set(node: ast.AST, name: str, value: object) -> Callable[[], Callable[[], None]]:
    def do() -> Callable[[], None]:
        before = getattr(node, name)
        setattr(node, name, value)
        return lambda: setattr(node, name, before)

    return do


def _changes(tree: ast.Module) -> Iterator[tuple[_Site, _Where]]:
    yield from _of_block(tree.body, "", tree)


def _of_block(body: list[ast.stmt], name: str, owner: ast.AST) -> Iterator[tuple[_Site, _Where]]:
    for at, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Assert, ast.Raise, ast.Global, ast.Nonlocal)):
            continue
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        yield from _of_statement(body, at, statement, name)


def _of_statement(body: list[ast.stmt], at: int, statement: ast.stmt, name: str) -> Iterator[tuple[_Site, _Where]]:
    inner = [getattr(statement, part) for part in ("body", "orelse", "finalbody") if getattr(statement, part, None)]
    handlers = [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
    first = min((block[0].lineno for block in inner), default=statement.end_lineno or statement.lineno)
    last = statement.end_lineno or statement.lineno
    lines = (statement.lineno, max(first - 1, statement.lineno) if inner and not handlers else last)
    if isinstance(statement, _SCOPES):
        full = f"{name}.{statement.name}" if name else statement.name
        if not isinstance(statement, ast.ClassDef):
            for default in [*statement.args.defaults, *(each for each in statement.args.kw_defaults if each)]:
                yield from ((site, _Where(full, lines)) for site in _of_expression(default, default))
        yield from _of_block(statement.body, full, statement)
        return
    where = _Where(name, lines)
    if isinstance(statement, (ast.Break, ast.Continue)):
        other = ast.Continue() if isinstance(statement, ast.Break) else ast.Break()
        yield _Site(_Line(body, at), lambda: _replace(body, at, other)), where
    if isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.Call, ast.Yield, ast.YieldFrom)):
        yield _Site(_Line(body, at), lambda: _replace(body, at, ast.Pass())), where
    if isinstance(statement, (ast.AugAssign, ast.Delete)):
        yield _Site(_Line(body, at), lambda: _replace(body, at, ast.Pass())), where
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return)) and statement.value is not None:
        value = statement.value
        if not (isinstance(value, ast.Constant) and value.value is None):
            yield _Site(statement, _set(statement, "value", ast.Constant(None))), where
    if isinstance(statement, ast.AugAssign) and type(statement.op) in _BINARY:
        yield _Site(statement, _set(statement, "op", _BINARY[type(statement.op)]())), where
    shown = statement if not inner and not handlers else None
    for field, value in ast.iter_fields(statement):
        if field in ("body", "orelse", "finalbody", "handlers", "cases", "annotation", "decorator_list", "targets"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from ((site, where) for site in _of_expression(part, shown or part))
    if isinstance(statement, (ast.If, ast.While)):
        yield _turned(statement), where
    for block in inner:
        yield from _of_block(block, name, statement)
    for handler in handlers:
        guard = getattr(handler, "guard", None)
        if guard is not None:
            yield _Site(guard, _set(handler, "guard", ast.UnaryOp(ast.Not(), guard))), where
            yield from ((site, where) for site in _of_expression(guard, guard))
        yield from _of_block(handler.body, name, handler)


class _Line(ast.Expr):
    """A statement that may be another after the change: shown as what stands in its place."""

    def __new__(cls, body: list[ast.stmt], at: int) -> ast.AST:  # type: ignore[misc]
        return ast.Module(body=_One(body, at), type_ignores=[])  # type: ignore[arg-type]


class _One(list):  # type: ignore[type-arg]
    def __init__(self, body: list[ast.stmt], at: int) -> None:
        super().__init__()
        self._body, self._at = body, at

    def __iter__(self) -> Iterator[ast.stmt]:
        return iter([self._body[self._at]])


def _replace(body: list[ast.stmt], at: int, other: ast.stmt) -> Callable[[], None]:
    before = body[at]
    body[at] = other

    def undo() -> None:
        body[at] = before

    return undo


def _turned(node: ast.If | ast.While | ast.IfExp) -> _Site:
    test = node.test
    other = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
    shown = ast.Expression(node.test)

    def do() -> Callable[[], None]:
        changed = other or ast.UnaryOp(ast.Not(), test)
        node.test = shown.body = changed

        def undo() -> None:
            node.test = shown.body = test

        return undo

    return _Site(shown, do)


def _of_expression(node: ast.AST, shown: ast.AST) -> Iterator[_Site]:
    if isinstance(node, ast.Compare):
        for at, op in enumerate(node.ops):
            if type(op) in _COMPARE:
                ops = copy.copy(node.ops)
                ops[at] = _COMPARE[type(op)]()
                yield _Site(shown, _set(node, "ops", ops))
    elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        yield _Site(shown, _set(node, "op", _BINARY[type(node.op)]()))
    elif isinstance(node, ast.BoolOp):
        yield _Site(shown, _set(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And()))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert)):
        yield _Site(shown, _set(node, "op", ast.UAdd()))
    elif isinstance(node, ast.Constant) and (other := _other(node.value)) is not None:
        yield _Site(shown, _set(node, "value", other))
    elif isinstance(node, ast.IfExp):
        yield _turned(node)
    elif isinstance(node, ast.comprehension):
        for at, test in enumerate(node.ifs):
            ifs = copy.copy(node.ifs)
            ifs[at] = ast.UnaryOp(ast.Not(), test)
            yield _Site(shown, _set(node, "ifs", ifs))
    elif isinstance(node, ast.Lambda) and not isinstance(node.body, ast.Constant):
        yield _Site(shown, _set(node, "body", ast.Constant(None)))
    if isinstance(node, (ast.JoinedStr, ast.arguments)) or (isinstance(node, ast.keyword) and node.arg == "strict"):
        return
    for child in ast.iter_child_nodes(node):
        yield from _of_expression(child, shown)


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return f"XX{value}"
    return None

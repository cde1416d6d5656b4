"""From phrases to the source of a whole program: blocks, loops, branches, and arguments that overlap."""

from __future__ import annotations

import re
from random import Random
from typing import Protocol, TypeVar

from hypothesis import strategies as st
from tree.programs.made import phrases

_T = TypeVar("_T")
_LETTERS = re.compile(r"\b[VMSLDAI]\b")
_HOLES = re.compile(r"\{([VMSL])\}")
_RANGES = {"V": phrases.VECTORS, "M": phrases.MATRICES, "S": phrases.NUMBERS, "L": phrases.LISTS}
_LOOP_NAMES = ("i", "j", "h")
_SIMPLE = ("assign",) * 12 + ("store",) * 18 + ("meet",) * 10 + ("call",) * 5 + ("raise",) + ("inner",)
_BLOCKS = ("for",) * 4 + ("rows",) * 3 + ("if",) * 3 + ("changing",) * 2 + ("while", "each", "try", "try", "with")
_ENDS = ("return",) + ("break", "continue") * 2


@st.composite
def sources(draw: st.DrawFn, most: int = 12) -> str:
    """The text of a module with `arguments()` and `study(a, b, c, m, n, k, s, t, xs, ys, d, tab)`."""
    return _Writer(_ByHypothesis(draw)).module(most)


def source_of(seed: int, most: int = 12) -> str:
    """The same, from a seed alone, many times faster."""
    return _Writer(_BySeed(seed)).module(most)


class _Draw(Protocol):
    def one_of(self, among: tuple[_T, ...]) -> _T: ...

    def number(self, low: int, high: int) -> int: ...


class _ByHypothesis:
    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def one_of(self, among: tuple[_T, ...]) -> _T:
        return self._draw(st.sampled_from(among))

    def number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))


class _BySeed:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def one_of(self, among: tuple[_T, ...]) -> _T:
        return self._random.choice(among)

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)


class _Writer:
    """Writes one program; `draw` decides."""

    def __init__(self, draw: _Draw) -> None:
        self._draw = draw
        self._indices: list[str] = []
        self._loops = 0
        self._whiles = 0
        self._has_put = self._one_of((False, False, True))

    def module(self, most: int) -> str:
        lines = ["def study(a, b, c, m, n, k, s, t, xs, ys, d, tab):"]
        if self._has_put:
            lines += self._inner_function("    ")
        lines += self._block(depth=0, most=most)
        lines.append("    return a, b, c, m, n, k, s, t, xs, ys, d, column(tab)")
        return "\n".join([phrases.HEADER, "", *self._arguments(), "", "", *lines, ""])

    def _arguments(self) -> list[str]:
        """Vectors that may be rows or columns of the matrices, or one another."""
        vectors = (
            "two[0]",
            "two[1]",
            "np.array([0.5, -1.0, 2.0, 3.0])",
            "np.arange(4.0)",
            "np.arange(4.0)",
            "m[0]",
            "m[1]",
            "m[:, 1]",
            "m[2, ::-1]",
            "n[0]",
        )
        matrices = ("np.arange(16.0).reshape(4, 4) / 8", "np.eye(4)", "-np.ones((4, 4))")
        later = ("m", "m.T", "m[::-1]", *matrices)
        return [
            "def arguments():",
            "    two = twice()",
            f"    m = {self._one_of(matrices)}",
            f"    n = {self._one_of(later)}",
            f"    a = {self._one_of(vectors)}",
            f"    b = {self._one_of((*vectors, 'a', 'a[::-1]'))}",
            f"    c = {self._one_of((*vectors, 'a', 'b'))}",
            "    k = np.array([3, 1, 0, 2])",
            f"    xs = {self._one_of(('[a, b]', '[a, a, c]', '[np.ones(4), b]', 'list(m)', 'list(m.T)'))}",
            f"    ys = {self._one_of(('xs', 'xs[:]', '[c, np.zeros(4)]', '[a, m[3]]'))}",
            f"    d = {self._one_of(('dict(p=a, q=b)', 'dict(p=np.ones(4), q=c[:], r=m[0])'))}",
            f"    tab = {self._one_of(('lent(a)', 'lent(np.ones(4), b)', 'lent(m[1]).slice(1)'))}",
            "    return a, b, c, m, n, k, 1.5, 2, xs, ys, d, tab",
        ]

    def _block(self, *, depth: int, most: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self._draw.number(2, most)):
            lines += self._statement(depth)
        return lines

    def _statement(self, depth: int) -> list[str]:
        pad = "    " * (depth + 1)
        kinds = _SIMPLE + _BLOCKS if depth < 3 else _SIMPLE
        kind = self._one_of(kinds)
        match kind:
            case "assign":
                letter = self._one_of(("V", "V", "V", "M", "S", "L"))
                return [f"{pad}{self._filled(letter)} = {self._filled(self._one_of(_RANGES[letter]))}"]
            case "store":
                return [pad + self._phrase(phrases.STORES)]
            case "call":
                return [pad + self._phrase(phrases.CALLS)]
            case "meet":
                return [pad + line for line in self._meeting()]
            case "raise":
                return [pad + self._phrase(phrases.RAISING)]
            case "inner" if self._has_put:
                return self._inner_function(pad)
            case "inner":
                return [pad + self._phrase(phrases.CALLS)]
            case "changing":
                one = self._one_of(phrases.NAMES["L"])  # the list that is asked for its length is the one that grows
                return [pad + self._phrase((re.sub(r"\bL\b", one, line),)) for line in self._one_of(phrases.CHANGING)]
        return self._compound(kind, depth, pad)

    def _inner_function(self, pad: str) -> list[str]:
        names = {letter: self._one_of(names) for letter, names in phrases.NAMES.items()} | {"I": "1"}
        lines = self._one_of(phrases.INNER)
        return [pad + _LETTERS.sub(lambda letter: names[letter[0]], line) for line in lines]

    def _meeting(self) -> list[str]:
        """Two names for one memory, then stores and reads through either."""
        one, other, bind = self._one_of(phrases.MEETINGS)
        lines = [self._filled(bind)]
        for _ in range(self._draw.number(2, 4)):
            touch = self._one_of(phrases.TOUCHES)
            lines.append(re.sub(r"\bX\b", self._one_of((one, other)), self._phrase((touch,))))
        return lines

    def _compound(self, kind: str, depth: int, pad: str) -> list[str]:
        match kind:
            case "if":
                lines = [f"{pad}if {self._condition()}:", *self._branch(depth)]
                if self._one_of((True, False)):
                    lines += [f"{pad}else:", *self._branch(depth)]
                return lines
            case "for":
                start = self._one_of(("4", "3", "1, 4", "3, -1, -1", "0"))
                return self._loop(depth, pad, f"for {_LOOP_NAMES[depth]} in range({start}):", [])
            case "rows":
                return self._rows(depth, pad)
            case "each":
                source = self._one_of(("xs[:3]", "ys[:2]", "m", "n.T", "zip(xs[:2], ys[:2])", "enumerate(m)"))
                target = {"z": "a, b", "e": "_, c"}.get(source[0], self._one_of(phrases.NAMES["V"]))
                return self._loop(depth, pad, f"for {target} in {source}:", [])
            case "while":
                self._whiles += 1
                turn = f"w{self._whiles}"
                head = f"while {turn} < 3 and ({self._condition()}):"
                return [f"{pad}{turn} = 0", *self._loop(depth, pad, head, [f"{pad}    {turn} += 1"])]
            case "with":
                return [f"{pad}with np.errstate(invalid={self._one_of(('raise', 'ignore'))!r}):", *self._inner(depth)]
        return self._try(depth, pad)

    def _rows(self, depth: int, pad: str) -> list[str]:
        """A loop over rows whose iterations may or may not meet."""
        name = _LOOP_NAMES[depth]
        places = (name, name, f"({name} + 1) % 4", f"{name} - 1", "0", f"k[{name}]")
        read, write = self._one_of(places), self._one_of((name, name, f"3 - {name}", f"{name} - 1", f"k[{name}]"))
        target, source = self._one_of(phrases.NAMES["M"]), self._one_of(phrases.NAMES["M"])
        operator = self._one_of(("=", "=", "+=", "*="))
        value = self._one_of((f"{source}[{read}] + 1", f"{source}[{read}]", f"np.sin({source}[{read}]) * {name}"))
        lines = [f"{pad}for {name} in range(4):", f"{pad}    {target}[{write}] {operator} {value}"]
        if self._one_of((False, True)):
            self._indices.append(name)
            lines += self._statement(depth + 1)
            self._indices.pop()
        return lines

    def _try(self, depth: int, pad: str) -> list[str]:
        caught = self._one_of(("ValueError", "(IndexError, ZeroDivisionError, ValueError)", "Exception", "Exception"))
        lines = [f"{pad}try:", *self._inner(depth), f"{pad}except {caught} as error:"]
        lines += [f"{pad}    print('caught', type(error).__name__, error)", *self._branch(depth)]
        if self._one_of((False, False, True)):
            lines += [f"{pad}else:", *self._inner(depth)]
        if self._one_of((False, False, True)):
            lines += [f"{pad}finally:", f"{pad}    {self._phrase(phrases.STORES)}"]
        return lines

    def _loop(self, depth: int, pad: str, head: str, first: list[str]) -> list[str]:
        numbered = "in range(" in head
        if numbered:
            self._indices.append(_LOOP_NAMES[depth])
        self._loops += 1
        lines = [f"{pad}{head}", *first, *self._inner(depth)]
        self._loops -= 1
        if numbered:
            self._indices.pop()
        if self._one_of((False, False, False, True)):
            lines += [f"{pad}else:", *self._inner(depth)]
        return lines

    def _inner(self, depth: int) -> list[str]:
        return self._block(depth=depth + 1, most=4)

    def _branch(self, depth: int) -> list[str]:
        """A block that may leave: return, break, continue, raise again."""
        lines = self._inner(depth)
        if self._one_of((False, False, True)):
            end = self._one_of(_ENDS)
            if end == "return" or not self._loops:
                end = f"return {self._filled(self._one_of(('V', 'V, V', 'M', 'L, S')))}"
            lines.append("    " * (depth + 2) + end)
        return lines

    def _condition(self) -> str:
        return self._filled(self._one_of(phrases.CONDITIONS))

    def _phrase(self, among: tuple[str, ...]) -> str:
        text = _HOLES.sub(lambda hole: f"({self._one_of(_RANGES[hole[1]])})", self._one_of(among))
        if not self._has_put:
            text = re.sub(r"\bput\(", "bump(", text)
        return self._filled(text)

    def _filled(self, text: str) -> str:
        return _LETTERS.sub(lambda letter: self._name(letter[0]), text)

    def _name(self, letter: str) -> str:
        if letter == "I":
            return self._one_of((*self._indices * 3, "0", "1", "2", "3"))
        return self._one_of(phrases.NAMES[letter])

    def _one_of(self, among: tuple[_T, ...]) -> _T:
        return self._draw.one_of(among)

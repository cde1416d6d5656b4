"""From a function to its syntax, or to the reason why it has none to work with."""

from __future__ import annotations

import ast
import importlib.util
import linecache
from pathlib import Path
from typing import Any

import pytest
from tree.effects.written import body, written

from argosy.tree.files import file_of
from argosy.tree.source import HIDDEN_NAMES, NotCaptured, capture


def imported(path: Path, text: str) -> Any:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def why_not(function: Any) -> str:
    with pytest.raises(NotCaptured) as caught:
        capture(function)
    assert caught.value.reason == str(caught.value)
    return caught.value.reason


def test_a_function_of_a_file_is_found_with_its_lines(tmp_path: Path) -> None:
    module = imported(tmp_path / "one.py", "import math\n\n\ndef f(x, *y, z=1, **w):\n    t = x\n    return t\n")
    source = capture(module.f)
    assert source.name == "f"
    assert source.tree.lineno == 4
    assert source.parameters == ("x", "z", "y", "w")
    assert source.local_names == {"x", "y", "z", "w", "t", *HIDDEN_NAMES}
    assert source.line_of(5) == "t = x"
    assert source.filename == str(tmp_path / "one.py")


def test_a_decorated_function_and_a_nested_one_of_the_same_name_are_told_apart() -> None:
    text = "def same(g):\n    return g\n\n@same\ndef f():\n    def f():\n        return 2\n    return 1, f\n"
    outer = written(text)
    assert len(capture(outer).tree.body) == 2
    assert len(capture(outer()[1]).tree.body) == 1


def test_source_of_a_notebook_cell_is_found_in_the_line_cache() -> None:
    f = written("def f(x):\n    return x + 1\n")
    assert f.__code__.co_filename in linecache.cache
    assert ast.unparse(capture(f).tree.body[0]) == "return x + 1"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return x + 1", "    return x * 2"),
        ("    return x + 1", "    return y + 1"),
        ("    return len(x)", "    return sum(x)"),
        ("    return x + 1", "    return x + 2"),
        ("    return [v + 1 for v in x]", "    return [v * 2 for v in x]"),
        ("    def g():\n        return 1\n    return g()", "    def g():\n        return 2\n    return g()"),
    ],
)
def test_a_file_that_was_edited_after_it_was_imported_is_noticed(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "edited.py"
    module = imported(path, f"def f(x):\n{old}\n")
    path.write_text(f"def f(x):\n{new}\n")
    assert "edited" in why_not(module.f)


def test_a_captured_name_that_was_edited_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "captured.py"
    text = "def make(k):\n    def f(x):\n        return x + k\n    return f\n\nf = make(1)\n"
    module = imported(path, text)
    path.write_text(text.replace("k", "j").replace("maje", "make"))
    assert "edited" in why_not(module.f)


def test_lines_added_above_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "moved.py"
    module = imported(path, "def f(x):\n    return x\n")
    path.write_text("import math\n\n\ndef f(x):\n    return x\n")
    assert "edited" in why_not(module.f)


def test_a_file_that_no_longer_parses_and_one_that_is_gone_are_told(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    module = imported(path, "def f(x):\n    return x\n")
    path.write_text("def f(x:\n")
    assert "does not parse" in why_not(module.f)
    path.unlink()
    assert "there is no file" in why_not(module.f)


def test_what_has_no_python_source_is_told() -> None:
    names: dict[str, Any] = {}
    exec("def f(): return 1", names)
    assert "not to be had" in why_not(names["f"])
    assert "not a Python function" in why_not(len)
    assert "not a Python function" in why_not(int)
    assert "lambda" in why_not(lambda: 1)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("yield 1", "step by step"),
        ("x = yield from ()", "step by step"),
        ("return locals()", "locals looks at the running function"),
        ("return eval('1')", "eval looks at"),
        ("return super().x", "super looks at"),
        ("__hidden = x\nreturn 1", "private name"),
        ("import sys\nreturn sys._getframe(1)", "_getframe looks at who called"),
        ("import inspect\nreturn inspect.stack()", "stack looks at who called"),
        ("import warnings\nwarnings.warn('x', stacklevel=2)", "warn with a stacklevel"),
        ("import warnings\nwarnings.warn('x', UserWarning, x)", "warn with a stacklevel"),
        ("a = x.copy()\na.resize(4)\nreturn a", "resize asks who else"),
        ("return vars()", "vars.. looks at"),
    ],
)
def test_what_cannot_be_cut_into_pieces_is_told_with_the_reason(lines: str, reason: str) -> None:
    with pytest.raises(NotCaptured, match=reason) as caught:
        body(lines, "x=1")
    assert caught.value.line > 0


@pytest.mark.parametrize(
    "lines",
    [
        "k = 1\ng = lambda: k\nreturn g()",
        "def g(n):\n    return n and g(n - 1)\nreturn g(3)",
        "g = lambda k: k\nk = 1\nk = 2\nreturn g(k)",
        "k = 1\nk = 2\nreturn sum(k for _ in range(2))",
        "k = 1\nk = 2\nreturn ','.join(str(k) for _ in range(2))",
        "def g():\n    yield 1\nreturn list(g())",
        "locals = x\nreturn locals",
        "return x.__name__",
        "return x.__hidden",
        "import numpy as np\nreturn np.resize(x, 3), np.stack([x]), vars(np), globals()",
        "class K:\n    def g(self):\n        return super().x, locals()\nreturn K",
        "k = 1\nif x:\n    j = lambda: k\nelse:\n    j = lambda: -k\nreturn j()",
    ],
)
def test_inner_functions_over_what_stays_are_fine(lines: str) -> None:
    source = body(lines, "x=1")
    assert source.tree.name == "f"
    assert not source.shared


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ("k = 0\ndef g():\n    nonlocal k\n    k = 1\ng()\nreturn k", "k"),
        ("k = 1\ng = lambda: k\nk = 2\nreturn g()", "k"),
        ("g = lambda: k\nk = 2\nreturn g()", "k"),
        ("for k in range(3):\n    g = lambda: k\nreturn g()", "k"),
        ("x += 1\nclass K:\n    y = x\nreturn K", "x"),
        ("k = 1\ng = (k for _ in range(2))\nk = 2\nreturn list(g)", "k"),
        ("def g():\n    return h()\ndef h():\n    return 1\nreturn g()", "h"),
        ("if (k := x) > 0:\n    g = lambda: k\n    k = 5\n    return g()", "k"),
        ("g = lambda: k; k = x; return g()", "k"),
        ("g = lambda: math.pi\nimport math\nreturn g()", "math"),
        ("y = [k for k in range(3)]\ng = lambda: k\nk = x\nreturn g()", "k"),
        ("g = (k for _ in range(3))\nk = x\nreturn list(g)", "k"),
    ],
)
def test_a_variable_that_an_inner_function_sees_change_is_shared_with_it(lines: str, name: str) -> None:
    assert body(lines, "x=1").shared == {name}


def test_a_name_that_only_an_inner_function_says_is_global_stays_local() -> None:
    source = body("k = x\ndef g():\n    global k\n    return k\nreturn k + g()", "x=1")
    assert "k" in source.local_names
    assert source.outer == set()


def test_globals_are_not_local() -> None:
    source = body("global k\nk = x\ny = 1", "x=1")
    assert source.outer == {"k"}
    assert source.local_names - set(HIDDEN_NAMES) == {"x", "y"}


def test_a_piece_has_the_name_the_globals_the_closure_and_the_lines_of_the_whole() -> None:
    text = (
        "def make(k):\n    def f(x):\n        y = x + k + G\n        raise ValueError(y)\n    return f\nf = make(10)\n"
    )
    source = capture(written(text, G=100))
    made = source.make(["x"], source.tree.body)
    assert made.__name__ == "f"
    assert made.__code__.co_qualname == "make.<locals>.f"
    with pytest.raises(ValueError, match="111") as caught:
        made(1)
    assert caught.traceback[-1].lineno + 1 == 4
    assert str(caught.traceback[-1].path) == source.filename


def test_a_piece_takes_values_of_its_own_beside_its_parameters() -> None:
    source = body("return hidden + x", "x=1", hidden=0)
    assert source.make(["x"], source.tree.body, {"hidden": 5})(2) == 7


def test_a_piece_stores_into_globals_as_the_whole_does() -> None:
    source = body("global k\nk = x", "x=1", k=0)
    source.make(["x"], [source.tree.body[1]])(7)
    assert source.function.__globals__["k"] == 7


def test_a_recursion_calls_the_plain_function_unless_the_name_stands_for_something_else() -> None:
    source = body("return n * f(n - 1) if n else 1", "n")
    calls = []
    source.futurized = source.function.__globals__["f"] = lambda n: calls.append(n)
    assert source.direct(5) == 120
    assert calls == []
    source.function.__globals__["f"] = lambda n: 10
    assert source.direct(5) == 50


def test_future_statements_of_the_file_hold_in_pieces() -> None:
    f = written("from __future__ import annotations\ndef f(x):\n    def g(y: Nowhere): return y\n    return g\n")
    source = capture(f)
    assert source.make(["x"], source.tree.body)(1).__annotations__ == {"y": "Nowhere"}


def test_functions_of_a_module_are_found_by_their_own_lines_and_others_in_their_file_parsed_once(
    tmp_path: Path,
) -> None:
    text = (
        "def f(x):\n    return x\n\nclass A:\n    def g(self):\n        return 1\n    def h(self):\n        return 2\n"
    )
    module = imported(tmp_path / "several.py", text)
    before = file_of.cache_info().misses
    assert [node.lineno for node in capture(module.f).tree.body] == [2]
    assert file_of.cache_info().misses == before
    assert [capture(one).tree.body[0].lineno for one in (module.A.g, module.A.h, module.A.g)] == [6, 8, 6]
    assert file_of.cache_info().misses == before + 1


def test_a_function_whose_own_lines_say_something_else_by_now_is_not_captured(tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    module = imported(path, "def f(x):\n    return x\n")
    path.write_text("def f(x):\n    return -x\n")
    linecache.checkcache()
    assert "edited after it was imported" in why_not(module.f)

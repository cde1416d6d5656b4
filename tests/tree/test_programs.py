"""Hand-written programs give plain Python's answer, bit for bit, however they are run.

What is compared is in `programs/runner`: the answer and the arguments with their aliases, what was printed and warned,
the exception with its lines, the globals, the error state, the random numbers.
"""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

import pytest
from tree.programs.runner.compare import plain_outcome, trouble, unruly_threads
from tree.programs.runner.program import Program, all_programs

import argosy

PROGRAMS = all_programs()
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)

everything_issued = partial(argosy.futurize, grain=0, threads=3)


@each_program
def test_a_program_with_everything_issued_is_plain_python(program: Program) -> None:
    assert trouble(program, everything_issued, times=2) is None


@each_program
def test_a_program_with_measured_grain_is_plain_python_also_when_timings_are_known(program: Program) -> None:
    assert trouble(program, argosy.futurize, times=2) is None


@each_program
def test_a_program_is_plain_python_when_threads_are_unruly(program: Program) -> None:
    with unruly_threads():
        assert trouble(program, everything_issued, times=2) is None


@each_program
def test_a_program_that_warns_meets_the_filters_of_plain_python(program: Program) -> None:
    if any(event[0] == "warning" for event in plain_outcome(program, "always").said):
        for warn in ("error", "default"):
            assert trouble(program, everything_issued, warn=warn) is None


def test_there_are_enough_programs_with_every_construct() -> None:
    functions = {program.function for program in PROGRAMS}
    assert len(functions) >= 480
    files = {Path(function.__code__.co_filename) for function in functions}
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    for kind in (
        *(ast.For, ast.While, ast.If, ast.IfExp, ast.Break, ast.Continue, ast.Return, ast.Pass),
        *(ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.Starred, ast.Delete, ast.Assert, ast.Match, ast.Import),
        *(ast.Try, ast.TryStar, ast.Raise, ast.With, ast.Global, ast.Nonlocal, ast.ClassDef, ast.FunctionDef),
        *(ast.Lambda, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.Yield, ast.YieldFrom),
        *(ast.JoinedStr, ast.Slice, ast.MatMult, ast.BoolOp, ast.Compare, ast.Dict, ast.Set),
    ):
        assert any(isinstance(node, kind) for node in nodes), f"no program has {kind.__name__}"
    loops = [node for node in nodes if isinstance(node, ast.For | ast.While)]
    assert any(isinstance(loop, ast.For) and loop.orelse for loop in loops)
    assert any(isinstance(loop, ast.While) and loop.orelse for loop in loops)
    assert any(isinstance(node, ast.comprehension) and node.ifs for node in nodes)
    assert any(isinstance(node, ast.Try) and node.orelse and node.finalbody for node in nodes)
    assert any(isinstance(node, ast.keyword) and node.arg is None for node in nodes)
    assert any(isinstance(node, ast.Compare) and len(node.ops) > 1 for node in nodes)

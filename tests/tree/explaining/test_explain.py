"""What is told of one call: lines, places, reasons."""

from __future__ import annotations

import copy
import pickle
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argosy
from argosy.tree.explaining.explanation import Explanation


def lines_of(explanation: Explanation) -> dict[str, int]:
    """Line numbers by statement."""
    return {run.statement.text: run.line for run in explanation.expressions}


def reasons(explanation: Explanation) -> list[str]:
    """The sentences, with statements in place of line numbers."""
    told = [line for line in explanation.splitlines() if line.startswith("line") and not line.startswith("line  ")]
    for text, number in sorted(lines_of(explanation).items(), key=lambda pair: -pair[1]):
        told = [line.replace(f"line {number}", f"[{text}]") for line in told]
    return told


@argosy.futurize(grain=0)
def chains(x: Any) -> Any:
    a = x + 1
    b = x * 2
    c = a.sum()
    return b, c


@pytest.fixture
def first() -> Explanation:
    return chains.explain(np.arange(4.0))  # type: ignore[no-any-return]


def test_what_is_printed_is_returned(capsys: pytest.CaptureFixture[str]) -> None:
    explanation = chains.explain(np.arange(4.0))
    assert capsys.readouterr().out == explanation + "\n"
    assert repr(explanation) == "<explanation of chains: 4 expressions>"


def test_each_statement_has_its_line_and_text_in_program_order(first: Explanation) -> None:
    begin = chains.plain.__code__.co_firstlineno
    assert [(run.line - begin, run.statement.text) for run in first.expressions] == [
        (2, "a = x + 1"),
        (3, "b = x * 2"),
        (4, "c = a.sum()"),
        (5, "return (b, c)"),
    ]


def test_a_statement_waits_for_who_makes_its_variables_and_for_nobody_else(first: Explanation) -> None:
    assert reasons(first) == [
        "[c = a.sum()] waits for [a = x + 1]: a",
        "[return (b, c)] waits for [c = a.sum()]: c",
        "[return (b, c)] waits for [b = x * 2]: b",
    ]


def test_who_is_waited_for_by_way_of_another_is_not_told() -> None:
    @argosy.futurize(grain=0)
    def chain(x: Any) -> Any:
        a = x + 1
        b = a * 2
        return a + b

    assert reasons(chain.explain(np.ones(2))) == [
        "[b = a * 2] waits for [a = x + 1]: a",
        "[return a + b] waits for [b = a * 2]: b",
    ]


def test_what_is_explained_is_told_again_in_the_same_words_whoever_ended_first() -> None:
    assert len({tuple(reasons(chains.explain(np.arange(4.0)))) for _ in range(20)}) == 1


@argosy.futurize(grain=0)
def stores(x: Any) -> Any:
    b = x
    s = b.sum()
    x[0] = 5.0
    x[1] = 6.0
    return s, b.max()


def test_a_store_waits_for_who_reads_the_same_memory_by_another_name() -> None:
    told = reasons(stores.explain(np.ones(4)))
    assert "[x[0] = 5.0] waits for [s = b.sum()]: writes x, which [s = b.sum()] reads as b" in told
    assert "[return (s, b.max())] waits for [x[1] = 6.0]: b, which [x[1] = 6.0] writes as x" in told


def test_stores_into_different_regions_do_not_wait_for_one_another() -> None:
    told = reasons(stores.explain(np.ones(4)))
    assert not [line for line in told if line.startswith("[x[1] = 6.0] waits for [x[0] = 5.0]")]


@argosy.futurize(grain=0)
def draws() -> Any:
    a = np.random.random(2)
    b = np.random.random(2)
    return a, b


def test_draws_from_the_global_generator_wait_for_one_another() -> None:
    told = reasons(draws.explain())
    one, two = "[a = np.random.random(2)]", "[b = np.random.random(2)]"
    assert f"{two} waits for {one}: both draw from NumPy's global generator" in told


@argosy.futurize(grain=0)
def loops(n: int, x: Any) -> Any:
    total = x * 0
    for i in range(n):
        low = np.sin(x + i)
        high = np.cos(x - i)
        total += low * high
    if total[0] > 0:
        total = -total
    return total


def test_the_rounds_of_a_loop_are_one_row() -> None:
    explanation = loops.explain(5, np.ones(5))
    (row,) = [line for line in explanation.splitlines() if "total += low * high" in line and "µs" in line]
    assert row.split("total += low * high")[1].split()[0] == "5"
    assert row.split("total +=")[0].endswith("      "), "it is indented"
    assert sum(run.statement.text == "low = np.sin(x + i)" for run in explanation.expressions) == 5


def test_a_loop_that_carries_a_value_waits_for_itself() -> None:
    told = reasons(loops.explain(5, np.ones(5)))
    assert "[total += low * high] waits for itself, the round before: total" in told


def test_a_loop_that_is_one_expression_says_so() -> None:
    @argosy.futurize(grain=0)
    def counts(n: int) -> int:
        total = 0
        for i in range(n):
            total += i
        return total

    begin = counts.plain.__code__.co_firstlineno
    explanation = counts.explain(10)
    assert f"lines {begin + 3} to {begin + 4} run as one expression" in explanation
    assert not any(run.statement.text == "total += i" for run in explanation.expressions)


def test_what_a_test_decides_waits_for_the_test() -> None:
    told = reasons(loops.explain(5, np.ones(5)))
    assert "[total = -total] waits for [if total[0] > 0:]: total[0] > 0 decides what comes next" in told


@argosy.futurize(grain=0)
def opaque(x: Any) -> Any:
    a = x + 1
    print(a)
    with np.errstate(all="ignore"):
        b = x + 2
    return a + b


def test_what_runs_in_its_turn_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    explanation = opaque.explain(np.ones(1))
    begin = opaque.plain.__code__.co_firstlineno
    assert f"line {begin + 3} runs in its turn: what print does is not known" in explanation
    assert f"lines {begin + 4} to {begin + 5} run in their turn: a with statement runs as a whole" in explanation
    assert capsys.readouterr().out.startswith("[2.]\n"), "and does what it does"


def test_what_comes_after_something_that_ran_alone_waits_for_nothing_before_it() -> None:
    assert not [line for line in opaque.explain(np.ones(1)).splitlines() if "waits for" in line]


@argosy.futurize(grain=60)
def short_rounds(n: int) -> int:
    seen: list[int] = []
    for i in range(n):
        seen.append(i)
        print(end="")
    return len(seen)


def test_a_loop_of_short_rounds_says_that_it_ran_plainly() -> None:
    assert "the first 3 rounds were too short to be worth a thread" in short_rounds.explain(100)
    assert "too short to be worth a thread" in short_rounds.explain(100)


def test_something_that_may_do_anything_when_iterated_is_named() -> None:
    class Strange:
        def __iter__(self) -> Iterator[int]:
            return iter((1, 2))

    def over(items: Any) -> int:
        total = 0
        for item in items:
            total += item
            print(end="")
        return total

    explanation = argosy.futurize(over, grain=0).explain(Strange())
    assert "what items gives may do anything when it is iterated" in explanation


@argosy.futurize(grain=0)
def divides(x: Any) -> Any:
    y = 1 / x
    z = x + 1
    return y, z


def test_what_met_a_floating_point_error_ran_again_in_its_turn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explanation = divides.explain(np.zeros(2))
    (again,) = [run for run in explanation.expressions if run.where == "in its turn"]
    assert again.statement.text == "y = 1 / x"
    assert "it met a floating-point error and ran again" in explanation


@argosy.futurize(grain=0)
def fails(x: Any) -> Any:
    y = x + 1
    z = np.linalg.inv(x)
    print("never")
    return y, z


def test_an_error_surfaces_and_what_was_seen_until_then_stays() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        fails.explain(np.zeros((2, 2)))
    begin = fails.plain.__code__.co_firstlineno
    assert [line.line - begin for line in fails.profile.lines] == [2, 3]
    assert f"line {begin + 3} failed" in str(fails.profile)


def test_an_error_of_something_in_its_turn_is_told_too() -> None:
    @argosy.futurize(grain=0)
    def closes(file: Any) -> None:
        file.read()

    begin = closes.plain.__code__.co_firstlineno
    with pytest.raises(AttributeError):
        closes.explain(object())
    assert f"line {begin + 2} failed" in str(closes.profile)


def test_inside_of_an_except_clause_nothing_is_taken_for_failed(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise ValueError
    except ValueError:
        explanation = opaque.explain(np.ones(1))
    assert {run.state for run in explanation.expressions} == {"ended"}
    assert "failed" not in capsys.readouterr().out


def test_wrong_arguments_get_the_error_of_python_and_leave_the_profile_alone() -> None:
    before = str(chains.profile)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        chains.explain()
    assert str(chains.profile) == before


def test_a_function_that_runs_plainly_says_why() -> None:
    @argosy.futurize
    def looks(x: int) -> dict[str, int]:
        return locals()

    explanation = looks.explain(1)
    line = looks.plain.__code__.co_firstlineno + 2
    assert explanation.startswith(f"looks runs as plain Python, as a whole (line {line}): locals looks at the running")
    assert explanation.expressions == ()
    assert str(looks.profile) == explanation


def test_a_builtin_says_that_it_has_no_source() -> None:
    assert "it is not a Python function" in argosy.futurize(max).explain(1, 2)


def test_a_small_function_says_that_it_runs_plainly() -> None:
    @argosy.futurize
    def small(x: int) -> int:
        return x + 1

    for _ in range(5):
        small(1)
    assert "runs as plain Python; this one was walked to be explained" in small.explain(1)


def test_who_calls_from_another_thread_is_not_told_of_the_main_one() -> None:
    found: list[Explanation] = []
    caller = threading.Thread(target=lambda: found.append(argosy.futurize(chains.plain, threads=1).explain(np.ones(2))))
    caller.start()
    caller.join()
    assert {run.where for run in found[0].expressions} <= {"calling thread", "in place"}


def test_two_statements_of_one_line_are_told_apart() -> None:
    @argosy.futurize(grain=0)
    def both(x: Any) -> Any:
        a = x + 1; b = a * 2  # noqa: E702  # fmt: skip
        return b + a

    line = both.plain.__code__.co_firstlineno + 2
    assert f"line {line} waits for a = x + 1 before it: a" in both.explain(np.ones(2))


def test_an_explanation_can_be_copied_and_pickled(first: Explanation) -> None:
    assert copy.copy(first) == first
    assert pickle.loads(pickle.dumps(first)).expressions == first.expressions


def test_results_are_not_kept(first: Explanation) -> None:
    assert b"numpy" not in pickle.dumps(first.expressions)


@argosy.futurize(grain=0, threads=3)
def in_parts(x: Any) -> Any:
    return [np.sort(row).sum() for row in x]


def test_an_expression_in_parts_is_told_with_the_threads_that_helped() -> None:
    rows = np.random.default_rng(0).random((600, 600))
    for _ in range(20):  # a thread may come too late to help
        (run,) = in_parts.explain(rows).expressions
        if run.parts:
            break
    assert run.where in ("2 threads", "3 threads")
    assert run.lane not in {part.lane for part in run.parts}
    assert all(run.started <= part.started <= part.ended for part in run.parts)
    assert run.work_seconds > run.seconds


def meets(folder: str, name: str) -> str:
    """Returns when both have begun."""
    (Path(folder) / name).touch()
    while len(list(Path(folder).iterdir())) < 2:
        time.sleep(0.005)
    return name


def test_tasks_of_a_pilot_are_told_as_such_and_overlap(tmp_path: Path) -> None:
    (tmp_path / "met").mkdir()
    meet = argosy.task(meets)

    @argosy.futurize
    def both(folder: str) -> tuple[str, str]:
        one = meet(folder, "one")
        two = meet(folder, "two")
        return one, two

    with argosy.Pilot(ranks=2, folder=tmp_path / "runs"):
        explanation = both.explain(str(tmp_path / "met"))
    one, two, last = explanation.expressions
    assert one.where == two.where == "pilot"
    assert one.overlapped > 0
    assert one.overlapped == pytest.approx(two.overlapped)
    assert one.lane != two.lane
    assert last.where in ("main thread", "after the pilot")
    assert last.where == "main thread" or last.lane in (one.lane, two.lane)


def spread(values: Any, by: int) -> Any:
    low = np.sin(values - by)
    high = np.cos(values + by)
    return high - low


@argosy.futurize(grain=0)
def goes_in(x: Any) -> Any:
    near = spread(x + 1, 1)
    far = spread(x, 100)
    return near + far


def test_lines_of_functions_that_were_gone_into_are_told_under_their_name() -> None:
    explanation = goes_in.explain(np.ones(3))
    inner, outer = spread.__code__.co_firstlineno, goes_in.plain.__code__.co_firstlineno
    runs = [(run.statement.function.name, run.line) for run in explanation.expressions]
    assert runs.count(("spread", inner + 1)) == 2
    assert f"spread, line {inner} of test_explain.py" in explanation
    assert f"line {outer + 4} waits for line {inner + 3} of spread: " in explanation
    assert f"line {inner + 3} waits for line {inner + 2}: high" in explanation.split("in spread:")[1]
    assert {line.function.name for line in goes_in.profile.lines} == {"goes_in", "spread"}


def test_functions_that_were_gone_into_are_in_the_profile_of_plain_calls() -> None:
    again = argosy.futurize(goes_in.plain, grain=0)
    again(np.ones(3))
    assert [line.text for line in again.profile.lines if line.function.name == "spread"] == [
        "low = np.sin(values - by)",
        "high = np.cos(values + by)",
        "return high - low",
    ]

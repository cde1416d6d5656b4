"""Arguments that nobody means, given to calls that need no ranks: each is refused by name, or gives the right answer.

A few of the values for each argument; `tests/soak/arguments.py` goes through all of them, and through pairs.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import frames, memories, pilots
from hostile.judging import GOOD, Case, judge
from hostile.kinds import a, whole
from hostile.values import VALUES, twisted

import argosy
from argosy import col
from argosy.errors import TypeMismatch

PARTS: dict[str, Callable[[], list[Case]]] = {
    "tasks and futurized functions": pilots.plain,
    "frames and files": frames.cases,
    "placements": memories.cases,
}
SHARE = 0.02


@pytest.mark.parametrize("part", PARTS)
def test_no_argument_gives_a_wrong_answer_or_an_error_that_does_not_name_it(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(part)
    findings, tried = [], 0
    for case in PARTS[part]():
        if case.slow:
            continue
        for name, argument in case.arguments.items():
            made = VALUES | twisted(None if argument.fresh else argument.valid)
            for value in [one for one in made if chance.random() < SHARE]:
                told = judge(case, {name: made[value]()}, lambda case=case: valid_answer(case))
                tried += 1
                if told.verdict not in GOOD:
                    findings.append(f"{case.name}({name}={value}): {told.verdict}: {told.said} {told.where}")
    assert not findings, "\n".join(findings)
    assert tried > 20


def valid_answer(case: Case) -> Any:
    result = case.call(**{name: argument.value() for name, argument in case.arguments.items()})
    return None if case.finish is None else case.finish(result)


@pytest.mark.parametrize(
    ("call", "verdict"),
    [
        (lambda n: [0] * n, "inner error"),
        (lambda n: n, "taken"),
        (lambda n: _refuse("this is wrong"), "inner error"),
        (lambda n: argosy.col(n), "no name"),
    ],
)
def test_a_call_that_judges_nothing_is_a_finding(call: Callable[[Any], Any], verdict: str) -> None:
    case = Case(name="bare", call=call, arguments={"n": a(2, whole(0))})
    assert judge(case, {"n": 1.5}, lambda: None).verdict == verdict


def test_a_wrong_answer_is_a_finding() -> None:
    case = Case(name="bare", call=float, arguments={"x": a(2, whole(0))}, finish=lambda value: value + 1)
    bare = Case(name="bare", call=lambda x: x, arguments=case.arguments, finish=lambda value: value + 1)
    assert judge(bare, {"x": 2}, lambda: 4).verdict == "wrong answer"


def test_lists_without_an_end_are_refused_and_do_not_end_the_process() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for call in (
        lambda: argosy.lit(endless),
        lambda: col("a").is_in([endless]),
        lambda: argosy.from_pydict({"a": [endless]}),
    ):
        with pytest.raises(ValueError, match="must not hold lists in lists"):
            call()
    assert argosy.from_pydict({"a": [[[1]], [[2, 3]]]}).collect()["a"].to_pylist() == [[[1]], [[2, 3]]]


def test_what_only_looks_like_true_replaces_no_folder(tmp_path: Path) -> None:
    frame = argosy.from_pydict({"a": [1]})
    frame.write_parquet(tmp_path / "out")
    with pytest.raises(TypeError, match="overwrite must be True or False, not 'no'"):
        argosy.from_pydict({"a": [2]}).write_parquet(tmp_path / "out", overwrite="no")  # type: ignore[arg-type]
    assert argosy.read_parquet(tmp_path / "out").collect().to_pydict() == {"a": [1]}


def test_values_that_raise_whatever_is_asked_of_them_are_told_of_as_others() -> None:
    with pytest.raises(TypeMismatch, match="a Mute cannot be a value in an expression"):
        _ = col("a") + VALUES["Mute"]()


def _refuse(words: str) -> None:
    raise ValueError(words)

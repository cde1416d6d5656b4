from __future__ import annotations

import re
from pathlib import Path

import pytest

import argosy
from argosy.cli import demo_tree
from argosy.cli.demo_train import NUM_ROOMS, make_days
from argosy.cli.demo_tree import HELD_OUT, SEEN, study, tree_story


@pytest.fixture(autouse=True)
def one_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOSY_RUNS", str(tmp_path))
    monkeypatch.setattr(demo_tree, "ROUNDS", 1)


def told() -> str:
    return "\n".join(f"{line}\n{below}" for line, below in tree_story())


def test_on_a_pilot_both_models_learn_there_at_the_same_time() -> None:
    with argosy.Pilot(ranks=4):
        said = told()
    shares = re.findall(r"^by_\w+ = learn\(.*\) +pilot: .*, (\d+)% of it beside others", said, re.MULTILINE)
    assert len(shares) == 2
    assert all(int(share) > 0 for share in shares)


def test_without_a_pilot_the_story_is_the_same_and_all_is_done_here() -> None:
    said = told()
    assert "gave the same answer, to the last bit" in said
    assert len(re.findall(r"^\w.* in its turn: ", said, re.MULTILINE)) == 4


def test_the_better_model_is_kept_and_is_much_better_than_chance() -> None:
    days = make_days()
    known = days.sort("sensor")
    train, valid = known.filter(SEEN).collect(), known.filter(HELD_OUT).collect()
    answers = [demo_tree.learn(train, valid, wave=wave) for wave in (False, True)]
    best = study(days.select("sensor", "day"), days.select("sensor", "room"))
    assert best == max(answers, key=lambda answer: answer[1])
    assert best[1] > 3 / NUM_ROOMS


def test_another_answer_than_that_of_plain_python_would_end_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    real = demo_tree.learn
    calls = iter(range(100))
    monkeypatch.setattr(demo_tree, "learn", lambda *args, **named: (*real(*args, **named)[:2], [float(next(calls))]))
    with pytest.raises(AssertionError, match=r"futurized it gives .* and as plain Python"):
        told()

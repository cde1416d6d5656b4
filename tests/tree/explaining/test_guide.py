"""What the guide shows, runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "tree.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)


def run(number: int, folder: Path) -> str:
    (folder / "example.py").write_text(blocks()[number], encoding="utf-8")
    environment = os.environ | {"ARGOSY_RUNS": str(folder / "runs"), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=folder, env=environment, capture_output=True, encoding="utf-8",
        timeout=50, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_as_many_blocks_as_are_run_here() -> None:
    assert len(blocks()) == 3


def test_the_first_example_explains_itself_with_the_reasons_that_the_guide_shows(tmp_path: Path) -> None:
    said = run(0, tmp_path)
    shown = [
        line.strip() for line in GUIDE.read_text(encoding="utf-8").splitlines() if re.match(r"    lines? \d", line)
    ]
    assert len(shown) == 6
    assert [line for line in said.splitlines() if re.match(r"lines? \d", line)] == shown


def test_two_tasks_run_on_the_pilot(tmp_path: Path) -> None:
    said = run(1, tmp_path)
    first, *_, places = said.splitlines()
    assert float(first) > 0
    assert "'pilot'" in places


def test_the_gradient_descends(tmp_path: Path) -> None:
    assert re.fullmatch(r"\[-0\.0876\d* -0\.097\d* +0\.054\d*\]", run(2, tmp_path).strip())

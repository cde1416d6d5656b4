"""What the README shows, runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parent.parent


def run(*command: str, folder: Path, timeout_seconds: float = 50) -> str:
    environment = os.environ | {"ARGOSY_RUNS": str(folder / "runs"), "COLUMNS": "200"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout_seconds, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def examples_of(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(examples_of("README.md")[0])
    said = run(sys.executable, "example.py", folder=tmp_path)
    means, last, learned, *_ = said.splitlines()
    assert means == "[{'room': 'attic', 'mean': 6.0, 'n': 2625}, {'room': 'cellar', 'mean': 5.75, 'n': 3000}]"
    slope, halves = last.split()
    assert abs(float(slope) - 0.5) < 1e-9
    assert float(halves) == sum(x / 2 for x in range(100))
    first_loss, last_loss = map(float, learned.split()[:2])
    assert last_loss < first_loss / 10
    assert "backward" in said


def test_the_futurized_function_of_the_readme_gives_what_plain_python_gives(tmp_path: Path) -> None:
    _, example, _ = examples_of("README.md")
    (tmp_path / "example.py").write_text(example)
    said = run(sys.executable, "example.py", folder=tmp_path).splitlines()
    assert said[0] == said[1], "printed by both calls"
    answers = said[2].split()
    assert answers[0] == answers[1]
    (first, second) = [line for line in said if "= simulate(" in line]
    assert first.endswith("pilot")
    assert second.endswith("pilot")
    assert "in its turn: what print does is not known" in "\n".join(said)


def on_a_busy_machine(example: str) -> str:
    """The same, where a run may take as long as it likes: each placement twice, and arrays a tenth as large."""
    smaller = {r"(nbytes=)16 << 20": r"\g<1>1 << 20", r"50_000": "5_000", r'"9MiB"': '"0.9MiB"'}
    for there, instead in smaller.items():
        example = re.sub(there, instead, example)
    example, calls = re.subn(r"= calibrate\((\w+).*?\)", r"= calibrate(\1, repeats=2, noise=100)", example)
    assert calls == 1
    return example


def test_the_program_of_the_readme_is_placed_in_the_memory_it_may_have(tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(on_a_busy_machine(examples_of("README.md")[2]))
    said = run(sys.executable, "example.py", folder=tmp_path)
    predicted, planned, *table, measured = said.splitlines()
    assert predicted.startswith("Prediction(seconds=")
    assert "predicted (exact" in planned
    assert len(table) == 5
    assert re.search(r"^archive +1.5 MiB  disk$", said, re.MULTILINE), "it does not fit"
    assert re.search(r"^\w+ +\S+ KiB  ram$", said, re.MULTILINE)
    assert float(measured) > 0


def test_the_first_example_of_the_guide_to_memory_runs(tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(on_a_busy_machine(examples_of("docs/memory.md")[0]))
    said = run(sys.executable, "example.py", folder=tmp_path)
    assert re.search(r"^cg: 10 placements not seen before, 2 runs each, law ", said, re.MULTILINE)


def test_the_workload_of_the_guide_to_memory_does_the_same_in_every_run(tmp_path: Path) -> None:
    marked = examples_of("docs/memory.md")[1]
    (tmp_path / "example.py").write_text(
        marked + "\nwith usual_day.store() as store:\n    print(learn(store), learn(store))\n"
    )
    (tmp_path / "marked.py").write_text(marked)
    once, again = run(sys.executable, "example.py", folder=tmp_path).splitlines()[-1].split()
    assert once == again
    traced = run(
        sys.executable, "-m", "argosy.cli", "memory", "trace", "--workload", "marked.py:usual_day", folder=tmp_path
    )
    assert re.search(r"^usual ", traced, re.MULTILINE)


@pytest.mark.timeout(120)  # a whole tour, perhaps beside others on the machine
def test_the_demo_tells_its_story_to_the_end(tmp_path: Path) -> None:
    said = run(sys.executable, "-m", "argosy.cli", "demo", folder=tmp_path, timeout_seconds=110)
    assert "3 ranks answered" in said
    assert "ran longer than its timeout" in said
    assert "['rank 0 of 2', 'rank 1 of 2']" in said
    assert "Join inner on sensor" in said, "the plan is shown"
    assert "the warmest of 8 rooms:\n          room 7" in said
    assert re.search(r"were sorted and written to 4 files, all or nothing; there are [1-9]", said)
    assert "a model learned on all ranks to tell their rooms apart" in said
    assert "it went on from its checkpoint at step 300" in said
    assert "workers learn at most" in said
    assert "gave the same answer, to the last bit of the weights" in said
    assert re.search(r"by_wave = learn\(train, valid, wave=True\) +pilot: ", said)
    assert re.search(r"half in RAM, by the plan +[\d.]+ \S+ +[\d.]+ \S+$", said, re.MULTILINE)
    assert "done" in run(sys.executable, "-m", "argosy.cli", "report", folder=tmp_path)
    assert list(tmp_path.glob("runs/*/trace.json"))


def test_functions_of_a_notebook_work(tmp_path: Path) -> None:
    """A notebook's cells are compiled one by one into `__main__`, which has no file."""
    cells = [
        "import argosy; pilot = argosy.Pilot(ranks=2)",
        "scale = 3",
        "def f(x, comm):\n    return scale * comm.allreduce(x)",
        "print(pilot.submit(f, 2, ranks=2).result())",
        "scale = 4",
        "print(list(pilot.map(lambda x: scale * x, [1, 2])))",
        "pilot.close()",
    ]
    kernel = f"import __main__\nfor cell in {cells!r}:\n    exec(compile(cell, '<cell>', 'exec'), __main__.__dict__)"
    assert run(sys.executable, "-c", kernel, folder=tmp_path).split("\n")[:2] == ["12", "[4, 8]"]


def test_the_first_example_of_the_guide_to_frames_runs(tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(examples_of("docs/frame.md")[0])
    (tmp_path / "zones.csv").write_text("zone,borough\n1,north\n2,south\n")
    trips = {"zone": [1, 2, 3, None] * 5, "fare": [5.0, 7.5, 0.0, 1.0] * 5, "miles": range(20), "minutes": range(20)}
    (tmp_path / "trips").mkdir()
    pq.write_table(pa.table(trips), tmp_path / "trips" / "one.parquet")
    assert "Join left on zone" in run(sys.executable, "example.py", folder=tmp_path)
    assert sum(pq.read_table(tmp_path / "busy")["n"].to_pylist()) == 10

"""`argosy memory` from calibration to a plan, its validation and what is published of it, on a real disk."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from itertools import product
from pathlib import Path

import pytest
from command_line import Run

from argosy.cli import load
from argosy.errors import TooNoisy
from argosy.memory import Estimator, Plan, affording, calibrating
from argosy.memory.moves import measure_moves
from argosy.memory.publishing import CALIBRATION, HELD_OUT
from argosy.memory.publishing import load as load_published
from argosy.memory.tiers.disk import IN_MEMORY, file_system

STUDY = """\
import numpy as np

from argosy.memory import Workload

NUMBER = 7


def run(store):
    for _ in range(2):
        with store.window("hot"):
            store["hot"].sum()
    with store.window("rest"):
        store["warm"].sum() + store["cold"].sum()
        store.write("out")[:] = 1


def sweeps():
    sizes = {"hot": 4000, "warm": 2000, "cold": 8000, "out": 500}
    return Workload(name="sweeps", objects=lambda: {name: np.ones(n) for name, n in sizes.items()}, run=run)


made = sweeps()


def forever():
    def run_on(store):
        print("running", flush=True)
        while True:
            with store.window("hot"):
                store["hot"].sum()

    return Workload(name="forever", objects=made.objects, run=run_on)
"""
KEYS = {"mean_error", "largest_error", "kendall_tau", "within_10_percent", "regret", "noise", "law"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on a real disk, with a file that holds a workload."""
    folder = tmp_path_factory.mktemp("bench")
    if (kind := file_system(folder)) in IN_MEMORY:
        pytest.skip(f"the disk tier needs a disk, and temporary files are kept in memory here ({kind})")
    (folder / "study.py").write_text(STUDY)
    return folder


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them real."""
    monkeypatch.setattr(affording, "FINALS", (1, 1))
    monkeypatch.setattr(calibrating, "measure_moves", lambda store: measure_moves(store, nbytes=65_536, repeats=1))


@pytest.fixture
def memory(argosy: Run, bench: Path) -> Run:
    """A command of `argosy memory` over the workload of that folder; noise is no reason to fail a test."""

    def run(command: str, *args: object) -> object:
        measured = ("--workload", f"{bench / 'study.py'}:sweeps", "--folder", bench, "--noise", "100")
        return argosy("memory", command, *(measured if command in ("calibrate", "validate") else ()), *args)

    return run  # type: ignore[return-value]


@pytest.fixture
def estimator(memory: Run, bench: Path) -> Path:
    """A calibrated one, measured once."""
    path = bench / "estimator.json"
    if not path.exists():
        done = memory("calibrate", "--design", "one-at-a-time", "--repeats", "2", "--out", path)
        assert done.exit_code == 0, done.output
    return path


def test_a_calibration_says_what_each_object_costs_and_how_far_the_laws_were_off(memory: Run, tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    done = memory("calibrate", "--design", "one-at-a-time", "--repeats", "2", "--out", out)
    assert done.exit_code == 0, done.output
    assert all(name in done.stdout for name in ("hot", "warm", "cold", "out", "linear", "additive", "hinge"))
    assert "(chosen)" in done.stdout
    assert "measured: ram alone" in done.stdout
    assert "disk alone" in done.stdout
    assert "noise of a run" in done.stdout
    assert not done.stderr
    found = Estimator.load(out)
    assert (found.program, found.fast, found.slow) == ("sweeps", "ram", "disk")
    assert len(found.measured) == 6


def test_with_the_ends_alone_the_error_is_not_known_and_it_says_so(memory: Run, tmp_path: Path) -> None:
    asked = ("--design", "endpoints", "--repeats", "1", "--law", "linear")
    done = memory("calibrate", *asked, "--out", tmp_path / "e.json")
    assert "the error of the law is not known" in done.stdout


def test_a_workload_may_be_an_object_too(argosy: Run, bench: Path, tmp_path: Path) -> None:
    asked = ("--design", "endpoints", "--repeats", "1", "--folder", bench, "--out", tmp_path / "e.json")
    done = argosy("memory", "calibrate", "--workload", f"{bench / 'study.py'}:made", *asked)
    assert done.exit_code == 0, done.output


def test_a_plan_as_json_is_one_object_that_show_reads_back(memory: Run, estimator: Path, tmp_path: Path) -> None:
    done = memory("plan", estimator, "--capacity", "50%", "--must-be-fast", "out", "--must-be-fast", "hot", "--json")
    assert done.exit_code == 0, done.output
    found = Plan.from_json(json.loads(done.stdout))
    assert found.placement["hot"] == found.placement["out"] == "ram"
    assert found.nbytes_fast <= found.capacity == 14_500 * 8 // 2
    file = tmp_path / "plan.json"
    file.write_text(done.stdout)
    shown = memory("show", file)
    assert shown.stdout == f"plan: {found}\n"


@pytest.mark.parametrize("solver", ["greedy", "exact", "exhaustive", "phases", "belady", "lru", "hysteresis"])
def test_every_solver_can_be_asked(memory: Run, estimator: Path, solver: str) -> None:
    done = memory("plan", estimator, "--capacity", "64KiB", "--solver", solver)
    assert done.exit_code == 0, done.output
    assert f"predicted ({solver}" in done.stdout


def test_a_plan_draws_time_against_capacity_and_json_stays_alone_on_stdout(
    memory: Run, estimator: Path, tmp_path: Path
) -> None:
    done = memory("plan", estimator, "--capacity", "50%", "--json", "--plot", tmp_path / "curve.svg")
    json.loads(done.stdout)
    assert "curve.svg" in done.stderr
    assert "<svg" in (tmp_path / "curve.svg").read_text()


def test_validation_as_json_is_one_object_with_the_figures_of_the_issue(memory: Run, estimator: Path) -> None:
    done = memory("validate", "--estimator", estimator, "--placements", "4", "--repeats", "1", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found.keys() >= KEYS
    assert found["placements"] == 4
    assert 0 <= found["mean_error"] <= found["largest_error"]
    assert not done.stderr


def test_the_law_that_was_asked_for_is_the_one_that_is_validated(memory: Run) -> None:
    asked = ("--design", "one-at-a-time", "--placements", "2", "--repeats", "1", "--json")
    assert [json.loads(memory("validate", *asked, "--law", law).stdout)["law"] for law in ("linear", "hinge")] == [
        "linear",
        "hinge",
    ]


def test_every_law_is_shown_side_by_side_and_published_with_its_ground_truth(
    memory: Run, bench: Path, tmp_path: Path
) -> None:
    folder, picture = tmp_path / "truth", tmp_path / "scatter.png"
    asked = ("--design", "one-at-a-time", "--placements", "5", "--repeats", "2", "--law", "all")
    done = memory("validate", *asked, "--save", folder, "--plot", picture, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert list(found["laws"]) == ["linear", "additive", "hinge"]
    assert found["laws"][found["law"]]["mean_error"] == pytest.approx(found["mean_error"])
    assert "regret" not in found["laws"]["linear"]
    assert picture.stat().st_size > 1000
    assert "published" in done.stderr

    published = load_published(folder, "sweeps")
    assert (len(published.rows(CALIBRATION)), len(published.rows(HELD_OUT))) == (6, 5)
    assert published.figures["mean_error"] == found["mean_error"]
    assert sum(path.stat().st_size for path in folder.iterdir()) < 100_000
    texts = b"".join(path.read_bytes() for path in folder.iterdir())
    assert str(bench).encode() not in texts
    assert os.uname().nodename.encode() not in texts

    shown = memory("show", folder, "--plot", tmp_path / "again.png")
    assert shown.exit_code == 0, shown.output
    assert f"{found['mean_error']:.1%}" in shown.stdout
    assert "held-out" in shown.stdout
    assert (tmp_path / "again.png").exists()
    assert memory("show", folder / "sweeps.json").stdout == memory("show", folder, "--app", "sweeps").stdout


def test_the_laws_come_as_a_table_for_people(memory: Run) -> None:
    asked = ("--design", "one-at-a-time", "--placements", "3", "--repeats", "1", "--law", "all")
    done = memory("validate", *asked)
    assert done.exit_code == 0, done.output
    assert "every law against the same measured placements" in done.stdout
    assert "Kendall tau" in done.stdout


def test_a_mini_app_is_validated_by_its_name(argosy: Run, bench: Path) -> None:
    asked = ("--size", "500KiB", "--design", "endpoints", "--placements", "3", "--repeats", "1", "--folder", bench)
    done = argosy("memory", "validate", "--app", "hashjoin", *asked, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["app"] == "hashjoin"


def test_show_tells_an_estimator_and_draws_its_curve(memory: Run, estimator: Path, tmp_path: Path) -> None:
    shown = memory("show", estimator, "--plot", tmp_path / "curve.png")
    assert shown.stdout.startswith("estimator of sweeps: 113.3 KiB, objects: 4")
    assert (tmp_path / "curve.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("calibrate", "name what to run: either --app NAME or --workload file.py:name"),
        ("calibrate --app cg --workload a.py:b", "name what to run: either"),
        ("calibrate --app kmean", "there is no app 'kmean'; did you mean 'kmeans'?"),
        ("calibrate --app cg --size lots", "--size is not an amount of memory: 'lots'"),
        (
            "calibrate --app cg --size 0",
            "--size must be a text like '2GiB' or a whole number of bytes and at least 1, not '0'",
        ),
        ("calibrate --app cg --law lineal", "there is no law 'lineal'; did you mean 'linear'?"),
        ("calibrate --app cg --law all", "there is no law 'all'"),
        ("calibrate --app cg --size 1MiB --design randm", "there is no design 'randm'; did you mean 'random'?"),
        ("calibrate --app cg --size 1MiB --slow dsk", "there is no tier 'dsk'; did you mean 'disk'?"),
        ("calibrate --app cg --size 1MiB --slow ram", "the fast and the slow tier are both 'ram'"),
        ("calibrate --app cg --size 1MiB --slow numa:977", "there is no NUMA node 977"),
        ("calibrate --app cg --size 1MiB --slow numa:0 --folder .", "--folder is for the disk tier"),
        ("calibrate --app cg --size 1MiB --folder none", "'none' is not a folder that can be written to; name another"),
        ("calibrate --app cg --out none/e.json", "there is no folder none for e.json"),
        ("calibrate --app cg --out .", "is a folder; name a file in it"),
        ("calibrate --workload study.py", "a file and a name in it, like study.py:solver; not 'study.py'"),
        ("calibrate --workload none.py:x", "there is no file none.py"),
        ("calibrate --workload study.py:sweep", "called 'sweep'; did you mean 'sweeps'? there are: run, sweeps"),
        ("calibrate --workload study.py:NUMBER", "study.py:NUMBER is a int; give an argosy.memory.Workload"),
        ("calibrate --workload study.py:made --size 1MiB", "--size is for an --app"),
        ("plan none.json --capacity 50%", "there is no estimator none.json"),
        ("plan study.py --capacity 50%", "study.py is not an estimator"),
        ("plan estimator.json --capacity lots", "not an amount of memory: 'lots'; write it like '2GiB'"),
        ("plan estimator.json --capacity many%", "not a share of the objects' bytes: 'many%'"),
        ("plan estimator.json --capacity 1% --must-be-fast hot", "'hot' must be fast and has 31.2 KiB"),
        ("plan estimator.json --capacity 50% --must-be-fast hat", "there is no object 'hat', did you mean 'hot'?"),
        ("plan estimator.json --capacity 50% --solver gredy", "there is no solver 'gredy'; did you mean 'greedy'?"),
        ("plan estimator.json --capacity 50% --plot curve.xyz", "let it end with .png, .svg, .pdf"),
        ("plan estimator.json --capacity 50% --plot none/c.png", "there is no folder none for c.png"),
        ("validate --app cgg --json", "there is no app 'cgg'; did you mean 'cg'?"),
        ("validate --workload study.py:made --estimator estimator.json --law all", "leave --law and --design out"),
        ("validate --app cg --size 1MiB --estimator estimator.json", "this estimator is of 'sweeps'"),
        ("validate --app cg --estimator none.json --json", "there is no estimator none.json"),
        ("validate --app cg --save study.py", "study.py is a file; name a folder to publish in"),
        ("show none", "none: No such file or directory"),
        ("show study.py", "study.py is not a trace, an estimator, a plan or a folder"),
        ("show list.json", "list.json is not a trace, an estimator, a plan or a folder"),
        ("show half.json", "half.json is not an estimator"),
        ("show .", "nothing is published in ."),
        ("show study.py --app cg", "--app is for a published folder, and study.py is not a folder"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line_before_anything_runs(
    argosy: Run, bench: Path, estimator: Path, monkeypatch: pytest.MonkeyPatch, given: str, said: str
) -> None:
    monkeypatch.chdir(bench)
    (bench / "list.json").write_text("[1]")
    (bench / "half.json").write_text('{"format": "argosy.memory.estimator/1"}')
    there = files_in(bench)
    done = argosy("memory", *shlex.split(given))
    assert done.exit_code == 1, done.output
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout
    assert files_in(bench) == there


def test_a_folder_in_memory_is_not_a_disk(argosy: Run) -> None:
    if file_system(Path("/dev/shm")) not in IN_MEMORY:
        pytest.skip("this machine has no folder in memory")
    done = argosy("memory", "calibrate", "--app", "cg", "--size", "1MiB", "--folder", "/dev/shm")
    assert done.exit_code == 1
    assert "/dev/shm is kept in memory" in done.stderr
    assert "(here: --folder" in done.stderr


def test_noise_says_what_to_do(memory: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def noisy(*_: object, **__: object) -> None:
        raise TooNoisy("repeats differ by 42%; ask for more repeats")

    monkeypatch.setattr("argosy.memory.calibrating.check_noise", noisy)
    out = tmp_path / "e.json"
    done = memory("calibrate", "--design", "endpoints", "--repeats", "2", "--out", out)
    assert done.exit_code == 1
    assert done.stderr == "argosy: repeats differ by 42%; ask for more repeats (here: --repeats and --noise)\n"
    assert not done.stdout
    assert not out.exists()


def test_when_every_placement_was_calibrated_none_is_left_to_validate(
    memory: Run, estimator: Path, tmp_path: Path
) -> None:
    fields = json.loads(estimator.read_text())
    every = ["".join(letters) for letters in product("fs", repeat=4)]
    (tmp_path / "all.json").write_text(json.dumps({**fields, "measured": every, "seconds": [1.0] * 16}))
    done = memory("validate", "--estimator", tmp_path / "all.json")
    assert done.exit_code == 1
    assert "no mixed placement is left to try: calibration ran 16 of the 16" in done.stderr


@pytest.mark.parametrize("missing", ["matplotlib.figure", "scipy"])
def test_a_missing_library_is_named_with_its_extra_before_anything_runs(
    memory: Run, estimator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    done = memory("validate", "--estimator", estimator, "--plot", tmp_path / "p.png")
    assert done.exit_code == 1
    assert f"pip install 'argosy[{'memory' if missing == 'scipy' else 'plots'}]'" in done.stderr


def files_in(folder: Path) -> list[str]:
    """But for what Python keeps of a file that it has compiled."""
    return sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")


def started(bench: Path, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "argosy.cli", "memory", *map(str, args)],
        cwd=bench,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_in_a_calibration_ends_it_with_130_and_leaves_nothing(bench: Path) -> None:
    there = files_in(bench)
    running = started(bench, "calibrate", "--workload", "study.py:forever", "--folder", ".", "--out", "never.json")
    watchdog = threading.Timer(45, running.kill)
    watchdog.start()
    assert running.stdout is not None
    assert running.stdout.readline() == "running\n"
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    watchdog.cancel()
    assert running.returncode == 130
    assert said.strip() == "argosy: stopped before it was done"
    assert files_in(bench) == there


def test_a_reader_that_has_left_is_no_reason_for_a_traceback(bench: Path, estimator: Path) -> None:
    showing = started(bench, "show", estimator)
    assert showing.stdout is not None
    assert showing.stderr is not None
    showing.stdout.close()
    assert showing.stderr.read() == ""
    showing.stderr.close()
    assert showing.wait(45) == 1


@pytest.mark.parametrize("name", ["trace", "calibrate", "plan", "validate", "show"])
def test_every_command_has_a_help_with_an_example(argosy: Run, name: str) -> None:
    shown = argosy("memory", name, "--help")
    assert shown.exit_code == 0
    assert f"Example: argosy memory {name}" in shown.output
    assert name in load("memory").commands

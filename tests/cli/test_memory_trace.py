"""`argosy memory trace`: real programs, mini-apps and tables of samples."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run
from memory.program.programs_in_c import HOT_AND_COLD, needs_valgrind

from argosy.memory import Trace
from argosy.memory.tiers.disk import IN_MEMORY, file_system


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real one: two arrays, one hot and one cold; it ends with the status that it is given."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.c").write_text(HOT_AND_COLD)
    subprocess.run(["cc", "-g", "-O1", "-o", "program", "program.c"], cwd=folder, check=True)
    return folder / "program"


def traced(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: the program writes to its real output."""
    words = [sys.executable, "-m", "argosy.cli", "memory", "trace", *args]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=55, check=False)


@needs_valgrind
def test_the_hot_array_comes_first_and_output_and_status_come_through(program: Path, tmp_path: Path) -> None:
    out, plot = tmp_path / "trace.arrow", tmp_path / "heat.png"
    asked = ("--source", "valgrind", "--windows", "8", "--out", str(out), "--plot", str(plot))
    done = traced(program.parent, *asked, "--", "./program", "3")
    assert done.returncode == 3
    assert done.stderr == "to stderr\n"
    lines = done.stdout.splitlines()
    assert lines[0].replace(".", "").replace("e+", "").isdigit()
    assert lines[1].split()[0] == "object"
    assert lines[2].startswith("main (program.c:7)")
    assert "note: seconds are modelled" in done.stdout
    assert plot.stat().st_size > 1000
    saved = Trace.load(out)
    assert 1 < len(saved.windows) <= 8


@needs_valgrind
def test_a_program_may_have_options_of_its_own_and_die_by_a_signal(program: Path) -> None:
    done = traced(program.parent, "--source", "valgrind", "./program", "--out", "--help")
    assert done.returncode == 128 + 6
    assert "SIGABRT" in done.stdout


def test_a_mini_app_is_traced_by_its_marked_windows(argosy: Run, tmp_path: Path) -> None:
    if (kind := file_system(tmp_path)) in IN_MEMORY:
        pytest.skip(f"the disk tier needs a disk, and temporary files are kept in memory here ({kind})")
    out, plot = tmp_path / "cg.arrow", tmp_path / "heat.png"
    asked = ("--size", "1MiB", "--folder", tmp_path, "--out", out, "--plot", plot)
    done = argosy("memory", "trace", "--app", "cg", *asked)
    assert done.exit_code == 0, done.output
    saved = Trace.load(out)
    shown = done.stdout.splitlines()
    assert {line.split()[0] for line in shown[1 : 1 + len(saved.objects)]} == set(saved.objects)
    heat = [float(line.split()[-1]) for line in shown[1 : 1 + len(saved.objects)]]
    assert heat == sorted(heat, reverse=True)
    assert plot.stat().st_size > 1000

    told = argosy("memory", "show", out, "--plot", tmp_path / "again.png")
    assert told.stdout.startswith(f"trace of cg: {len(saved.windows)} windows")
    assert "apply" in told.stdout
    assert (tmp_path / "again.png").exists()


def test_a_table_of_samples_is_traced_as_it_comes(argosy: Run, tmp_path: Path) -> None:
    table = tmp_path / "samples.csv"
    table.write_text("Timestamp,Address,Phase\n0,4096,a\n1,4160,a\n2,819200,b\n3,4096,b\n")
    done = argosy("memory", "trace", "--table", table)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[1].startswith("pages 0x1000")
    assert "note: each of the 4 samples" in done.stdout


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "name one thing to trace"),
        ("--app cg -- ./program", "name one thing to trace"),
        ("--app cg --table samples.csv", "name one thing to trace"),
        ("--app cgg", "there is no app 'cgg'; did you mean 'cg'?"),
        ("--table none.csv", "there is no table 'none.csv'"),
        ("--table empty.csv", "empty.csv is empty"),
        ("--table other.csv", "other.csv has no column 'address'"),
        ("-- ./none", "./none does not exist"),
        ("-- none-of-that-name", "there is no program 'none-of-that-name'"),
        ("--source valgrnd -- ./none", "there is no source of traces 'valgrnd'; did you mean 'valgrind'?"),
        ("--out none/t.arrow -- ./none", "there is no folder none for t.arrow"),
        ("--plot heat.txt -- ./none", "heat.txt is not the name of a picture"),
    ],
)
def test_what_cannot_be_traced_is_refused_in_one_line(
    argosy: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("timestamp,address\n")
    (tmp_path / "other.csv").write_text("timestamp,place\n1,2\n")
    done = argosy("memory", "trace", *shlex.split(given))
    assert done.exit_code == 1, done.output
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout

"""Progress is one count through all phases, is drawn on a terminal alone, and Ctrl-C leaves the terminal as it was."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from argosy.memory.progress import Steps, bar, shown

VALIDATE = [sys.executable, "-m", "argosy.cli", "memory", "validate", "--workload", "study.py:study", "--folder", "."]
STUDY = """
import sys
import numpy as np
from argosy.memory import Disk, Workload, validate


def run(store):
    for name in ("a", "b", "c"):
        with store.window(name):
            store[name].sum()


study = Workload(name="study", objects=lambda: {name: np.ones(5_000) for name in "abc"}, run=run)
if __name__ == "__main__":
    found = validate(study, placements=3, repeats=int(sys.argv[1]), slow=Disk("."))
    print("placements:", len(found.rows))
"""


def on_a_terminal(command: list[str], folder: Path, *, stop_at: str = "", stdout: int | None = None) -> tuple[int, str]:
    """Its exit code and what the terminal got; Ctrl-C as soon as that has appeared there."""
    ours, theirs = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm", "COLUMNS": "120"}
    ran = subprocess.Popen(command, cwd=folder, env=env, stdin=theirs, stdout=stdout or theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    until = time.monotonic() + 50
    try:
        while time.monotonic() < until:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # the other side is closed
                    break
                if not part:
                    break
                text += part
            if stop_at and re.search(stop_at.encode(), text):
                ran.send_signal(signal.SIGINT)
                stop_at = ""
        return ran.wait(timeout=20), text.decode(errors="replace")
    finally:
        ran.kill()
        ran.wait()
        os.close(ours)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.py").write_text(STUDY)
    return tmp_path


def test_on_a_terminal_a_bar_is_drawn_also_from_python(folder: Path) -> None:
    code, text = on_a_terminal([sys.executable, "study.py", "2"], folder)
    assert code == 0, text
    assert "validating study" in text
    ends = [(int(done), int(of)) for done, of in re.findall(r"(\d+)/(\d+)", text)]
    assert ends, text
    assert ends == sorted(ends, key=lambda end: end[0]), "it never goes back"
    assert ends[-1][0] == ends[-1][1]
    assert "placements: 3" in text


def test_json_is_quiet_also_on_a_terminal(folder: Path) -> None:
    code, text = on_a_terminal([*VALIDATE, "--placements", "3", "--repeats", "1", "--noise", "100", "--json"], folder)
    assert code == 0, text
    assert text.strip().startswith("{")
    assert text.strip().endswith("}")


def test_ctrl_c_ends_it_at_once_and_gives_the_cursor_back(folder: Path) -> None:
    asked = ["--placements", "3", "--repeats", "1000000", "--noise", "100"]
    code, text = on_a_terminal([*VALIDATE, *asked], folder, stop_at=r"\d/\d{6}")
    assert code == 130, text
    assert "Traceback" not in text
    assert "stopped before it was done" in text
    assert text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l"), "the cursor is shown again"
    assert [path.name for path in folder.iterdir() if path.suffix != ".pyc" and path.name != "__pycache__"] == [
        "study.py"
    ]


def test_where_stderr_is_no_terminal_nothing_is_drawn(capfd: pytest.CaptureFixture[str]) -> None:
    with bar("measuring") as tell:
        assert tell is None
    with shown(True, "measuring") as tell:
        assert tell is None
    assert capfd.readouterr() == ("", "")


def test_a_function_of_the_caller_is_told_and_false_is_silence() -> None:
    told: list[tuple[int, int]] = []
    with shown(lambda *step: told.append(step), "measuring") as tell:
        assert tell is not None
        tell(1, 2)
    assert told == [(1, 2)]
    for silent in (False, None):
        with shown(silent, "measuring") as tell:
            assert tell is None


def test_phases_are_counted_through_and_end_where_they_end() -> None:
    told: list[tuple[int, int]] = []
    steps = Steps(lambda *step: told.append(step))
    steps.expect(3)
    steps(1, 2)
    steps(2, 2)
    steps.expect(4)
    steps(1, 1)
    steps.end()
    assert told == [(1, 3), (2, 3), (3, 6), (3, 3)]
    assert steps.seconds_a_run == 0.0, "of one run nothing can be told"

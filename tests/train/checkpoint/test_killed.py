"""kill -9 at any moment of a save leaves a checkpoint that can be loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_after_kill_9_in_a_save_the_last_whole_one_is_loaded(tmp_path: Path) -> None:
    script = [sys.executable, "-W", "error", str(Path(__file__).with_name("killed.py")), str(tmp_path), "0", "24"]
    done = subprocess.run(script, capture_output=True, text=True, timeout=55, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 0

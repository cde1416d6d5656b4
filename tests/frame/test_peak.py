from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from argosy.frame.prepare import prepare


def test_no_operation_needs_more_memory_than_its_estimate_says() -> None:
    prepare()
    script = Path(__file__).parent / "measure_peak.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=55, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert len(figures) == 12
    beyond = {name: one for name, one in figures.items() if one["measured"] > one["estimated"]}
    assert not beyond
    careless = {name: one for name, one in figures.items() if one["estimated"] > 6 * one["measured"]}
    assert not careless

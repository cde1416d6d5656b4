from __future__ import annotations

import json
from pathlib import Path

from command_line import Run


def test_it_sums_up_the_run_and_writes_the_trace_beside_its_events(argosy: Run, live_run: Path) -> None:
    shown = argosy("report", live_run)
    assert shown.exit_code == 0
    for text in ("study", "1 running, 1 failed", "2, 0 lost", "no end is recorded", "division by zero [1/0]"):
        assert text in shown.output
    slices = [r for r in json.loads((live_run / "trace.json").read_text())["traceEvents"] if r["ph"] == "X"]
    assert [record["name"] for record in slices] == ["broken", "join"]


def test_the_trace_goes_where_it_is_asked_to(argosy: Run, live_run: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.json"
    assert argosy("report", live_run, "--trace", target).exit_code == 0
    assert "traceEvents" in json.loads(target.read_text())
    assert not (live_run / "trace.json").exists()


def test_a_trace_that_cannot_be_written_is_a_message_not_a_traceback(argosy: Run, live_run: Path) -> None:
    target = live_run / "no-such-folder" / "trace.json"
    result = argosy("report", live_run, "--trace", target)
    assert result.exit_code == 1
    assert result.stderr == f"argosy: {target}: No such file or directory\n"


def test_a_run_without_events_is_a_message(argosy: Run, tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").touch()
    result = argosy("report", tmp_path)
    assert result.exit_code == 1
    assert "holds no event yet" in result.stderr

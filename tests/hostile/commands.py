"""Valid command lines. What a user types is text: hostile texts in the place of each option."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hostile.judging import Case, Refused
from hostile.kinds import a, anything
from hostile.memories import estimator, saved, trace


def _typed(*words: str) -> Callable[..., Any]:
    """A command line, in this process; each argument is an option."""

    def call(**options: Any) -> Any:
        from argosy.cli import app

        line = [*words]
        for name, value in options.items():
            if value is not None:
                line += [f"--{name.replace('_', '-')}", _text(value)]
        told, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(errors):
            try:
                code = app(line, standalone_mode=True)
            except SystemExit as end:
                code = end.code
        if code not in (0, None):
            raise Refused(" ".join(errors.getvalue().split()) or f"exit {code!r} without a word")
        return "done"

    return call


def _text(value: Any) -> str:
    try:
        shown = str(value)
    except Exception:
        return "mute"
    return shown[:5000].replace("\0", "0")


def cases() -> list[Case]:
    made = Path(tempfile.mkdtemp(prefix="hostile-cli-"))
    kept, traced = saved(estimator(), "e.json"), saved(trace(), "t.arrow")
    return [
        Case(name="argosy memory plan", call=_typed("memory", "plan", kept), arguments={"capacity": a("50%", anything, "share", "amount"), "solver": a("greedy", anything)}, finish=str, group="cli", slow=True),
        Case(name="argosy memory show", call=lambda file: _typed("memory", "show", _text(file))(), arguments={"file": a(traced, anything, "file", "trace", "FILE", "No such option", "Missing", "estimator")}, finish=str, group="cli", slow=True, typo=False),
        Case(name="argosy simulate", call=_typed("simulate"), arguments={"nodes": a(4, anything), "ranks_per_node": a(2, anything, "ranks-per-node"), "tasks": a(10, anything), "seed": a(1, anything)}, finish=str, group="cli", slow=True),
        Case(name="argosy report", call=lambda run: _typed("report", _text(run))(), arguments={"run": a("nowhere", anything, "run", "RUN", "folder")}, finish=str, group="never", slow=True, typo=False),
        Case(name="argosy memory calibrate", call=_typed("memory", "calibrate", "--folder", str(Path.cwd()), "--out", str(made / "c.json"), "--law", "linear", "--design", "endpoints", "--noise", "1000"), arguments={"app": a("hashjoin", anything), "size": a("1MiB", anything, "amount", "footprint"), "repeats": a(2, anything), "fast": a("ram", anything, "tier", "NUMA", "node"), "slow": a("disk", anything, "tier", "NUMA", "node")}, finish=str, group="cli", slow=True),
    ]  # fmt: skip

"""What `f.explain(...)` gives: a text that is also a graph, a trace and a list of records."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cached_property
from os import PathLike
from pathlib import Path

from argosy.tree.explaining.graph import graph_of
from argosy.tree.explaining.record import Ran, Recording
from argosy.tree.explaining.trace import trace_of

_DOT_SECONDS = 20


class Explanation(str):
    """What was printed. A notebook shows the graph where Graphviz is installed."""

    recording: Recording

    def __new__(cls, text: str, recording: Recording) -> Explanation:
        made = super().__new__(cls, text)
        made.recording = recording
        return made

    @property
    def expressions(self) -> tuple[Ran, ...]:
        """Each run of each statement, in program order."""
        return self.recording.runs

    @cached_property
    def dot(self) -> str:
        """The graph, in the language of Graphviz."""
        return graph_of(self.recording)

    def write_dot(self, path: str | PathLike[str]) -> None:
        Path(path).write_text(self.dot, encoding="utf-8")

    def write_trace(self, path: str | PathLike[str]) -> None:
        """A file that ui.perfetto.dev and chrome://tracing open."""
        Path(path).write_text(json.dumps(trace_of(self.recording)), encoding="utf-8")

    def __getnewargs__(self) -> tuple[str, Recording]:  # type: ignore[override]
        return str(self), self.recording

    def __repr__(self) -> str:
        return f"<explanation of {self.recording.function.name}: {len(self.expressions)} expressions>"

    def _repr_svg_(self) -> str | None:
        dot = shutil.which("dot")
        if dot is None or not self.expressions:
            return None
        done = subprocess.run(
            [dot, "-Tsvg"], input=self.dot, capture_output=True, encoding="utf-8", timeout=_DOT_SECONDS, check=False
        )
        return done.stdout if done.returncode == 0 else None

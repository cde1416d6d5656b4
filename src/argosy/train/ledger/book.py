"""Steps on their way into a file."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from argosy.train.ledger.lines import VERSION, encode, encode_step, end_of
from argosy.train.ledger.phases import NO_SECONDS
from argosy.train.ledger.values import settle

Step = tuple[tuple[int, int | None, int, Any, Any, dict[str, Any]], dict[str, float]]
"""Number, epoch, samples so far, loss, learning rate and more; and seconds by phase."""


class Book:
    """`write` reads the losses of steps and appends their lines in one go.

    The file is made, or cut back to where a resumed run goes on, when the first line is written.
    """

    def __init__(
        self, path: Path | None, facts: dict[str, Any], together: Callable[[list[float]], list[float]] | None
    ) -> None:
        self.path = path
        self.facts = facts
        self.losses = array("d")
        self.total = dict(NO_SECONDS)
        """Seconds by phase of all steps that were written."""
        self.resume: tuple[dict[str, Any], list[dict[str, Any]]] | None = None
        """The line of a resumed run, and those of the evaluations before it."""
        self._together = together
        self._file: int | None = None

    def write(self, steps: list[Step]) -> None:
        losses = settle([step[3] for step, _ in steps])
        losses = self._together(losses) if self._together is not None and losses else losses
        self.losses.extend([math.nan if loss is None else loss for loss in losses])
        total = self.total
        for _, seconds in steps:
            for phase, spent in seconds.items():
                if spent:
                    total[phase] += spent
        if self.path is None or not steps:
            return
        text = []
        for ((number, epoch, samples, _, lr, more), seconds), loss in zip(steps, losses, strict=True):
            kept = dict(zip(more, settle(list(more.values())), strict=True)) if more else None
            text.append(encode_step(number, epoch, samples, loss, lr, seconds, kept))
        self._append("".join(text))

    def add(self, record: Mapping[str, Any]) -> None:
        """One more line."""
        if self.path is not None:
            self._append(encode(record))

    def leave(self, steps: list[Step]) -> None:
        """Close, when nobody else will. Other ranks do not take part, so what would be made together is not."""
        self._together = None
        self.write(steps)
        self.close()

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _append(self, text: str) -> None:
        if self._file is None:
            self._file = self._open()
        left = memoryview(text.encode())
        while left:
            left = left[os.write(self._file, left) :]

    def _open(self) -> int:
        assert self.path is not None
        self.path.parent.mkdir(parents=True, exist_ok=True)
        head = encode({"kind": "run", "version": VERSION, **self.facts})
        if self.resume is None:
            self.path.write_text(head, encoding="utf-8")
        else:
            line, evaluations = self.resume
            end = end_of(self.path, line["step"], len(evaluations)) if self.path.exists() else 0
            if end == 0:
                self.path.write_text(head + "".join(map(encode, evaluations)), encoding="utf-8")
            else:
                os.truncate(self.path, end)
            with self.path.open("a", encoding="utf-8") as lines:
                lines.write(encode({**line, **self.facts}))
        self.resume = None
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

"""Kept values: what tasks left on this rank."""

from __future__ import annotations

from typing import Any


class Residents:
    def __init__(self) -> None:
        self._values: dict[int, Any] = {}

    def keep(self, task: int, value: Any) -> None:
        self._values[task] = value

    def get(self, task: int) -> Any:
        return self._values[task]

    def drop(self, task: int) -> None:
        self._values.pop(task, None)

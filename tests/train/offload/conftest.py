"""One measured step is enough to plan by; a plan of so few is none to judge, but what is learned stays the same."""

from __future__ import annotations

import pytest

from argosy.train.offload import offloading


@pytest.fixture
def plans_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offloading, "_MEASURED", 1)

"""Kernels are there before the laws are tried."""

from __future__ import annotations

import pytest

from argosy.frame.prepare import prepare


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_compiled() -> None:
    prepare()

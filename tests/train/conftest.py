"""Torch with one thread, and a pilot for the tests of several ranks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import argosy

torch = pytest.importorskip("torch")
torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _runs_go_to_a_folder_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGOSY_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield


@pytest.fixture(scope="module")
def pilot() -> Iterator[argosy.Pilot]:
    """Three ranks, shared by the tests of a module."""
    with argosy.Pilot(ranks=3) as shared:
        yield shared

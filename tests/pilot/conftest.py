"""A pilot for the tests, and a check on the way out that it left nothing behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import argosy
from argosy.pilot.launch.mpiexec import find_mpiexec


@pytest.fixture(scope="session", autouse=True)
def _runs_go_to_a_folder_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGOSY_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield


@pytest.fixture(scope="module")
def pilot() -> Iterator[argosy.Pilot]:
    """Four ranks, shared by the tests of a module."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with argosy.Pilot(ranks=4) as shared:
        yield shared
    assert left_behind(before) == []
    assert not (shared.folder / "keys").exists()
    assert not any(folder.exists() for folder in shared._shelf.folders)


def left_behind(before: set[int]) -> list[psutil.Process]:
    """Children of this process that were not there before, after a moment for the kernel."""
    for _ in range(50):
        found = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
        if not found:
            return []
        time.sleep(0.02)
    return found


@pytest.fixture(scope="session")
def ulfm() -> bool:
    """Whether the MPI of this environment survives the death of a rank."""
    mpiexec = find_mpiexec()
    assert mpiexec is not None
    return mpiexec.ulfm


@pytest.fixture(scope="session")
def needs_ulfm(ulfm: bool) -> None:
    if not ulfm:
        pytest.skip("with this MPI the fault domain is the world")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """A file that does not exist yet: a task makes it on its first attempt."""
    return tmp_path / "marker"

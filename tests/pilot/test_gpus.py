"""Each rank of a task has its own of the GPUs that the allocation has, and no others."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

import argosy
from argosy import Executable
from argosy.errors import CudaTied, NeedNotMet
from argosy.resources.discover.gpus import VARIABLE, gpus

SHOW = "import os; from mpi4py import MPI; print(MPI.COMM_WORLD.rank, os.environ.get('CUDA_VISIBLE_DEVICES'))"


def seen() -> str | None:
    return os.environ.get(VARIABLE)


@pytest.mark.parametrize(
    ("said", "there", "wants"),
    [
        (None, 3, ("0", "1", "2")),
        (None, 0, ()),
        ("2,3", 8, ("2", "3")),
        (" 3 , 1 ", 4, ("3", "1")),
        ("2,3", 0, ("2", "3")),  # nothing is known of the machine
        ("", 4, ()),
        ("-1", 4, ()),
        ("0,-1,1", 4, ("0",)),
        ("0,9,1", 4, ("0",)),
        ("0,,1", 4, ("0",)),
        ("NoDevFiles", 4, ()),
        ("0,0", 4, ()),
        ("1gpu", 4, ("1",)),
        ("GPU-8932f937,GPU-5ce0a1", 2, ("GPU-8932f937", "GPU-5ce0a1")),
        ("MIG-b1a2, MIG-GPU-c3/1/0", 1, ("MIG-b1a2", "MIG-GPU-c3/1/0")),
        ("GPU-a,1", 2, ("GPU-a",)),
        ("0,GPU-a", 2, ("0",)),
        ("GPU-a,GPU-a", 2, ()),
        ("GPU-", 2, ()),
    ],
)
def test_the_variable_is_read_as_cuda_reads_it(said: str | None, there: int, wants: tuple[str, ...]) -> None:
    assert gpus({} if said is None else {VARIABLE: said}, there) == wants


@pytest.fixture(scope="module")
def given() -> Iterator[argosy.Pilot]:
    """A pilot in an allocation whose GPUs have names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "GPU-a,GPU-b,GPU-c")
        with argosy.Pilot(ranks=3) as pilot:
            yield pilot


def test_what_the_variable_names_is_what_the_allocation_has(given: argosy.Pilot) -> None:
    assert given.allocation.nodes[0].gpu_names == ("GPU-a", "GPU-b", "GPU-c")
    assert given.submit(seen, ranks=3, gpus=1).results() == ["GPU-a", "GPU-b", "GPU-c"]
    assert given.submit(seen, gpus=2).result() == "GPU-a,GPU-b"
    assert given.submit(seen, ranks=3, gpus=0.5).results() == ["GPU-a", "GPU-b", "GPU-c"]  # CUDA cannot change them
    assert given.submit(seen, ranks=3).results() == ["GPU-a,GPU-b,GPU-c"] * 3  # as it was, after all of these


def test_each_rank_of_an_mpi_program_has_its_own_gpu_and_not_the_first_ones(given: argosy.Pilot) -> None:
    done = given.submit(Executable([sys.executable, "-c", SHOW]), ranks=3, gpus=1).result(timeout=40)
    assert sorted(done.stdout.split("\n")) == ["", "0 GPU-a", "1 GPU-b", "2 GPU-c"]
    copies = Executable([sys.executable, "-c", f"import os; print(os.environ['{VARIABLE}'])"], mpi=False)
    assert [one.stdout for one in given.submit(copies, ranks=2, gpus=1).results()] == ["GPU-a\n", "GPU-b\n"]


def test_a_variable_that_was_not_set_is_not_set_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with argosy.Pilot(ranks=1, gpus=2) as pilot:
        assert pilot.submit(seen).result() is None
        assert pilot.submit(seen, gpus=1).result() == "0"
        assert pilot.submit(seen).result() is None


def begin_cuda() -> None:
    """What is left of it, where there is no GPU: PyTorch says that it has begun."""
    sys.modules["torch"] = SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: True))  # type: ignore[assignment]


def test_a_process_in_which_cuda_works_is_never_given_other_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0,1,2")
    with argosy.Pilot(ranks=1) as pilot:
        pilot.submit(begin_cuda, gpus=1).result()
        before = pilot.submit(os.getpid).result()
        assert pilot.submit(seen, gpus=1).result() == "0"
        with pytest.raises(CudaTied, match=r"CUDA had begun with others in an earlier task.*give the task retries=1"):
            pilot.submit(seen, gpus=2).result()
        assert pilot.submit(os.getpid).result() != before
        pilot.submit(begin_cuda, gpus=1).result()
        assert pilot.submit(seen, gpus=2, retries=1).result() == "0,1"


def test_more_gpus_than_the_variable_leaves_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0,0")
    with pytest.raises(ValueError, match="gpus=1 is more than CUDA_VISIBLE_DEVICES='0,0' leaves this process: 0"):
        argosy.Pilot(ranks=1, gpus=1)
    monkeypatch.setenv(VARIABLE, "")
    with argosy.Pilot(ranks=1) as pilot, pytest.raises(NeedNotMet, match="1 GPU for one rank, but this pilot has none"):
        pilot.submit(seen, gpus=1)

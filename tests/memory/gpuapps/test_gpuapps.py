"""On the processor with main memory and disk; on a GPU with its own memory and the host's as well."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory import Disk, Hbm, PinnedHost, Ram, Store
from argosy.memory.gpuapps import APPS, load
from argosy.memory.workload import Workload, traced

torch = pytest.importorskip("torch")
SMALL = "512KiB"


def make_store(kind: str, workload: Workload, folder: Path) -> Store:
    if kind == "processor":
        return workload.store(fast=Ram(), slow=Disk(folder))
    return workload.store(fast=Hbm(), slow=PinnedHost(mode=kind))


KINDS = [
    "processor",
    *(
        pytest.param(mode, marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"))
        for mode in ("zero-copy", "staged")
    ),
]


def contents(store: Store) -> dict[str, Any]:
    return {name: store[name].cpu().clone() for name in store}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", APPS)
def test_every_placement_gives_the_same_bits(name: str, kind: str, tmp_path: Path) -> None:
    workload = load(name, SMALL if kind == "processor" else "64MiB")
    with make_store(kind, workload, tmp_path) as store:
        expected = workload.run(store)
        after = contents(store)
        assert all(torch.isfinite(torch.tensor(expected)))
        names = list(store)
        for slow in (
            (names, names[::2]) if kind == "processor" else (names, names[::2], names[1::2], names[:3], names[3:])
        ):
            store.place({each: store.slow.name if each in slow else store.fast.name for each in names})
            assert workload.run(store) == expected
            assert all(torch.equal(value, after[each]) for each, value in contents(store).items())


@pytest.mark.parametrize("name", APPS)
def test_an_app_touches_all_its_objects_and_says_so(name: str, tmp_path: Path) -> None:
    workload = load(name, SMALL)
    with make_store("processor", workload, tmp_path) as store:
        trace = traced(workload, store)
        touched = {touch.object for window in trace.windows for touch in window.touches}
        assert touched == set(store.sizes)
        assert 8 <= len(store.sizes) <= 20
        again = traced(workload, store)
    assert [window.name for window in again.windows] == [window.name for window in trace.windows]
    assert [window.touches for window in again.windows] == [window.touches for window in trace.windows]


@pytest.mark.parametrize("name", APPS)
@settings(max_examples=8, deadline=None)
@given(nbytes=st.integers(1 << 10, 8 << 20))
def test_an_app_is_about_as_large_as_was_asked(name: str, nbytes: int) -> None:
    sizes = {key: value.nbytes for key, value in load(name, nbytes).objects().items()}
    if nbytes >= 1 << 20:
        assert 0.5 * nbytes <= sum(sizes.values()) <= 1.5 * nbytes


def test_the_smallest_sizes_still_run(tmp_path: Path) -> None:
    for name in APPS:
        workload = load(name, 1)
        with workload.store(fast=Ram(), slow=Disk(tmp_path)) as store:
            assert all(value == value for value in workload.run(store))


def test_an_app_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="there are: gemv, gemm, stencil, embedding, transformer"):
        load("gem")


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "argosy.memory.gpuapps.gemv", raising=False)
    monkeypatch.delitem(sys.modules, "argosy.memory.gpuapps.filled", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"argosy\[train\]"):
        load("gemv")


def test_the_gradient_of_the_transformer_is_the_slope_of_its_loss(tmp_path: Path) -> None:
    from argosy.memory.gpuapps.filled import fill
    from argosy.memory.gpuapps.transformer import LAYERS, block

    last = LAYERS - 1
    workload = load("transformer", SMALL)
    with workload.store(fast=Ram(), slow=Disk(tmp_path)) as store:
        loss, *norms = workload.run(store)
        inputs, goal, gradient = (store[name].double() for name in (f"{last}.input", "goal", f"{last}.gradient"))
        weights = torch.empty_like(store[f"{last}.weights"])
    fill(weights, goal.shape[-1] ** -0.5, seed=last)
    step = gradient / gradient.norm() * 1e-4
    up, down = ((block(inputs, weights.double() + way * step) - goal).square().mean().item() for way in (1, -1))
    assert norms[0] == pytest.approx((up - down) / 2e-4, rel=1e-3)
    assert loss == pytest.approx((up + down) / 2, rel=1e-4)

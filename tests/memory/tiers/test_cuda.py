"""Those that need a CUDA device are left out where there is none; what a machine without one says is tested there."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from argosy.errors import NoTier, TierFull
from argosy.memory import Hbm, PinnedHost, Store
from argosy.memory.tiers.cuda.device import torch_with_cuda
from argosy.memory.tiers.tier import Tier

torch = pytest.importorskip("torch")
HAS_CUDA = torch.cuda.is_available()
needs_cuda = pytest.mark.skipif(not HAS_CUDA, reason="needs a CUDA device")
without_cuda = pytest.mark.skipif(HAS_CUDA, reason="there is a CUDA device")
MODES = ("zero-copy", "staged")


@without_cuda
@pytest.mark.parametrize("tier", [Hbm(), PinnedHost(), PinnedHost(mode="staged")])
def test_a_machine_without_a_device_says_so_and_what_to_use(tier: Tier) -> None:
    with pytest.raises(NoTier, match=r"CUDA.*use Ram\(\) and Disk\(\)"):
        tier.check()
    with pytest.raises(NoTier):
        tier.hold(8)
    with pytest.raises(NoTier):
        Store(fast=Hbm(), slow=PinnedHost())


def test_a_build_of_torch_for_another_machine_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(NoTier, match="built without CUDA"):
        torch_with_cuda(0)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(NoTier, match="no CUDA device"):
        torch_with_cuda(0)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(NoTier, match="no CUDA device 2; there are: 0, 1"):
        torch_with_cuda(2)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(NoTier, match=r"argosy\[train\]"):
        Hbm().check()


def test_a_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'zero-copy' or 'staged'"):
        PinnedHost(mode="paged")  # type: ignore[arg-type]


@needs_cuda
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("nbytes", [0, 1, 4096, 1_000_003])
def test_bytes_survive_the_way_there_and_back(mode: str, nbytes: int) -> None:
    value = np.random.default_rng(nbytes).integers(0, 256, nbytes, dtype=np.uint8)
    with Store(fast=Hbm(), slow=PinnedHost(mode=mode)) as store:
        store.put("x", value, tier="hbm")
        for tier in ("pinned", "hbm", "pinned"):
            store.place({"x": tier})
            assert store["x"].is_cuda
            assert np.array_equal(store["x"].cpu().numpy(), value)


@needs_cuda
@pytest.mark.parametrize("mode", MODES)
def test_what_a_window_writes_is_there_in_the_next(mode: str) -> None:
    with Store(fast=Hbm(), slow=PinnedHost(mode=mode)) as store:
        store.put("x", torch.zeros(1 << 20), tier="pinned")
        store.put("y", torch.ones(1 << 20), tier="hbm")
        for _ in range(3):
            with store.window("add"):
                store.update("x").add_(store["y"])
            with store.window("look"):
                total = store["x"].sum().item()
        assert total == 3 << 20
        store.place({"x": "hbm"})
        assert store["x"].sum().item() == 3 << 20


@needs_cuda
@pytest.mark.parametrize("mode", MODES)
def test_what_is_written_outside_of_windows_is_not_lost(mode: str) -> None:
    with Store(fast=Hbm(), slow=PinnedHost(mode=mode)) as store:
        store.put("x", torch.zeros(1 << 10), tier="pinned")
        store.write("x").fill_(2)
        with store.window("look"):
            assert store["x"].sum().item() == 2 << 10
        with store.window("look"):
            assert store["x"].sum().item() == 2 << 10


@needs_cuda
@pytest.mark.parametrize("mode", MODES)
def test_a_value_stays_usable_after_the_store_is_closed(mode: str) -> None:
    with Store(fast=Hbm(), slow=PinnedHost(mode=mode)) as store:
        store.put("x", torch.ones(1 << 20), tier="pinned")
        value = store["x"]
    filler = [torch.zeros(1 << 22, dtype=torch.uint8, pin_memory=True) for _ in range(4)]
    assert value.sum().item() == 1 << 20
    assert len(filler) == 4


@needs_cuda
def test_a_kernel_reads_pinned_memory_at_its_own_address() -> None:
    with Store(fast=Hbm(), slow=PinnedHost()) as store:
        store.put("x", torch.arange(100.0), tier="pinned")
        first = store["x"].data_ptr()
        with store.window("touch"):
            store.update("x").mul_(2)
        assert store["x"].data_ptr() == first
        assert store["x"].tolist() == [2.0 * i for i in range(100)]


@needs_cuda
def test_a_full_device_is_an_error_that_leaves_the_object_whole() -> None:
    free, _ = torch.cuda.mem_get_info()
    with pytest.raises(TierFull, match="'hbm' is full"):
        Hbm().hold(2 * free)
    with pytest.raises(TierFull, match="'pinned' is full"):
        PinnedHost().hold(1 << 46)
    with Store(fast=Hbm(capacity="1MiB"), slow=PinnedHost()) as store:
        store.put("x", torch.ones(1 << 19), tier="pinned")
        with pytest.raises(TierFull):
            store.place({"x": "hbm"})
        assert store.placement == {"x": "pinned"}
        assert store["x"].sum().item() == 1 << 19
        torch.cuda.synchronize()


@needs_cuda
def test_memory_of_the_device_comes_back_when_an_object_is_freed() -> None:
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    with Store(fast=Hbm(), slow=PinnedHost(mode="staged")) as store:
        store.put("x", torch.ones(1 << 20))
        assert torch.cuda.memory_allocated() >= before + (4 << 20)
        store.place({"x": "pinned"})
        assert torch.cuda.memory_allocated() == before
        with store.window("use"):
            store["x"].sum()
        assert torch.cuda.memory_allocated() < before + (4 << 20)

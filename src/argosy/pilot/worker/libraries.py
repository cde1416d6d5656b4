"""The libraries that are loaded in this process, as far as they have threads, or settings that outlive a call."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

_TORCH_SEED = 67280421310721
"""Of the generator in a new process."""
_POOLS = {
    r"openblas": [
        (f"{prefix}openblas_get_num_threads{suffix}", f"{prefix}openblas_set_num_threads{suffix}")
        for prefix in ("", "scipy_")
        for suffix in ("", "64_", "_64")
    ],
    r"mkl_rt": [("MKL_Get_Max_Threads", "MKL_Set_Num_Threads")],
    r"blis": [("bli_thread_get_num_threads", "bli_thread_set_num_threads")],
    r"(gomp|iomp5|omp)(-[0-9a-f]+)?\.(so|dylib)": [("omp_get_max_threads", "omp_set_num_threads")],
}
"""By a part of the library's name: functions that say and set with how many threads its calls in this thread run."""
_seeded: dict[str, int] = {}


class Pool(NamedTuple):
    """Threads of one library."""

    ask: Callable[[], int]
    set: Callable[[int], object]
    most: int | None = None


def pools() -> dict[str, Pool]:
    """Those of the libraries that are loaded now, by name."""
    found = dict(_native_pools(len(sys.modules)))
    if (torch := sys.modules.get("torch")) is not None and hasattr(torch, "set_num_threads"):
        found["torch"] = Pool(torch.get_num_threads, torch.set_num_threads)
    if (arrow := sys.modules.get("pyarrow.lib")) is not None:
        found["pyarrow"] = Pool(arrow.cpu_count, arrow.set_cpu_count)
    if (numba := sys.modules.get("numba.np.ufunc.parallel")) is not None:
        found["numba"] = Pool(
            numba.get_num_threads, numba.set_num_threads, sys.modules["numba"].config.NUMBA_NUM_THREADS
        )
    return found


@lru_cache(maxsize=1)
def _native_pools(_num_modules: int) -> dict[str, Pool]:
    """Looked for again when modules were loaded since: to read what is mapped takes a millisecond or two."""
    found: dict[str, Pool] = {}
    for path in sorted({line.split(maxsplit=5)[5].strip() for line in _maps() if "/" in line}):
        for pattern, names in _POOLS.items():
            if re.search(pattern, Path(path).name):
                try:
                    library = ctypes.CDLL(path)
                except OSError:
                    continue  # its file was replaced
                for get, put in names:
                    if hasattr(library, get) and hasattr(library, put):
                        found[path] = Pool(getattr(library, get), getattr(library, put))
                        break
    return found


def _maps() -> list[str]:
    try:
        return Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []  # not Linux


def usual_threads() -> int:
    """What a library takes that was told nothing."""
    from psutil import cpu_count  # only now: a rank is to start quickly

    said = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(said) if said.isdigit() and int(said) else min(cores, cpu_count(logical=False) or cores)


def cuda_works() -> bool:
    """Whether PyTorch has begun to use CUDA in this process."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "cuda") and bool(torch.cuda.is_initialized())


def restore_torch(torch: Any) -> None:
    """Its settings as in a new process; a generator that was seeded goes on from what nobody can foresee."""
    if not hasattr(torch, "initial_seed"):
        return  # it is only half loaded
    if torch.initial_seed() != _seeded.get("torch", _TORCH_SEED):
        torch.seed()
        _seeded["torch"] = torch.initial_seed()
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
    if torch.are_deterministic_algorithms_enabled():
        torch.use_deterministic_algorithms(False)
    if torch.is_anomaly_enabled():
        torch.autograd.set_detect_anomaly(False)
    if getattr(getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None), "device_context", None) is not None:
        torch.set_default_device(None)
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()  # an error of a kernel that is still at work belongs to this task, not to the next
        if torch.cuda.current_device() != 0:
            torch.cuda.set_device(0)
        if torch.cuda.current_stream() != torch.cuda.default_stream():
            torch.cuda.set_stream(torch.cuda.default_stream())

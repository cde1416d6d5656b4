"""Whether there is a CUDA device, and what it says when it has no memory left."""

from __future__ import annotations

from typing import Any

from argosy.errors import NoTier


def torch_with_cuda(device: int) -> Any:
    """The module torch, able to use this device. Raises `NoTier` that says what is missing."""
    try:
        import torch
    except ImportError:
        raise NoTier(
            "the memory of a GPU is used through torch, which is not installed; pip install 'argosy[train]'"
        ) from None
    if torch.version.cuda is None:
        raise NoTier(
            f"torch {torch.__version__} is built without CUDA, so it sees no GPU; "
            "install a build with CUDA, or use Ram() and Disk()"
        )
    if not torch.cuda.is_available():
        raise NoTier("this machine has no CUDA device that torch can use; use Ram() and Disk()")
    count = torch.cuda.device_count()
    if not 0 <= device < count:
        raise NoTier(f"there is no CUDA device {device}; there are: {', '.join(map(str, range(count)))}")
    return torch


def wait_for_stream(device: int) -> None:
    """For all that was queued on torch's current stream of this device.

    Not for copies ahead of their use, which run on beside the next window. Whoever starts work on a stream of his own
    waits for it himself before his window ends.
    """
    torch_with_cuda(device).cuda.current_stream(device).synchronize()


def is_out_of_memory(error: BaseException) -> bool:
    """Of the device or of the host: torch has a class for the first only."""
    return isinstance(error, MemoryError) or "memory" in str(error).lower()

"""Squared norms of gradients from inside DDP's reduction: each rank's own, and that of the mean."""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from argosy.train.noise.parts import squared_norm

Hook = Callable[[Any, Any], Any]
"""DDP's own signature: (state, bucket) -> a Future of the bucket's reduced tensor."""


class Norms:
    """`norms_hook` is called by DDP for every bucket that is ready, in the same order on all ranks.

    The norm of the bucket as it comes is this rank's; the one after `inner` is that of all ranks together. With the
    last bucket the mean of the ranks' own is put on its way as one scalar, and nobody waits for it here. DDP looks at
    the name and the annotations of `norms_hook`, so they must be types, not text.
    """

    def __init__(self, inner: Hook | None, group: Any) -> None:
        self._inner = inner or self._mean
        self._group = group
        self._own: list[torch.Tensor] = []
        self._reduced: dict[int, torch.Tensor] = {}
        self._taken: tuple[_Mean, _Sum, int] | None = None

    def norms_hook(self, state: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        self._own.append(squared_norm([bucket.buffer()]))
        reduced, number = self._reduced, len(self._own)

        def measured(future: Any) -> Any:
            value = future.value()
            tensor = value[0] if isinstance(value, (list, tuple)) else value
            reduced[number] = squared_norm([tensor])
            return tensor

        last = bucket.is_last()
        future = self._inner(state, bucket).then(measured)
        if last:
            own = torch.stack(self._own).sum()
            size = dist.get_world_size(self._group)
            work = dist.all_reduce(own, group=self._group, async_op=True) if size > 1 else None
            self._taken = _Mean(own, work, size), _Sum(reduced), size
            self._own, self._reduced = [], {}
        return future

    def take(self) -> "tuple[_Mean, _Sum, int] | None":
        """Mean over ranks, that of the mean, number of ranks, of the last backward; None when there was none since."""
        taken, self._taken = self._taken, None
        return taken

    def _mean(self, _state: Any, bucket: Any) -> Any:
        """As DDP does it without a hook, to the bit: times 1 / ranks, which is not the same as divided by ranks."""
        tensor = bucket.buffer()
        tensor.mul_(1.0 / dist.get_world_size(self._group))
        work = dist.all_reduce(tensor, group=self._group, async_op=True)
        return work.get_future().then(_first)


class _Mean:
    """A scalar that is being summed over ranks; read as a number, it is waited for."""

    def __init__(self, total: torch.Tensor, work: Any, ranks: int) -> None:
        self._total, self._work, self._ranks = total, work, ranks

    def __float__(self) -> float:
        if self._work is not None:
            self._work.wait()
            self._work = None
        return float(self._total) / self._ranks


class _Sum:
    """Of the norms of all buckets. Backward ends after the last of them is in, and this is read after backward."""

    def __init__(self, norms: dict[int, torch.Tensor]) -> None:
        self._norms = norms

    def __float__(self) -> float:
        return float(torch.stack([self._norms[number] for number in sorted(self._norms)]).sum())


def _first(future: Any) -> Any:
    return future.value()[0]

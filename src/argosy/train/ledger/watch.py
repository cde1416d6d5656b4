"""How much of backward was waiting for communication: seen by a hook of DistributedDataParallel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from argosy.errors import TrainError

if TYPE_CHECKING:
    from argosy.train.ledger.ledger import Ledger

Hook = Callable[[Any, Any], Any]
"""Of a state and a bucket of gradients: the future of the bucket as the optimizer is to see it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Watch:
    """What is being measured from now on."""

    exposed: bool
    """Whether the phase `comm` is measured."""
    says: str

    def __str__(self) -> str:
        return self.says


def _waiting_on_device() -> Callable[[], float]:
    """From now on, on the stream that computes gradients, which waits for the communication before it goes on."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()

    def seconds() -> float:
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1000

    return seconds


def watch(ledger: Ledger, model: Any, hook: Hook | None, state: Any) -> Watch:
    if isinstance(model, DistributedDataParallel):
        model.register_comm_hook(state, timed(ledger, hook or mean_over(model.process_group)))
        on_gpu = any(parameter.is_cuda for parameter in model.parameters())
        if on_gpu and ledger.synchronize is None:
            return Watch(
                exposed=False,
                says="the model is on a GPU, where communication is waited for behind the loop's back: give the ledger "
                "synchronize=torch.cuda.synchronize to measure it",
            )
        return Watch(exposed=True, says="comm is the time from the last bucket of gradients to the end of backward")
    if hasattr(model, "set_requires_gradient_sync"):
        return Watch(
            exposed=False,
            says="FSDP2 gathers parameters inside forward and backward and has no hook that tells of waiting: phases "
            "are measured, but what they wait for communication stays in forward and backward",
        )
    if isinstance(model, torch.nn.Module):
        return Watch(exposed=False, says="the model does not communicate by itself: use `with ledger.comm():`")
    raise TrainError(f"a ledger watches a model, not {type(model).__qualname__}")


def timed(ledger: Ledger, hook: Hook) -> Hook:
    """The hook, which also tells the ledger when its last bucket was ready."""

    def timed_hook(state: Any, bucket: Any) -> Any:
        if bucket.is_last():
            if not bucket.buffer().is_cuda:
                ledger.laps.waiting()
            elif ledger.synchronize is not None:
                ledger.laps.waited = _waiting_on_device()
        return hook(state, bucket)

    return _signed(timed_hook)


def mean_over(group: Any) -> Hook:
    """What DistributedDataParallel does without a hook, to the bit: it multiplies by 1 / ranks, then adds up."""
    share = 1.0 / dist.get_world_size(group)

    def mean_hook(state: Any, bucket: Any) -> Any:  # noqa: ARG001
        buffer = bucket.buffer().mul_(share)
        return dist.all_reduce(buffer, group=group, async_op=True).get_future().then(lambda done: done.value()[0])

    return _signed(mean_hook)


def _signed(hook: Hook) -> Hook:
    """With the types that torch looks at before it takes a hook, as objects and not as text."""
    hook.__annotations__ = {"state": object, "bucket": dist.GradBucket, "return": torch.futures.Future[torch.Tensor]}
    return hook

"""Offloading, as the training loop calls it: measure with everything slow, plan, go on by the plan.

The result of a step does not depend on where its objects lie, so the steps that are measured are the first steps of the
training itself. They keep to the budget, too: nothing takes less fast memory than everything slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

import numpy as np
import torch
from torch import nn

from argosy.comm.ranks import Ranks
from argosy.memory.costs import Costs
from argosy.memory.planning.plan import Plan
from argosy.train.learners.learner import Batch
from argosy.train.offload.activations import Activations
from argosy.train.offload.asked import Offload
from argosy.train.offload.choosing import Budget, check, choose, costs_of, groups_of
from argosy.train.offload.layers import Layer
from argosy.train.offload.layout import nbytes_of
from argosy.train.offload.meter import Meter, Step
from argosy.train.offload.mover import Lap
from argosy.train.offload.offloaded import Offloaded
from argosy.train.offload.parameters import Parameters
from argosy.train.offload.slow import Slow
from argosy.train.offload.states import States
from argosy.train.precision import Precision

_COLD = 1
"""Steps after each change of the placement that say nothing about the next ones."""
_MEASURED = 5
"""Steps that are measured with everything slow, each move by itself; and as many with moves beside the computing."""
_JUDGED = 50
"""Steps under the plan that are measured; then the device is not waited for any more."""


class Offloading:
    """A `Mover`. Everything that may be slow is, until there is a plan."""

    def __init__(
        self,
        asked: Offload,
        model: nn.Module,
        layers: Sequence[Layer],
        kept: dict[str, str],
        slow: Slow,
        ranks: Ranks,
        *,
        device: torch.device,
        memory_nbytes: int | None,
        batches: int,
        clips: bool,
        notes: tuple[str, ...],
    ) -> None:
        """Moves the model to the device, as far as it does not go to slow memory at once. `kept`: parameters that stay,
        and why. `batches`: how many are in fast memory at a time."""
        names = {id(one): name for name, one in model.named_parameters()}
        slow.peak_nbytes()
        self._asked = asked
        self._model = model
        self._layers = layers
        self._kept = kept
        self._slow = slow
        self._ranks = ranks
        self._memory_nbytes = memory_nbytes
        self._batches = batches
        self._notes = notes
        self._meter = Meter(slow)
        self._parameters = Parameters(layers, names, slow, self._meter, device, norms=clips)
        self._activations = Activations(self._parameters, slow, self._meter, [layer.name for layer in layers])
        self._states: States | None = None
        self._batch_nbytes = 0
        self._serial: list[Step] = []
        self._free: list[Step] = []
        self._judged: list[float] = []
        self._steps = 0
        """Since the placement was last changed."""
        self._budget: Budget | None = None
        self._costs: Costs | None = None
        self._plan: Plan | None = None
        self._slow_objects: set[str] | None = None
        """None as long as nothing is known: everything."""
        for layer in layers:
            layer.module.register_forward_pre_hook(self._activations.enterer(layer.name))
        self._parameters.place(self._parameters, slow=True)
        model.to(device)

    # what the loop calls

    def adopt(self, optimizer: torch.optim.Optimizer) -> None:
        self._states = States(optimizer, self._layers, self._parameters, self._slow, self._meter)

    def lapped(self, lap: Lap) -> Lap:
        def both(phase: str) -> None:
            if phase == "forward":
                self._meter.end()
                self._meter.begin("backward")
            else:
                self._parameters.drop_all()
                self._meter.end()
                self._meter.begin("forward")  # of the next part of the batch, if there is one
            lap(phase)

        return both

    def saving(self, batch: Batch) -> Any:
        self._batch_nbytes = max(self._batch_nbytes, nbytes_of(batch.inputs) + nbytes_of(batch.labels))
        there = [one for one in self._model.parameters() if not self._parameters.is_away(one)]
        self._activations.begin([batch.inputs, batch.labels, *self._model.buffers(), *there])
        self._parameters.begin()
        self._meter.step()  # an evaluation or a checkpoint moves, too
        self._meter.begin("forward")
        return torch.autograd.graph.saved_tensors_hooks(self._activations.pack, self._activations.unpack)

    def prepared(self) -> None:
        for one in self._parameters:
            one.forget_gradient()
        self._parameters.drop_all()
        self._meter.step()

    def follow(
        self,
        optimizer: torch.optim.Optimizer,
        precision: Precision,
        parameters: Sequence[nn.Parameter],
        clip: float | None,
    ) -> None:
        assert self._states is not None
        self._meter.begin("update")
        if clip is not None:
            precision.scaler.unscale_(self._states)
            self._states.clip(parameters, clip)
        precision.scaler.step(self._states)
        precision.scaler.update()
        for one in self._parameters:
            one.forget_gradient()
        optimizer.zero_grad(set_to_none=True)
        self._meter.end()
        self._ended(self._meter.step())

    # measuring, planning

    def _ended(self, step: Step) -> None:
        self._steps += 1
        if self._slow_objects is not None:
            if _COLD < self._steps <= _COLD + _JUDGED:
                self._judged.append(step.seconds)
            self._meter.exact = self._steps < _COLD + _JUDGED
            return
        if self._budget is None:
            self._budget = self._sized()
            if self._memory_nbytes is not None:
                check(self._budget, self._memory_nbytes)
        if self._steps <= _COLD:
            return
        (self._serial if self._meter.serial else self._free).append(step)
        if len(self._serial) == _MEASURED:
            self._meter.serial = False
            if not self._slow.asynchronous or len(self._free) == _MEASURED:
                self._settle()

    def _settle(self) -> None:
        """Enough is known: the placement for the rest of the run, the same on all ranks."""
        self._budget = budget = self._sized()
        serial, free = (self._agreed(steps) for steps in (self._serial, self._free))
        self._costs = costs_of(serial, free, budget.sizes)
        slow = set(budget.sizes)
        if self._memory_nbytes is not None:
            check(budget, self._memory_nbytes)
            if self._asked.kind == "auto":
                self._plan = choose(
                    self._costs, budget, self._memory_nbytes, fast=self._slow.fast, slow=self._slow.slow
                )
                slow = {name for name, tier in self._plan.placement.items() if tier == self._slow.slow}
        self._place(slow)

    def _sized(self) -> Budget:
        """A collective: the largest on any rank."""
        assert self._states is not None
        sizes: dict[str, int] = {}
        for layer in self._layers:
            sizes[f"parameters:{layer.name}"] = 2 * sum(one.nbytes for one in self._parameters.of_layer(layer.name))
            sizes[f"optimizer:{layer.name}"] = self._states.nbytes(layer)
            sizes[f"activations:{layer.name}"] = self._meter.saved[f"activations:{layer.name}"]
        everywhere = self._ranks.allgather((sizes, self._fixed_nbytes()))
        sizes = {name: max(there[name] for there, _ in everywhere) for name in sizes}
        sizes = {name: nbytes for name, nbytes in sizes.items() if nbytes}
        groups = groups_of([layer.name for layer in self._layers], sizes, ahead=self._slow.asynchronous)
        counted = Budget(sizes=sizes, fixed_nbytes=max(fixed for _, fixed in everywhere), groups=groups)
        peak = self._slow.peak_nbytes()
        other = 0 if peak is None else max(0, *self._ranks.allgather(peak - counted.least_nbytes))
        return Budget(sizes=sizes, fixed_nbytes=counted.fixed_nbytes + other, groups=groups)

    def _fixed_nbytes(self) -> int:
        """Of what is always in fast memory: gradients of parameters that stay are as large as these."""
        staying = [one for one in self._model.parameters() if not self._parameters.may_move(one)]
        parameters = sum(nbytes_of(one) * (2 if one.requires_grad else 1) for one in staying)
        return parameters + sum(map(nbytes_of, self._model.buffers())) + self._batches * self._batch_nbytes

    def _agreed(self, steps: list[Step]) -> list[Step]:
        """The mean over ranks, so that all of them plan alike."""
        everywhere: list[list[Step]] = self._ranks.allgather(steps)
        return [
            Step(
                windows={name: fmean(one.windows[name] for one in same) for name in same[0].windows},
                moves={key: fmean(one.moves.get(key, 0.0) for one in same) for key in same[0].moves},
            )
            for same in zip(*everywhere, strict=True)
        ]

    def _place(self, slow: set[str]) -> None:
        assert self._states is not None
        self._slow_objects = slow
        self._activations.slow_objects = slow
        for goes in (True, False):  # what leaves makes room for what comes
            for layer in self._layers:
                if (f"parameters:{layer.name}" in slow) == goes:
                    self._parameters.place(self._parameters.of_layer(layer.name), slow=goes)
                if (f"optimizer:{layer.name}" in slow) == goes:
                    self._states.place(layer, slow=goes)
        self._meter.step()
        self._meter.peak_nbytes = self._meter.fast_nbytes
        self._steps = 0

    # what came of it

    def told(self) -> Offloaded | None:
        budget = self._budget
        if budget is None:
            return None
        slow = set(budget.sizes) if self._slow_objects is None else self._slow_objects
        row = np.array([[name in slow for name in budget.sizes]], dtype=np.bool_)
        costs = self._costs
        early = () if costs is not None else ("the run ended before enough steps were measured for a plan",)
        return Offloaded(
            asked=self._asked.kind,
            fast=self._slow.fast,
            slow=self._slow.slow,
            memory_nbytes=self._memory_nbytes,
            need_nbytes=budget.need_nbytes,
            least_nbytes=budget.least_nbytes,
            fixed_nbytes=budget.fixed_nbytes,
            sizes=dict(budget.sizes),
            placement={name: self._slow.slow if name in slow else self._slow.fast for name in budget.sizes},
            plan=self._plan,
            fast_nbytes=budget.peak_nbytes(slow),
            peak_nbytes=budget.fixed_nbytes + self._meter.peak_nbytes,
            predicted_seconds=None if costs is None else float(costs.total(row)[0]),
            measured_seconds=median(self._judged) if self._judged else None,
            all_fast_seconds=None if costs is None else float(costs.total(np.zeros_like(row))[0]),
            all_slow_seconds=median(step.seconds for step in self._free or self._serial) if self._serial else None,
            kept=self._kept,
            notes=self._notes + early,
        )

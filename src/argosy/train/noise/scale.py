"""The gradient noise scale: how large a batch may grow before more samples in it teach little more.

One sample's gradient is the true gradient G plus noise with covariance Sigma. A batch of B samples has a gradient g_B
with E |g_B|^2 = |G|^2 + tr(Sigma) / B, so the squared norms of a small batch (b) and of a large one (B) of the same
step give both unknowns, without bias:

    |G|^2     = (B |g_B|^2 - b |g_b|^2) / (B - b)
    tr(Sigma) = (|g_b|^2 - |g_B|^2) / (1 / b - 1 / B)
    phi       = tr(Sigma) / |G|^2

Each is noisy in one step, and their ratio in one step would be biased: both are averaged over steps first, and phi is
the ratio of the means. This is the "simple" noise scale of S. McCandlish, J. Kaplan, D. Amodei and the OpenAI Dota
Team, "An Empirical Model of Large-Batch Training", 2018 (arXiv:1812.06162), with their estimator from two batch sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argosy import arguments
from argosy.errors import TrainError

if TYPE_CHECKING:
    import torch

    from argosy.train.learners.learner import Loss
    from argosy.train.noise.hook import Hook, Norms

_MOST_WINDOWS = 4096
"""Beyond it, neighbours are averaged in pairs: a long run stays small in memory and in a checkpoint."""
_MOST_WAITING = 64
"""Steps whose norms may still be tensors on a device: read together, so that no step waits for the device."""
_BLOCKS = 32


class NoiseScale:
    """The noise scale of one training run, fed step by step from one of three sources.

    Several ranks:    `noise.watch(ddp_model)` once, then `noise.step(samples)` after each backward.
    Accumulation:     `noise.micro(params)` after each micro-batch's backward, `noise.large(params, samples)` after the
                      last one and before the optimizer.
    One plain batch:  `noise.measure(model, loss, inputs, labels)` every so many steps.

    None of them changes what is learned, bit for bit. `observe` is underneath all of them, for anybody's own source.
    """

    def __init__(self, *, confidence: float = 0.9) -> None:
        self.confidence = arguments.probability("confidence", confidence)
        self._rows: list[tuple[float, float, float, float]] = []  # samples at its end, steps in it, mean |G|^2, mean tr
        self._waiting: list[tuple[Any, float, float, float]] = []  # norms (small, large), b, B, samples
        self._samples = 0.0
        self._skipped = 0
        self._norms: Norms | None = None
        self._accumulated: list[torch.Tensor | None] | None = None
        self._parts: list[torch.Tensor] = []
        self._sizes: list[float] = []

    # ---- sources

    def observe(
        self,
        small: Any,
        large: Any,
        *,
        small_batch: float,
        large_batch: float,
        at: float | None = None,
        scale: float = 1.0,
    ) -> None:
        """The squared norms of one step: `small` is the mean over its small batches, `large` of the large one.

        Numbers, or tensors of one element, which are read later; a step whose norms are not finite is left out. `scale`
        is what the loss of both was multiplied by. `at` is how many samples the run has learned from (default: this
        step's large batch more than before).
        """
        small_batch = arguments.number("small_batch", small_batch)
        large_batch = arguments.number("large_batch", large_batch)
        at = None if at is None else arguments.number("at", at, least=0)
        for name, norm in (("small", small), ("large", large)):
            arguments.reading(name, norm)
        if not 0 < small_batch < large_batch:
            raise TrainError(
                "a noise scale needs two sizes of batch, small_batch below large_batch, "
                f"not {small_batch:g} and {large_batch:g}; "
                "on one rank without accumulation use noise.measure(model, loss, inputs, labels)"
            )
        scale = arguments.number("scale", scale, above=0)
        self._heard(small, large, small_batch, large_batch, at, scale)

    def _heard(
        self, small: Any, large: Any, small_batch: float, large_batch: float, at: float | None, scale: float
    ) -> None:
        """Norms of any kind: those of a hook are still on their way between ranks."""
        self._samples = self._samples + large_batch if at is None else at
        self._waiting.append(((small, large, scale), small_batch, large_batch, self._samples))
        if len(self._waiting) >= _MOST_WAITING:
            self._read()

    def hook(self, inner: Hook | None = None, group: Any = None) -> Hook:
        """A DDP communication hook around `inner` (default: the mean, as DDP itself takes it), to be registered by you.

        After each backward call `step`. One scalar more is all-reduced per step, while the last bucket is under way.
        `group` is the process group of the model (default: the world's).
        """
        from argosy.train.noise.hook import Norms

        self._norms = Norms(inner, group)
        return self._norms.norms_hook

    def watch(self, model: Any, inner: Hook | None = None) -> None:
        """Register `hook` with a DistributedDataParallel model. It takes one hook in its life, so this once."""
        if not hasattr(model, "register_comm_hook"):
            raise TrainError(
                f"noise.watch wants a DistributedDataParallel model, not {type(model).__name__}; "
                "without one use noise.micro and noise.large, or noise.measure"
            )
        model.register_comm_hook(None, self.hook(inner, model.process_group))

    def step(self, samples: float, *, scale: float = 1.0) -> None:
        """The backward of a watched model is done: it was over so many samples, all ranks together.

        `scale`: what the loss was multiplied by, `scaler.get_scale()` with float16, so that steps with another count
        alike.

        With one rank there is nothing to compare, and nothing is observed. A backward that reduced nothing (`no_sync`)
        is no step: do not call this for it.
        """
        if self._norms is None:
            raise TrainError("noise.step follows noise.watch(ddp_model) or noise.hook(); call one of them first")
        norms = self._norms.take()
        if norms is None:
            raise TrainError("no gradient was reduced since the last noise.step; call it once after each backward")
        small, large, ranks = norms
        if ranks > 1:
            self._heard(small, large, samples / ranks, samples, None, scale)

    def micro(self, params: Iterable[torch.nn.Parameter], samples: float = 1.0) -> None:
        """The backward of one micro-batch is done. Call it after each, the last one too; `large` ends the step.

        Takes `.grad` away and adds it up, in the order in which autograd would have done it, so the sum is the same to
        the bit and costs no more memory. Each micro-batch's loss is divided so that the gradients add up to the mean
        of the whole batch. `samples` counts where micro-batches differ in size; only its share of the sum matters.
        """
        from argosy.train.noise.parts import add_up, squared_norm

        params = list(params)
        gradients = [param.grad for param in params]
        self._parts.append(squared_norm(gradients))
        self._sizes.append(samples)
        if self._accumulated is None:
            self._accumulated = gradients
        elif len(self._accumulated) != len(gradients):
            raise TrainError(f"noise.micro got {len(gradients)} parameters after {len(self._accumulated)}")
        else:
            self._accumulated = add_up(self._accumulated, gradients)
        for param in params:
            param.grad = None

    def large(self, params: Iterable[torch.nn.Parameter], samples: float, *, scale: float = 1.0) -> None:
        """All micro-batches of a step of so many samples are in: puts their sum into `.grad`. One is not observed.
        `scale` as in `step`."""
        from argosy.train.noise.parts import squared_norm

        if self._accumulated is None:
            raise TrainError("noise.large ends the micro-batches of a step; call noise.micro after each of them first")
        for param, gradient in zip(params, self._accumulated, strict=True):
            param.grad = gradient
        shares = [size / sum(self._sizes) for size in self._sizes]
        # A part with share c contributes c g_i, so sum |c g_i|^2 = |G|^2 sum(c^2) + tr(Sigma) / B: what a small batch
        # of B sum(c^2) samples would show, times sum(c^2).
        squares = sum(share**2 for share in shares)
        if len(shares) > 1:
            small = sum(self._parts) / squares
            large = squared_norm(self._accumulated)
            self.observe(small, large, small_batch=samples * squares, large_batch=samples, scale=scale)
        else:
            self._samples += samples
        self._accumulated, self._parts, self._sizes = None, [], []

    def measure(
        self,
        model: torch.nn.Module,
        loss: Loss,
        inputs: torch.Tensor,
        labels: torch.Tensor,
        *,
        parts: int = 8,
        at: float | None = None,
    ) -> None:
        """One forward and backward more over a batch, cut into `parts`: their norms against that of their mean.

        Gradients, buffers and random states stay as they were. Costs about one step, and memory for `parts` gradients;
        `parts=len(inputs)` takes the gradient of each sample, which is the sharpest. Rows beyond a multiple of `parts`
        are left out. `at` is how many samples the run has learned from.

        BatchNorm normalises each part by itself, so the gradient of a part of few samples is another one, not only a
        noisier one, and phi comes out far too large: give such a model parts of 16 samples or more.
        """
        import torch

        from argosy.train.noise.parts import part_norms

        arguments.instance("model", model, torch.nn.Module, "a torch module")
        arguments.function("loss", loss, "a function of outputs and labels")
        for name, given in (("inputs", inputs), ("labels", labels)):
            arguments.instance(name, given, torch.Tensor, "a torch tensor")
        parts = arguments.whole("parts", parts, least=2, most=2**31 - 1)
        at = None if at is None else arguments.number("at", at, least=0)
        small, large, used = part_norms(model, loss, inputs, labels, parts)
        self.observe(small, large, small_batch=used / parts, large_batch=used, at=at)

    @classmethod
    def together(cls, scales: Iterable[NoiseScale]) -> NoiseScale:
        """That of several runs alike, with other seeds: their steps side by side, in order of samples."""
        wanted = "a list of noise scales, at least one"
        scales = [
            arguments.instance("scales", each, NoiseScale, wanted) for each in arguments.items("scales", scales, wanted)
        ]
        if not scales:
            raise ValueError(f"scales must be {wanted}, not []")
        joined = cls(confidence=scales[0].confidence)
        for scale in scales:
            scale._read()
        joined._rows = sorted(row for scale in scales for row in scale._rows)
        joined._samples = max(scale._samples for scale in scales)
        return joined

    # ---- what it says

    @property
    def num_steps(self) -> int:
        """Steps observed so far."""
        self._read()
        return round(sum(row[1] for row in self._rows))

    @property
    def num_skipped(self) -> int:
        """Steps whose gradients were infinite or no numbers, as those are that float16 leaves out: not in the means."""
        self._read()
        return self._skipped

    @property
    def value(self) -> float:
        """phi, in samples, over all steps; infinite where noise hides the gradient altogether."""
        return _ratio(self._table("phi"))

    @property
    def low(self) -> float:
        return self._interval()[0]

    @property
    def high(self) -> float:
        return self._interval()[1]

    def between(self, start: float, stop: float) -> float:
        """phi over the steps that ended after `start` and not after `stop` samples."""
        start = arguments.number("start", start, infinite=True)
        stop = arguments.number("stop", stop, infinite=True)
        table = self._table("phi")
        inside = table[(table[:, 0] > start) & (table[:, 0] <= stop)]
        if not len(inside):
            raise TrainError(
                f"no gradient was observed between {start:g} and {stop:g} samples; "
                f"they lie between {table[0, 0]:g} and {table[-1, 0]:g}"
            )
        return _ratio(inside)

    def trajectory(self, windows: int = 16) -> list[tuple[float, float]]:
        """(samples at the end of a window, phi in it), over windows of equally many steps, in order.

        A window in which noise hides the gradient is joined with the one before it (the first, with the next).
        """
        windows = arguments.whole("windows", windows, least=1, most=2**31 - 1)
        joined: list[NDArray[np.float64]] = []
        for block in _blocks(self._table("trajectory"), windows):
            if joined and (math.isinf(_ratio(block)) or math.isinf(_ratio(joined[-1]))):
                joined[-1] = np.concatenate([joined[-1], block])
            else:
                joined.append(block)
        return [(float(block[-1, 0]), _ratio(block)) for block in joined]

    def ceiling(self, batch: float) -> float:
        """No number of workers with `batch` samples each can learn faster than one of them by more than this factor."""
        return 1 + self.value / arguments.number("batch", batch, above=0)

    def __str__(self) -> str:
        if not self._rows and not self._waiting:
            return "noise scale: nothing observed yet"
        low, high = self._interval()
        return (
            f"noise scale {self.value:,.0f} samples ({low:,.0f} to {high:,.0f} at {self.confidence:.0%} confidence), "
            f"measured over {self.num_steps:,} steps"
        )

    # ---- a checkpoint

    def state_dict(self) -> dict[str, Any]:
        self._read()
        return {
            "version": 1,
            "samples": self._samples,
            "skipped": self._skipped,
            "rows": [list(row) for row in self._rows],
        }

    def __getstate__(self) -> dict[str, Any]:
        """It travels without its hook, which belongs to the model of its process."""
        self._read()
        return {**self.__dict__, "_norms": None}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        state = arguments.mapping("state", state, "what state_dict() gave")
        if state.get("version") != 1:
            raise TrainError(f"state: this noise scale is of version {state.get('version')}, and only 1 is known here")
        self._waiting = []
        self._samples = float(state["samples"])
        self._skipped = int(state.get("skipped", 0))
        self._rows = [(float(a), float(b), float(c), float(d)) for a, b, c, d in state["rows"]]

    # ---- inside

    def _read(self) -> None:
        """Turn norms that are still on a device into numbers."""
        for (small, large, scale), b, big, samples in self._waiting:
            small, large = float(small) / scale**2, float(large) / scale**2
            if not (math.isfinite(small) and math.isfinite(large)):
                self._skipped += 1  # one such step would make every mean after it infinite, or no number
                continue
            signal = (big * large - b * small) / (big - b)
            noise = (small - large) / (1 / b - 1 / big)
            self._rows.append((samples, 1.0, signal, noise))
        self._waiting = []
        if len(self._rows) >= _MOST_WINDOWS:
            self._rows = [_merged(*self._rows[i : i + 2]) for i in range(0, len(self._rows), 2)]

    def _table(self, what: str) -> NDArray[np.float64]:
        self._read()
        if not self._rows:
            raise TrainError(
                f"there is no {what} yet: no gradient was observed; watch a DDP model, call micro and large when "
                "accumulating, or measure a batch every so many steps"
            )
        return np.array(self._rows)

    def _interval(self) -> tuple[float, float]:
        """Of phi, after Fieller: the ratios r for which tr(Sigma) - r |G|^2 may have the mean 0, by Student's t over
        blocks of neighbouring steps, which are alike. Where |G|^2 may be 0 it has no upper end; it says nothing below 4
        blocks."""
        from scipy.special import stdtrit  # as of the tables, and loaded only where an interval is asked for

        blocks = _blocks(self._table("interval"), _BLOCKS)
        if len(blocks) < 4:
            return 0.0, math.inf
        means = np.array([block[:, 1] @ block[:, 2:] / block[:, 1].sum() for block in blocks])
        weights = np.array([block[:, 1].sum() for block in blocks])
        signal, noise = weights @ means / weights.sum()
        spread = np.cov(means, rowvar=False, aweights=weights) / len(blocks)
        reach = float(stdtrit(len(blocks) - 1, 1 - (1 - self.confidence) / 2)) ** 2
        a = signal**2 - reach * spread[0, 0]
        b = signal * noise - reach * spread[0, 1]
        c = noise**2 - reach * spread[1, 1]
        within = b * b - a * c
        if within < 0:
            return 0.0, math.inf
        root = math.sqrt(within)
        if a > 0:
            return max(0.0, (b - root) / a), max(0.0, (b + root) / a)
        if a == 0 or signal <= 0:
            return 0.0, math.inf
        return max(0.0, (b - root) / a), math.inf


def _merged(first: tuple[float, ...], second: tuple[float, ...] | None = None) -> tuple[float, float, float, float]:
    if second is None:
        return first  # type: ignore[return-value]
    steps = first[1] + second[1]
    means = [(first[1] * first[i] + second[1] * second[i]) / steps for i in (2, 3)]
    return second[0], steps, means[0], means[1]


def _blocks(table: NDArray[np.float64], count: int) -> list[NDArray[np.float64]]:
    """Neighbouring rows, in at most `count` blocks of about equally many steps."""
    done = np.cumsum(table[:, 1])
    block_of = np.minimum(((done - table[:, 1] / 2) / done[-1] * count).astype(int), count - 1)
    return [table[block_of == number] for number in np.unique(block_of)]


def _ratio(table: NDArray[np.float64]) -> float:
    signal, noise = table[:, 1] @ table[:, 2:]
    return float(max(noise, 0.0) / signal) if signal > 0 else math.inf

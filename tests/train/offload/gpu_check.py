"""Offloading on a real device, as a plain program: `python tests/train/offload/gpu_check.py --device cuda`.

Trains one model with nothing offloaded, with everything offloaded, and by a plan at 75, 50 and 25 % of the full need,
each in a process of its own. Prints peak memory (of the device, or anonymous pages of the process) beside what was
modelled and counted, and a step's seconds: the median of the second half, and what was predicted and measured under the
plan. The model must come out the same, bit for bit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import nn

from argosy.train import Offload, fit
from argosy.train.ledger.lines import read_lines
from argosy.units import format_nbytes, format_seconds

SIZES = {"small": (256, 4, 8), "medium": (512, 4, 2), "large": (2048, 8, 32)}
"""Width, blocks, samples of a batch."""
LENGTH, WORDS = 64, 256


class Block(nn.Module):
    """Attention and two wide layers."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * width, width))

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        there = self.norms[0](words)
        words = words + self.attention(there, there, there, need_weights=False)[0]
        return words + self.wide(self.norms[1](words))


class Transformer(nn.Module):
    """Says which of eight kinds a sequence of words is."""

    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(blocks)))
        self.head = nn.Linear(width, 8)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.embedding(words.long())).mean(1))


class Peak:
    """The most memory in use while it is open: the device's count, or this process's own pages, looked at often."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.nbytes = 0

    def __enter__(self) -> Peak:
        if self._device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        else:
            self._before = anonymous_nbytes()
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._device == "cuda":
            self.nbytes = torch.cuda.max_memory_allocated()
        else:
            self._over.set()
            self._thread.join()
            self.nbytes -= self._before

    def _watch(self) -> None:
        while not self._over.is_set():
            self.nbytes = max(self.nbytes, anonymous_nbytes())
            time.sleep(0.002)


def anonymous_nbytes() -> int:
    """Pages of this process that no file stands behind."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def run(given: argparse.Namespace, name: str, offload: Offload | None) -> dict[str, Any]:
    """One training in this process, which has done nothing else: as figures."""
    if given.threads:
        torch.set_num_threads(given.threads)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)
    width, blocks, batch = SIZES[given.size]
    words = np.random.default_rng(0).integers(WORDS, size=(given.steps * batch, LENGTH))
    data = words, words[:, 0] % 8
    with Peak(given.device) as peak:
        result = fit(
            lambda: Transformer(width, blocks),
            data,
            batch_size=batch,
            optimizer=given.optimizer,
            device=given.device,
            offload=offload,
            prefetch=0,
            ledger=Path(given.scratch) / f"{name}.jsonl",
        )
    steps = [line["seconds"] for _, line in read_lines(Path(given.scratch) / f"{name}.jsonl") if line["kind"] == "step"]
    took = [sum(step.get(phase, 0.0) for phase in ("forward", "backward", "optimizer")) for step in steps]
    learned = hashlib.sha256(repr(result.losses).encode())
    for one in result.model.state_dict().values():
        learned.update(one.numpy().tobytes())
    figures = {
        "run": name,
        "peak_nbytes": peak.nbytes,
        "median_step_seconds": float(np.median(took[len(took) // 2 :])),
        "learned": learned.hexdigest(),
    }
    if result.offload is not None:
        told = result.offload.to_plain()
        figures = {**told, "counted_nbytes": told["peak_nbytes"], **figures}
    return figures


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=("cuda", "cpu"))
    asked.add_argument("--size", default=None, choices=tuple(SIZES), help="medium on a CPU, large on a GPU")
    asked.add_argument("--steps", type=int, default=24)
    asked.add_argument("--threads", type=int, default=None)
    asked.add_argument("--optimizer", default="adamw")
    asked.add_argument("--folder", default=None, help="on a CPU: where slow memory is")
    asked.add_argument("--json", default=None, help="figures, into this file")
    given = asked.parse_args()
    given.size = given.size or ("large" if given.device == "cuda" else "medium")

    def alone(name: str, offload: Offload | None) -> dict[str, Any]:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            figures: dict[str, Any] = pool.submit(run, given, name, offload).result()
        print(f"{name}: done", flush=True)
        return figures

    with TemporaryDirectory() as scratch:
        given.scratch = scratch
        rows = [alone("nothing offloaded", None), alone("everything", Offload(kind="all", folder=given.folder))]
        need, least = rows[1]["need_nbytes"], rows[1]["least_nbytes"]
        shares = {share: need * share // 100 for share in (75, 50, 25)}
        rows += [
            alone(f"auto, {share} %", Offload(memory=memory, folder=given.folder))
            for share, memory in shares.items()
            if memory >= least
        ]

    width, blocks, batch = SIZES[given.size]
    print(f"{given.size}: {blocks} blocks of width {width}, batch {batch}, {given.optimizer}, {given.steps} steps")
    print(f"device {given.device}, torch {torch.__version__}, {given.threads or torch.get_num_threads()} threads")
    print(f"need {format_nbytes(need)}, least {format_nbytes(least)}")
    print(f"{'':18}{'peak':>11}{'modelled':>11}{'counted':>11}{'step':>10}{'predicted':>11}{'measured':>10}  same")
    for row in rows:
        shown = "".join(
            _cell(row, name, 11, format_nbytes) for name in ("peak_nbytes", "fast_nbytes", "counted_nbytes")
        )
        shown += _cell(row, "median_step_seconds", 10, format_seconds)
        shown += _cell(row, "predicted_seconds", 11, format_seconds) + _cell(
            row, "measured_seconds", 10, format_seconds
        )
        print(f"{row['run']:18}{shown}  {row['learned'] == rows[0]['learned']}")
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1))
    if len({row["learned"] for row in rows}) > 1:
        raise SystemExit("offloading has changed what was learned")


def _cell(row: dict[str, Any], name: str, width: int, shown: Callable[[float], str]) -> str:
    return " " * width if row.get(name) is None else f"{shown(row[name]):>{width}}"


if __name__ == "__main__":
    main()

"""A ledger in a few numbers, and in a few lines."""

from __future__ import annotations

from typing import Any

from argosy.train.ledger.phases import training_seconds
from argosy.train.run import Evaluation
from argosy.units import format_seconds


def summary_of(steps: int, samples: int, seconds: dict[str, float], loss: float | None) -> dict[str, Any]:
    whole = sum(seconds.values())
    training = training_seconds(seconds)
    return {
        "steps": steps,
        "samples": samples,
        "seconds": seconds,
        "shares": {phase: spent / whole if whole > 0 else 0.0 for phase, spent in seconds.items()},
        "training_seconds": training,
        "samples_per_second": samples / training if training > 0 else 0.0,
        "loss": loss,
    }


def table_of(summary: dict[str, Any], evaluation: Evaluation | None) -> str:
    """Phases that took no time are left out."""
    trained, pace = format_seconds(summary["training_seconds"]), summary["samples_per_second"]
    lines = [
        f"{summary['steps']:,} steps, {summary['samples']:,} samples, {trained} of training, {pace:,.0f} samples/s"
    ]
    lines += [
        f"  {phase:<12} {format_seconds(spent):>12} {summary['shares'][phase]:>7.1%}"
        for phase, spent in summary["seconds"].items()
        if spent > 0
    ]
    if summary["loss"] is not None:
        lines.append(f"  last loss    {summary['loss']:>12.6g}")
    if evaluation is not None:
        shown = ", ".join(f"{name} {value:.6g}" for name, value in evaluation.metrics.items())
        lines.append(f"  held out     {shown} after {evaluation.samples:,} samples")
    return "\n".join(lines)

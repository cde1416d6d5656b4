"""What `memory_gpu.py --json` wrote, as two small files to publish: `gpu.json` (figures) and `gpu.parquet` (runs).

    python benchmarks/work/gpu_truth.py gpu.json [transformer.json ...] docs/memory-truth

A program that is in several files is taken from the last one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

LAWS = ("linear", "additive", "hinge")
ABOUT = ("machine", "tiers", "mode")


def published(found: dict[str, Any]) -> dict[str, Any]:
    """The figures of each program, and the sizes of its objects."""
    apps = {name: app for name, app in found.items() if name not in ABOUT}
    return {
        **{name: found[name] for name in ABOUT},
        "objects": {name: app["objects"] for name, app in apps.items()},
        "figures": {name: {**app["laws"], "plans": app["plans"]} for name, app in apps.items()},
    }


def placements(found: dict[str, Any]) -> pa.Table:
    """One row a placement, of both roles; what each law said of those that it had not seen."""
    rows: list[dict[str, Any]] = []
    for name, app in found.items():
        if name in ABOUT:
            continue
        learnt, judged = app["learnt_from"], app["held_out"]
        for slow, seconds in zip(learnt["slow"], learnt["measured_seconds"], strict=True):
            rows.append({"app": name, "role": "calibration", "slow": slow, "seconds": seconds})
        said = [judged["predicted_seconds"][law] for law in LAWS]
        for slow, seconds, *each in zip(judged["slow"], judged["measured_seconds"], *said, strict=True):
            told = {f"{law}_seconds": value for law, value in zip(LAWS, each, strict=True)}
            rows.append({"app": name, "role": "held-out", "slow": slow, "seconds": seconds, **told})
    columns = ("app", "role", "slow", "seconds", *(f"{law}_seconds" for law in LAWS))
    return pa.table({column: [row.get(column) for row in rows] for column in columns})


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    *sources, folder = map(Path, sys.argv[1:])
    found: dict[str, Any] = {}
    for source in sources:
        found |= json.loads(source.read_text(encoding="utf-8"))
    (folder / "gpu.json").write_text(json.dumps(published(found), indent=1) + "\n", encoding="utf-8")
    pq.write_table(placements(found), folder / "gpu.parquet")


if __name__ == "__main__":
    main()

"""`make soak MINUTES=60`: every hunt in this folder, one after another, each with an equal share of the time.

A hunt is a script beside this file with `main(minutes, seed) -> int`. It draws from the seed alone, prints what it
found so that it can be repeated, and ends with one line of counts and the exit code 0 or 1.
"""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys
import time
from pathlib import Path

HUNTS = sorted(path for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))
GRACE_SECONDS = 600
"""A hunt ends its last example after its minutes are over; one that takes this much longer hangs."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30, help="for all hunts together")
    parser.add_argument("--seed", type=int, default=None, help="draw what an earlier run drew")
    parser.add_argument("--only", help="some hunts, for example frames,programs")
    asked = parser.parse_args()

    names = {path.stem: path for path in HUNTS}
    wanted = asked.only.split(",") if asked.only else list(names)
    if unknown := [name for name in wanted if name not in names]:
        parser.error(f"there is no hunt {unknown[0]!r}; there are {', '.join(names)}")
    seed = secrets.randbelow(2**31) if asked.seed is None else asked.seed
    print(f"seed {seed}: repeat with --seed {seed}", flush=True)

    failed = [name for name in wanted if run(names[name], asked.minutes / len(wanted), seed) != 0]
    print(f"{len(wanted) - len(failed)} passed, {len(failed)} failed{': ' + ', '.join(failed) if failed else ''}")
    return 1 if failed else 0


def run(hunt: Path, minutes: float, seed: int) -> int:
    """One hunt in a process of its own, so that a crash of it is a finding and not the end."""
    print(f"\n{hunt.stem}, {minutes:.1f} minutes", flush=True)
    command = [sys.executable, str(hunt), "--minutes", f"{minutes:.3f}", "--seed", str(seed)]
    began = time.monotonic()
    try:
        code = subprocess.run(command, timeout=minutes * 60 + GRACE_SECONDS, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"{hunt.stem}: hangs, {GRACE_SECONDS} s after its time was over")
        return 1
    verdict = "nothing found" if code == 0 else f"exit code {code}"
    print(f"{hunt.stem}: {verdict} in {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())

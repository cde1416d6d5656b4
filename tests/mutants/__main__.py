"""Would the tests notice? Changes a pure module in small ways and runs its own tests against each change.

    python tests/mutants planning --sample 200 --seed 1
    python tests/mutants planning --sample 200 --seed 1 --again /tmp/planning.json    # those that survived before

Each change runs in a forked process with a time limit, and only the tests that reach the changed lines, the quickest
first, until one fails. A change that no test notices is a survivor: write a law, or name it in `equivalent.txt` with
the reason why nobody could notice. The score is noticed / (all - equivalent).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path

from mutate import Mutant, mutants_of
from trial import ROOT, Tests, files_of, find_tests, try_out

EQUIVALENT = Path(__file__).with_name("equivalent.txt")
MODULES = {
    "schedule": (
        [
            f"argosy.pilot.{name}"
            for name in ("schedule", "queue", "capacity", "place", "backfill", "lineage", "deadlines")
        ],
        [f"tests/pilot/test_{name}.py" for name in ("schedule", "schedule_laws", "backfill", "queue", "place")],
    ),
    "fleet": (["argosy.pilot.fleet"], ["tests/pilot/test_fleet.py"]),
    "order": (
        [f"argosy.shuffle.{name}" for name in ("order", "holdings", "draws", "legs", "steps")],
        [
            f"tests/shuffle/test_{name}.py"
            for name in ("order", "partial_order", "holdings", "legs", "steps", "steps_exchanged")
        ],
    ),
    "rewrite": (["argosy.frame.rewrite"], ["tests/frame/rewrite"]),
    "effects": (["argosy.tree.effects"], ["tests/tree/effects"]),
    "planning": (["argosy.memory.planning"], ["tests/memory/planning"]),
}
"""The modules whose source is changed, and the tests that should notice."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/mutants", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("module", choices=MODULES)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path, help="kept verdicts: those that were noticed are not tried again")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after these; --again goes on from there")
    parser.add_argument("--only", default="", help="changes whose name has this text")
    asked = parser.parse_args()

    packages, paths = MODULES[asked.module]
    sample = sampled(packages, asked.sample, asked.seed)
    kept = read(asked.again)
    wanted = [one for one in sample if kept.get(name_of(one)) != "noticed" and asked.only in name_of(one)]
    if wanted:
        until = time.monotonic() + 60 * asked.minutes
        run(packages, paths, wanted, kept, asked.again, until)
    return told(asked.module, sample, kept)


def sampled(packages: list[str], count: int, seed: int) -> list[Mutant]:
    everything = [one for file in files_of(packages) for one in mutants_of(file, (ROOT / file).read_text())]
    print(f"{len(everything)} changes, {min(count, len(everything))} of them drawn with seed {seed}")
    return random.Random(seed).sample(everything, min(count, len(everything)))


def run(
    packages: list[str], paths: list[str], wanted: list[Mutant], kept: dict[str, str], where: Path | None, until: float
) -> None:
    tests: Tests = find_tests(packages, paths)
    print(f"{len(tests.seconds)} tests take {sum(tests.seconds.values()):.1f} s", flush=True)
    if try_out(wanted[0], tests, changed=False) != "survived":
        raise SystemExit("the tests fail in a forked process without any change: no verdict would mean a thing")
    known = equivalents()
    for one in wanted:
        if time.monotonic() > until:
            break
        name = name_of(one)
        kept[name] = "equivalent" if name in known else try_out(one, tests)
        if kept[name] == "survived":
            print(f"survived: {one.file}:{one.lines[0]} {one.key}", flush=True)
        if where is not None:
            where.write_text(json.dumps(kept, indent=0))


def told(module: str, sample: list[Mutant], kept: dict[str, str]) -> int:
    verdicts = [kept.get(name_of(one), "untried") for one in sample]
    noticed, survived, same, untried = (
        verdicts.count(kind) for kind in ("noticed", "survived", "equivalent", "untried")
    )
    score = noticed / max(noticed + survived, 1)
    print(f"{module}: {score:.1%} noticed ({noticed} of {noticed + survived}, {same} equivalent, {untried} untried)")
    return 0 if score >= 0.85 else 1


def name_of(one: Mutant) -> str:
    return f"{one.file} {one.key}"


def equivalents() -> set[str]:
    """Lines of the file that are names; the reason stands above them, after a `#`."""
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else []
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def read(where: Path | None) -> dict[str, str]:
    return dict(json.loads(where.read_text())) if where is not None and where.exists() else {}


if __name__ == "__main__":
    sys.exit(main())

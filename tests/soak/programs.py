"""Random programs, futurized and plain: answer, arguments, aliases, output, warnings, exceptions, globals are the same.

Program `n` is drawn from `seed + n`. Each is called twice, since the second call knows more than the first: most with
everything issued and unruly threads, the rest as users call it. Those that are refused compare plain with plain, and
are counted by why. A finding is printed with its seed. `--programs` ends after so many.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tree.programs.made.grammar import source_of
from tree.programs.made.module import made_program
from tree.programs.runner.compare import trouble_of, unruly_threads
from tree.programs.runner.program import Program

import argosy

MOST_FINDINGS = 25
MOST_SECONDS = 60
"""A program takes milliseconds; one that takes this long hangs."""
MOST_NBYTES = 8 << 30
"""What a program that never ends may ask for, here, before it is told."""
issued = partial(argosy.futurize, grain=0, threads=3)


def main(minutes: float, seed: int, programs: int | None = None) -> int:
    signal.signal(signal.SIGALRM, hangs)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_NBYTES, MOST_NBYTES))
    until = time.monotonic() + minutes * 60
    refused, findings, number = Counter[str](), 0, seed
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until if programs is None else number < seed + programs:
            findings += not hunt(number, Path(folder), refused)
            number += 1
            if findings >= MOST_FINDINGS:
                break
            if (number - seed) % 1000 == 0:
                print(f"programs: {number - seed} run, {refused.total()} refused, {findings} wrong", flush=True)
    ran = number - seed
    for reason, times in refused.most_common(8):
        print(f"programs: {times} refused: {reason}")
    share = 100 * refused.total() / max(ran, 1)
    print(f"programs: {ran} from seed {seed}, {refused.total()} refused ({share:.1f} %), {findings} wrong")
    return 1 if findings else 0


def hunt(seed: int, folder: Path, refused: Counter[str]) -> bool:
    """Whether the program of this seed does what plain Python does."""
    source = source_of(seed)
    signal.alarm(MOST_SECONDS)
    try:
        with made_program(source, folder) as program:
            reason = argosy.futurize(program.function).reason
            if reason is not None:
                refused[reason.reason] += 1
            found = _found(program, seed)
    except Exception:
        found = traceback.format_exc()
    finally:
        signal.alarm(0)
    if found is None:
        return True
    shown = source[source.find("def arguments") :]
    print(f"\nprogram {seed}: {found}\n{shown}", flush=True)
    return False


def hangs(*_: object) -> None:
    raise TimeoutError(f"nothing came in {MOST_SECONDS} s")


def _found(program: Program, seed: int) -> str | None:
    if seed % 3 == 0:
        return trouble_of(program, argosy.futurize, times=2)
    with unruly_threads(seed):
        return trouble_of(program, issued, times=2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--programs", type=int, default=None)
    asked = parser.parse_args()
    sys.exit(main(asked.minutes, asked.seed, asked.programs))

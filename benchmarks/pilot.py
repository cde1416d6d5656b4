"""The pilot against its peers, bare `mpiexec` and batch jobs: both sides in one run, with ratios.

    python benchmarks/pilot.py                       everything, about half an hour
    python benchmarks/pilot.py --only start,idle     some of it
    python benchmarks/pilot.py --quick               to see that it runs; the figures mean little

Peers that are not installed are skipped and named: pip install ray distributed parsl.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import machine
import pilot_kill
import pilot_latency
import pilot_mix
import pilot_overhead
from children import ChildFailed
from figures import Figure, Options
from pilot_peers import SYSTEMS, installed

SECTIONS: dict[str, Callable[[Options], list[Figure]]] = {
    "start": pilot_latency.start,
    "roundtrip": pilot_latency.roundtrip,
    "throughput": pilot_latency.throughput,
    "idle": pilot_latency.idle,
    "overhead": pilot_overhead.overhead,
    "mix": pilot_mix.mix,
    "kill": pilot_kill.kill,
}


def main() -> int:
    """Run the sections that were asked for. The exit status tells whether every wish was met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help=f"some of {','.join(SECTIONS)}")
    parser.add_argument("--quick", action="store_true", help="few repeats, short work")
    parser.add_argument("--rounds", type=int, help="repeats of each side; each section has its own default")
    parser.add_argument("--work", choices=("sleep", "cpu", "both"), default="both", help="what the mixed tasks do")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here as well")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else list(SECTIONS)
    if unknown := sorted(set(names) - set(SECTIONS)):
        parser.error(f"no section is called {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    options = Options(quick=arguments.quick, rounds=arguments.rounds, work=arguments.work)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))  # through the cleaning up of children, that is
    print(machine.text())
    if skipped := sorted(name for name in SYSTEMS if not installed(name)):
        print(f"skipped, as not installed: {', '.join(skipped)}")
    record: dict[str, object] = {"machine": machine.describe(), "quick": options.quick, "skipped": skipped}
    met = True
    for name in names:
        begin = time.monotonic()
        section = SECTIONS[name]
        print(f"\n{name}: {section.__doc__}", flush=True)
        try:
            figures = section(options)
        except ChildFailed as failure:
            print(f"  FAILED: {failure}", flush=True)
            record[name], met = str(failure), False
            continue
        for figure in figures:
            print(figure, flush=True)
        print(f"  ({time.monotonic() - begin:.0f} s)", flush=True)
        record[name] = [figure.as_dict() for figure in figures]
        met &= all(figure.ok for figure in figures)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

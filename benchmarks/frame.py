"""The frame against other engines, and against its own promises: memory, skew, first use.

    python benchmarks/frame.py                       everything, about half an hour
    python benchmarks/frame.py --only peers,skew     some of it
    python benchmarks/frame.py --quick               to see that it runs; the figures mean little

Engines that are not installed are skipped and named: pip install -e '.[mpi,bench]'.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import frame_cylon
import frame_first
import frame_memory
import frame_peers
import frame_skew
import frame_spill
import machine
from children import ChildFailed
from figures import Figure, Options

from argosy.errors import ArgosyError

SECTIONS: dict[str, Callable[[Options], list[Figure]]] = {
    "peers": frame_peers.peers,
    "skew": frame_skew.skew,
    "cylon": frame_cylon.cylon,
    "memory": frame_memory.memory,
    "spill": frame_spill.spill,
    "first": frame_first.first,
}


def main() -> int:
    """Run the sections that were asked for. The exit status tells whether every wish was met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help=f"some of {','.join(SECTIONS)}")
    parser.add_argument("--quick", action="store_true", help="few repeats, small tables")
    parser.add_argument("--rounds", type=int, help="repeats of each side; each section has its own default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here as well")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else list(SECTIONS)
    if unknown := sorted(set(names) - set(SECTIONS)):
        parser.error(f"no section is called {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    options = Options(quick=arguments.quick, rounds=arguments.rounds)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))  # through the cleaning up of children, that is
    print(machine.text())
    record: dict[str, object] = {"machine": machine.describe(), "quick": options.quick}
    met = True
    for name in names:
        begin = time.monotonic()
        print(f"\n{name}: {SECTIONS[name].__doc__}", flush=True)
        try:
            figures = SECTIONS[name](options)
        except (ChildFailed, ArgosyError) as failure:
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

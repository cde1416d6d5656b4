"""The command line of a benchmark: which sections to run, how often, and what became of them."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import machine
from children import ChildFailed
from figures import Figure, Options

from argosy.errors import ArgosyError

Section = Callable[[Options], list[Figure]]


def run(sections: Mapping[str, Section], description: str | None, skipped: list[str] | None = None) -> int:
    """Run the sections that were asked for. The exit status tells whether every wish was met."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help=f"some of {','.join(sections)}")
    parser.add_argument("--quick", action="store_true", help="few repeats, small or short work")
    parser.add_argument("--rounds", type=int, help="repeats of each side; each section has its own default")
    parser.add_argument("--work", choices=("sleep", "cpu", "both"), default="both", help="what mixed tasks do")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here as well")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else list(sections)
    if unknown := sorted(set(names) - set(sections)):
        parser.error(f"no section is called {', '.join(unknown)}; there are {', '.join(sections)}")
    options = Options(quick=arguments.quick, rounds=arguments.rounds, work=arguments.work)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))  # through the cleaning up of children, that is
    print(machine.text())
    if skipped:
        print(f"skipped, as not installed: {', '.join(skipped)}")
    record: dict[str, object] = {"machine": machine.describe(), "quick": options.quick, "skipped": skipped or []}
    met = True
    for name in names:
        begin = time.monotonic()
        print(f"\n{name}: {sections[name].__doc__}", flush=True)
        try:
            figures = sections[name](options)
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

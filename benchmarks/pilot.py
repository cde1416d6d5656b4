"""The pilot against its peers, bare `mpiexec` and batch jobs: both sides in one run, with ratios.

    python benchmarks/pilot.py                       everything, about half an hour
    python benchmarks/pilot.py --only start,idle     some of it
    python benchmarks/pilot.py --quick               to see that it runs; the figures mean little

Peers that are not installed are skipped and named: pip install ray distributed parsl.
"""

from __future__ import annotations

import sys

import pilot_kill
import pilot_latency
import pilot_mix
import pilot_overhead
from pilot_peers import SYSTEMS, installed
from sections import Section, run

SECTIONS: dict[str, Section] = {
    "start": pilot_latency.start,
    "roundtrip": pilot_latency.roundtrip,
    "throughput": pilot_latency.throughput,
    "idle": pilot_latency.idle,
    "overhead": pilot_overhead.overhead,
    "mix": pilot_mix.mix,
    "kill": pilot_kill.kill,
}


if __name__ == "__main__":
    sys.exit(run(SECTIONS, __doc__, skipped=sorted(name for name in SYSTEMS if not installed(name))))

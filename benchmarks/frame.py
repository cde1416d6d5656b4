"""The frame against other engines, and against its own promises: memory, skew, first use.

    python benchmarks/frame.py                       everything, about half an hour
    python benchmarks/frame.py --only peers,skew     some of it
    python benchmarks/frame.py --quick               to see that it runs; the figures mean little

Engines that are not installed are skipped and named: pip install -e '.[mpi,bench]'.
"""

from __future__ import annotations

import sys

import frame_cylon
import frame_first
import frame_memory
import frame_peers
import frame_skew
import frame_spill
from sections import Section, run

SECTIONS: dict[str, Section] = {
    "peers": frame_peers.peers,
    "skew": frame_skew.skew,
    "cylon": frame_cylon.cylon,
    "memory": frame_memory.memory,
    "spill": frame_spill.spill,
    "first": frame_first.first,
}


if __name__ == "__main__":
    sys.exit(run(SECTIONS, __doc__))

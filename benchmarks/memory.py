"""Memory: how well a few runs predict any placement, how good the plans are, how fast all that is, what learning gains.

    python benchmarks/memory.py --only apps
    ARGOSY_PUBLISH=docs/memory-truth python benchmarks/memory.py --only apps

Seconds of runs are measured, in main memory and on a real disk, in interleaved rounds. Run it with
nothing else on the machine: a busy disk is what it would measure.
"""

from __future__ import annotations

import sys

from sections import Section, run
from work.memory_apps import apps
from work.memory_exhaustive import exhaustive
from work.memory_learner import learner, phased
from work.memory_speed import speed

SECTIONS: dict[str, Section] = {
    "speed": speed,
    "learner": learner,
    "apps": apps,
    "exhaustive": exhaustive,
    "phased": phased,
}

if __name__ == "__main__":
    sys.exit(run(SECTIONS, __doc__))

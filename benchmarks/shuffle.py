"""Partial exchange: what it adds to an epoch, stores, moves and reads, and what a kill costs. Both sides in one run.

python benchmarks/shuffle.py --only bandwidth --rounds 9
"""

from __future__ import annotations

import sys

from sections import run
from shuffle_bandwidth import bandwidth
from shuffle_cost import cost
from shuffle_epoch import epoch
from shuffle_kill import kill
from shuffle_order import order
from shuffle_storage import storage

SECTIONS = {
    "epoch": epoch,
    "storage": storage,
    "bandwidth": bandwidth,
    "kill": kill,
    "order": order,
    "cost": cost,
}

if __name__ == "__main__":
    sys.exit(run(SECTIONS, __doc__))

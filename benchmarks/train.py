"""Training: throughput, data, ledger, noise, prediction, and what a kill costs. Both sides of a comparison in one run.

python benchmarks/train.py --only throughput --rounds 5
"""

from __future__ import annotations

import sys

from sections import run
from train_data import batches, first_batch
from train_fit import throughput
from train_kill import kill
from train_ledger import ledger
from train_noise import noise
from train_predict import predict

SECTIONS = {
    "throughput": throughput,
    "first_batch": first_batch,
    "batches": batches,
    "ledger": ledger,
    "noise": noise,
    "predict": predict,
    "kill": kill,
}

if __name__ == "__main__":
    sys.exit(run(SECTIONS, __doc__))

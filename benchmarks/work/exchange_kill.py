"""A run that reads epochs batch by batch, notes what was in each, and may lose a rank at any moment."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import torch
import torch.distributed as dist

from argosy.errors import PeerLost
from argosy.shuffle import PartialExchange
from work.rank import run

NUM_SAMPLES, EPOCHS, BATCH = 601, 4, 8
STATE = "state.json"


def main(
    rank: int, num_ranks: int, *, folder: str, attempt: int, victim: int | None, kill_at: int, delay_seconds: float
) -> bool:
    """From the state that is in the folder, if one is. Rank 0 keeps it for all, after each batch; `victim` is killed so
    long after it has read its batch `kill_at`. Whether the run came to its end is the answer."""
    samples = [(torch.full((3,), float(number)), number) for number in range(NUM_SAMPLES)]
    exchange = PartialExchange(samples, 0.4, seed=1, epochs=EPOCHS)
    loader = exchange.loader(BATCH)
    state, new = Path(folder) / STATE, Path(folder) / "new.json"
    if state.exists():
        loader.load_state_dict(json.loads(state.read_text())["state"])
    done = 0
    with (Path(folder) / f"notes-{attempt}-{rank}.jsonl").open("w") as notes:
        while exchange.epoch < EPOCHS:
            try:
                for rows, numbers in loader:
                    if not (rows == numbers[:, None]).all():
                        raise ValueError(f"a sample of batch {done} is not whole")
                    done += 1
                    print(json.dumps([exchange.epoch, done, numbers.tolist()]), file=notes, flush=True)
                    if rank == victim and done == kill_at:
                        threading.Timer(delay_seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()
                    dist.barrier()  # as the gradients of a step are averaged
                    if rank == 0:
                        record = {"attempt": attempt, "done": done, "state": loader.state_dict()}
                        new.write_text(json.dumps(record))
                        new.replace(state)
            except (PeerLost, RuntimeError):  # a peer is gone, in the exchange or in the barrier
                return False
            if exchange.epoch == EPOCHS - 1:
                break
    exchange.close()
    return True


if __name__ == "__main__":
    run(main)

"""kill -9 in the middle of an epoch, again and again: is every sample read exactly once in each epoch?"""

from __future__ import annotations

import json
import random
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from children import ChildFailed
from figures import Figure, Options
from sections import run
from shuffle_ranks import on_ranks, until_all_end
from work.exchange_kill import BATCH, EPOCHS, NUM_SAMPLES, STATE

CHAIN = (4, 3, 5)


def kill(options: Options) -> list[Figure]:
    """SIGKILL of a random rank of 3 some time after a random batch, gone on from the last state; and 4 -> 3 -> 5."""
    count = options.turns(20, 2)
    draw = random.Random(0)
    right = [_is_right((3, 3), draw) for _ in range(count)]
    chains = [_is_right(CHAIN, draw) for _ in range(options.count(5, 1))]
    named = " -> ".join(map(str, CHAIN))
    return [
        Figure(what="killed runs of 3 ranks, every sample once an epoch", value=sum(right), at_least=count),
        Figure(what=f"{named} ranks, each but the last killed, the same", value=sum(chains), at_least=len(chains)),
    ]


def _is_right(ranks: Sequence[int], draw: random.Random) -> bool:
    """All attempts but the last lose a rank."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        saved = []
        for attempt, num_ranks in enumerate(ranks):
            _attempt(num_ranks, folder, attempt, last=attempt == len(ranks) - 1, draw=draw)
            saved.append(json.loads((folder / STATE).read_text()))
        whole = [sorted(numbers) == list(range(NUM_SAMPLES)) for numbers in _read(folder, saved)]
    return all(whole)


def _attempt(num_ranks: int, folder: Path, attempt: int, *, last: bool, draw: random.Random) -> None:
    told: dict[str, Any] = {"folder": str(folder), "attempt": attempt}
    if last:
        if not all(on_ranks(num_ranks, "exchange_kill", **told, victim=None, kill_at=0, delay_seconds=0)):
            raise ChildFailed(f"a run on {num_ranks} ranks lost a peer that nobody had killed")
        return
    victim, kill_at = _moment(num_ranks, attempt, draw)
    statuses = until_all_end(
        num_ranks, "exchange_kill", **told, victim=victim, kill_at=kill_at, delay_seconds=0.005 * draw.random()
    )
    if statuses[victim] != -signal.SIGKILL:
        raise ChildFailed(f"rank {victim} should have been killed after batch {kill_at}, but ended with {statuses}")


def _moment(num_ranks: int, attempt: int, draw: random.Random) -> tuple[int, int]:
    """Whom, and after which batch: within the share of all batches that the attempts before have left for sure."""
    batches = NUM_SAMPLES * EPOCHS // (BATCH * num_ranks)
    return draw.randrange(num_ranks), draw.randrange(2, batches // (attempt + 2))


def _read(folder: Path, saved: Sequence[dict[str, Any]]) -> list[list[int]]:
    """The samples of each epoch, up to where each attempt was last saved: what came after was read again."""
    epochs: list[list[int]] = [[] for _ in range(EPOCHS)]
    for record in saved:
        for path in folder.glob(f"notes-{record['attempt']}-*.jsonl"):
            for line in path.read_text().splitlines():
                epoch, done, numbers = json.loads(line)
                if done <= record["done"]:
                    epochs[epoch] += numbers
    return epochs


if __name__ == "__main__":
    sys.exit(run({"kill": kill}, __doc__))

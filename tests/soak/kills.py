"""A mixed load on four ranks while random ranks are killed or stopped: every result right, nothing done twice, no hang.

Small tasks, tasks with collectives, chains of kept values, frames held against NumPy, and a training that must end with
the bits of one that nobody disturbed. A task writes down when it starts: none may after its Future is done. A round is
one pilot; on its way out nothing of it may be left: no process, no segment of shared memory, no socket, no key.

    python tests/soak/kills.py --kills 1000 --seed 7       so many, however long it takes
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import TimeoutError as Late
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa

import argosy
from argosy import col, train
from argosy.errors import InputFailed, RankLost, ValueLost
from argosy.pilot.processes import born

RANKS = 4
SILENCE_SECONDS = 3
MEAN_PAUSE_SECONDS = 1.2
SHARE_QUIET, QUIET_SECONDS = 0.1, 8
"""Sometimes there is time for what takes longer."""
SHARE_STOPPED = 0.25
KILLS_A_ROUND = 50
DEADLINE_SECONDS = 150
"""When somebody waits, and nothing has happened to any task or rank for so long, it hangs."""
LOST = (RankLost, ValueLost, InputFailed)
"""What a task may end with when its retries are used: then it is submitted again."""


class Wrong(Exception):
    """A finding."""


# The load, as functions that ranks run ------------------------------------------------------------------------------


def write_down(log: Path, number: int, word: str) -> None:
    with log.open("a") as file:
        file.write(f"{number} {word} {time.monotonic():.6f}\n")


def small(log: Path, number: int, pause: float) -> int:
    write_down(log, number, "starts")
    time.sleep(pause)
    return number * number


def together(log: Path, number: int, rounds: int, comm: Any) -> list[int]:
    if comm.rank == 0:
        write_down(log, number, "starts")
    seen = []
    for turn in range(rounds):
        total = comm.allreduce(comm.rank + turn)
        parts = comm.alltoall([comm.rank * 100 + to + turn for to in range(comm.size)])
        buffer = np.full(1000, comm.rank, dtype=np.int64)
        comm.Allreduce(buffer.copy(), buffer)
        seen.append(total + sum(parts) + int(buffer.sum()))
    return seen


def expected_together(rank: int, size: int, rounds: int) -> list[int]:
    ranks = sum(range(size))
    return [
        ranks + size * turn + sum(other * 100 + rank + turn for other in range(size)) + 1000 * ranks
        for turn in range(rounds)
    ]


def build() -> Any:
    import torch

    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))


# One round: a pilot, its loads, and whoever kills ---------------------------------------------------------------------


class Round:
    def __init__(self, seed: int, num_kills: int, until: float, folder: Path) -> None:
        self.draw = random.Random(seed)
        self.seed = seed
        self.num_kills = num_kills
        self.until = until
        self.folder = folder
        self.log = folder / "effects"
        self.done_at: dict[int, float] = {}
        self.numbers = itertools.count()
        self.counts: Counter[str] = Counter()
        self.over = threading.Event()
        self.findings: list[str] = []

    def run(self) -> None:
        self.pilot = argosy.Pilot(ranks=RANKS, folder=self.folder / "runs")
        family = psutil.Process().children(recursive=True)
        self.reference = self.learn(self.folder / "undisturbed")
        loads = [self.small_tasks, self.teams, self.chains, self.frames, self.trainings]
        threads = [threading.Thread(target=self.guarded, args=(load,), daemon=True) for load in loads]
        for thread in threads:
            thread.start()
        killed = self.kill_at_random()
        self.over.set()
        for thread in threads:
            while thread.is_alive() and not self.is_still():
                thread.join(1)
            if thread.is_alive():
                self.findings.append("a load hangs")
                faulthandler.dump_traceback(all_threads=True)
                return
        closing = threading.Thread(target=self.pilot.close, daemon=True)
        closing.start()
        closing.join(60)
        if closing.is_alive():
            self.findings.append("close() hangs")
            faulthandler.dump_traceback(all_threads=True)
            return
        self.check_effects()
        self.check_nothing_left({*family, *killed})

    def guarded(self, load: Callable[[random.Random], None]) -> None:
        draw = random.Random(f"{self.seed} {load.__name__}")
        try:
            while not self.over.is_set():
                load(draw)
                self.counts[load.__name__] += 1
        except BaseException as error:
            self.findings.append(f"{load.__name__}: {''.join(traceback.format_exception(error))}")
            self.over.set()

    def kill_at_random(self) -> list[psutil.Process]:
        """Kill or stop ranks until there were enough. What was done to whom is printed, when something is found."""
        met = []
        while not self.over.is_set() and self.num_hits < self.num_kills and time.monotonic() < self.until:
            quiet = self.draw.random() < SHARE_QUIET
            self.over.wait(self.draw.expovariate(1 / (QUIET_SECONDS if quiet else MEAN_PAUSE_SECONDS)))
            members = dict(self.pilot._controller._crew.members)
            member = members[self.draw.choice(sorted(members))]
            number = signal.SIGSTOP if self.draw.random() < SHARE_STOPPED else signal.SIGKILL
            try:
                pin = os.pidfd_open(member.pid)
            except ProcessLookupError:
                continue
            try:
                if born(member.pid) == member.born:
                    met.append(psutil.Process(member.pid))
                    signal.pidfd_send_signal(pin, number)
                    self.counts["stops" if number == signal.SIGSTOP else "kills"] += 1
            except (ProcessLookupError, psutil.NoSuchProcess):
                continue
            finally:
                os.close(pin)
        return met

    @property
    def num_hits(self) -> int:
        return self.counts["kills"] + self.counts["stops"]

    # The loads --------------------------------------------------------------------------------------------------------

    def small_tasks(self, draw: random.Random) -> None:
        numbers = [next(self.numbers) for _ in range(20)]
        futures = [self.pilot.submit(small, self.log, n, draw.random() * 0.05, retries=30) for n in numbers]
        for number, future in zip(numbers, futures, strict=True):
            self.expect(self.result(number, future), number * number)

    def teams(self, draw: random.Random) -> None:
        number, size, rounds = next(self.numbers), draw.randint(2, RANKS), draw.randint(1, 60)
        future = self.pilot.submit(together, self.log, number, rounds, ranks=size, retries=30)
        self.result(number, future)
        parts = future.results()
        self.expect(parts, [expected_together(rank, size, rounds) for rank in range(size)])

    def chains(self, draw: random.Random) -> None:
        """A value that stays on its ranks, what is made of it there, and what is asked of both, again and again."""
        base, size = draw.randint(0, 10**6), draw.randint(1, 3)
        first = self.pilot.submit(lambda comm: np.arange(1000) + base + comm.rank, ranks=size, keep=True, retries=30)
        second = self.pilot.submit(lambda values: values * 2, first, keep=True, retries=30)
        wanted = [int((np.arange(1000) + base + rank).sum()) for rank in range(size)]
        for _ in range(draw.randint(1, 6)):
            time.sleep(draw.random() * 0.3)
            future = self.pilot.submit(lambda a, b: (int(a.sum()), int(b.sum())), first, second, retries=30)
            self.expect(self.patient(future.results), [(one, 2 * one) for one in wanted])

    def frames(self, draw: random.Random) -> None:
        rows, keys = draw.randint(1, 50_000), draw.randint(1, 5_000)
        source = np.random.default_rng(draw.randrange(2**32))
        k, v = source.integers(0, keys, rows), source.integers(-(10**6), 10**6, rows)
        weights = source.integers(0, 100, keys)
        left = argosy.from_arrow(pa.table({"k": k, "v": v}))
        right = argosy.from_arrow(pa.table({"k": np.arange(keys), "w": weights}))
        plan = left.join(right, on="k").with_columns(z=col("v") * col("w"))
        plan = plan.group_by("k").agg(total=col("z").sum(), n=argosy.count()).sort("k")
        got = self.again(lambda: self.patient(plan.collect))
        there, counts = np.unique(k, return_counts=True)
        totals = np.bincount(k, weights=None, minlength=keys) * 0
        np.add.at(totals, k, v * weights[k])
        self.expect(got["k"].to_pylist(), there.tolist())
        self.expect(got["total"].to_pylist(), totals[there].tolist())
        self.expect(got["n"].to_pylist(), counts.tolist())

    def trainings(self, draw: random.Random) -> None:
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            self.expect(self.again(lambda: self.patient(lambda: self.learn(Path(folder) / "run"))), self.reference)

    def learn(self, folder: Path) -> list[bytes]:
        source = np.random.default_rng(5)
        inputs = source.normal(size=(600, 4)).astype(np.float32)
        labels = (inputs.sum(axis=1) > 0).astype(np.int64)
        result = train.fit(
            build,
            (inputs, labels),
            lr=0.1,
            batch_size=train.global_batch(20),
            epochs=2,
            seed=1,
            ranks=2,
            checkpoint=train.Checkpoint(folder=folder, every_steps=5),
        )
        return [value.numpy().tobytes() for value in result.model.state_dict().values()]

    # What must hold ---------------------------------------------------------------------------------------------------

    def result(self, number: int, future: argosy.Future) -> Any:
        value = self.patient(future.result)
        self.done_at[number] = time.monotonic()
        return value

    def patient(self, ask: Callable[..., Any]) -> Any:
        """Its value, within the deadline. What has no timeout of its own is watched by the end of the round."""
        if getattr(ask, "__name__", "") not in ("result", "results"):
            return ask()
        while True:
            try:
                return ask(timeout=DEADLINE_SECONDS)
            except Late:
                if self.is_still():
                    faulthandler.dump_traceback(all_threads=True)
                    raise Wrong(f"no result, and nothing else, for {DEADLINE_SECONDS} s") from None

    def is_still(self) -> bool:
        """Whether nothing has happened for long, however slow the machine is."""
        return time.time() - (self.pilot.folder / "events.jsonl").stat().st_mtime > DEADLINE_SECONDS

    def again(self, ask: Callable[[], Any]) -> Any:
        """What runs again a few times by itself, and then says that it lost a rank, is asked for again."""
        while True:
            try:
                return ask()
            except LOST:
                self.counts["asked again"] += 1

    def expect(self, got: object, wanted: object) -> None:
        if got != wanted:
            raise Wrong(f"got {str(got)[:300]}, and not {str(wanted)[:300]}")

    def check_effects(self) -> None:
        starts: dict[int, list[float]] = {}
        for line in self.log.read_text().splitlines():
            number, _word, at = line.split()
            starts.setdefault(int(number), []).append(float(at))
        for number, done in self.done_at.items():
            if number not in starts:
                self.findings.append(f"task {number} has a result and never started")
            elif late := [at for at in starts[number] if at > done]:
                self.findings.append(f"task {number} was done at {done} and started again at {late}")
        self.counts["starts"] += sum(map(len, starts.values()))
        self.counts["done"] += len(self.done_at)

    def check_nothing_left(self, family: set[psutil.Process]) -> None:
        _, alive = psutil.wait_procs(family, timeout=20)
        alive += [child for child in psutil.Process().children(recursive=True) if child not in alive]
        for process in alive:
            self.findings.append(f"left running: {process}")
        keys = self.pilot.folder / "keys"
        self.findings += [f"left: {path}" for path in (keys, *self.pilot._estate.folders) if path.exists()]
        mine = [path for path in Path(os.environ["TMPDIR"]).iterdir() if path.name.startswith(("argosy-", "ompi."))]
        self.findings += [f"left: {path}" for path in mine if path.is_dir()]


def main(minutes: float, seed: int, kills: int | None = None) -> int:
    os.environ["ARGOSY_SILENCE_SECONDS"] = str(SILENCE_SECONDS)
    until = time.monotonic() + minutes * 60 if kills is None else float("inf")
    wanted = kills if kills is not None else sys.maxsize
    total: Counter[str] = Counter()
    before = tempfile.gettempdir()
    for turn in itertools.count():
        done = total["kills"] + total["stops"]
        if done >= wanted or (turn and time.monotonic() >= until):
            break
        with tempfile.TemporaryDirectory(prefix="kills-", dir=before) as folder:
            os.environ["TMPDIR"] = tempfile.tempdir = folder
            one = Round(seed + turn, min(KILLS_A_ROUND, wanted - done), until, Path(folder))
            one.run()
            if one.findings:
                print(f"kills: seed {seed + turn}, after {dict(one.counts)}; repeat with --seed {seed + turn}")
                print("\n".join(one.findings))
                for path in (one.pilot.folder / "launcher.log", one.pilot.folder / "events.jsonl"):
                    print(f"--- {path.name}", *path.read_text().splitlines()[-60:], sep="\n")
                sys.stdout.flush()
                os._exit(1)  # whatever hangs
        total += one.counts
        print(f"kills: round {turn + 1}, seed {seed + turn}: {dict(one.counts)}", flush=True)
    print(f"kills: {total['kills']} kills, {total['stops']} stops, nothing found; {dict(total)}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kills", type=int, help="this many instead of so many minutes")
    asked = parser.parse_args()
    sys.exit(main(asked.minutes, asked.seed, asked.kills))

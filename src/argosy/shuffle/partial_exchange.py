"""A dataset of which each rank keeps a shard, and exchanges a share of it with the other ranks before each epoch."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from torch.utils.data import IterableDataset, Sampler, get_worker_info

from argosy import arguments
from argosy.errors import RanksDisagree
from argosy.shuffle.board import Board
from argosy.shuffle.diagnosis.verdict import EPOCHS, Diagnosis, auto_fraction
from argosy.shuffle.exchange import Exchange
from argosy.shuffle.fraction import checked_fraction
from argosy.shuffle.holdings import Holdings, dealt, kept
from argosy.shuffle.loader import Loader
from argosy.shuffle.order import epoch_of, seed_of
from argosy.shuffle.pairs import Pairs
from argosy.shuffle.peers import Peers
from argosy.shuffle.place import Place
from argosy.shuffle.reading import Reading
from argosy.shuffle.sampler import SlotSampler
from argosy.shuffle.steward import serve
from argosy.shuffle.store.loading import loaded
from argosy.shuffle.store.shard import Shard
from argosy.shuffle.store.sources import Source, source_of

_MOST_READERS = 1024
_MOST_SECONDS = 1e9


class PartialExchange(IterableDataset):
    """Samples for training on many ranks: each rank reads its shard, and gets a share of new ones for each epoch.

    Each pass over it is an epoch: iterate it, give it to a `DataLoader`, give `DataLoader` the pair `samples` and
    `sampler`, or use `loader(batch_size)`, which has equally many batches on all ranks and can be resumed anywhere.

    `dataset`: all samples, by number, on every rank, of which this rank reads its shard once; or, with `sharded`, or if
    it is a table, this rank's own shard. `fraction`: the share of its shard that a rank exchanges in each epoch;
    "auto" measures how far the shards differ, looks at `model` if it is given, and prints what it takes and why.
    `group`: a process group (all ranks unless told; none without torch.distributed). `store`: "memory", or a folder on
    a disk of this machine. `transform`: called on each sample when it is read; what the dataset itself draws at random
    it draws once. `readers`: processes that read the shard at the start. `epochs`: how many there will be, if that is
    known; nothing is exchanged in the last.
    """

    def __init__(
        self,
        dataset: Any,
        fraction: float | str = 0.1,
        seed: int = 0,
        group: Any = None,
        store: str | os.PathLike[str] = "memory",
        *,
        sharded: bool = False,
        transform: Callable[[Any], Any] | None = None,
        readers: int = 0,
        epochs: int | None = None,
        model: Any = None,
        timeout_seconds: float = 1800.0,
    ) -> None:
        asked = None if isinstance(fraction, str) and fraction == "auto" else checked_fraction(fraction)
        self._epochs = epochs = None if epochs is None else arguments.whole("epochs", epochs, least=1)
        seed = seed_of(seed)
        sharded = arguments.flag("sharded", sharded)
        if transform is not None:
            arguments.function("transform", transform)
        readers = arguments.whole("readers", readers, least=0, most=_MOST_READERS)
        timeout_seconds = arguments.number("timeout_seconds", timeout_seconds, above=0, most=_MOST_SECONDS)
        store = arguments.path("store", store)
        source, is_table = source_of(dataset)
        self._board = Board()
        self._turning = threading.RLock()
        """Held by whoever goes to another epoch: the reader itself, or the thread that serves its workers."""
        self._peers = Peers(group, timeout_seconds=timeout_seconds)
        try:
            holdings = _agreed(self._peers, len(source), asked, seed, sharded or is_table)
            self._reading = Reading(holdings, self._peers.rank)
            self._shard = _loaded(
                source, holdings, self._peers, transform, None if store == "memory" else Path(store), readers
            )
            if asked is None:
                diagnosis = self.diagnose(model=model, epochs=epochs or EPOCHS)
                self._reading.holdings = replace(holdings, fraction=diagnosis.fraction)
                if self.rank == 0:
                    print(diagnosis, flush=True)
        except BaseException:
            self._peers.close()
            raise
        board, size = self._board, max(1, len(self._shard))
        self._exchange = Exchange(
            self._shard.slots, self._reading.holdings, peers=self._peers, read=lambda: board.read / size
        )
        self._start_exchange()
        self._open_pass()
        serve(self, board, PartialExchange._open_for_workers)

    @property
    def fraction(self) -> float:
        """The share of its shard that a rank exchanges in each epoch."""
        return self._reading.holdings.fraction

    @property
    def rank(self) -> int:
        return self._peers.rank

    @property
    def num_ranks(self) -> int:
        return self._peers.size

    @property
    def num_samples(self) -> int:
        """On all ranks together."""
        return self._reading.holdings.num_samples

    @property
    def epoch(self) -> int:
        """That which is being read, or will be read next."""
        return self._reading.place.epoch

    @property
    def exchanged_nbytes(self) -> int:
        """What this rank has sent to others so far."""
        return self._exchange.nbytes

    @property
    def stored_nbytes(self) -> int:
        """Memory or disk that this rank's samples take, with those that have arrived for the next epoch."""
        return self._shard.slots.nbytes_used

    # How it is read

    def __len__(self) -> int:
        """Samples that this rank reads in this epoch."""
        return len(self._reading.line().ids)

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()
        if worker is not None:
            yield from self._iterate_in_worker(worker.id, worker.num_workers)
            return
        self.begin_pass()
        line = self._reading.begin_samples()
        for count, slot in enumerate(line.slots.tolist(), 1):
            sample = self._shard[slot]
            self._reading.has_read(count)
            self.has_come_to(count / len(line.slots))
            yield sample
        self._reading.done = True

    def _iterate_in_worker(self, worker: int, num_workers: int) -> Iterator[Any]:
        epoch = self._board.join_pass(worker)
        if epoch != self.epoch:  # a worker that was kept from an earlier epoch
            self._reading.open(Place(epoch=epoch))
        for count, slot in enumerate(self._reading.line().slots[worker::num_workers].tolist(), 1):
            self._board.has_read(worker, count)
            yield self._shard[slot]

    @property
    def samples(self) -> Shard:
        """This rank's samples by slot: the dataset that goes with `sampler`."""
        return self._shard

    @property
    def sampler(self) -> Sampler[int]:
        """The slots of an epoch in reading order, for a `DataLoader` over `samples`. Each pass is an epoch."""
        return SlotSampler(self, self._reading)

    def loader(self, batch_size: int, *, num_workers: int = 0, **options: Any) -> Loader:
        """Batches of `batch_size` samples on each rank: equally many on all of them, of sizes that differ by at most 1,
        each sample exactly once. `options` are those of `DataLoader`."""
        return Loader(self, self._reading, batch_size, num_workers=num_workers, options=options)

    def set_epoch(self, epoch: int) -> None:
        """Go to this epoch; all ranks must. Without it the next pass is over the next epoch."""
        wanted = epoch_of(epoch)
        with self._turning:
            self._go_to(wanted)
            self._open_pass()

    # How it is kept and gone on from

    def state_dict(self, read: int | None = None) -> dict[str, Any]:
        """Where this is: the same on all ranks, so that one of them can keep it for all.

        In the middle of an epoch it is known what was read where this dataset is iterated itself or by its `loader`.
        Where a `DataLoader` reads ahead, `read` says how many samples this rank has learned from in this epoch.
        """
        if self._board.read:
            self._reading.is_read_elsewhere()
        return self._reading.now(read).state(self._reading.holdings)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there. All ranks must; there may be more or fewer than before."""
        state = arguments.mapping("state", state, "what state_dict() gave")
        place = Place.from_state(state, self._reading.holdings)
        with self._turning:
            self._go_to(place.epoch)
            self._open_pass(place)

    def diagnose(self, *, model: Any = None, epochs: int = EPOCHS, **how: Any) -> Diagnosis:
        """How far the shards differ, whether that can hurt this model, and the fraction that keeps it from doing so.

        A collective. `how` are `loss`, `averaging_every`, `batch_size` and `tolerance`, as of `shuffle.diagnose`.
        """
        pairs = Pairs(self._shard.stored, len(self._shard))
        gather = self._peers.allgather
        return auto_fraction(pairs, None, num_ranks=self.num_ranks, gather=gather, model=model, epochs=epochs, **how)

    def close(self) -> None:
        """Give up what is under way, and let the other ranks go."""
        self._exchange.close()
        self._peers.close()

    def __enter__(self) -> PartialExchange:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    # What those that read it call

    def begin_pass(self) -> None:
        """After a pass that was read to its end, the next one is over the next epoch."""
        with self._turning:
            if self._reading.done:
                self._go_to(self.epoch + 1)
            if self._reading.done or self._reading.begun:
                self._open_pass()

    def has_come_to(self, share: float) -> None:
        """So much of the epoch is read."""
        self._exchange.progress(share)

    def _open_pass(self, place: Place | None = None) -> None:
        self._reading.open(place)
        self._board.open_pass(self.epoch)

    def _open_for_workers(self) -> None:
        """They have read all of their pass, or it was broken off."""
        with self._turning:
            if self._board.read >= len(self):
                self._go_to(self.epoch + 1)
            self._open_pass()

    def _go_to(self, epoch: int) -> None:
        """All ranks go to the same epoch, whatever they have read."""
        if epoch == self.epoch:
            return
        at = self.epoch + 1 if self._exchange.finish() else self.epoch
        self._exchange.arrange(at, epoch)
        self._reading.open(Place(epoch=epoch))
        self._start_exchange()

    def _start_exchange(self) -> None:
        if self.num_ranks > 1 and self.fraction > 0 and (self._epochs is None or self.epoch + 1 < self._epochs):
            self._exchange.begin(self.epoch)

    def __getstate__(self) -> dict[str, Any]:
        """A worker process can read, and nothing else."""
        return {**self.__dict__, "_peers": self._peers.told(), "_exchange": None, "_turning": None}


def _agreed(peers: Peers, num_samples: int, fraction: float | None, seed: int, sharded: bool) -> Holdings:
    """A collective: ranks that were given different things are told so."""
    everyone = peers.allgather({"samples": num_samples, "fraction": fraction, "seed": seed, "sharded": sharded})
    for name in ("sharded", "fraction", "seed") if sharded else ("sharded", "samples", "fraction", "seed"):
        for rank, given in enumerate(everyone):
            if given[name] != everyone[0][name]:
                hint = ", or sharded=True where each has its own part" if name == "samples" else ""
                raise RanksDisagree(
                    f"{name}: rank 0 has {everyone[0][name]}, and rank {rank} has {given[name]}; "
                    f"give every rank the same{hint}"
                )
    if sharded:
        return kept(tuple(each["samples"] for each in everyone), fraction=fraction or 0.0, seed=seed)
    return dealt(num_samples, peers.size, fraction=fraction or 0.0, seed=seed)


def _loaded(
    source: Source,
    holdings: Holdings,
    peers: Peers,
    transform: Callable[[Any], Any] | None,
    folder: Path | None,
    readers: int,
) -> Shard:
    """This rank's samples of epoch 0."""
    slots = holdings.slots(peers.rank)
    numbers = holdings.held(slots, 0) - (0 if holdings.deal else slots.start)
    return loaded(source, numbers, ranks=peers, seal=peers.seal, transform=transform, folder=folder, readers=readers)

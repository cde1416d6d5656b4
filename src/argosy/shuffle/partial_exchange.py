"""A dataset of which each rank keeps a shard, and exchanges a share of it with the other ranks before each epoch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from torch.utils.data import IterableDataset, Sampler, get_worker_info

from argosy.comm.attempt import attempt
from argosy.errors import BadState, RanksDisagree, ShuffleError
from argosy.shuffle.arena import Arena
from argosy.shuffle.cut import Cut
from argosy.shuffle.exchange import Exchange
from argosy.shuffle.fraction import checked_fraction
from argosy.shuffle.holdings import dealt, kept
from argosy.shuffle.lines import Line
from argosy.shuffle.loader import Loader
from argosy.shuffle.loading import loaded
from argosy.shuffle.peers import Peers
from argosy.shuffle.place import Place
from argosy.shuffle.shard import Shard
from argosy.shuffle.sources import source_of
from argosy.shuffle.steps import EpochSteps, exchanged_epoch

_MOST_WORKERS = 1024


class PartialExchange(IterableDataset):
    """Samples for training on many ranks: each rank reads its shard, and gets a share of new ones for each epoch.

    Each pass over it is an epoch: iterate it, give it to a `DataLoader`, give `DataLoader` the pair `samples` and
    `sampler`, or use `loader(batch_size)`, which has equally many batches on all ranks and can be resumed anywhere.

    `dataset`: all samples, by number, on every rank, of which this rank reads its shard once; or, with `sharded`, or if
    it is a table, this rank's own shard. `fraction`: the share of its shard that a rank exchanges in each epoch.
    `group`: a process group (all ranks unless told; none without torch.distributed). `store`: "memory", or a folder on
    a disk of this machine. `transform`: called on each sample when it is read; what the dataset itself draws at random
    it draws once. `readers`: processes that read the shard at the start. `epochs`: how many there will be, if that is
    known; nothing is exchanged in the last.
    """

    def __init__(
        self,
        dataset: Any,
        fraction: float = 0.1,
        seed: int = 0,
        group: Any = None,
        store: str | os.PathLike[str] = "memory",
        *,
        sharded: bool = False,
        transform: Callable[[Any], Any] | None = None,
        readers: int = 0,
        epochs: int | None = None,
        timeout_seconds: float = 1800.0,
    ) -> None:
        self.fraction = checked_fraction(fraction)
        self._peers = Peers(group, timeout_seconds=timeout_seconds)
        self._source, is_table = source_of(dataset)
        self._sharded = sharded or is_table
        self._transform = transform
        self._folder = None if store == "memory" else Path(store)
        self._readers = readers
        self._epochs = epochs
        everyone = attempt(self._peers, lambda: (len(self._source), self.fraction, seed, self._sharded)).settled()
        sizes = tuple(each[0] for each in everyone)
        _check_agreement(everyone)
        if self._sharded:
            self._holdings = kept(sizes, fraction=self.fraction, seed=seed)
        else:
            self._holdings = dealt(sizes[0], len(sizes), fraction=self.fraction, seed=seed)
        self._place = Place()
        self._shard: Shard | None = None
        self._exchange: Exchange | None = None
        self._shared = Arena(2 + _MOST_WORKERS, 16)
        """For worker processes: the number of the pass and its epoch; for each, the pass it was in, and what it read."""
        self._begun = self._done = False
        self._read = 0
        self._steps: Any = None

    @property
    def rank(self) -> int:
        return self._peers.rank

    @property
    def num_ranks(self) -> int:
        return self._peers.size

    @property
    def num_samples(self) -> int:
        """On all ranks together."""
        return self._holdings.num_samples

    @property
    def epoch(self) -> int:
        """That which is being read, or will be read next."""
        return self._place.epoch

    @property
    def exchanged_nbytes(self) -> int:
        """What this rank has sent to others so far."""
        return 0 if self._exchange is None else self._exchange.nbytes

    @property
    def stored_nbytes(self) -> int:
        """Memory or disk that this rank's samples take, with those that have arrived for the next epoch."""
        return self._ready().slots.nbytes_used

    def __len__(self) -> int:
        """Samples that this rank reads in this epoch."""
        return len(self._line().slots)

    # -- reading -------------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()
        if worker is None:
            yield from self._iterate_here()
        else:
            yield from self._iterate_in_worker(worker.id, worker.num_workers)

    def _iterate_here(self) -> Iterator[Any]:
        self._begin_pass()
        shard, slots = self._ready(), self._line().slots
        for slot in slots.tolist():
            sample = shard[slot]
            self._read += 1
            self._advance_to(self._read / len(slots))
            yield sample
        self._done = True

    def _iterate_in_worker(self, worker: int, num_workers: int) -> Iterator[Any]:
        header = self._shared.numbers
        if self._shard is None or header[2 + 2 * worker] == header[0]:
            raise ShuffleError(
                "the samples of this epoch have not been made ready for worker processes; call set_epoch(epoch) before "
                "each epoch, as with a DistributedSampler, or use loader(batch_size, num_workers=...)"
            )
        header[2 + 2 * worker] = header[0]
        place = self._place if self._place.epoch == header[1] else Place(epoch=int(header[1]))
        slots = place.line(self._cut(), self.rank, self._holdings.seed).slots[worker::num_workers]
        for count, slot in enumerate(slots.tolist(), 1):
            header[3 + 2 * worker] = count
            yield self._shard[slot]

    @property
    def samples(self) -> Shard:
        """This rank's samples by slot: the dataset that goes with `sampler`."""
        return self._ready()

    @property
    def sampler(self) -> Sampler[int]:
        """The slots of an epoch in reading order, for a `DataLoader` over `samples`; the next pass is the next epoch."""
        return _Slots(self)

    def loader(self, batch_size: int, *, num_workers: int = 0, **options: Any) -> Loader:
        """Batches of `batch_size` samples on each rank: equally many on all of them, of sizes that differ by at most 1,
        each sample exactly once. `options` are those of `DataLoader`."""
        return Loader(self, batch_size, num_workers=num_workers, options=options)

    def set_epoch(self, epoch: int) -> None:
        """Make ready for this epoch; all ranks must. The next pass is the next epoch also without it, unless a
        `DataLoader` with worker processes reads this dataset itself."""
        if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 0:
            raise ValueError(f"an epoch is a whole number from 0 on, not {epoch!r}")
        self._ready()
        self._go_to(epoch)
        self._open_pass()

    # -- state ---------------------------------------------------------------------------------------------------------

    def state_dict(self, read: int | None = None) -> dict[str, Any]:
        """Where this is: the same on all ranks, so that one of them can keep it for all.

        In the middle of an epoch it is known what was read where this dataset is iterated itself or by its `loader`.
        Where a `DataLoader` reads ahead, `read` says how many samples this rank has learned from in this epoch.
        """
        return self._place_now(read).state(self._holdings)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there. All ranks must; there may be more or fewer than before."""
        place = Place.from_state(state, self._holdings)
        if self._shard is not None:
            self._go_to(place.epoch)
        self._place = place
        self._open_pass()

    def _place_now(self, read: int | None) -> Place:
        if read is not None:
            if not 0 <= read <= len(self):
                raise BadState(f"this rank cannot have read {read} samples of the {len(self)} that it has in an epoch")
        elif self._done:
            return Place(epoch=self.epoch + 1)
        elif self._steps is not None:
            return replace(self._place, taken=self._steps.taken(self._read))
        elif self._begun and self._read == 0:
            raise BadState(
                "samples are read by others, and it is not known here how many were learned from; say so: "
                "state_dict(read=...), or read them by loader(batch_size)"
            )
        else:
            read = self._read
        return self._place.after(self._cut(), self.rank, read, self._holdings.seed)

    # -- passes --------------------------------------------------------------------------------------------------------

    def _begin_pass(self) -> None:
        """In this process. After a pass that was read to its end the next one is the next epoch."""
        self._ready()
        if self._done:
            self._go_to(self.epoch + 1)
        if self._begun:
            self._open_pass()
        self._begun = True

    def _open_pass(self) -> None:
        self._begun = self._done = False
        self._read = 0
        self._steps = None
        header = self._shared.numbers
        header[0] += 1
        header[1] = self.epoch
        header[3::2] = 0

    def _go_to(self, epoch: int) -> None:
        """All ranks go to the same epoch, whatever they have read."""
        if epoch == self.epoch:
            return
        assert self._exchange is not None, "the shard is loaded"
        at = self.epoch + 1 if self._exchange.finish() else self.epoch
        self._exchange.arrange(at, epoch)
        self._place = Place(epoch=epoch)
        self._start_exchange()

    def _start_exchange(self) -> None:
        assert self._exchange is not None, "the shard is loaded"
        if self.num_ranks > 1 and self.fraction > 0 and (self._epochs is None or self.epoch + 1 < self._epochs):
            self._exchange.begin(self.epoch)

    def _advance_to(self, share: float) -> None:
        assert self._exchange is not None, "the shard is loaded"
        self._exchange.progress(share)

    def _ready(self) -> Shard:
        """Load this rank's shard, with all others."""
        if self._shard is None:
            slots = self._holdings.slots(self.rank)
            numbers = self._holdings.held(slots, 0 if self._sharded else self.epoch)
            self._shard = loaded(
                self._source,
                numbers - (slots.start if self._sharded else 0),
                ranks=self._peers,
                transform=self._transform,
                folder=self._folder,
                readers=self._readers,
            )
            self._exchange = Exchange(self._shard.slots, self._holdings, peers=self._peers, read=self._share_of_workers)
            if self._sharded:
                self._exchange.arrange(0, self.epoch)
            self._start_exchange()
            self._open_pass()
        return self._shard

    def _share_of_workers(self) -> float:
        return float(self._shared.numbers[3::2].sum()) / max(1, len(self._shard or ()))

    def _cut(self) -> Cut:
        """One line for each rank."""
        sizes = self._holdings.sizes if self._sharded else (self.num_samples,)
        return Cut(
            sharded=self._sharded, sizes=sizes, batch=self.num_ranks, workers=self.num_ranks, fraction=self.fraction
        )

    def _steps_of(self, batch_size: int) -> EpochSteps:
        cut = self._cut()
        return exchanged_epoch(
            cut.sizes,
            fraction=self.fraction,
            deal=not self._sharded,
            batch=batch_size * self.num_ranks,
            ranks=self.num_ranks,
            rank=self.rank,
            workers=self.num_ranks,
            seed=self._holdings.seed,
            epoch=self.epoch,
            taken=self._place.taken,
        )

    def _line(self) -> Line:
        return self._place.line(self._cut(), self.rank, self._holdings.seed)

    # -- the end -------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Give up what is under way, and let the other ranks go."""
        if self._exchange is not None:
            self._exchange.close()
        self._peers.close()

    def __enter__(self) -> PartialExchange:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """A worker process can read, and nothing else."""
        return {**self.__dict__, "_peers": self._peers.told(), "_exchange": None, "_source": None, "_steps": None}


class _Slots(Sampler):
    def __init__(self, exchange: PartialExchange) -> None:
        self._exchange = exchange

    def __len__(self) -> int:
        return len(self._exchange)

    def __iter__(self) -> Iterator[int]:
        exchange = self._exchange
        exchange._begin_pass()
        slots = exchange._line().slots.tolist()
        for count, slot in enumerate(slots, 1):
            exchange._advance_to(count / len(slots))
            yield slot
        exchange._done = True

    def set_epoch(self, epoch: int) -> None:
        self._exchange.set_epoch(epoch)


def _check_agreement(everyone: list[tuple[Any, ...]]) -> None:
    sharded = everyone[0][3]
    for rank, (size, fraction, seed, theirs) in enumerate(everyone):
        for what, here, there in (
            ("samples", everyone[0][0], size),
            ("fraction", everyone[0][1], fraction),
            ("seed", everyone[0][2], seed),
            ("sharded", sharded, theirs),
        ):
            if here != there and not (what == "samples" and sharded):
                raise RanksDisagree(
                    f"{what}: rank 0 has {here}, and rank {rank} has {there}; give every rank the same"
                    + (", or sharded=True where each has its own part" if what == "samples" else "")
                )

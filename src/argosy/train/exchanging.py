"""Rows that move between the ranks of a run, from epoch to epoch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

from argosy.shuffle.exchange import Exchange
from argosy.shuffle.holdings import Holdings
from argosy.shuffle.peers import Peers
from argosy.train.course import Course
from argosy.train.data import MovingSamples, Samples
from argosy.train.data.samples import ColumnSamples
from argosy.train.group import Group


class Rows:
    """Where the rows of a run lie, and where they go next. Nothing moves where there is no exchange."""

    def __init__(self, exchange: Exchange | None) -> None:
        self._exchange = exchange
        self._epoch = 0
        """Whose arrangement they are in."""

    def enter(self, epoch: int, *, last: bool) -> None:
        """Every row to where it is read in this epoch; and then, unless it is the last, those for the next begin to
        move. A collective. A run that goes on in a later epoch than the first moves all rows that need to at once."""
        if self._exchange is None:
            return
        self.settle()
        self._exchange.arrange(self._epoch, epoch)
        self._epoch = epoch
        if not last:
            self._exchange.begin(epoch)

    def progress(self, share: float) -> None:
        """So much of the epoch is read."""
        if self._exchange is not None:
            self._exchange.progress(share)

    def settle(self) -> None:
        """Let what has begun to move arrive."""
        if self._exchange is not None and self._exchange.finish():
            self._epoch += 1


@contextmanager
def exchanging(course: Course, samples: Samples, group: Group) -> Iterator[tuple[Samples, Rows]]:
    """The samples as they are to be read, by slot, while they move. A collective."""
    holdings = course.holdings()
    if holdings is None or not isinstance(samples, ColumnSamples):
        yield samples, Rows(None)
        return
    moving = MovingSamples(samples, most_arrivals=most_arrivals(holdings, len(samples)))
    peers = Peers.alone() if group.process_group is None else Peers(group.process_group, seal=group.seal)
    exchange = Exchange(moving, holdings, peers=peers, each=course.workers // course.ranks)
    rows = Rows(exchange)
    try:
        yield moving, rows
        rows.settle()  # of a run that is stopped early: no thread is left that waits for another rank
    except BaseException as error:
        group.tell(error)
        raise
    finally:
        exchange.close()
        peers.close()


def most_arrivals(holdings: Holdings, num_slots: int) -> int:
    """On a rank with so many slots, in one exchange: it receives into its slots of the columns that are drawn."""
    columns = holdings.num_columns
    return min(num_slots, ceil(holdings.fraction * columns) * -(-num_slots // columns))

"""Samples on their way between ranks, in the background, while the present epoch is read."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from argosy.errors import ShuffleError
from argosy.shuffle.holdings import Holdings, Ids, Moves
from argosy.shuffle.legs import Leg, legs_of, runs_of
from argosy.shuffle.peers import Peers, Transfer
from argosy.shuffle.store import Bytes, Store

_UNDER_WAY = 3
"""Legs at a time: one is packed while another travels."""
_LOOK_SECONDS = 0.02
_AHEAD = 1.1
"""The exchange is done when nine tenths of the epoch are read."""

_open: weakref.WeakSet[Exchange] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for exchange in list(_open):
        exchange.close()


class Exchange:
    """Gives a rank's store the samples of the next epoch, step by step, as the present one is read.

    `begin` starts a thread that sends and receives; `progress` paces it; `finish` lets it run to the end, and then
    turns the store to the next epoch. All ranks do the same; none waits for another until it finishes.
    """

    def __init__(
        self,
        store: Store,
        holdings: Holdings,
        *,
        peers: Peers,
        each: int = 1,
        read: Callable[[], float] | None = None,
    ) -> None:
        """`holdings` are those of the peers, or of `each` workers on each of them. `read`: how much of the present
        epoch is read, where nobody can say so by `progress`."""
        self.store = store
        self.holdings = holdings
        self.peers = peers
        self.each = each
        self._share = 0.0
        self._read_elsewhere = read
        self._running: _Background | None = None
        self._failure: BaseException | None = None
        self.buffers: list[Bytes] = []
        """Memory for what is on its way, to be used again: fresh memory is slow."""
        self.nbytes = 0
        """Bytes that this rank has sent."""

    def begin(self, epoch: int) -> None:
        """Start to exchange for the epoch after this one."""
        self._share = 0.0
        self._start(epoch, epoch + 1)

    def progress(self, share: float) -> None:
        """So much of the present epoch is read, from 0 to 1. What goes wrong is told when the next epoch is wanted: in
        the last one, peers may already have gone."""
        self._share = share

    def share_read(self) -> float:
        return self._share or (0.0 if self._read_elsewhere is None else self._read_elsewhere())

    def finish(self) -> bool:
        """Wait for what is still to come, and turn the store to the next epoch; False where none was begun. After a
        failure the store stays as it is for ever."""
        running = self._running
        if running is None:
            return False
        self._running = None
        try:
            moves = running.finished()
        except BaseException as error:
            self._failure = error
            raise
        self.store.turn(moves)
        return True

    def arrange(self, before: int, after: int) -> None:
        """Bring the store from one epoch's arrangement to another's, at once."""
        if before != after:
            self._start(before, after)
            self.finish()

    def _start(self, before: int, after: int) -> None:
        if self._failure is not None:  # peers are gone, and some of what was to come is here: there is no way on
            raise self._failure
        self._running = _Background(self, before, after)
        _open.add(self)

    def close(self) -> None:
        """Give up what is under way. The present epoch stays."""
        _open.discard(self)
        if self._running is not None:
            self._running.give_up()
            self._running = None
        self._failure = self._failure or ShuffleError("this exchange of samples is closed; make a new one")


class _Background:
    """One exchange, in a thread of its own."""

    def __init__(self, exchange: Exchange, before: int, after: int) -> None:
        self._hurry = threading.Event()
        self._moves: Moves | None = None
        self._exchange = exchange
        self._epochs = before, after
        self._failure: BaseException | None = None
        self._given_up = False
        self._thread = threading.Thread(target=self._run, name="argosy-exchange", daemon=True)
        self._thread.start()

    def finished(self) -> Moves:
        """What has been moved."""
        self._hurry.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        assert self._moves is not None, "it ran to its end"
        return self._moves

    def give_up(self) -> None:
        """The peers may never take what is under way. A thread that waits for them must not outlive the interpreter."""
        self._given_up = True
        self._hurry.set()
        if self._thread.is_alive():
            self._exchange.peers.interrupt()
            self._thread.join()

    def _run(self) -> None:
        try:
            self._transfer()
        except BaseException as error:
            self._failure = error

    def _transfer(self) -> None:
        exchange = self._exchange
        moves = exchange.holdings.moves(exchange.peers.rank, *self._epochs, each=exchange.each)
        legs, cargo = _planned(exchange.store, moves, exchange.peers, exchange.buffers)
        under_way: deque[_Travelling] = deque()
        for number, leg in enumerate(legs):
            self._await_turn(number / len(legs))
            if self._given_up:
                return
            if len(under_way) == _UNDER_WAY:
                under_way.popleft().arrive(cargo)
            under_way.append(cargo.start(leg))
            exchange.nbytes += 0 if leg.out is None else leg.out.nbytes
        while under_way:
            under_way.popleft().arrive(cargo)
        self._moves = moves

    def _await_turn(self, share: float) -> None:
        while not self._hurry.is_set() and self._exchange.share_read() * _AHEAD <= share:
            self._hurry.wait(_LOOK_SECONDS)


@dataclass(slots=True, eq=False)
class _Cargo:
    """What is sent and received, and memory for it on its way."""

    store: Store
    peers: Peers
    moves: Moves
    sent_sizes: Ids
    received_sizes: Ids
    free: list[Bytes]
    """Buffers that nothing travels in."""

    def start(self, leg: Leg) -> _Travelling:
        transfers: list[Transfer] = []
        out = into = None
        if leg.into is not None:
            into = self._buffer(leg.into.nbytes)
            transfers.append(self.peers.start_receive(leg.into.peer, torch.from_numpy(into[: leg.into.nbytes])))
        if leg.out is not None:
            out = self._buffer(leg.out.nbytes)
            packed = out[: leg.out.nbytes]
            which = slice(leg.out.first, leg.out.last)
            self.store.read(self.moves.sent[which], self.sent_sizes[which], packed)
            transfers.append(self.peers.start_send(leg.out.peer, torch.from_numpy(packed)))
        return _Travelling(leg, transfers, out, into)

    def _buffer(self, nbytes: int) -> Any:
        for at, buffer in enumerate(self.free):
            if len(buffer) >= nbytes:
                return self.free.pop(at)
        return np.empty(nbytes, np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class _Travelling:
    leg: Leg
    transfers: list[Transfer]
    out: Any
    into: Any

    def arrive(self, cargo: _Cargo) -> None:
        for transfer in self.transfers:
            transfer.wait()
        piece = self.leg.into
        if piece is not None:
            which = slice(piece.first, piece.last)
            packed = self.into[: piece.nbytes]
            cargo.store.arrive(cargo.moves.received[which], cargo.received_sizes[which], packed)
        cargo.free += [buffer for buffer in (self.out, self.into) if buffer is not None]


def _planned(store: Store, moves: Moves, peers: Peers, free: list[Bytes]) -> tuple[list[Leg], _Cargo]:
    """Where samples differ in size, ranks first tell one another the sizes of all that they will send."""
    if store.sample_nbytes is not None:
        sent_sizes = np.full(len(moves.sent), store.sample_nbytes, np.int64)
        received_sizes = np.full(len(moves.received), store.sample_nbytes, np.int64)
    else:
        sent_sizes = store.sizes(moves.sent)
        received_sizes = _told(sent_sizes, moves, peers)
    legs = legs_of(
        peers.rank,
        peers.size,
        sent_to=moves.sent_to,
        sent_sizes=sent_sizes,
        received_from=moves.received_from,
        received_sizes=received_sizes,
    )
    return legs, _Cargo(store, peers, moves, sent_sizes, received_sizes, free)


def _told(sent_sizes: Ids, moves: Moves, peers: Peers) -> Ids:
    sent, received = torch.from_numpy(sent_sizes), torch.empty(len(moves.received), dtype=torch.int64)
    transfers = [peers.start_receive(peer, received[begin:end]) for begin, end, peer in runs_of(moves.received_from)]
    transfers += [peers.start_send(peer, sent[begin:end]) for begin, end, peer in runs_of(moves.sent_to)]
    for transfer in transfers:
        transfer.wait()
    sizes: Ids = received.numpy()
    return sizes

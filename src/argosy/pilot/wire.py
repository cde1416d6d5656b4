"""The control channel: ZeroMQ sockets with CURVE keys made for each pilot.

The controller binds one ROUTER. Each worker connects two DEALERs: the *task lane*, on which its main thread waits for
work, and the *order lane*, on which a side thread listens while the main thread is busy. Only a client that holds the
pilot's client key completes the handshake; whoever does not gets no answer, and nothing it sends reaches `decode`.
"""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import asdict, dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import zmq
from zmq.utils import z85
from zmq.utils.monitor import recv_monitor_message

from argosy.pilot import private
from argosy.pilot.protocol import Outcome
from argosy.pilot.shelf import Box

SMALL_NBYTES = 65536
"""What is smaller travels inside a message, what is larger behind it, without being copied."""
_MOST_SECONDS = 86400.0
"""What a wait takes at most, whatever it was told: a poll counts in an int."""
_SNDMORE = int(zmq.SNDMORE)
_ZAP_ENDPOINT = "inproc://zeromq.zap.01"


class Kind(IntEnum):
    """What a message is about. The first byte of its first frame."""

    HELLO = 1
    """worker to controller, both lanes: launch, spawning, rank, process id and its start, host, node, library"""
    START = 2
    """controller to task lane: one attempt of one task"""
    ENDED = 3
    """task lane to controller: how the attempt ended on this rank"""
    STOP = 4
    """controller to order lane: leave this attempt"""
    SHRINK = 5
    """controller to order lane: make a world without the dead"""
    GROW = 6
    """controller to order lane: make a world with the processes that were spawned"""
    READY = 7
    """order lane to controller: this rank has the world of that epoch, or why it has not"""
    DROP = 8
    """controller to task lane: forget a kept value"""
    DIE = 9
    """controller to order lane: end the process of this number that was started then"""
    CLOSE = 10
    """controller to task lane: the pilot ends"""
    SPAWN = 11
    """controller to order lane of one rank: start processes for the lost ranks"""
    PROBE = 12
    """controller to order lane: nothing to do; it shows whether the peer is still connected"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Keys:
    """What a worker needs to talk to its controller. Lives in a file that only its owner may read."""

    endpoint: str
    server_public: str
    client_public: str
    client_secret: str

    def save(self, path: Path) -> None:
        with open(path, "x", encoding="ascii", opener=private.opener) as file:
            json.dump(asdict(self), file)

    @classmethod
    def load(cls, path: Path) -> Keys:
        return cls(**json.loads(path.read_text(encoding="ascii")))


class Server:
    """The controller's end. Owned by one thread."""

    def __init__(self, endpoint: str, silence_seconds: float = 0) -> None:
        """`endpoint` is `ipc://PATH` when all is on one machine, else `tcp://ADDRESS:*`.

        A peer that does not answer for `silence_seconds` counts as gone; 0: never. Its ZeroMQ answers, in a thread
        without Python: a process that is busy in C code is heard, one that was stopped or whose machine hangs is not.
        """
        self._context = zmq.Context()
        self._zap = self._context.socket(zmq.REP)
        self._zap.linger = 0
        self._zap.bind(_ZAP_ENDPOINT)
        server_public, server_secret = zmq.curve_keypair()
        client_public, client_secret = zmq.curve_keypair()
        self._client_public = client_public
        self._router = self._context.socket(zmq.ROUTER)
        self._router.curve_server = True
        self._router.curve_publickey = server_public
        self._router.curve_secretkey = server_secret
        self._router.zap_domain = b"argosy"
        self._router.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self._router.setsockopt(zmq.ROUTER_HANDOVER, 1)
        self._router.sndhwm = 0
        self._router.rcvhwm = 0
        self._router.linger = 500
        _listen_for_life(self._router, silence_seconds)
        self._monitor = self._router.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._router.bind(endpoint)
        if endpoint.startswith("ipc://"):
            Path(endpoint.removeprefix("ipc://")).chmod(0o600)
        self.keys = Keys(
            endpoint=self._router.getsockopt_string(zmq.LAST_ENDPOINT),
            server_public=server_public.decode(),
            client_public=client_public.decode(),
            client_secret=client_secret.decode(),
        )
        self._poller = zmq.Poller()
        for socket in (self._router, self._zap, self._monitor):
            self._poller.register(socket, zmq.POLLIN)

    def watch(self, descriptor: int) -> None:
        """Let `wait` also return when this file descriptor can be read."""
        self._poller.register(descriptor, zmq.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        self._poller.unregister(descriptor)

    def wait(self, timeout_seconds: float | None) -> tuple[bool, set[int]]:
        """Sleep until something comes: whether a peer has gone, and which watched descriptors can be read."""
        timeout = None if timeout_seconds is None else max(0, int(min(timeout_seconds, _MOST_SECONDS) * 1000) + 1)
        peer_gone = False
        readable: set[int] = set()
        for source, _ in self._poller.poll(timeout):
            if source is self._zap:
                self._admit()
            elif source is self._monitor:
                recv_monitor_message(self._monitor)
                peer_gone = True
            elif source is not self._router:
                readable.add(source)
        return peer_gone, readable

    def receive(self) -> list[bytes] | None:
        """The next message, as frames behind the sender's name, or None when there is none."""
        try:
            return self._router.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None

    def send(self, peer: bytes, *frames: bytes) -> bool:
        """False when the peer is no longer connected."""
        try:
            self._router.send(peer, _SNDMORE)
            if len(frames) == 1:
                self._router.send(frames[0])
            else:
                self._router.send_multipart(frames, copy=False)
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:
                return False
            raise
        return True

    def close(self) -> None:
        """What has been sent still goes out, for half a second at most."""
        self._context.destroy(linger=500)

    def _admit(self) -> None:
        """Answer one handshake (ZeroMQ Authentication Protocol, RFC 27): only the pilot's own client key passes."""
        version, request_id, _domain, _address, _identity, mechanism, *credentials = self._zap.recv_multipart()
        ours = z85.decode(self._client_public)
        if mechanism == b"CURVE" and credentials == [ours]:
            answer = [b"200", b"OK", b"worker", b""]
        else:
            answer = [b"400", b"no such key", b"", b""]
        self._zap.send_multipart([version, request_id, *answer])


def silence_limit() -> float:
    """How long a rank may be silent before it counts as lost: `$ARGOSY_SILENCE_SECONDS`, 30 unless set, 0 for ever."""
    text = os.environ.get("ARGOSY_SILENCE_SECONDS", "30")
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ValueError(
            f"the variable ARGOSY_SILENCE_SECONDS must be a number of seconds, or 0 for ever, not {text!r}"
        )
    return seconds


def _listen_for_life(socket: zmq.Socket[bytes], silence_seconds: float) -> None:
    """Ask every peer so often that one that stays silent is noticed within this time."""
    if silence_seconds:
        socket.heartbeat_ivl = max(1, int(silence_seconds * 250))
        socket.heartbeat_timeout = max(1, int(silence_seconds * 750))


def connect(context: zmq.Context[zmq.Socket[bytes]], keys: Keys, name: bytes) -> zmq.Socket[bytes]:
    """A worker's lane. Between machines it asks whether the controller lives; on one, a user may stop that one."""
    socket = context.socket(zmq.DEALER)
    socket.setsockopt(zmq.ROUTING_ID, name)
    socket.curve_serverkey = keys.server_public.encode()
    socket.curve_publickey = keys.client_public.encode()
    socket.curve_secretkey = keys.client_secret.encode()
    socket.sndhwm = 0
    socket.rcvhwm = 0
    socket.linger = 2000
    if keys.endpoint.startswith("tcp:"):
        _listen_for_life(socket, silence_limit())
    socket.connect(keys.endpoint)
    return socket


def encode(kind: Kind, *fields: Any) -> bytes:
    return bytes((kind,)) + pickle.dumps(fields, protocol=5)


def decode(frame: bytes) -> tuple[Kind, tuple[Any, ...]]:
    """Only for frames that came through an authenticated socket."""
    return Kind(frame[0]), pickle.loads(memoryview(frame)[1:])


class NotUnderstood(Exception):
    """A message that nobody of ours would send."""


_FROM_WORKERS: dict[Kind, tuple[type | tuple[type, ...], ...]] = {
    Kind.HELLO: (str, int, int, int, int, int, str, str, str),
    Kind.ENDED: (int, int, int, str, (bytes, Box, type(None))),
    Kind.READY: (int, int, str),
}
"""The types of the fields of what a controller may be told."""
_LANES = frozenset({"orders", "tasks"})
_OUTCOMES = frozenset(Outcome)


def read(frames: list[bytes]) -> tuple[Kind, tuple[Any, ...]]:
    """What a worker says, for the controller, who may rely on its form. Raises `NotUnderstood`."""
    try:
        kind, fields = decode(frames[0])
        wanted = _FROM_WORKERS[kind]
    except Exception as error:
        raise NotUnderstood(f"{len(b''.join(frames))} bytes that are no message: {type(error).__name__}") from error
    if type(fields) is not tuple or len(fields) != len(wanted) or not all(map(isinstance, fields, wanted)):
        raise NotUnderstood(f"a message of kind {kind.name} with other fields")
    match kind:
        case Kind.HELLO:
            right = fields[0] in _LANES
        case Kind.ENDED:
            right = fields[3] in _OUTCOMES and len(frames) == (2 if fields[4] is None else 1)
        case _:
            right = True
    if not right:
        raise NotUnderstood(f"a message of kind {kind.name} that says nothing that can be")
    return kind, fields

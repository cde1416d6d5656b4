"""Whoever has no key gets no answer."""

from __future__ import annotations

import os
import pickle
import stat
from dataclasses import replace
from pathlib import Path

import pytest
import zmq

import argosy
from argosy.pilot import folder as run_folder
from argosy.pilot import wire


def test_keys_lie_in_a_file_that_only_its_owner_may_read(pilot: argosy.Pilot) -> None:
    path = run_folder.key_file(pilot.folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    endpoint = wire.Keys.load(path).endpoint
    assert endpoint.startswith("ipc://")
    assert stat.S_IMODE(Path(endpoint.removeprefix("ipc://")).parent.stat().st_mode) == 0o700


class Bomb:
    """Unpickling it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mknod, (str(self.path),)


@pytest.mark.parametrize("wrong", ["another key pair", "no keys at all"])
def test_a_client_without_the_key_gets_no_answer_and_is_not_unpickled(
    pilot: argosy.Pilot, wrong: str, tmp_path: Path
) -> None:
    keys = wire.Keys.load(run_folder.key_file(pilot.folder))
    context = zmq.Context()
    if wrong == "another key pair":
        public, secret = zmq.curve_keypair()
        socket = wire.connect(
            context, replace(keys, client_public=public.decode(), client_secret=secret.decode()), b"thief"
        )
    else:
        socket = context.socket(zmq.DEALER)
        socket.connect(keys.endpoint)
    socket.linger = 0
    socket.send(bytes((wire.Kind.HELLO,)) + pickle.dumps(Bomb(tmp_path / "exploded")))
    assert socket.poll(500) == 0
    context.destroy(linger=0)
    assert not (tmp_path / "exploded").exists()
    assert pilot.submit(lambda: "still here").result(timeout=20) == "still here"


def test_a_client_with_the_key_is_heard(tmp_path: Path) -> None:
    server = wire.Server(f"ipc://{tmp_path}/s")
    context = zmq.Context()
    lane = wire.connect(context, server.keys, b"worker")
    lane.send(wire.encode(wire.Kind.HELLO, "orders", 3))
    message = None
    for _ in range(100):
        server.wait(0.1)
        if (message := server.receive()) is not None:
            break
    assert message is not None
    assert message[0] == b"worker"
    assert wire.decode(message[1]) == (wire.Kind.HELLO, ("orders", 3))
    assert server.send(b"worker", wire.encode(wire.Kind.PROBE))
    assert not server.send(b"nobody", wire.encode(wire.Kind.PROBE))
    context.destroy(linger=0)
    server.close()

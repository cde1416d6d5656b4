"""A secret that the ranks of one run share, and its mark on what they send: nothing else is unpickled.

A pickle is a program. torch's stores and gloo's sockets ask nobody who they are, so whoever reaches a port could send
one. Where there is a communicator of MPI the secret comes over it. Under torchrun there is none: then it is a file that
its owner alone may read, on this machine or in the home folder, or what `ARGOSY_SECRET` says.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import socket
import stat
import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from argosy.errors import NotOurs, RanksDisagree, ShuffleError

SECRET = "ARGOSY_SECRET"
KEY_NBYTES = 32
_MARK_NBYTES = 16
_LEAST_CHARACTERS = 16
_FIRST_LINE = "a secret of argosy\n"

Tell = Callable[[bytes], list[bytes]]
"""A collective: the bytes of every rank, as they came."""


class Seal:
    """Marks bytes, and opens those that have the mark. It travels to worker processes of its own rank alone."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sealed(self, data: bytes, *place: int) -> bytes:
        """`place`: numbers that both sides know, such as who sends, so that one message cannot stand for another."""
        return self._mark(data, place) + data

    def opened(self, data: Any, *place: int) -> memoryview:
        """Raises NotOurs for what no rank of this run has sealed for this place."""
        view = memoryview(data)
        held = view[_MARK_NBYTES:]
        if not hmac.compare_digest(bytes(view[:_MARK_NBYTES]), self._mark(held, place)):
            raise NotOurs(
                "bytes came from another process that is no rank of this run, or were changed on their way; "
                "they were not looked at"
            )
        return held

    def _mark(self, data: Any, place: tuple[int, ...]) -> bytes:
        digest = hashlib.blake2b(struct.pack(f"<{1 + len(place)}q", len(place), *place), key=self._key, digest_size=16)
        digest.update(data)
        return digest.digest()


def fresh_key() -> bytes:
    return secrets.token_bytes(KEY_NBYTES)


def key_of_peers(rank: int, tell: Tell) -> bytes:
    """The same key on all ranks, which `tell` alone does not give away. A collective."""
    text = os.environ.get(SECRET)
    mine = {"nonce": secrets.token_hex(16), "knows": text is not None, "host": socket.gethostname()}
    everybody = [json.loads(said) for said in tell(json.dumps(mine).encode())]
    knowing = [each["knows"] for each in everybody]
    if any(knowing) and not all(knowing):
        raise RanksDisagree(
            f"{SECRET} is set on rank {knowing.index(True)}, but not on rank {knowing.index(False)}; set it on all"
        )
    if text is not None and len(text) < _LEAST_CHARACTERS:
        raise ShuffleError(f"{SECRET} has {len(text)} characters; take {_LEAST_CHARACTERS} or more, at random")
    if text is None:
        text = _from_a_file(rank, tell, one_host=len({each["host"] for each in everybody}) == 1)
    nonces = "".join(str(each["nonce"]) for each in everybody)
    return hashlib.blake2b(nonces.encode(), key=hashlib.sha512(text.encode()).digest(), digest_size=32).digest()


def _from_a_file(rank: int, tell: Tell, *, one_host: bool) -> str:
    """Rank 0 writes it, the others read it; then it is gone."""
    text, path, why = "", "", ""
    if rank == 0:
        try:
            path = _written(text := secrets.token_hex(KEY_NBYTES), one_host=one_host)
        except OSError as error:
            why = str(error)
    path = tell(path.encode())[0].decode()
    try:
        text = _read(path) if path and rank else text
    except OSError as error:
        why = str(error)
    said = [each.decode() for each in tell(why.encode())]
    if rank == 0 and path:
        with suppress(OSError):  # it is of no use to anybody from now on
            Path(path).unlink()
    if any(said):
        bad = next(at for at, each in enumerate(said) if each)
        raise ShuffleError(
            f"these ranks have no secret in common by which to trust one another: rank {bad} says: {said[bad]}; "
            f"set {SECRET} to the same long random text on all ranks"
        )
    return text


def _written(text: str, *, one_host: bool) -> str:
    folder = Path(tempfile.gettempdir()) if one_host else Path.home() / ".argosy"
    folder.mkdir(mode=0o700, exist_ok=True)
    handle, path = tempfile.mkstemp(prefix="argosy-secret-", dir=folder)  # 0600
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(_FIRST_LINE + text)
    return path


def _read(path: str) -> str:
    """Only what this user wrote, and nobody else can read: the path came from whoever says to be rank 0."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, encoding="ascii") as file:
        found = os.fstat(handle)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077 or not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is not a file of this user alone")
        first, text = file.readline(), file.read()
    if first != _FIRST_LINE or len(text) != 2 * KEY_NBYTES:
        raise OSError(f"{path} has no secret in it")
    return text

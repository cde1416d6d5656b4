"""Nothing that comes from another process is unpickled before it is known to come from a rank of this run."""

from __future__ import annotations

import ast
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shuffle.ranks import on_ranks
from shuffle.samples import Numbered

import argosy
from argosy.errors import NotOurs, RanksDisagree, ShuffleError
from argosy.shuffle import PartialExchange
from argosy.shuffle.peers import Peers
from argosy.shuffle.seal import SECRET, Seal, _read, fresh_key
from argosy.shuffle.store import packing

UNPICKLES = {
    "pilot/cargo.py",  # from the pilot's own sockets, whose keys lie in a file of its user alone
    "pilot/wire.py",
    "shuffle/gathering.py",  # opened by the seal
    "shuffle/store/packing.py",
}
READERS = {
    "loads",
    "load",
    "Unpickler",
    "all_gather_object",
    "gather_object",
    "broadcast_object_list",
    "recv_object_list",
}
MODULES = {"pickle", "cloudpickle", "marshal", "dill", "joblib", "shelve", "torch", "dist", "_pickle"}


def test_only_these_files_unpickle() -> None:
    """A new one must say here who vouches for what it reads."""
    root = Path(argosy.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                found.add(str(path.relative_to(root)))
            reads = isinstance(node, ast.Attribute) and node.attr in READERS
            if reads and isinstance(node.value, ast.Name) and node.value.id in MODULES:
                found.add(str(path.relative_to(root)))
    assert found == UNPICKLES


class Bomb:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.marker),)


@given(st.binary(max_size=60), st.integers(0, 200), st.integers(1, 255))
def test_only_what_was_sealed_is_opened(data: bytes, at: int, flip: int) -> None:
    seal = Seal(b"k" * 32)
    sealed = bytearray(seal.sealed(data, 3))
    assert bytes(seal.opened(sealed, 3)) == data
    for other, place in ((Seal(b"l" * 32), 3), (seal, 4)):
        with pytest.raises(NotOurs):
            other.opened(sealed, place)
    sealed[at % len(sealed)] ^= flip
    for wrong in (sealed, sealed[:10], data, b""):
        with pytest.raises(NotOurs):
            seal.opened(wrong, 3)


def _a_stranger_speaks(rank: int, num_ranks: int, folder: Path) -> str:
    """Rank 1 has the sockets of a rank, but not the secret."""
    peers = Peers()
    if rank == 1:
        peers._allgather.__self__._seal = Seal(fresh_key())  # type: ignore[attr-defined]
    try:
        peers.allgather(Bomb(folder / "it ran") if rank == 1 else rank)
    except NotOurs as error:
        return str(error)
    return "nothing"


def test_values_of_a_stranger_are_not_unpickled(tmp_path: Path) -> None:
    told = on_ranks(2, _a_stranger_speaks, tmp_path)
    assert told[0].startswith("bytes came from another process that is no rank of this run")
    assert not (tmp_path / "it ran").exists()


def _a_stranger_sends_samples(rank: int, num_ranks: int, folder: Path) -> int:
    if rank == 1:
        from argosy.shuffle.store import loading

        bomb, other = pickle.dumps(Bomb(folder / "it ran")), Seal(fresh_key())
        loading.pickled = lambda *_: other.sealed(bomb)
    exchange = PartialExchange(Numbered(40, "objects"), 1.0, seed=1)
    exchange.set_epoch(1)
    refused = 0
    if rank == 0:
        for slot in range(len(exchange)):
            try:
                exchange.samples[slot]
            except NotOurs:
                refused += 1
    return refused


def test_samples_of_a_stranger_are_not_unpickled(tmp_path: Path) -> None:
    assert packing.pickled is not None
    assert on_ranks(2, _a_stranger_sends_samples, tmp_path)[0] > 0
    assert not (tmp_path / "it ran").exists()


def _with_secrets(rank: int, num_ranks: int, secrets: list[str | None]) -> str:
    if secrets[rank] is not None:
        os.environ[SECRET] = secrets[rank]
    try:
        return str(Peers().allgather(rank))
    except (ShuffleError, RanksDisagree) as error:
        return str(error)


@pytest.mark.parametrize(
    ("secrets", "said"),
    [
        (["one long secret text"] * 2, "[0, 1]"),
        (["one long secret text", "another secret text"], "bytes came from another process"),
        (["one long secret text", None], f"{SECRET} is set on rank 0, but not on rank 1"),
        (["short"] * 2, f"{SECRET} has 5 characters"),
    ],
)
def test_a_secret_can_be_given_where_ranks_share_no_folder(secrets: list[str | None], said: str) -> None:
    assert all(words.startswith(said) for words in on_ranks(2, _with_secrets, secrets))


def test_a_secret_is_read_from_a_file_of_this_user_alone(tmp_path: Path) -> None:
    """Whoever says to be rank 0 could name any file, whose contents it knows."""
    path, text = tmp_path / "secret", "0" * 64
    path.write_text("a secret of argosy\n" + text, encoding="ascii")
    path.chmod(0o644)
    with pytest.raises(OSError, match="not a file of this user alone"):
        _read(str(path))
    path.chmod(0o600)
    assert _read(str(path)) == text
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OSError, match="symbolic links"):
        _read(str(tmp_path / "link"))
    path.write_text("PATH=/bin", encoding="ascii")
    with pytest.raises(OSError, match="has no secret in it"):
        _read(str(path))

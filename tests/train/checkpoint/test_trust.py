"""A checkpoint may come from anybody: reading one never runs what is in it."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import tempfile
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.comm.ranks import Alone
from argosy.errors import BadCheckpoint
from argosy.train.checkpoint import Checkpoints, CheckpointSkipped


class Bomb:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.marker),)


def saved(folder: Path) -> Path:
    shared = {
        "model": {"w": torch.arange(60.0).reshape(20, 3)},
        "tied": [torch.float16, np.float32(1), (1, 2)],
        "b": b"12",
    }
    Checkpoints(folder, Alone()).save(1, shared=shared, own={"rng": np.arange(5)}, facts={"workers": 1})
    return folder / "step-00000001"


def write_manifest(path: Path, plain: Any) -> None:
    """With the checksum that it should have: whoever forges one knows how."""
    body = json.dumps(plain, separators=(",", ":")).encode()
    (path / "manifest.json").write_bytes(b"argosy checkpoint 1 %d %08x\n" % (len(body), zlib.crc32(body)) + body)


def read_manifest(path: Path) -> Any:
    return json.loads((path / "manifest.json").read_bytes().partition(b"\n")[2])


@pytest.mark.parametrize("write", [pickle.dump, torch.save], ids=["pickle", "torch"])
@pytest.mark.parametrize("file", ["manifest.json", "rank-00000.bin"])
def test_a_pickle_in_place_of_a_file_is_refused_and_not_run(tmp_path: Path, write: Any, file: str) -> None:
    marker = tmp_path / "it ran"
    path = saved(tmp_path / "kept")
    with (path / file).open("wb") as out:
        write(Bomb(marker), out)
    with pytest.raises(BadCheckpoint, match="no whole checkpoint"):
        Checkpoints(tmp_path / "kept", Alone()).load()
    assert not marker.exists()


def test_arrays_of_objects_and_functions_of_torch_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    plain = read_manifest(path)
    for old, new in (('{"dtype": "float16"}', '{"dtype": "load"}'), ('["<f4", "0000803f"]', '["|O", "0000803f"]')):
        assert old in json.dumps(plain)
        write_manifest(path, json.loads(json.dumps(plain).replace(old, new)))
        with pytest.raises(BadCheckpoint, match="says what no checkpoint says"):
            Checkpoints(tmp_path, Alone()).load()


def test_what_says_to_be_larger_than_its_files_takes_no_memory(tmp_path: Path) -> None:
    path = saved(tmp_path)
    plain = read_manifest(path)
    plain["shared"]["forms"][0] = ["tensor", "float32", [1 << 50], 1 << 52]
    write_manifest(path, plain)
    with pytest.raises(BadCheckpoint, match="says what no checkpoint says"):
        Checkpoints(tmp_path, Alone()).load()


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 1 << 62)
    | st.floats()
    | st.sampled_from(["|O", "load", "", "f4,O", "../x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["leaf", "map", "dtype", "scalar", "tuple", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def changed(plain: Any, way: list[int], new: Any) -> Any:
    """One thing, somewhere in it, is another."""
    if not way or not isinstance(plain, dict | list) or not plain:
        return new
    places = list(plain) if isinstance(plain, dict) else range(len(plain))
    place = places[way[0] % len(places)]
    copied = plain.copy()
    copied[place] = changed(plain[place], way[1:], new)
    return copied


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("whole")).parent


@given(st.lists(st.integers(0, 9), max_size=7), junk)
@settings(max_examples=200)
def test_a_forged_manifest_is_read_or_refused(whole: Path, way: list[int], new: Any) -> None:
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", CheckpointSkipped)
        folder = Path(name) / "kept"
        shutil.copytree(whole, folder)
        path = folder / "step-00000001"
        plain = changed(read_manifest(path), way, new)
        write_manifest(path, plain)
        try:
            found = Checkpoints(folder, Alone()).load()
        except BadCheckpoint:
            return
        assert found is not None
        shared = found.shared.values() if isinstance(found.shared, dict) else [found.shared]
        assert not any(callable(value) for value in shared)

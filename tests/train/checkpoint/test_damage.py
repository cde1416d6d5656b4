"""A checkpoint that is cut, changed or incomplete is passed over and said so; never is anything wrong loaded."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from train.checkpoint.states import same

from argosy.comm.ranks import Alone, Ranks
from argosy.comm.threads import on_threads
from argosy.errors import BadCheckpoint
from argosy.train.checkpoint import Checkpoints, CheckpointSkipped, Loaded, describe, fingerprint_of

torch.set_num_threads(1)


def shared_at(step: int) -> dict[str, object]:
    return {"model": {"w": torch.full((40, 3), float(step)), "b": torch.arange(5) + step}, "step": step}


def save(ranks: Ranks, folder: Path, *steps: int, keep: int = 2) -> None:
    for step in steps:
        own = {"rank": torch.tensor([ranks.rank, step])}
        Checkpoints(folder, ranks, keep=keep).save(step, shared=shared_at(step), own=own, facts={"step": step})


def load(ranks: Ranks, folder: Path) -> Loaded:
    found = Checkpoints(folder, ranks).load()
    assert found is not None
    assert same(found.shared, shared_at(found.step))
    assert found.facts == {"step": found.step}
    assert found.own is None or same(found.own, {"rank": torch.tensor([ranks.rank, found.step])})
    return found


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Steps 1 and 2, of two ranks."""
    folder = tmp_path_factory.mktemp("two")
    on_threads(2, save, folder, 1, 2)
    yield folder
    assert sorted(path.name for path in folder.iterdir()) == ["step-00000001", "step-00000002"]


def damaged(path: Path, at: float, how: str, bit: int) -> None:
    data = bytearray(path.read_bytes())
    place = min(int(at * len(data)), len(data) - 1)
    if how == "missing":
        path.unlink()
        return
    if how == "cut":
        del data[place:]
    elif how == "longer":
        data += b" "
    else:
        data[place] ^= 1 << bit
    path.write_bytes(data)


@given(
    st.sampled_from(["rank-00000.bin", "rank-00001.bin", "manifest.json"]),
    st.floats(0, 1),
    st.sampled_from(["cut", "flipped", "longer", "missing"]),
    st.integers(0, 7),
    st.sampled_from([1, 2, 3]),
)
@settings(max_examples=60, deadline=None)
def test_a_damaged_checkpoint_gives_the_one_before_or_is_right(
    two: Path, file: str, at: float, how: str, bit: int, num_ranks: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        shutil.copytree(two, folder)
        damaged(folder / "step-00000002" / file, at, how, bit)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = on_threads(num_ranks, load, folder)
        assert len({one.step for one in found}) == 1
        if found[0].step == 1:
            assert [warning.category for warning in told] == [CheckpointSkipped]
            assert "step-00000002 is not whole" in str(told[0].message)
            assert all("step-00000002" in one.skipped[0] for one in found)
        else:  # another number of ranks does not read what was a rank's own
            assert how == "flipped"
            assert num_ranks != 2
        shutil.rmtree(folder / "step-00000001")
        if found[0].step == 1:
            with pytest.raises(BadCheckpoint, match="no whole checkpoint"):
                on_threads(num_ranks, load, folder)


def test_a_warning_that_is_an_error_is_raised_after_all_ranks_are_done(two: Path, tmp_path: Path) -> None:
    shutil.copytree(two, tmp_path / "run")
    (tmp_path / "run" / "step-00000002" / "manifest.json").unlink()
    with pytest.raises(CheckpointSkipped, match=r"manifest.json is missing; step-00000001 is taken"):
        on_threads(2, load, tmp_path / "run")


def test_the_last_ones_are_kept(tmp_path: Path) -> None:
    save(Alone(), tmp_path, 1, 2, 3, 4, keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000003", "step-00000004"]
    save(Alone(), tmp_path, 5, keep=1)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000005"]


def test_one_that_is_not_whole_does_not_count_as_kept(tmp_path: Path) -> None:
    save(Alone(), tmp_path, 1, 2)
    (tmp_path / "step-00000002" / "rank-00000.bin").unlink()
    save(Alone(), tmp_path, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000001", "step-00000003"]


def test_the_new_one_is_never_removed_for_later_ones(tmp_path: Path) -> None:
    save(Alone(), tmp_path, 7, 8)
    save(Alone(), tmp_path, 3, keep=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000003", "step-00000007", "step-00000008"]


def test_a_step_that_is_saved_again_is_replaced(tmp_path: Path) -> None:
    save(Alone(), tmp_path, 1)
    Checkpoints(tmp_path, Alone()).save(1, shared={"other": 1}, own={}, facts={})
    found = Checkpoints(tmp_path, Alone()).load()
    assert found is not None
    assert found.shared == {"other": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000001"]


def test_left_overs_are_not_loaded_and_go_with_the_next_save(tmp_path: Path) -> None:
    save(Alone(), tmp_path, 1, 2)
    shutil.copytree(tmp_path / "step-00000002", tmp_path / ".step-00000003.new")
    shutil.copytree(tmp_path / "step-00000002", tmp_path / ".step-00000000.gone")
    (tmp_path / "step-00000002").rename(tmp_path / ".step-00000002.was")
    (tmp_path / "notes.txt").write_text("mine")
    assert load(Alone(), tmp_path).step == 2
    save(Alone(), tmp_path, 4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "step-00000002", "step-00000004"]


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (
            {"w": torch.zeros(40, 4), "b": torch.arange(5)},
            r"'w' is float32 \[40, 3\] in it, but float32 \[40, 4\] here",
        ),
        ({"w": torch.zeros(40, 3), "b": torch.zeros(5)}, r"'b' is int64 \[5\] in it, but float32"),
        ({"w": torch.zeros(40, 3)}, r"it has 'b' \(int64 \[5\]\), which is not here"),
        (shared_at(0)["model"] | {"c": torch.zeros(1)}, "it has no 'c'"),  # type: ignore[operator]
    ],
)
def test_a_checkpoint_of_another_model_is_refused_and_says_where(
    two: Path, model: dict[str, torch.Tensor], why: str
) -> None:
    def go(ranks: Ranks) -> None:
        with pytest.raises(BadCheckpoint, match=why):
            Checkpoints(two, ranks).load(fingerprint=fingerprint_of(model), description=describe(model))
        with pytest.raises(BadCheckpoint, match="another model: its fingerprint is"):
            Checkpoints(two, ranks).load(fingerprint=fingerprint_of(model))

    on_threads(2, go)


def test_a_checkpoint_of_this_model_is_taken_whatever_its_order_and_values(two: Path) -> None:
    model = {"b": torch.zeros(5, dtype=torch.int64), "w": torch.zeros(40, 3)}
    found = Checkpoints(two, Alone()).load(fingerprint=fingerprint_of(model))
    assert found is not None
    assert found.step == 2

"""Tasks that read files."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from argosy.errors import BadData, TrainError
from argosy.train.tasks import task_named


def jpeg(grey: int, width: int = 32, height: int = 32) -> bytes:
    kept = io.BytesIO()
    Image.new("RGB", (width, height), (grey, grey, grey)).save(kept, format="JPEG")
    return kept.getvalue()


def write_cifar(path: Path, **columns: list[object]) -> Path:
    table = {
        "split": ["train"] * 6 + ["test"] * 3,
        "label": [0, 1, 2, 3, 4, 9, 0, 1, 9],
        "jpeg": [jpeg(20 * place) for place in range(9)],
    }
    pq.write_table(pa.table({**table, **columns}), path)
    return path


def write_folders(root: Path) -> Path:
    for split, shades in (("train", (10, 200, 12)), ("val", (11, 201))):
        for name in ("dark", "light"):
            (root / split / name).mkdir(parents=True)
        for place, grey in enumerate(shades):
            name = "dark" if grey < 100 else "light"
            (root / split / name / f"{place}.jpg").write_bytes(jpeg(grey, 48, 40))
    return root


def test_cifar10_gives_the_rows_of_each_split_as_bytes(tmp_path: Path) -> None:
    data = task_named("cifar10", path=write_cifar(tmp_path / "c.parquet")).data(0)
    assert data.train[0].shape == (6, 3, 32, 32)
    assert data.train[1].tolist() == [0, 1, 2, 3, 4, 9]
    assert data.valid[1].tolist() == [0, 1, 9]
    assert np.abs(data.valid[0][2].astype(int) - 160).max() <= 2


def test_fewer_rows_are_the_same_ones_for_a_seed(tmp_path: Path) -> None:
    task = task_named("cifar10", path=write_cifar(tmp_path / "c.parquet"), num_train=3)
    assert len(task.data(0).train[1]) == 3
    assert np.array_equal(task.samples("train", 3, 1)[0], task.samples("train", 3, 1)[0])


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"label": [0, 1, 2, 3, 4, 10, 0, 1, 9]}, "labels from 0 to 10"),
        ({"label": [0, 1, 2, 3, 4, None, 0, 1, 9]}, "without a label"),
        ({"split": ["train"] * 9}, "no row whose split is test or valid"),
        ({"split": ["test"] * 9}, "no row whose split is train; its splits are: test"),
    ],
)
def test_a_file_of_other_rows_is_refused(tmp_path: Path, columns: dict[str, list[object]], says: str) -> None:
    with pytest.raises(BadData, match=says):
        task_named("cifar10", path=write_cifar(tmp_path / "c.parquet", **columns))


def test_a_file_that_is_not_there_or_not_parquet_or_without_a_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"there is no file .*none.parquet"):
        task_named("cifar10", path=tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(BadData, match="cannot be read as Parquet"):
        task_named("cifar10", path=tmp_path / "text.parquet")
    pq.write_table(pa.table({"split": ["train"], "label": [1]}), tmp_path / "two.parquet")
    with pytest.raises(BadData, match="no column jpeg; there are: split, label"):
        task_named("cifar10", path=tmp_path / "two.parquet")


@pytest.mark.parametrize("name", ["cifar10", "imagefolder"])
def test_a_task_that_reads_files_asks_where_they_are(name: str) -> None:
    with pytest.raises(BadData, match="--data"):
        task_named(name)


def test_a_broken_picture_is_named_by_its_row(tmp_path: Path) -> None:
    pictures = [jpeg(0)] * 4 + [b"not a picture"] + [jpeg(0)] * 4
    task = task_named("cifar10", path=write_cifar(tmp_path / "c.parquet", jpeg=pictures))
    with pytest.raises(BadData, match="row 4 cannot be read as a picture"):
        task.data(0)


def test_without_pillow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = task_named("cifar10", path=write_cifar(tmp_path / "c.parquet"))
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(TrainError, match="pip install pillow"):
        task.data(0)


def test_folders_are_classes_and_pictures_are_resized(tmp_path: Path) -> None:
    task = task_named("imagefolder", path=write_folders(tmp_path), size=24)
    data = task.data(0)
    assert task.classes == ("dark", "light")
    assert data.train[0].shape == (3, 3, 24, 24)
    assert data.train[1].tolist() == [0, 0, 1]
    assert data.valid[0][1].mean() == pytest.approx(201, abs=2)


def test_a_class_that_only_validation_has_is_named(tmp_path: Path) -> None:
    write_folders(tmp_path)
    (tmp_path / "val" / "grey").mkdir()
    with pytest.raises(BadData, match="grey is of a class that has no folder"):
        task_named("imagefolder", path=tmp_path)


def test_folders_that_are_not_there_or_empty_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"there is no folder .*train"):
        task_named("imagefolder", path=tmp_path)
    (tmp_path / "train").mkdir()
    with pytest.raises(BadData, match="has no folders"):
        task_named("imagefolder", path=tmp_path)
    (tmp_path / "train" / "a").mkdir()
    with pytest.raises(BadData, match="no picture"):
        task_named("imagefolder", path=tmp_path)

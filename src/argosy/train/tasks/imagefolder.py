"""Pictures in folders, in the layout of ImageNet: ROOT/train/CLASS/*.jpg and ROOT/val/CLASS/*.jpg."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from argosy.errors import BadData
from argosy.train.tasks.chosen import chosen
from argosy.train.tasks.pictures import decoded
from argosy.train.tasks.task import Samples, Task

_SUFFIXES = {".jpg", ".jpeg", ".png"}
_FOLDERS = {"train": ("train",), "valid": ("val", "valid", "test")}


def imagefolder(
    *, path: str | Path | None = None, size: int = 64, num_train: int | None = None, num_valid: int | None = None
) -> Task:
    """Lists the files now and reads them when samples are asked for, into bytes of `size` x `size` pixels. `BadData`:
    the folders are not there, or hold no pictures. `num_train`, `num_valid`: at most so many."""
    if path is None:
        raise BadData(
            "the task 'imagefolder' reads folders of pictures; say which: path=..., or --data on the command line"
        )
    root = Path(path)
    classes = tuple(folder.name for folder in _class_folders(root, "train"))
    files = {split: _files(root, split, classes) for split in _FOLDERS}

    def samples(split: str, count: int, seed: int) -> Samples:
        taken = [files[split][place] for place in chosen(len(files[split]), count, seed)]
        pixels = decoded([file for file, _ in taken], size=size, name=lambda place: str(taken[place][0]))
        return pixels, np.array([label for _, label in taken], np.int64)

    return Task(
        name="imagefolder",
        title=f"which of {len(classes)} classes a picture shows",
        classes=classes,
        samples=samples,
        build=partial(_build, len(classes)),
        num_train=min(len(files["train"]), num_train or len(files["train"])),
        num_valid=min(len(files["valid"]), num_valid or len(files["valid"])),
        batch=16,
        lr=0.05,
        budget=max(4 * len(files["train"]), 10_000),
        evaluate_every=max(len(files["train"]) // 10, 500),
    )


def _class_folders(root: Path, split: str) -> list[Path]:
    for name in _FOLDERS[split]:
        if (root / name).is_dir():
            found = sorted(folder for folder in (root / name).iterdir() if folder.is_dir())
            if not found:
                raise BadData(f"{root / name} has no folders; there should be one for each class")
            return found
    wanted = " or ".join(str(root / name) for name in _FOLDERS[split])
    raise BadData(f"there is no folder {wanted}; the layout is ROOT/train/CLASS/*.jpg and ROOT/val/CLASS/*.jpg")


def _files(root: Path, split: str, classes: tuple[str, ...]) -> list[tuple[Path, int]]:
    found: list[tuple[Path, int]] = []
    for folder in _class_folders(root, split):
        if folder.name not in classes:
            raise BadData(
                f"{folder} is of a class that has no folder in {root / 'train'}; remove it or add samples to learn"
            )
        label = classes.index(folder.name)
        found += [(file, label) for file in sorted(folder.iterdir()) if file.suffix.lower() in _SUFFIXES]
    if not found:
        raise BadData(f"there is no picture ({', '.join(sorted(_SUFFIXES))}) to {split} with in {root}")
    return found


def _build(num_classes: int, batch_norm: bool) -> Any:
    from argosy.train.tasks.models import ConvNet

    return ConvNet(channels=3, classes=num_classes, widths=(32, 64, 128), batch_norm=batch_norm)

"""Columns on their way between RAM and disk."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from argosy.errors import PlacementError
from argosy.frame.buffers import give_back_unused
from argosy.frame.keep.column import Column
from argosy.memory.tiers.disk import Disk
from argosy.memory.tiers.ram import Ram
from argosy.memory.tiers.tier import Tier


def move(columns: Sequence[Column], in_ram: Sequence[bool], disk: Disk) -> None:
    """Out of RAM first. Where one cannot go out, none comes in for it."""
    leaving = [column for column, stays in zip(columns, in_ram, strict=True) if not stays and not column.on_disk]
    coming = [column for column, stays in zip(columns, in_ram, strict=True) if stays and column.on_disk]
    left = [column for column in leaving if _moved(column, disk)]
    if len(left) == len(leaving):
        for column in coming:
            _moved(column, Ram())
    if left:
        give_back_unused()


def _moved(column: Column, tier: Tier) -> bool:
    """One for which there is no room stays where it is, for good."""
    try:
        column.move(tier)
    except (PlacementError, OSError) as error:
        say_that_they_stay([column], error)
        return False
    return True


def say_that_they_stay(columns: Sequence[Column], error: Exception) -> None:
    for column in columns:
        column.stays = True
    names = ", ".join(column.field.name for column in columns)
    warnings.warn(f"persisted columns stay where they are ({names}): {error}", RuntimeWarning, stacklevel=2)

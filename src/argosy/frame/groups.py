"""The distinct keys of a spread table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.frame.buffers import empty
from argosy.frame.kernels import group as kernels
from argosy.frame.keys import equal_keys
from argosy.frame.spread import Spread


@dataclass(frozen=True, slots=True)
class Groups:
    of_row: NDArray[Any]
    """The number of each row's group."""
    first_rows: NDArray[Any]
    """The first row of each group: by source, then as it was there."""

    @property
    def size(self) -> int:
        return len(self.first_rows)


def find_groups(spread: Spread) -> Groups:
    """Null is a key like any other."""
    rows = spread.rows
    keys = equal_keys([spread.keys], null_is_a_key=True)[0]
    word = np.int32 if rows.num_rows < 1 << 31 else np.int64
    of_row, first_rows = empty(rows.num_rows, word), empty(rows.num_rows, word)
    size = kernels.number_groups(
        *(keys.codes, keys.offsets, keys.data, rows.starts, rows.counts, spread.total_buckets, keys.exact),
        *(rows.num_rows, of_row, first_rows),
    )
    return Groups(of_row, first_rows[:size])

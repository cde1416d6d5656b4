"""What is to be learned: numbers as they are, or classes. Integers are class numbers; strings are numbered by rank in
the sorted list of all that any rank has; booleans are 0.0 and 1.0, as the losses for yes-or-no questions want them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from argosy.errors import BadData

if TYPE_CHECKING:
    from argosy.train.data.samples import Samples

Classes = tuple[Any, ...]
_MOST_CLASSES = 1 << 18
"""Integers that spread wider than this are not looked at as classes."""
_MOST_SHOWN = 10


def is_named(kind: Any) -> bool:
    """Whether a column of this type names classes."""
    return bool(pt.is_dictionary(kind) or pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def names_in(column: pa.ChunkedArray) -> set[Any]:
    """The classes that a column names."""
    found: set[Any] = set()
    for chunk in column.chunks:
        distinct = pc.unique(chunk)
        if pt.is_dictionary(distinct.type):
            distinct = distinct.dictionary_decode()
        found.update(distinct.to_pylist())
    return found


def encoded(column: pa.ChunkedArray, classes: Classes) -> list[NDArray[np.int32]]:
    """The number of each row's class, chunk by chunk."""
    return [_codes(chunk, classes) for chunk in column.chunks if len(chunk)]


def _codes(chunk: pa.Array, classes: Classes) -> NDArray[np.int32]:
    if pt.is_dictionary(chunk.type):
        codes = pc.index_in(chunk.dictionary, value_set=pa.array(classes, chunk.type.value_type))
        codes = codes.take(chunk.indices)
    else:
        codes = pc.index_in(chunk, value_set=pa.array(classes, chunk.type))
    numbers: NDArray[np.int32] = codes.to_numpy(zero_copy_only=False)
    return numbers


def numbers_in(arrays: Iterable[NDArray[Any]]) -> NDArray[np.int64] | None:
    """The distinct class numbers, or None where they spread too wide to be classes."""
    filled = [array for array in arrays if array.size]
    if not filled:
        return np.empty(0, np.int64)
    low = min(int(array.min()) for array in filled)
    high = max(int(array.max()) for array in filled)
    if high - low >= _MOST_CLASSES:
        return None
    there = np.zeros(high - low + 1, np.bool_)
    for array in filled:
        own = array.astype(np.int64, copy=False)
        there[own if low == 0 else own - low] = True
    return np.flatnonzero(there) + low


def united(found: Iterable[NDArray[np.int64] | None]) -> Classes | None:
    """The class numbers of all ranks."""
    numbers: set[int] = set()
    for own in found:
        if own is None:
            return None
        numbers.update(own.tolist())
    return tuple(sorted(numbers))


def check_known(found: Iterable[Any], classes: Classes, what: str) -> None:
    """All that were found are among the classes of training."""
    if strange := sorted({*found} - {*classes}):
        shown = ", ".join(map(repr, strange[:_MOST_SHOWN])) + (", ..." if len(strange) > _MOST_SHOWN else "")
        raise BadData(
            f"{what} has classes that training never sees on any rank: {shown}; "
            "leave those rows out, or train on samples of every class"
        )


def check_classes(train: Samples, valid: Samples | None = None) -> None:
    """No class number is below 0, and the validation data has no class that training never sees.

    The samples know the classes of all ranks, so that this is no collective, and all ranks fail alike.
    """
    for samples, what in ((train, "training"), (valid, "validation")):
        if samples is not None and samples.classes and isinstance(samples.classes[0], int) and samples.classes[0] < 0:
            raise BadData(
                f"the {what} data has class {samples.classes[0]}, but classes are numbered from 0; "
                "number them anew, leave those rows out, or make the label a float to learn it as a number"
            )
    if valid is not None and train.classes is not None and valid.classes is not None:
        check_known(valid.classes, train.classes, "the validation data")


def check_outputs(labels_max: int, num_outputs: int) -> None:
    """A model with so many outputs can name the largest class number."""
    if labels_max >= num_outputs:
        raise BadData(
            f"there is a class {labels_max}, but the model has {num_outputs} outputs, for classes 0 to "
            f"{num_outputs - 1}; give it at least {labels_max + 1} outputs"
        )

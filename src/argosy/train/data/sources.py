"""Samples of whatever was given: a table, arrays, a Dataset, or what can become a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset, IterableDataset, TensorDataset

from argosy.comm.attempt import attempt
from argosy.comm.ranks import Alone, Ranks
from argosy.errors import BadData, RanksDisagree
from argosy.train.data.arrow import check_looks, column_of, look_at
from argosy.train.data.columns import Column, Pieces, Tensor, array_column, pieces
from argosy.train.data.labels import Classes, check_known, encoded, is_named, names_in, numbers_in, united
from argosy.train.data.names import choose
from argosy.train.data.samples import ColumnSamples, RowSamples, Samples, Side

_KINDS = (
    "a pyarrow Table, a pair (inputs, labels) of arrays or tensors, a dict of arrays, a torch Dataset, "
    "or a DataFrame of pandas or Polars"
)


def samples_of(
    data: Any,
    *,
    features: str | Sequence[str] | None = None,
    label: str | None = None,
    like: Samples | None = None,
    ranks: Ranks,
) -> Samples:
    """A collective: what is wrong on one rank is raised on all.

    A `pa.Table` is this rank's own shard; everything else is the same on all ranks. The label is the column `label`, or
    the one called label, target or y; the features are all others unless named. `like` are the samples of training: a
    validation set takes the names of columns and the numbers of classes from them.

    One column of lists is a matrix over the same memory, and keeps its type, but for float64, which becomes float32 in
    the batch; numbers, or several columns, become the columns of a float32 matrix. Labels: integers become int64,
    floats float32, booleans float32 (0 and 1), strings and dictionaries the number of their class. Tensors of torch
    keep their type of float.
    """
    if like is not None:
        features = features if features is not None else like.features or None
        label = label if label is not None else like.label
    known = like.classes if like is not None else None
    if isinstance(data, pa.Table):
        return _of_table(data, features, label, known, ranks, sharded=True)
    made: list[Samples] = []

    def make() -> int:
        made.append(_of_same(data, features, label, known))
        return len(made[0])

    sizes = attempt(ranks, make).settled()
    if len(set(sizes)) > 1:
        raise RanksDisagree(
            f"every rank should have the same samples, but they have {', '.join(map(str, sizes))} of them; "
            "give a pyarrow Table where each rank has rows of its own"
        )
    return made[0]


def _of_same(data: Any, features: Any, label: str | None, known: Classes | None) -> Samples:
    """Samples that are the same on all ranks."""
    if isinstance(data, Mapping):
        return _of_arrays({str(name): values for name, values in data.items()}, features, label, known)
    if hasattr(data, "__arrow_c_stream__"):
        return _of_table(pa.table(data), features, label, known, Alone(), sharded=False)
    if features is not None or label is not None:
        raise BadData(f"features= and label= name columns, but a {type(data).__name__} has none; leave them out")
    if isinstance(data, IterableDataset):
        raise BadData(
            f"{type(data).__name__} is an IterableDataset, which has no rows to read in another order, exactly once; "
            "give a Dataset with __len__ and __getitem__, or collect the samples into arrays"
        )
    if isinstance(data, TensorDataset):
        data = data.tensors
    if isinstance(data, (tuple, list)):
        if len(data) != 2:
            raise BadData(f"data must be a pair (inputs, labels), but has {len(data)} parts")
        return _of_pair(data[0], data[1], known)
    if isinstance(data, Dataset) or (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        targets = getattr(data, "targets", ())  # the labels of torchvision's, known without reading all samples
        return RowSamples(dataset=data, classes=_class_numbers(targets) if len(targets) == len(data) else None)
    raise BadData(f"cannot learn from {type(data).__name__}; give {_KINDS}")


def _of_table(
    table: pa.Table, features: Any, label: str | None, known: Classes | None, ranks: Ranks, *, sharded: bool
) -> Samples:
    def look() -> tuple[Any, ...]:
        chosen, target = choose(table.column_names, features, label)
        looks = {name: look_at(table.column(name)) for name in (*chosen, target)}
        return chosen, target, looks, _found(table.column(target)) if not looks[target].nulls else None

    everyone = attempt(ranks, look).settled()
    chosen, target, _, _ = everyone[ranks.rank]
    for rank, (others, theirs, _, _) in enumerate(everyone):
        if (others, theirs) != everyone[0][:2]:
            raise RanksDisagree(
                f"rank {rank} has other columns than rank 0: {', '.join((*others, theirs))} "
                f"instead of {', '.join((*everyone[0][0], everyone[0][1]))}"
            )
    shapes = {name: check_looks(name, [looks[name] for _, _, looks, _ in everyone]) for name in (*chosen, target)}
    named = is_named(table.column(target).type)
    classes = _all_classes([found for *_, found in everyone], named, known)

    def make() -> ColumnSamples:
        columns: list[Column] = [column_of(name, table.column(name), shapes[name]) for name in chosen]
        column = table.column(target)
        if named:
            codes = encoded(column, classes or ())
            at = [array.ctypes.data for array in codes]
            labels: Column = pieces(at, list(map(len, codes)), np.dtype(np.int32), (), codes)
        else:
            labels = column_of(target, column, shapes[target])
            _check_not_half(labels, target)
        real = pa.types.is_boolean(column.type)
        inputs = _inputs(columns, chosen)
        return ColumnSamples(
            sharded=sharded, inputs=inputs, labels=_labels(labels, real), classes=classes, features=chosen, label=target
        )

    made: list[ColumnSamples] = []
    attempt(ranks, lambda: made.append(make())).settled()
    return made[0]


def _found(column: pa.ChunkedArray) -> set[Any] | NDArray[np.int64] | None:
    """The classes on this rank."""
    if is_named(column.type):
        return names_in(column)
    if pa.types.is_integer(column.type):
        return numbers_in(chunk.to_numpy() for chunk in column.chunks)
    return None


def _all_classes(found: list[Any], named: bool, known: Classes | None) -> Classes | None:
    if not named:
        return united(found)
    names = set().union(*found)
    if known is None:
        return tuple(sorted(names))
    check_known(names, known, "the validation data")
    return known


def _of_pair(inputs: Any, labels: Any, known: Classes | None) -> Samples:
    inputs, labels = _array("the inputs", inputs), _array("the labels", labels)
    if len(inputs) != len(labels):
        raise BadData(f"there are {len(inputs)} inputs but {len(labels)} labels; give one label for each input")
    column = _column("the inputs", inputs)
    labels, classes = _with_classes(labels, known)
    side = _labels(_column("the labels", labels), _is_boolean(labels))
    dtype = torch.float32 if _is_boolean(inputs) else _batch_type(column)
    return ColumnSamples(
        sharded=False, inputs=Side(columns=(column,), shape=column.shape, dtype=dtype), labels=side, classes=classes
    )


def _of_arrays(data: dict[str, Any], features: Any, label: str | None, known: Classes | None) -> Samples:
    chosen, target = choose(list(data), features, label)
    arrays = {name: _array(f"column {name!r}", data[name]) for name in (*chosen, target)}
    sizes = {name: len(array) for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise BadData(f"columns have unequal numbers of rows: {shown}")
    labels, classes = _with_classes(arrays[target], known)
    columns = [_column(f"column {name!r}", arrays[name]) for name in chosen]
    return ColumnSamples(
        sharded=False,
        inputs=_inputs(columns, chosen),
        labels=_labels(_column(f"column {target!r}", labels), _is_boolean(labels)),
        classes=classes,
        features=chosen,
        label=target,
    )


def _array(what: str, values: Any) -> Any:
    """A tensor, or an array of numbers or strings, with at least one dimension."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise BadData(f"{what} have masked values; fill them (`.filled(0)`), or leave those rows out")
    try:
        array = values.detach() if torch.is_tensor(values) else np.asarray(values)
    except ValueError:
        raise BadData(f"{what} have rows of unequal length; pad or cut them to one length") from None
    if array.ndim == 0:
        raise BadData(f"{what} should be an array with a row for each sample, but are a single value")
    return array


def _column(what: str, array: Any) -> Column:
    if torch.is_tensor(array):
        return Tensor(array)
    if array.dtype.kind not in "biuf":
        raise BadData(f"{what}: an array of {array.dtype} is nothing a model can learn from; convert it to numbers")
    return array_column(array)


def _with_classes(labels: Any, known: Classes | None) -> tuple[Any, Classes | None]:
    """Labels as numbers, and the classes."""
    if torch.is_tensor(labels) or labels.dtype.kind not in "OUT":
        return labels, _class_numbers(labels)
    names, codes = np.unique(labels, return_inverse=True)
    classes = tuple(names.tolist())
    if not all(isinstance(name, str) for name in classes):
        raise BadData("labels that are no numbers must all be strings; there are others, or None, among them")
    if known is not None:
        check_known(classes, known, "the validation data")
        codes = np.array([known.index(name) for name in classes], np.int64)[codes]
        classes = known
    return codes.astype(np.int64), classes


def _class_numbers(labels: Any) -> Classes | None:
    if torch.is_tensor(labels):
        integers = not (labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool)
        labels = labels.cpu().numpy() if integers else np.empty(0)
    array = np.asarray(labels)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        return None
    return united([numbers_in([array])])


def _is_boolean(array: Any) -> bool:
    return bool(array.dtype in (torch.bool, np.bool_))


def _batch_type(column: Column) -> Any:
    """Its own, but numbers of double precision come from NumPy and Arrow by default rather than by choice."""
    double = column.dtype == torch.float64 and not isinstance(column, Tensor)
    return torch.float32 if double or column.dtype == torch.bool else column.dtype


def _inputs(columns: Sequence[Column], names: Sequence[str]) -> Side:
    if len(columns) == 1 and columns[0].shape:
        return Side(columns=tuple(columns), shape=columns[0].shape, dtype=_batch_type(columns[0]))
    for column, name in zip(columns, names, strict=True):
        _check_not_half(column, name)
    width = sum(prod(column.shape) for column in columns)
    return Side(columns=tuple(columns), shape=(width,), dtype=torch.float32)


def _check_not_half(column: Column, name: str) -> None:
    """Kernels copy numbers of half precision, but cannot convert them."""
    if isinstance(column, Pieces) and column.dtype == torch.float16:
        raise BadData(f"column {name!r} is of half precision, and no matrix by itself; cast it to float32")


def _labels(column: Column, boolean: bool) -> Side:
    dtype = column.dtype
    if boolean or dtype == torch.bool:
        dtype = torch.float32
    elif not dtype.is_floating_point:
        dtype = torch.int64
    elif not isinstance(column, Tensor):
        dtype = torch.float32
    return Side(columns=(column,), shape=column.shape, dtype=dtype)

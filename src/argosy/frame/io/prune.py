"""Which pieces a predicate rules out before they are read.

Arrow decides: it simplifies the predicate with what is known of a piece and says whether it can still be true. A
predicate is taken apart at its top-level `&`; a part that Arrow has no word for rules out nothing.

`pyarrow.dataset` imports pandas where that is installed, so it is imported only where a predicate asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from argosy.frame.expressions.arrow import to_arrow
from argosy.frame.expressions.columns import conjuncts
from argosy.frame.io.faults import reading
from argosy.frame.io.source import KeyValue, Piece

if TYPE_CHECKING:
    from argosy.frame.expressions.nodes import Expr

NUM_THREADS = 16
INT96_UNIT = "us"
"""In nanoseconds the last day of the year 9999, which stands for "never" in many tables, would be one of 1816."""
_NO_WORD = (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError)


def prune_by_keys(pieces: Sequence[Piece], predicate: Expr, schema: pa.Schema) -> tuple[Piece, ...]:
    """The pieces whose hive values leave the predicate a chance."""
    asked = _asked(predicate, schema)
    if asked is None:
        return tuple(pieces)
    known = {piece.keys: _keys_are(piece.keys, schema) for piece in pieces}
    possible = dict(zip(known, _can_be_true(asked, list(known.values()), schema), strict=True))
    return tuple(piece for piece in pieces if possible[piece.keys])


def prune_by_statistics(
    pieces: Sequence[Piece], predicate: Expr, schema: pa.Schema, filesystem: fs.FileSystem
) -> tuple[Piece, ...]:
    """The Parquet row groups whose statistics leave the predicate a chance. Reads the footers of their files again."""
    from pyarrow import dataset

    asked = _asked(predicate, schema)
    if asked is None:
        return tuple(pieces)
    keys = {piece.path: piece.keys for piece in pieces}
    options = dataset.ParquetReadOptions(coerce_int96_timestamp_unit=INT96_UNIT)

    def possible(path: str) -> set[int]:
        guarantee = _keys_are(keys[path], schema)
        form = dataset.ParquetFileFormat(read_options=options)
        fragment = form.make_fragment(path, filesystem, partition_expression=guarantee)
        with reading(path, "a Parquet file"):
            fragment.ensure_complete_metadata()
        return {group.id for group in fragment.subset(asked, schema=schema).row_groups}

    try:
        with ThreadPoolExecutor(NUM_THREADS) as pool:
            kept = dict(zip(keys, pool.map(possible, keys), strict=True))
    except _NO_WORD:
        return tuple(pieces)
    return tuple(piece for piece in pieces if piece.start in kept[piece.path])


def _asked(predicate: Expr, schema: pa.Schema) -> pc.Expression | None:
    """What Arrow has words for; None if nothing of it."""
    parts = [arrow for part in conjuncts(predicate) if (arrow := to_arrow(part, schema)) is not None]
    return _all_of(parts) if parts else None


def _all_of(parts: Iterable[pc.Expression]) -> pc.Expression:
    return reduce(and_, parts, pc.scalar(True))


def _can_be_true(asked: pc.Expression, known: Sequence[pc.Expression], schema: pa.Schema) -> list[bool]:
    """For each thing that may be known of a row, whether `asked` can be true of it."""
    from pyarrow import dataset

    nowhere, form = fs.LocalFileSystem(), dataset.IpcFileFormat()
    fragments = [
        form.make_fragment(str(place), nowhere, partition_expression=guarantee) for place, guarantee in enumerate(known)
    ]
    together = dataset.FileSystemDataset(fragments, schema, form, nowhere)
    try:
        possible = {fragment.path for fragment in together.get_fragments(filter=asked)}
    except _NO_WORD:
        return [True] * len(known)
    return [str(place) in possible for place in range(len(known))]


def _keys_are(keys: Iterable[tuple[str, KeyValue]], schema: pa.Schema) -> pc.Expression:
    return _all_of(
        pc.field(name).is_null() if value is None else pc.field(name) == pa.scalar(value, schema.field(name).type)
        for name, value in keys
        if name in schema.names
    )

"""How large the columns of a Parquet row group are as Arrow arrays."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.parquet as pq


def column_nbytes(group: pq.RowGroupMetaData, schema: pa.Schema, columns: Collection[str]) -> dict[str, int]:
    """The estimate for each of these columns of the file, in the file's order.

    A fixed width is exact. For text the encoded size counts, except where a dictionary stands for the values: there
    each row counts as long as the longer of the smallest and the largest value.
    """
    sizes: dict[str, int] = {}
    leaf = 0
    for field in schema:
        leaves = range(leaf, leaf + _num_leaves(field.type))
        leaf = leaves.stop
        if field.name in columns:
            sizes[field.name] = _nbytes(group, field.type, leaves)
    return sizes


def _num_leaves(kind: pa.DataType) -> int:
    """How many Parquet columns hold one Arrow column."""
    if isinstance(kind, pa.BaseExtensionType):
        return _num_leaves(kind.storage_type)
    if pa.types.is_nested(kind):
        return sum(_num_leaves(kind.field(place).type) for place in range(kind.num_fields))
    return 1


def _nbytes(group: pq.RowGroupMetaData, kind: pa.DataType, leaves: range) -> int:
    validity: int = group.num_rows // 8 + 1
    if pa.types.is_null(kind):
        return validity
    try:
        return int(group.num_rows * kind.bit_width) // 8 + validity
    except ValueError:
        return validity + sum(_varying_nbytes(group.column(leaf), group.num_rows) for leaf in leaves)


def _varying_nbytes(chunk: pq.ColumnChunkMetaData, num_rows: int) -> int:
    encoded: int = chunk.total_uncompressed_size + 4 * num_rows
    if chunk.physical_type != "BYTE_ARRAY" or not chunk.has_dictionary_page or not chunk.is_stats_set:
        return max(encoded, int(chunk.num_values) * 8 + 4 * num_rows)
    statistics = chunk.statistics
    if not statistics.has_min_max:
        return encoded
    longest = max(_length(statistics.min), _length(statistics.max))
    return max(encoded, int(statistics.num_values) * longest + 4 * num_rows)


def _length(value: object) -> int:
    if isinstance(value, str):
        return len(value.encode())
    return len(value) if isinstance(value, bytes) else 16

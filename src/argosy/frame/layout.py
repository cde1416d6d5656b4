"""Columns as frames keep them. Arrow has several layouts for the same values, and few functions for some of them:
strings and lists as views (Polars hands out such strings), run lengths, dictionaries of lists, extension types, and
each of these inside of another type. They are laid out plainly where a table comes in, from this process or from a
file, so that everything behind works on them. Dictionaries get indices with room for the values of other ranks too.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from argosy.errors import TypeMismatch


def plain_layout(kind: pa.DataType) -> pa.DataType:
    """The type of the same values in a frame. Raises TypeMismatch for what a frame cannot have."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.bool_() if kind.extension_name == "arrow.bool8" else plain_layout(kind.storage_type)
    if pt.is_union(kind):
        raise TypeMismatch(f"a frame has no columns of type {kind}; make a column for each of its types")
    if pt.is_decimal(kind) and kind.scale < 0:
        digits = kind.precision - kind.scale
        return pa.decimal128(digits, 0) if digits <= 38 else pa.decimal256(digits, 0)
    if pt.is_string_view(kind):
        return pa.large_string()
    if pt.is_binary_view(kind):
        return pa.large_binary()
    if pt.is_run_end_encoded(kind):
        return plain_layout(kind.value_type)
    if pt.is_dictionary(kind):
        values = plain_layout(kind.value_type)
        index = kind.index_type if kind.index_type.bit_width >= 32 else pa.int32()
        return values if pt.is_nested(values) else pa.dictionary(index, values, kind.ordered)
    if pt.is_struct(kind):
        return pa.struct([plain_field(kind.field(index)) for index in range(kind.num_fields)])
    if pt.is_map(kind):
        return pa.map_(plain_field(kind.key_field), plain_field(kind.item_field), kind.keys_sorted)
    if pt.is_fixed_size_list(kind):
        return pa.list_(plain_field(kind.value_field), kind.list_size)
    if pt.is_list(kind) or pt.is_list_view(kind):
        return pa.list_(plain_field(kind.value_field))
    if pt.is_large_list(kind) or pt.is_large_list_view(kind):
        return pa.large_list(plain_field(kind.value_field))
    return kind


def laid_out(table: pa.Table) -> pa.Table:
    """The table with every column in the layout of frames; over the same memory where it has that already."""
    fields = [plain_field(field) for field in table.schema]
    if all(one.type.equals(field.type) for one, field in zip(fields, table.schema, strict=True)):
        return table
    columns = [
        column
        if column.type.equals(field.type)
        else pa.chunked_array([_laid_out(chunk) for chunk in column.chunks], field.type)
        for column, field in zip(table.columns, fields, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields, table.schema.metadata))


def plain_field(field: pa.Field) -> pa.Field:
    try:
        return field.with_type(plain_layout(field.type))
    except TypeMismatch as error:
        raise TypeMismatch(f"column {field.name!r}: {error}") from None


def laid_out_scalar(scalar: pa.Scalar) -> pa.Scalar:
    if scalar.type.equals(plain_layout(scalar.type)):
        return scalar
    return _laid_out(pa.repeat(scalar, 1))[0]


def _laid_out(array: pa.Array) -> pa.Array:
    kind, wanted = array.type, plain_layout(array.type)
    if kind.equals(wanted):
        return array
    if pt.is_run_end_encoded(kind):
        return _laid_out(pc.run_end_decode(array))
    if isinstance(kind, pa.BaseExtensionType):
        return array.cast(wanted) if kind.extension_name == "arrow.bool8" else _laid_out(array.storage)
    if pt.is_dictionary(kind) and not pt.is_dictionary(wanted):
        return _laid_out(array.dictionary).take(array.indices)
    if pt.is_dictionary(kind):
        indices = array.indices.cast(wanted.index_type)
        return pa.DictionaryArray.from_arrays(indices, _laid_out(array.dictionary), ordered=kind.ordered)
    if pt.is_list_view(kind) or pt.is_large_list_view(kind):
        return _listed(array, wanted)
    if pt.is_struct(kind):
        parts = [_laid_out(array.field(index)) for index in range(kind.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=list(wanted), mask=pc.is_null(array))
    if pt.is_map(kind):
        entries = pa.StructArray.from_arrays([array.keys, array.items], fields=[kind.key_field, kind.item_field])
        return _around(array, wanted, entries)
    if pt.is_nested(kind):
        return _around(array, wanted, array.values)
    return array.cast(wanted)


def _around(array: pa.Array, wanted: pa.DataType, values: pa.Array) -> pa.Array:
    """The same lists, of these values."""
    own = array.buffers()[: 1 if pt.is_fixed_size_list(wanted) else 2]
    return pa.Array.from_buffers(wanted, len(array), own, offset=array.offset, children=[_laid_out(values)])


def _listed(views: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Lists that lie one after another."""
    offsets = np.zeros(len(views) + 1, np.int64 if pt.is_large_list(wanted) else np.int32)
    np.cumsum(pc.fill_null(pc.list_value_length(views), 0).to_numpy(), out=offsets[1:])
    there = None if views.null_count == 0 else views.is_valid().buffers()[1]
    values = _laid_out(views.flatten())
    return pa.Array.from_buffers(wanted, len(views), [there, pa.py_buffer(offsets)], children=[values])

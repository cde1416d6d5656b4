"""Values in expressions, as Arrow scalars.

A plain Python number is weak: beside a column it takes the column's type where it fits, so that `col("a") + 1` keeps
the type of `a`. An Arrow scalar has exactly its own type.
"""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import numpy as np
import pyarrow as pa

from argosy.arguments import shallow, show
from argosy.errors import TypeMismatch
from argosy.frame.layout import laid_out_scalar

_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def scalar_of(value: Any) -> tuple[pa.Scalar, bool]:
    """The value as an Arrow scalar, and whether its type is weak."""
    if isinstance(value, pa.Scalar):
        return laid_out_scalar(value), False
    if isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64)):
        value = value.item()
    weak = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(value, list | tuple | dict) or (isinstance(value, np.ndarray) and value.dtype.kind == "O"):
        shallow("a value in an expression", value)
    try:
        if isinstance(value, int) and not isinstance(value, bool) and value > 2**63 - 1:
            return pa.scalar(value, pa.uint64()), weak
        return pa.scalar(value), weak
    except OverflowError as error:
        raise TypeMismatch(
            f"the value {show(value)} does not fit into 64 bits; use decimal.Decimal for such numbers"
        ) from error
    except Exception as error:  # of Arrow, or of a value that was asked for something
        raise TypeMismatch(
            f"a {type(value).__name__} cannot be a value in an expression ({str(error)[:200]}): {show(value)}; "
            "use numbers, strings, dates, None or a pyarrow scalar"
        ) from error


def settled_type(scalar: pa.Scalar, beside: pa.DataType) -> pa.DataType:
    """The type that a weak number takes beside a column of this type."""
    value = scalar.as_py()
    if isinstance(value, float):
        return beside if pa.types.is_floating(beside) and _has_room(value, beside) else scalar.type
    if pa.types.is_integer(beside):
        low, high = integer_range(beside)
        return beside if low <= value <= high else scalar.type
    if pa.types.is_floating(beside):
        exact = 2**24 if pa.types.is_float32(beside) else 2**53
        return beside if abs(value) <= exact else pa.float64()
    if pa.types.is_decimal(beside):
        return pa.decimal128(len(str(abs(value))), 0)
    return scalar.type


def _has_room(value: float, kind: pa.DataType) -> bool:
    """Whether it does not become infinite."""
    return pa.types.is_float64(kind) or not math.isfinite(value) or abs(value) <= _LARGEST_FLOAT32


def settle(scalar: pa.Scalar, kind: pa.DataType) -> pa.Scalar:
    """A weak number as the type that it takes."""
    value = scalar.as_py()
    return pa.scalar(float(value) if pa.types.is_floating(kind) else value, kind)


def integer_range(kind: pa.DataType) -> tuple[int, int]:
    bits = kind.bit_width
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if pa.types.is_signed_integer(kind) else (0, 2**bits - 1)


def text_of(scalar: pa.Scalar) -> str:
    """The scalar as a reader would write it. Equal texts and equal types mean equal scalars."""
    if not scalar.is_valid:
        return "None"
    kind = scalar.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return repr(scalar.cast(pa.string()).as_py())  # a Python datetime has no nanoseconds
    if pa.types.is_duration(kind) and kind.unit == "ns":
        return f"{scalar.value} ns"
    value = scalar.as_py()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return repr(value.isoformat())
    return repr(value)

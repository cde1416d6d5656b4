"""Eight bytes at a time, at any place in an array of bytes. Numba itself would go byte by byte."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from argosy.frame.kernels.compile import inline

U = np.uint64


def _address(context: Any, builder: Any, array_type: Any, array: Any, at: Any, bits: int) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), ir.IntType(bits).as_pointer())


def _make_load(bits: int, kind: Any) -> Any:
    def load(_typing: Any, array: Any, at: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            found = builder.load(_address(context, builder, signature.args[0], args[0], args[1], bits))
            found.align = 1
            return found

        return kind(array, types.int64), generate

    return intrinsic(load)


def _make_store(bits: int, kind: Any) -> Any:
    def store(_typing: Any, array: Any, at: Any, value: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            put = builder.store(args[2], _address(context, builder, signature.args[0], args[0], args[1], bits))
            put.align = 1
            return context.get_dummy_value()

        return types.void(array, types.int64, kind), generate

    return intrinsic(store)


load64 = _make_load(64, types.uint64)
load32 = _make_load(32, types.uint32)
store64 = _make_store(64, types.uint64)
store32 = _make_store(32, types.uint32)


@inline
def copy(source: Any, at: Any, stop: Any, out: Any, to: Any) -> None:
    """Bytes `at` to `stop` to the place `to`; words may overlap, but nothing else is written."""
    length = stop - at
    if length >= 8:
        end = to + length - 8
        last = load64(source, stop - 8)
        while to < end:
            store64(out, to, load64(source, at))
            at += 8
            to += 8
        store64(out, end, last)
    elif length >= 4:
        last_half = load32(source, stop - 4)
        store32(out, to, load32(source, at))
        store32(out, to + length - 4, last_half)
    else:
        while at < stop:
            out[to] = source[at]
            at += 1
            to += 1


@inline
def same(one: Any, at: Any, other: Any, other_at: Any, length: Any) -> Any:
    """Whether `length` bytes are the same."""
    if length >= 8:
        end = length - 8
        k = 0
        while k < end:
            if load64(one, at + k) != load64(other, other_at + k):
                return False
            k += 8
        return load64(one, at + end) == load64(other, other_at + end)
    if length >= 4:
        return load32(one, at) == load32(other, other_at) and load32(one, at + length - 4) == load32(
            other, other_at + length - 4
        )
    for k in range(length):  # noqa: SIM110
        if one[at + k] != other[other_at + k]:
            return False
    return True


@inline
def tail(data: Any, at: Any, stop: Any) -> Any:
    """Up to eight bytes from `at` to `stop` as one number."""
    length = stop - at
    if length >= 8:
        return load64(data, at)
    if length >= 4:
        return U(load32(data, at)) | (U(load32(data, stop - 4)) << U(32))
    word = U(0)
    while at < stop:
        word = (word << U(8)) | U(data[at])
        at += 1
    return word

"""Bytes by their address, eight at a time, at any place. Numba itself would go byte by byte, and would count references
to every array that one compiled function passes to another.

Whoever takes an address keeps the array alive: it is an argument of the kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from argosy.frame.kernels.compile import inline

U = np.uint64


def _address(_typing: Any, array: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), generate


address: Any = intrinsic(_address)
"""Where the first byte of an array lies."""


def _make_load(bits: int, kind: Any) -> Any:
    def load(_typing: Any, at: Any) -> Any:  # noqa: ARG001
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            found = builder.load(builder.inttoptr(args[0], ir.IntType(bits).as_pointer()))
            found.align = 1
            return found

        return kind(types.int64), generate

    return intrinsic(load)


def _make_store(bits: int, kind: Any) -> Any:
    def store(_typing: Any, at: Any, value: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            put = builder.store(args[1], builder.inttoptr(args[0], ir.IntType(bits).as_pointer()))
            put.align = 1
            return context.get_dummy_value()

        return types.void(types.int64, kind), generate

    return intrinsic(store)


load64 = _make_load(64, types.uint64)
load32 = _make_load(32, types.uint32)
load8 = _make_load(8, types.uint8)
store64 = _make_store(64, types.uint64)
store32 = _make_store(32, types.uint32)
store8 = _make_store(8, types.uint8)


@inline
def copy(at: Any, to: Any, length: Any) -> None:
    """Words may overlap, but nothing is written outside the `length` bytes."""
    if length >= 8:
        last = load64(at + length - 8)
        end = to + length - 8
        while to < end:
            store64(to, load64(at))
            at += 8
            to += 8
        store64(end, last)
    elif length >= 4:
        last_half = load32(at + length - 4)
        store32(to, load32(at))
        store32(to + length - 4, last_half)
    else:
        for k in range(length):
            store8(to + k, load8(at + k))


@inline
def same(one: Any, other: Any, length: Any) -> Any:
    """Whether `length` bytes are the same."""
    if length >= 8:
        end = length - 8
        k = 0
        while k < end:
            if load64(one + k) != load64(other + k):
                return False
            k += 8
        return load64(one + end) == load64(other + end)
    if length >= 4:
        first = load32(one) == load32(other)
        return first and load32(one + length - 4) == load32(other + length - 4)
    for k in range(length):  # noqa: SIM110
        if load8(one + k) != load8(other + k):
            return False
    return True


@inline
def is_less(one: Any, length: Any, other: Any, other_length: Any) -> Any:
    """Whether the bytes at `one` come before those at `other`."""
    shared = min(length, other_length)
    k = 0
    while k + 8 <= shared and load64(one + k) == load64(other + k):
        k += 8
    while k < shared:
        if load8(one + k) != load8(other + k):
            return load8(one + k) < load8(other + k)
        k += 1
    return length < other_length


@inline
def tail(at: Any, length: Any) -> Any:
    """Up to eight bytes as one number."""
    if length >= 8:
        return load64(at)
    if length >= 4:
        return U(load32(at)) | (U(load32(at + length - 4)) << U(32))
    word = U(0)
    for k in range(length):
        word = (word << U(8)) | U(load8(at + k))
    return word

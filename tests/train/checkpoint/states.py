"""Random states for laws, and whether two of them are the same, bit for bit."""

from __future__ import annotations

import random
import struct
from collections import Counter, OrderedDict
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.bool, torch.uint8, torch.int64]
DTYPES += [torch.int8, torch.uint16, torch.complex64, torch.float8_e4m3fn]
SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (3, 0, 2), (5,), (7, 3), (33, 17), (2, 3, 4)]


def tensor_of(dtype: torch.dtype, shape: tuple[int, ...], how: str, seed: int) -> torch.Tensor:
    """Random bits: also NaNs of every kind."""
    draw = np.random.default_rng(seed)
    if dtype is torch.bool:
        tensor = torch.from_numpy(draw.integers(0, 2, shape).astype(bool).reshape(shape))
    else:
        tensor = torch.empty(shape, dtype=dtype)
        if tensor.numel():
            tensor.view(-1).view(torch.uint8).copy_(torch.from_numpy(draw.integers(0, 256, tensor.nbytes, np.uint8)))
    if how == "turned" and tensor.dim() >= 2:
        return tensor.transpose(0, -1)
    if how == "every other" and tensor.dim() >= 1:
        return tensor[::2]
    if how == "spread":
        return tensor.unsqueeze(0).expand(3, *shape)
    return tensor


tensors = st.builds(
    tensor_of,
    st.sampled_from(DTYPES),
    st.sampled_from(SHAPES),
    st.sampled_from(["plain", "turned", "every other", "spread"]),
    st.integers(0, 1000),
)
arrays = st.builds(
    lambda dtype, shape, seed: np.random.default_rng(seed).integers(0, 100, shape).astype(dtype),
    st.sampled_from(["<f8", ">i4", "<u2", "?", "<U3", "M8[s]", "<c16"]),
    st.sampled_from(SHAPES),
    st.integers(0, 1000),
)
floats = st.floats() | st.sampled_from([-0.0, struct.unpack("<d", bytes.fromhex("010000000000f07f"))[0]])
plain = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 140), 1 << 140)
    | floats
    | st.complex_numbers()
    | st.text(st.characters(exclude_categories=()), max_size=5)
    | st.binary(max_size=100)
    | st.sampled_from([np.float32(0.1), np.int64(7), torch.Size([2, 3]), torch.bfloat16, torch.device("cpu")])
    | st.sampled_from([{1, 2}, frozenset({"a"}), Counter({10: 2})])
    | st.builds(lambda seed: random.Random(seed).getstate(), st.integers(0, 9))
    | st.builds(lambda seed: np.random.RandomState(seed).get_state(), st.integers(0, 9))
    | st.builds(lambda seed: np.random.default_rng(seed).bit_generator.state, st.integers(0, 9))
)
keys = st.text(max_size=4) | st.integers() | st.tuples(st.integers(), st.booleans())
values = st.recursive(
    plain | tensors | arrays,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
        | st.dictionaries(keys, inner, max_size=3).map(OrderedDict)
    ),
    max_leaves=8,
)
states: st.SearchStrategy[dict[str, Any]] = st.dictionaries(st.text(max_size=4), values, max_size=4)


def same(one: Any, other: Any) -> bool:
    """Of the same types, in the same order, with the same bits."""
    if isinstance(one, torch.Tensor):
        return (
            isinstance(other, torch.Tensor)
            and (one.dtype, one.shape) == (other.dtype, other.shape)
            and bits(one) == bits(other)
        )
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return (one.dtype.str, one.shape, one.tobytes()) == (other.dtype.str, other.shape, other.tobytes())
    if isinstance(one, np.generic):
        return (one.dtype.str, one.tobytes()) == (other.dtype.str, other.tobytes())
    if isinstance(one, float):
        return struct.pack("<d", one) == struct.pack("<d", other)
    if isinstance(one, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    if isinstance(one, dict):
        return same(list(one), list(other)) and same(list(one.values()), list(other.values()))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def bits(tensor: torch.Tensor) -> bytes:
    if tensor.numel() == 0:
        return b""
    flat = torch.empty(tensor.numel(), dtype=tensor.dtype)
    flat.view(tensor.shape).copy_(tensor.detach())
    return flat.view(torch.uint8).numpy().tobytes()

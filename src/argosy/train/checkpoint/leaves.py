"""A tensor, an array or bytes: what is written raw, and comes back equal bit for bit."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch

from argosy.errors import BadCheckpoint

CHUNK_NBYTES = 8 << 20
"""No more than this is copied from a device, written or checked at a time."""

_TENSORS = (torch.Tensor, torch.nn.Parameter)
_DTYPES = {
    name: getattr(torch, name)
    for name in (
        *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
        *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
        *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
    )
    if hasattr(torch, name)
}
_ARRAY_KINDS = "biufcmMSU"
_ARRAY_DTYPE = re.compile(rf"[<>|=]?[{_ARRAY_KINDS}]\d+(\[\d*\w+\])?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """What raw bytes are: a `tensor`, an `array` or `bytes`."""

    kind: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int

    def __str__(self) -> str:
        return f"{self.kind} {self.dtype} {list(self.shape)}"


def checked(form: Form) -> Form:
    """Raises ValueError for what `form_of` would never say: a file may have been made by anybody."""
    if form.kind == "tensor":
        item = _DTYPES[form.dtype].itemsize
    elif form.kind in ("array", "bytes"):
        item = plain_dtype(form.dtype).itemsize
    else:
        raise ValueError(f"a leaf of the kind {form.kind!r}")
    whole = all(type(size) is int and size >= 0 for size in form.shape)
    if not whole or form.nbytes != item * prod(form.shape):
        raise ValueError(f"a {form.kind} of {form.dtype} and the shape {form.shape} in {form.nbytes} bytes")
    return form


def plain_dtype(name: str) -> np.dtype[Any]:
    """Of numbers, times or text; never of objects."""
    if not _ARRAY_DTYPE.fullmatch(name):
        raise ValueError(f"an array of {name!r}")
    return np.dtype(name)


def is_leaf(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, np.ndarray)) or type(value) is bytes


def form_of(value: Any, name: str) -> Form:
    """Refuses what raw bytes cannot tell: sparse, quantized and distributed tensors, arrays of objects."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        if why := _why_not(value, dtype):
            raise BadCheckpoint(f"{name} cannot be saved: {why}")
        return Form(kind="tensor", dtype=dtype, shape=tuple(value.shape), nbytes=value.numel() * value.element_size())
    if type(value) is bytes:
        return Form(kind="bytes", dtype="|u1", shape=(len(value),), nbytes=len(value))
    if type(value) is not np.ndarray or value.dtype.kind not in _ARRAY_KINDS:
        raise BadCheckpoint(
            f"{name} cannot be saved: it is a {type(value).__qualname__} of {value.dtype}; "
            "save plain arrays of numbers, times or text"
        )
    return Form(kind="array", dtype=value.dtype.str, shape=value.shape, nbytes=value.nbytes)


def _why_not(tensor: torch.Tensor, dtype: str) -> str:
    if hasattr(tensor, "to_local"):
        return "it is a distributed tensor; put each rank's shard, `.to_local()`, into what is the rank's own"
    if type(tensor) not in _TENSORS:
        return f"it is a {type(tensor).__qualname__}; save the plain tensors that it is made of"
    if tensor.layout is not torch.strided:
        return f"it is a tensor of layout {tensor.layout}; save `.to_dense()`, or its indices and values"
    if tensor.is_quantized or dtype not in _DTYPES:
        return f"it is a tensor of {tensor.dtype}; save `.int_repr()` and the scale, or another type"
    if tensor.device.type == "meta":
        return "it is a tensor on the device `meta`, which has no values"
    return ""


def place_of(value: Any) -> Hashable:
    """Equal for two tensors that are the same memory, seen in the same way; None where nobody can tell."""
    if not isinstance(value, torch.Tensor) or value.numel() == 0:
        return None
    signs = value.is_conj(), value.is_neg()
    return str(value.device), value.data_ptr(), value.dtype, tuple(value.shape), value.stride(), signs


def chunks(value: Any, start: int, stop: int) -> Iterator[memoryview]:
    """Bytes `start:stop`, a bounded number at a time. What lies on the host in one piece is not copied; a tensor with
    strides is copied once, whole."""
    if isinstance(value, torch.Tensor):
        held = value.detach().resolve_conj().resolve_neg().contiguous()
        # one element may have any stride and is contiguous all the same
        flat = held.as_strided((held.numel(),), (1,)).view(torch.uint8)
        for at in range(start, stop, CHUNK_NBYTES):
            yield flat[at : min(at + CHUNK_NBYTES, stop)].cpu().numpy().data
        return
    array = np.frombuffer(value, np.uint8) if type(value) is bytes else np.ascontiguousarray(value)
    view = array.reshape(-1).view(np.uint8).data
    for at in range(start, stop, CHUNK_NBYTES):
        yield view[at : min(at + CHUNK_NBYTES, stop)]


class Room:
    """Memory for one leaf that is to be read: fill `view`, then take `value`."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._held: Any
        if form.kind == "tensor":
            self._held = torch.empty(form.shape, dtype=_DTYPES[form.dtype])
            flat = self._held.reshape(-1).view(torch.uint8).numpy() if form.nbytes else np.empty(0, np.uint8)
        else:
            self._held = np.empty(form.shape, np.dtype(form.dtype))
            flat = self._held.reshape(-1).view(np.uint8) if form.nbytes else np.empty(0, np.uint8)
        self.view: memoryview = flat.data

    @property
    def value(self) -> Any:
        return self._held.tobytes() if self._form.kind == "bytes" else self._held

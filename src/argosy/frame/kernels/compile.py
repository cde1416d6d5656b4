"""Kernels are compiled once on a machine, each by one process at a time, and kept on disk."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba

from argosy.frame.kernels.cache import cache_folder
from argosy.frame.loading import loading

on_compile: Callable[[str], None] | None = None
"""Called with a kernel's name just before it is compiled, not when it is found on disk."""

_config: Any = numba.config
_normalize: Any = numba.core.sigutils.normalize_signature
_all: dict[str, Any] = {}
_SHAPES: dict[str, list[str]] = {}


def kernel(*signatures: str) -> Callable[[Callable[..., Any]], Any]:
    """Make a compiled function. `signatures` are those that `prepare` compiles ahead; others compile when called."""

    def make(function: Callable[..., Any]) -> Any:
        previous, _config.CACHE_DIR = _config.CACHE_DIR, str(cache_folder())
        try:
            dispatcher = numba.njit(function, cache=True, nogil=True, error_model="numpy")
        finally:
            _config.CACHE_DIR = previous
        _guard(dispatcher, function.__name__)
        _all[function.__name__] = dispatcher
        _SHAPES[function.__name__] = list(signatures)
        return dispatcher

    return make


def inline(function: Callable[..., Any]) -> Any:
    """A small function that kernels call; it becomes part of them."""
    return numba.njit(function, nogil=True, error_model="numpy", forceinline=True)


def shapes() -> list[tuple[str, str]]:
    """Every kernel and signature that `prepare` sees to, as (name, signature)."""
    return [(name, signature) for name, signatures in _SHAPES.items() for signature in signatures]


def compile_shape(name: str, signature: str) -> None:
    """Have this kernel ready for these types, from disk or by compiling it."""
    dispatcher = _all[name]
    types = _normalize(signature)[0]
    if types not in dispatcher.overloads:
        dispatcher.compile(types)


def _guard(dispatcher: Any, name: str) -> None:
    """Let one process of this machine at a time compile this kernel; the others then find the result on disk."""
    plain = dispatcher.compile

    def compile_alone(signature: Any) -> Any:
        with _lock(name), loading():
            if on_compile is not None and not _is_on_disk(dispatcher, signature):
                on_compile(name)
            return plain(signature)

    dispatcher.compile = compile_alone


def _is_on_disk(dispatcher: Any, signature: Any) -> bool:
    types, result = _normalize(signature)
    cache = dispatcher._cache
    key = cache._index_key(types if result is None else result(*types), dispatcher.targetctx.codegen())
    return any(one[0] == key[0] and one[1:] == key[1:] for one in cache._cache_file._load_index())


@contextmanager
def _lock(name: str) -> Iterator[None]:
    path = Path(tempfile.gettempdir()) / f"argosy-{os.getuid()}-{name}.lock"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

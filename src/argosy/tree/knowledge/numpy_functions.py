"""What is known of NumPy's functions, `numpy.linalg` and `numpy.fft` included.

The tables say which results are fresh by their names; a written argument is looked for in the function's own signature,
so that its position is the one this NumPy has. A name this NumPy does not have is left out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from argosy.tree.knowledge.behaviour import ALIAS, ATOM, CONTENTS, FRESH, LIST, Behaviour

_FRESH = """
    all allclose amax amin angle any append arange argmax argmin argpartition argsort argwhere array_equal array_equiv
    average bartlett bincount blackman block choose clip column_stack compress concatenate convolve copy corrcoef
    correlate count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum delete diag_indices
    diag_indices_from diagflat digitize dot dstack ediff1d empty empty_like extract eye fix flatnonzero full full_like
    geomspace gradient hamming hanning hstack i0 identity indices inner insert interp intersect1d isclose iscomplex
    isin isneginf isposinf isreal kaiser kron lexsort linspace logspace max mean min nanargmax nanargmin nancumprod
    nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar nonzero ones ones_like outer packbits partition poly
    polyadd polydiv polymul polysub polyval prod ptp ravel_multi_index repeat resize roll roots searchsorted select
    setdiff1d setxor1d sinc sort sort_complex stack std sum take take_along_axis tensordot tile trace trapezoid tri
    tril tril_indices tril_indices_from triu triu_indices triu_indices_from union1d unique unique_all unique_counts
    unique_inverse unique_values unpackbits unravel_index unwrap vander var vdot vstack where zeros zeros_like
"""
_FRESH_LINALG = """
    cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_rank multi_dot norm outer pinv
    qr slogdet solve svd svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm
"""
_FRESH_FFT = "fft fftfreq fftshift hfft ifft ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn"

_ALIAS = """
    around asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d
    broadcast_to diag diagonal einsum expand_dims flip fliplr flipud frombuffer imag matrix_transpose moveaxis
    permute_dims ravel real real_if_close require reshape rollaxis rot90 round squeeze swapaxes transpose trim_zeros
    ndarray
"""
_ALIAS_LINALG = "diagonal matrix_power matrix_transpose"
_ALIAS_FFT = "fftn ifftn"

_CONTENTS = "array_split broadcast_arrays dsplit hsplit ix_ split unstack vsplit"

_ATOM = """
    base_repr binary_repr broadcast_shapes can_cast common_type dtype finfo iinfo iscomplexobj isdtype isfortran
    isrealobj isscalar issubdtype iterable may_share_memory min_scalar_type mintypecode ndim promote_types result_type
    shape shares_memory size typename
"""


def _written(function: Callable[..., Any], name: str) -> tuple[int | str, ...]:
    """How the argument of this name is given: by position, by keyword, by either, or not at all."""
    parameters = inspect.signature(function).parameters
    if name not in parameters:
        return ()
    if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
        return (name,)
    return (list(parameters).index(name), name)


def _table(module: ModuleType, names: str, behaviour: Behaviour) -> Iterator[tuple[object, Behaviour]]:
    for name in names.split():
        function = getattr(module, name, None)
        if function is None:
            continue
        if isinstance(function, type):
            yield function, behaviour
        else:
            yield function, replace(behaviour, writes=_written(function, "out"))


def _first_written() -> Iterator[tuple[object, Behaviour]]:
    for function in (np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask):
        first = next(iter(inspect.signature(function).parameters))
        yield function, Behaviour(result="atom", writes=(0, first))


def _overwriting() -> Iterator[tuple[object, Behaviour]]:
    """They put their argument into another order when `overwrite_input` says so."""
    for name in ("median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"):
        function = getattr(np, name)
        out = _written(function, "out")
        yield (
            function,
            Behaviour(
                result="fresh",
                writes=(0, "a", *out),
                options=_written(function, "overwrite_input"),
                otherwise=Behaviour(result="fresh", writes=out),
            ),
        )


def _with_options() -> Iterator[tuple[object, Behaviour]]:
    """Fresh as long as nobody asks for something else."""
    for function in (np.array, np.astype):
        yield function, Behaviour(result="alias", options=("copy",), otherwise=FRESH)
    yield np.meshgrid, Behaviour(result="contents", options=("copy",), otherwise=FRESH)
    yield np.nan_to_num, Behaviour(result="alias", writes=(0, "x"), options=(1, "copy"), otherwise=FRESH)
    yield np.diff, Behaviour(result="alias", options=(1, "n"), otherwise=FRESH)
    yield np.polyder, Behaviour(result="alias", options=(1, "m"), otherwise=FRESH)
    yield np.polyint, Behaviour(result="alias", options=(1, "m"), otherwise=FRESH)
    yield np.polyfit, Behaviour(result="contents", options=(3, "rcond"), otherwise=FRESH)
    yield np.histogram, Behaviour(result="contents", options=(1, "bins"), otherwise=FRESH)
    yield np.histogram_bin_edges, Behaviour(result="alias", options=(1, "bins"), otherwise=FRESH)
    yield np.histogram2d, Behaviour(result="contents", options=(2, "bins"), otherwise=FRESH)
    yield np.histogramdd, Behaviour(result="contents", options=(1, "bins"), otherwise=FRESH)
    for function in (np.fft.fft2, np.fft.ifft2):
        out = _written(function, "out")
        less = Behaviour(result="fresh", writes=out)
        yield function, Behaviour(result="alias", writes=out, options=_written(function, "axes"), otherwise=less)


def _calling() -> Iterator[tuple[object, Behaviour]]:
    yield np.apply_along_axis, Behaviour(result="alias", calls=(0, "func1d"))
    yield np.apply_over_axes, Behaviour(result="alias", calls=(0, "func"))
    yield np.mask_indices, Behaviour(result="fresh", calls=(1, "mask_func"))
    yield np.pad, Behaviour(result="fresh", calls=(2, "mode"), options=(2, "mode"), otherwise=FRESH)
    yield np.piecewise, Behaviour(result="fresh", calls=(2, "funclist"))


def _scalar_types() -> Iterator[tuple[object, Behaviour]]:
    """They may give back an array that is of their type already."""
    for value in vars(np).values():
        if isinstance(value, type) and issubclass(value, np.generic) and value not in (np.object_, np.void):
            yield value, ALIAS


def known() -> Iterator[tuple[object, Behaviour]]:
    """Functions and types of NumPy, but for ufuncs and random numbers."""
    yield from _table(np, _FRESH, FRESH)
    yield from _table(np.linalg, _FRESH_LINALG, FRESH)
    yield from _table(np.fft, _FRESH_FFT, FRESH)
    yield from _table(np, _ALIAS, ALIAS)
    yield from _table(np.linalg, _ALIAS_LINALG, ALIAS)
    yield from _table(np.fft, _ALIAS_FFT, ALIAS)
    yield from _table(np, _CONTENTS, CONTENTS)
    yield from _table(np, _ATOM, ATOM)
    yield np.lib.stride_tricks.sliding_window_view, ALIAS
    yield np.fromiter, Behaviour(result="fresh", iterates=True)
    yield np.ndenumerate, replace(LIST, lazy=True)
    yield np.ndindex, FRESH
    yield from _first_written()
    yield from _overwriting()
    yield from _with_options()
    yield from _calling()
    yield from _scalar_types()

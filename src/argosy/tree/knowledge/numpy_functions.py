"""What is known of NumPy's functions, `numpy.linalg` and `numpy.fft` included.

A name that this NumPy does not have is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import numpy as np

from argosy.tree.knowledge.behaviour import ALIAS, ATOM, CONTENTS, FRESH, Behaviour

_FRESH = """
    allclose angle append arange argpartition argsort argwhere array_equal array_equiv average bartlett bincount
    blackman block column_stack convolve copy corrcoef correlate count_nonzero cov cross delete diag_indices
    diag_indices_from diagflat digitize dstack ediff1d empty empty_like extract eye flatnonzero full full_like geomspace
    gradient hamming hanning hstack i0 identity indices inner insert interp intersect1d isclose iscomplex isin isreal
    kaiser kron lexsort linspace logspace nonzero ones ones_like packbits partition poly polyadd polydiv polymul
    polysub polyval ravel_multi_index repeat resize roll roots searchsorted select setdiff1d setxor1d sinc sort
    sort_complex take_along_axis tensordot tile trapezoid tri tril tril_indices tril_indices_from triu triu_indices
    triu_indices_from union1d unique unique_all unique_counts unique_inverse unique_values unpackbits unravel_index
    unwrap vander vdot vstack where zeros zeros_like
"""
_FRESH_LINALG = """
    cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_rank norm outer pinv qr
    slogdet solve svd svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm
"""
_FRESH_FFT = "fftfreq fftshift ifftshift rfftfreq"

# By the position of `out`.
_FRESH_OR_OUT = {
    1: "fix isneginf isposinf",
    2: """all amax amin any argmax argmin choose concatenate dot max min nanargmax nanargmin nanmax nanmin outer ptp
        stack""",
    3: """clip compress cumprod cumsum mean nancumprod nancumsum nanmean nanprod nanstd nansum nanvar prod std sum take
        var""",
    5: "trace",
}
_FRESH_OR_OUT_FFT = "fft hfft ifft ihfft irfft irfft2 irfftn rfft rfft2 rfftn"

_ALIAS = """
    asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d broadcast_to
    diag diagonal expand_dims flip fliplr flipud frombuffer imag matrix_transpose moveaxis ndarray permute_dims ravel
    real real_if_close require reshape squeeze swapaxes transpose trim_zeros
"""
_ALIAS_LINALG = "diagonal matrix_power matrix_transpose"

_CONTENTS = "array_split broadcast_arrays dsplit hsplit ix_ split unstack vsplit"

_ATOM = """
    base_repr binary_repr broadcast_shapes can_cast common_type dtype finfo iinfo iscomplexobj isdtype isfortran
    isrealobj isscalar issubdtype iterable may_share_memory min_scalar_type ndim promote_types result_type
    shape shares_memory size
"""

# Classes that only have subclasses, and classes of scalars that are not plain.
_WITHOUT = (
    *(np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating),
    *(np.complexfloating, np.flexible, np.character, np.object_, np.void),
)

_FIRST_WRITTEN = {
    "copyto": "dst",
    "fill_diagonal": "a",
    "place": "arr",
    "put": "a",
    "put_along_axis": "arr",
    "putmask": "a",
}


def _table(module: ModuleType, names: str, behaviour: Behaviour) -> Iterator[tuple[object, Behaviour]]:
    for name in names.split():
        if hasattr(module, name):
            yield getattr(module, name), behaviour


def _with_out() -> Iterator[tuple[object, Behaviour]]:
    for position, names in _FRESH_OR_OUT.items():
        yield from _table(np, names, replace(FRESH, writes=(position, "out")))
    yield from _table(np.fft, _FRESH_OR_OUT_FFT, replace(FRESH, writes=(4, "out")))
    yield from _table(np.fft, "fftn ifftn", replace(ALIAS, writes=(4, "out")))
    yield from _table(np, "around round", replace(ALIAS, writes=(2, "out")))
    yield from _table(np, "cumulative_prod cumulative_sum", replace(FRESH, writes=("out",)))
    yield np.linalg.multi_dot, replace(FRESH, writes=("out",))
    yield np.einsum, replace(ALIAS, writes=("out",))
    for name, first in _FIRST_WRITTEN.items():
        yield getattr(np, name), replace(ATOM, writes=(0, first))
    # They count with `-=` and `%=` on what they are given, which may be an array.
    yield np.rollaxis, replace(ALIAS, writes=(2, "start"))
    yield np.rot90, replace(ALIAS, writes=(1, "k"))


def _less_without(options: tuple[int | str, ...], more: Behaviour, less: Behaviour = FRESH) -> Behaviour:
    return replace(more, options=options, otherwise=less)


def _with_options() -> Iterator[tuple[object, Behaviour]]:
    """They do less as long as nobody asks for more."""
    yield from _table(np, "array astype", _less_without(("copy",), ALIAS))
    yield np.meshgrid, _less_without(("copy",), CONTENTS)
    yield np.nan_to_num, _less_without((1, "copy"), replace(ALIAS, writes=(0, "x")))
    yield np.diff, _less_without((1, "n"), ALIAS)
    yield from _table(np, "polyder polyint", _less_without((1, "m"), ALIAS))
    yield np.polyfit, _less_without((3, "rcond"), ALIAS)
    yield from _table(np, "histogram histogramdd", _less_without((1, "bins"), CONTENTS))
    yield np.histogram2d, _less_without((2, "bins"), CONTENTS)
    yield np.histogram_bin_edges, _less_without((1, "bins"), ALIAS)
    for out, names in ((2, "median nanmedian"), (3, "nanpercentile nanquantile percentile quantile")):
        less = replace(FRESH, writes=(out, "out"))
        more = replace(FRESH, writes=(0, "a", out, "out"))
        yield from _table(np, names, _less_without((out + 1, "overwrite_input"), more, less))
    to_out = (4, "out")
    transformed = _less_without((2, "axes"), replace(ALIAS, writes=to_out), replace(FRESH, writes=to_out))
    yield from _table(np.fft, "fft2 ifft2", transformed)


def _calling() -> Iterator[tuple[object, Behaviour]]:
    yield np.apply_along_axis, replace(ALIAS, calls=(0, "func1d"))
    yield np.apply_over_axes, replace(ALIAS, calls=(0, "func"))
    yield np.mask_indices, replace(FRESH, calls=(1, "mask_func"))
    yield np.pad, replace(FRESH, calls=(2, "mode"))
    yield np.piecewise, replace(FRESH, calls=(2, "funclist"))


def _scalar_types() -> Iterator[tuple[object, Behaviour]]:
    """They may give back an array that is of their type already."""
    for value in vars(np).values():
        if isinstance(value, type) and issubclass(value, np.generic) and value not in _WITHOUT:
            yield value, ALIAS


def known() -> Iterator[tuple[object, Behaviour]]:
    """Functions and types of NumPy, but for ufuncs and random numbers."""
    yield from _table(np, _FRESH, FRESH)
    yield from _table(np.linalg, _FRESH_LINALG, FRESH)
    yield from _table(np.fft, _FRESH_FFT, FRESH)
    yield from _table(np, _ALIAS, ALIAS)
    yield from _table(np.linalg, _ALIAS_LINALG, ALIAS)
    yield from _table(np, _CONTENTS, CONTENTS)
    yield from _table(np, _ATOM, ATOM)
    yield np.lib.stride_tricks.sliding_window_view, ALIAS
    yield np.fromiter, replace(FRESH, iterates=True)
    yield from _with_out()
    yield from _with_options()
    yield from _calling()
    yield from _scalar_types()

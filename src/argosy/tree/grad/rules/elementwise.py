"""Functions that work element by element. Where a function has a corner, its gradient there is that of torch."""

from __future__ import annotations

from typing import Any

import numpy as np

from argosy.tree.grad.nodes import Pull
from argosy.tree.grad.record import OUT, apply, by
from argosy.tree.grad.tables import FLAT, UFUNCS, rule

_LN2, _LN10 = float(np.log(2.0)), float(np.log(10.0))


_SAME, _NEGATED = by(lambda g: g), by(lambda g: -g)


def _power_base(out: Any, a: Any, b: Any) -> Pull:
    if type(b) in (int, float) and b == 2:
        return _SQUARE(out, a)
    return _POWER(out, a, b)


_SQUARE = by(lambda g, a: g * (2 * a), 0)
_POWER = by(lambda g, a, b: g * (b * a ** np.where(np.equal(b, 0), 1.0, b - 1.0)), 0, 1)


def _power_exponent(g: Any, out: Any, a: Any, b: Any) -> Any:
    zero = np.equal(a, 0) & np.greater_equal(b, 0)
    return np.where(zero, 0.0, g * out * np.log(np.where(zero, 1.0, a)))


def _larger(g: Any, a: Any, b: Any) -> Any:
    """The gradient of the first of two of which the larger is taken; equals share it."""
    return np.where(np.equal(a, b), g / 2, np.where(np.less(a, b), 0.0, g))


def _smaller(g: Any, a: Any, b: Any) -> Any:
    return np.where(np.equal(a, b), g / 2, np.where(np.greater(a, b), 0.0, g))


UFUNCS.update({
    np.positive: (_SAME,),
    np.negative: (_NEGATED,),
    np.add: (_SAME, _SAME),
    np.subtract: (_SAME, _NEGATED),
    np.multiply: (
        by(lambda g, b: g * b, 1),
        by(lambda g, a: g * a, 0),
    ),
    np.true_divide: (
        by(lambda g, b: g / b, 1),
        by(lambda g, out, b: -g * out / b, OUT, 1),
    ),
    np.remainder: (_SAME, by(lambda g, a, b: -g * np.floor(a / b), 0, 1)),
    np.power: (_power_base, by(_power_exponent, OUT, 0, 1)),
    np.float_power: (_power_base, by(_power_exponent, OUT, 0, 1)),
    np.square: (by(lambda g, a: g * (2 * a), 0),),
    np.reciprocal: (by(lambda g, out: -g * out * out, OUT),),
    np.sqrt: (by(lambda g, out: g / (2 * out), OUT),),
    np.cbrt: (by(lambda g, out: g / (3 * out * out), OUT),),
    np.exp: (by(lambda g, out: g * out, OUT),),
    np.exp2: (by(lambda g, out: g * out * _LN2, OUT),),
    np.expm1: (by(lambda g, out: g * (out + 1), OUT),),
    np.log: (by(lambda g, a: g / a, 0),),
    np.log2: (by(lambda g, a: g / (a * _LN2), 0),),
    np.log10: (by(lambda g, a: g / (a * _LN10), 0),),
    np.log1p: (by(lambda g, a: g / (a + 1), 0),),
    np.logaddexp: (
        by(lambda g, out, a: g * np.exp(a - out), OUT, 0),
        by(lambda g, out, b: g * np.exp(b - out), OUT, 1),
    ),
    np.sin: (by(lambda g, a: g * np.cos(a), 0),),
    np.cos: (by(lambda g, a: -g * np.sin(a), 0),),
    np.tan: (by(lambda g, out: g * (1 + out * out), OUT),),
    np.arcsin: (by(lambda g, a: g / np.sqrt(1 - a * a), 0),),
    np.arccos: (by(lambda g, a: -g / np.sqrt(1 - a * a), 0),),
    np.arctan: (by(lambda g, a: g / (1 + a * a), 0),),
    np.arctan2: (
        by(lambda g, a, b: g * b / (a * a + b * b), 0, 1),
        by(lambda g, a, b: -g * a / (a * a + b * b), 0, 1),
    ),
    np.hypot: (
        by(lambda g, out, a: g * a / out, OUT, 0),
        by(lambda g, out, b: g * b / out, OUT, 1),
    ),
    np.sinh: (by(lambda g, a: g * np.cosh(a), 0),),
    np.cosh: (by(lambda g, a: g * np.sinh(a), 0),),
    np.tanh: (by(lambda g, out: g * (1 - out * out), OUT),),
    np.absolute: (by(lambda g, a: g * np.sign(a), 0),),
    np.fabs: (by(lambda g, a: g * np.sign(a), 0),),
    np.maximum: (
        by(_larger, 0, 1),
        by(_larger, 1, 0),
    ),
    np.minimum: (
        by(_smaller, 0, 1),
        by(_smaller, 1, 0),
    ),
})  # fmt: skip

FLAT.update({
    np.sign, np.floor, np.ceil, np.rint, np.trunc, np.floor_divide, np.heaviside, np.signbit,
    np.isnan, np.isinf, np.isfinite, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not, np.round, np.fix, np.isclose, np.allclose,
    np.array_equal, np.all, np.any, np.count_nonzero, np.nonzero, np.flatnonzero, np.argwhere, np.argmax, np.argmin,
    np.argsort, np.argpartition, np.searchsorted, np.digitize, np.shape, np.ndim, np.size, np.zeros_like,
    np.ones_like, np.empty_like, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj, np.shares_memory,
    np.may_share_memory,
})  # fmt: skip


@rule(np.where)
def where(condition: Any, *choices: Any) -> Any:
    if not choices:
        return np.nonzero(condition)
    a, b = choices
    makers = (
        _SAME,
        by(lambda g, c: np.where(c, g, 0.0), 0),
        by(lambda g, c: np.where(c, 0.0, g), 0),
    )
    return apply(np.where, makers, (condition != 0, a, b))


@rule(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:  # noqa: A002
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    makers = (
        by(lambda g, a, low, high: np.where(_less(a, low) | _less(high, a), 0.0, g), 0, 1, 2),
        by(lambda g, a, low: np.where(a < low, g, 0.0), 0, 1),
        by(lambda g, a, high: np.where(a > high, g, 0.0), 0, 2),
    )
    return apply(np.clip, makers, (a, low, high))


def _less(a: Any, b: Any) -> Any:
    """Where one limit is not given, nothing is beyond it."""
    return False if a is None or b is None else a < b

"""Mixed-integer programs, solved by HiGHS through SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from argosy.memory.planning.quiet import stdout_to_stderr

MISSING = "this solver needs SciPy, which is not installed; get it with `pip install 'argosy[memory]'`"
SCALE = 1000.0
"""What objectives and capacities are scaled to: the solver's tolerances, about 1e-6, are absolute."""


def have_scipy() -> bool:
    return find_spec("scipy") is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    values: NDArray[np.float64] | None
    """The best point found, if any was in time."""
    bound: float
    """No point is below."""
    is_optimal: bool


def minimise(
    weights: NDArray[np.float64],
    entries: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    *,
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    is_integer: NDArray[np.bool_],
    time_limit_seconds: float,
    gap: float = 0.0,
) -> Answer:
    """Least weights @ x with least <= A @ x <= most, lower <= x <= upper; `entries`: rows, columns and values of A.

    It stops where the best point found is within `gap`, a share, of the bound.
    """
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array
    except ImportError:
        raise ModuleNotFoundError(MISSING) from None
    rows, columns, values = entries
    matrix = csr_array((values, (rows, columns)), shape=(len(least), len(weights)))
    with stdout_to_stderr():
        found = milp(
            weights,
            constraints=LinearConstraint(matrix, least, most),
            bounds=Bounds(lower, upper),
            integrality=is_integer.astype(np.int64),
            options={"time_limit": max(time_limit_seconds, 0.01), "mip_rel_gap": gap},
        )
    is_optimal = found.status == 0
    bound = found.fun if is_optimal and not is_integer.any() else found.mip_dual_bound
    return Answer(
        values=None if found.x is None else np.asarray(found.x, dtype=np.float64),
        bound=-np.inf if bound is None else float(bound),
        is_optimal=is_optimal,
    )

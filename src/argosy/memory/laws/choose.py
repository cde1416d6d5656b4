"""Which law to believe: the one that predicts each placement best from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argosy.memory.costs import Costs
from argosy.memory.laws.additive import fit_additive
from argosy.memory.laws.ends import find_ends
from argosy.memory.laws.hinge import fit_hinge
from argosy.memory.laws.linear import fit_linear
from argosy.memory.measuring import Measurements

LAWS: Mapping[str, Callable[[Measurements], Costs]] = {
    "linear": fit_linear,
    "additive": fit_additive,
    "hinge": fit_hinge,
}
LEAST_MIXED = 3  # placements from which a choice can be made


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """A law, its costs, and how far it was off on placements that it did not see."""

    law: str
    costs: Costs
    left_out: tuple[float, ...]
    """Relative error of each mixed placement, predicted from all the others; none where only the ends were run."""
    errors: Mapping[str, float]
    """Mean of those, for each law that was tried."""


def fit(measured: Measurements, law: str = "auto") -> Fitted:
    """`auto` takes the law with the smallest mean error; with the two ends alone that is `linear`."""
    if law != "auto" and law not in LAWS:
        raise ValueError(f"there is no law {law!r}; there are: auto, {', '.join(LAWS)}")
    mixed = len(measured.rows) - 2
    tried = list(LAWS) if law == "auto" and mixed >= LEAST_MIXED else ["linear" if law == "auto" else law]
    left_out = {name: _leave_one_out(measured, LAWS[name]) for name in tried}
    errors = {name: float(np.mean(np.abs(found))) for name, found in left_out.items() if len(found)}
    best = min(errors, key=lambda name: errors[name]) if errors else tried[0]
    return Fitted(law=best, costs=LAWS[best](measured), left_out=tuple(left_out[best]), errors=errors)


def _leave_one_out(measured: Measurements, law: Callable[[Measurements], Costs]) -> NDArray[np.float64]:
    """The ends stay in: every law stands on them."""
    ends = find_ends(measured)
    everyone = np.arange(len(measured.rows))
    left_out = [
        float(law(measured.select(everyone[everyone != one])).total(measured.rows[[one]])[0] / measured.totals[one]) - 1
        for one in everyone
        if one not in ends
    ]
    return np.array(left_out)

"""Which functions have a gradient. The modules of `rules` fill the tables."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

from argosy.tree.grad.nodes import Pull

Maker = Callable[..., Pull]
"""From the result and the inputs of a call to the way back into one input."""

UFUNCS: dict[Any, tuple[Maker, ...]] = {}
"""One maker per input."""
FLAT: set[Any] = set()
"""Functions whose derivative is zero wherever there is one: their result is a constant."""
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""Functions that take traced arrays, in place of NumPy's of the same meaning."""
ALWAYS: set[Any] = set()
"""Those of FUNCTIONS that matter for constants too: they give views, or write in place."""
KEYWORDS: dict[Any, frozenset[str]] = {}
"""What those of FUNCTIONS understand."""
PLACES: dict[Any, float] = {}
"""How many arguments those of FUNCTIONS take by place."""
METHODS: dict[str, Callable[..., Any]] = {}
"""The methods of an array."""


def rule(*functions: Any, always: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers what is called in place of these NumPy functions."""

    def register(call: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(call).parameters
        kinds = [p.kind for p in parameters.values()]
        places = len(kinds) - kinds.count(inspect.Parameter.KEYWORD_ONLY)
        for each in functions:
            FUNCTIONS[each] = call
            KEYWORDS[each] = frozenset(parameters)
            PLACES[each] = math.inf if inspect.Parameter.VAR_POSITIONAL in kinds else places
            if always:
                ALWAYS.add(each)
        return call

    return register

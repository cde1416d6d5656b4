"""What calling a function does, looked up by the function itself."""

from __future__ import annotations

from itertools import chain
from types import BuiltinMethodType

import numpy as np

from argosy.tree.knowledge import builtin, numpy_functions, random_functions, ufuncs
from argosy.tree.knowledge.behaviour import Behaviour

# By identity, for functions without a hash. The function is kept, or its id could become another's.
_KNOWN: dict[int, tuple[object, Behaviour]] = {
    id(function): (function, behaviour)
    for function, behaviour in chain(builtin.known(), numpy_functions.known(), random_functions.known(), ufuncs.known())
}


def of_function(function: object) -> Behaviour | None:
    """What calling this very function or type does; None when it is not known."""
    if id(function) in _KNOWN:
        return _KNOWN[id(function)][1]
    if type(function) is BuiltinMethodType and type(function.__self__) is np.ufunc and id(function.__self__) in _KNOWN:
        return ufuncs.of_ufunc_method(function.__name__)
    return None

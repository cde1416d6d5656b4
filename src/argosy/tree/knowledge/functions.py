"""What calling a function does, looked up by the function itself."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from types import BuiltinMethodType, FunctionType

import numpy as np

from argosy.tree.knowledge import builtin, numpy_functions, random_functions, ufuncs
from argosy.tree.knowledge.behaviour import Behaviour


def _of_arrays(behaviour: Behaviour) -> Behaviour:
    less = behaviour.otherwise
    return replace(behaviour, takes="arrays", otherwise=less and _of_arrays(less))


def _is_of_numpy(function: object) -> bool:
    """Somebody may have put a function of his own in the place of NumPy's."""
    return not isinstance(function, FunctionType) or function.__globals__["__name__"].startswith("numpy.")


# By identity, for functions without a hash. The function is kept, or its id could become another's.
_KNOWN: dict[int, tuple[object, Behaviour]] = {
    **{id(function): (function, behaviour) for function, behaviour in builtin.known()},
    **{
        id(function): (function, _of_arrays(behaviour))
        for function, behaviour in chain(numpy_functions.known(), random_functions.known(), ufuncs.known())
        if _is_of_numpy(function)
    },
}


def of_function(function: object) -> Behaviour | None:
    """What calling this very function or type does; None when it is not known."""
    if id(function) in _KNOWN:
        return _KNOWN[id(function)][1]
    if type(function) is BuiltinMethodType and type(function.__self__) is np.ufunc and id(function.__self__) in _KNOWN:
        return ufuncs.of_ufunc_method(function.__name__)
    return None

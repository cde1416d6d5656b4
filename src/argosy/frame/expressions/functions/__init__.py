"""All operations by name, as `nodes.Call` names them. Each maps types of arguments to a `Rule`."""

from __future__ import annotations

from argosy.frame.expressions.functions import arithmetic, compare, logic, numbers, text, time
from argosy.frame.expressions.functions.rule import Bind

FUNCTIONS: dict[str, Bind] = {
    **arithmetic.FUNCTIONS,
    **compare.FUNCTIONS,
    **logic.FUNCTIONS,
    **numbers.FUNCTIONS,
    **text.FUNCTIONS,
    **time.FUNCTIONS,
}

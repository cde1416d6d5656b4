"""Which sample goes where: orders of reading, and the exchange of a share of the samples between epochs.

draws, holdings, order          who holds which sample in which epoch, and reads it when
cut, lines, steps, place        what is left of an epoch, and how it is cut into steps
peers, legs, exchange           samples on their way
store                           where they lie
partial_exchange and the rest   all of it as a Dataset
diagnosis                       how much must be exchanged

Each name is loaded when it is first used; `import argosy.shuffle` loads neither torch nor NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME_OF = {
    "PartialExchange": "argosy.shuffle.partial_exchange",
    "diagnose": "argosy.shuffle.diagnosis",
    "global_order": "argosy.shuffle.order",
    "local_order": "argosy.shuffle.order",
    "partial_order": "argosy.shuffle.order",
    "retention": "argosy.shuffle.diagnosis.mixing",
}

__all__ = ["PartialExchange", "diagnose", "global_order", "local_order", "partial_order", "retention"]

if TYPE_CHECKING:
    from argosy.shuffle.diagnosis import diagnose
    from argosy.shuffle.diagnosis.mixing import retention
    from argosy.shuffle.order import global_order, local_order, partial_order
    from argosy.shuffle.partial_exchange import PartialExchange


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'argosy.shuffle' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})

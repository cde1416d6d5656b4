"""Which sample goes where: the order in which ranks read their samples.

Each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME_OF = {
    "global_order": "argosy.shuffle.order",
    "local_order": "argosy.shuffle.order",
}

__all__ = ["global_order", "local_order"]

if TYPE_CHECKING:
    from argosy.shuffle.order import global_order, local_order


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'argosy.shuffle' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})

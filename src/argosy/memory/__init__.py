"""Which byte lives where: from a few measured runs to the placement of every object in heterogeneous memory.

tiers, values, store            kinds of memory, and named objects that move between them
trace, torch_trace, program     what a run touched: marked windows, torch operations, whole programs
workload, designs, measuring    runs under chosen placements
costs, laws, estimator          the time of any placement from those runs, in microseconds
calibrating, validating         all of that as two calls
differential                    the same from two traces of a program that cannot be called
planning, moves, applying       the best placement for a capacity; schedules that migrate, and a store that follows
learning                        a policy for phases that are not known beforehand
miniapps, gpuapps               small programs to try it on
plots, heat, publishing         what people look at, and ground truth for others

Each name is loaded when it is first used; `import argosy.memory` loads neither NumPy nor torch nor SciPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME_OF = {
    "Disk": "argosy.memory.tiers.disk",
    "Estimator": "argosy.memory.estimator",
    "Hbm": "argosy.memory.tiers.cuda",
    "Numa": "argosy.memory.tiers.numa",
    "PinnedHost": "argosy.memory.tiers.cuda",
    "Plan": "argosy.memory.planning.plan",
    "Ram": "argosy.memory.tiers.ram",
    "Store": "argosy.memory.store",
    "Trace": "argosy.memory.trace",
    "Validation": "argosy.memory.validation",
    "Workload": "argosy.memory.workload",
    "apply": "argosy.memory.applying",
    "calibrate": "argosy.memory.calibrating",
    "from_traces": "argosy.memory.differential",
    "plan": "argosy.memory.planning.solve",
    "trace_torch": "argosy.memory.torch_trace",
    "validate": "argosy.memory.validating",
}
_MODULES = ("gpuapps", "learning", "miniapps", "program")

__all__ = [
    "Disk", "Estimator", "Hbm", "Numa", "PinnedHost", "Plan", "Ram", "Store", "Trace", "Validation", "Workload",
    "apply", "calibrate", "from_traces", "gpuapps", "learning", "miniapps", "plan", "program", "trace_torch",
    "validate",
]  # fmt: skip

if TYPE_CHECKING:
    from argosy.memory import gpuapps, learning, miniapps, program
    from argosy.memory.applying import apply
    from argosy.memory.calibrating import calibrate
    from argosy.memory.differential import from_traces
    from argosy.memory.estimator import Estimator
    from argosy.memory.planning.plan import Plan
    from argosy.memory.planning.solve import plan
    from argosy.memory.store import Store
    from argosy.memory.tiers.cuda import Hbm, PinnedHost
    from argosy.memory.tiers.disk import Disk
    from argosy.memory.tiers.numa import Numa
    from argosy.memory.tiers.ram import Ram
    from argosy.memory.torch_trace import trace_torch
    from argosy.memory.trace import Trace
    from argosy.memory.validating import validate
    from argosy.memory.validation import Validation
    from argosy.memory.workload import Workload


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"argosy.memory.{name}")
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'argosy.memory' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF, *_MODULES})

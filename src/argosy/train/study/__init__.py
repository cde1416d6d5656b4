"""A study of how many workers are worth asking for: runs with several numbers of workers and seeds, judged together.

settings    what is studied, checked
runs        one run, and which are missing
sounding    the noise scale along the baseline
study       from settings to findings: baseline, noise scale, the others
model       what the noise scale and the link say beforehand
findings    rows, measured and modelled side by side; as JSON and as a table
plots       the same as pictures
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME_OF = {"Findings": "findings", "Row": "findings", "Settings": "settings", "study": "study"}

__all__ = ["Findings", "Row", "Settings", "study"]

if TYPE_CHECKING:
    from argosy.train.study.findings import Findings, Row
    from argosy.train.study.settings import Settings
    from argosy.train.study.study import study


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(f"argosy.train.study.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'argosy.train.study' has no attribute {name!r}")

"""A study of how many workers are worth asking for: runs with several numbers of workers and seeds, judged together.

settings     what is studied, checked
runs, crew   one run, which are missing, and who performs them
sounding     the noise scale along the baseline
conduct      from settings to findings: the baseline, its noise scale, then the others
model        what the noise scale and the link say beforehand
judge        from runs to rows, measured and modelled side by side
findings     these rows; `table` makes them text, `plots` pictures
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME_OF = {"Findings": "findings", "Row": "findings", "Settings": "settings", "study": "conduct"}

__all__ = ["Findings", "Row", "Settings", "study"]

if TYPE_CHECKING:
    from argosy.train.study.conduct import study
    from argosy.train.study.findings import Findings, Row
    from argosy.train.study.settings import Settings


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(f"argosy.train.study.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'argosy.train.study' has no attribute {name!r}")

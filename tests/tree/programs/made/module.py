"""A made program as a module on disk, so that its source can be read back as any user's."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import linecache
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tree.programs.runner.compare import trouble, unruly_threads
from tree.programs.runner.program import Program

import argosy

_NUMBERS = itertools.count()


@contextlib.contextmanager
def made_program(source: str, folder: Path) -> Iterator[Program]:
    """Write it, import it, and take it away again."""
    name = f"made_program_{next(_NUMBERS)}"
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield Program(name=name, function=module.study, arguments=module.arguments, keywords=dict, touches=("LOG",))
    finally:
        del sys.modules[name]
        linecache.cache.pop(str(path), None)
        path.unlink()


def trouble_of_source(source: str, folder: Path) -> str | None:
    """The first difference from plain Python, with everything issued, with measured grain and with unruly threads."""
    issued = partial(argosy.futurize, grain=0, threads=3)
    with made_program(source, folder) as program:
        found = trouble(program, issued) or trouble(program, argosy.futurize, times=2)
        if found is None:
            with unruly_threads():
                found = trouble(program, issued, times=2)
    return found

"""What to run and in which tiers, as a user writes it: `--app`, `--workload`, `--fast`, `--slow` and so on."""

from __future__ import annotations

import re
import sys
from difflib import get_close_matches
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argosy.cli.failing import leave
from argosy.cli.memory_ending import refusing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from argosy.memory.tiers import Tier
    from argosy.memory.workload import Workload

App = Annotated[str | None, typer.Option(help="A mini-app: cg, spmv, kmeans, hydro, hashjoin; or one for a GPU.")]
Named = Annotated[
    str | None,
    typer.Option("--workload", metavar="FILE.PY:NAME", help="A Workload of yours, or a function that returns one."),
]
Size = Annotated[str | None, typer.Option(help="Of all objects of an app, like 64MiB; else as suits the machine.")]
Folder = Annotated[Path | None, typer.Option(help="Where the disk tier keeps its files; it must be on a disk.")]
Fast = Annotated[str | None, typer.Option(help="The fast tier: ram, numa:N or hbm; ram unless told.")]
Slow = Annotated[str | None, typer.Option(help="The slow tier: disk, numa:N or pinned; disk unless told.")]


def find_workload(app: str | None, named: str | None, size: str | None) -> Workload:
    """The one of `--app` or `--workload`; ends the command where there is none."""
    if named is not None and app is None:
        if size is not None:
            leave("--size is for an --app; a workload of your own makes its own objects")
        return _from_file(named)
    if app is None or named is not None:
        leave("name what to run: either --app NAME or --workload file.py:name")
    from argosy.memory import gpuapps, miniapps
    from argosy.units import parse_nbytes

    one_of("app", app, [*miniapps.APPS, *gpuapps.APPS])
    with refusing():
        nbytes = None if size is None else parse_nbytes(size, "--size", least=1)
        return gpuapps.load(app, nbytes) if app in gpuapps.APPS else miniapps.load(app, nbytes)


def find_tiers(app: str | None, fast: str | None, slow: str | None, folder: Path | None) -> tuple[Tier, Tier]:
    """The fast and the slow tier. An app for a GPU has the GPU's two unless told."""
    from argosy.memory import gpuapps

    usual = ("hbm", "pinned") if app in gpuapps.APPS else ("ram", "disk")
    names = (fast or usual[0], slow or usual[1])
    if names[0] == names[1]:
        leave(f"the fast and the slow tier are both {names[0]!r}; name two that differ")
    if folder is not None and "disk" not in names:
        leave(f"--folder is for the disk tier, but the tiers are {' and '.join(names)}")
    return _tier(names[0], folder), _tier(names[1], folder)


def one_of(what: str, name: str, there: Iterable[str]) -> str:
    """The name, if it is one of these; else ends the command with the nearest."""
    names = list(there)
    if name not in names:
        near = get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        leave(f"there is no {what} {name!r}; {hint}there are: {', '.join(names) or 'none'}")
    return name


def _tier(name: str, folder: Path | None) -> Tier:
    from argosy.memory import Disk, Hbm, Numa, PinnedHost, Ram

    if numbered := re.fullmatch(r"numa:(\d+)", name):
        return Numa(int(numbered[1]))
    tiers: dict[str, Callable[[], Tier]] = {
        "ram": Ram,
        "disk": lambda: Disk(folder),
        "hbm": Hbm,
        "pinned": PinnedHost,
    }
    return tiers[one_of("tier", name, [*tiers, "numa:0", "numa:1"])]()


def _from_file(text: str) -> Workload:
    from argosy.memory.workload import Workload

    file, colon, name = text.rpartition(":")
    if not colon or not file or not name:
        leave(f"--workload is a file and a name in it, like study.py:solver; not {text!r}")
    if not Path(file).is_file():
        leave(f"there is no file {file}; --workload is a file and a name in it, like study.py:solver")
    module = _module(Path(file))
    own = [key for key, value in vars(module).items() if _is_workload_or_function(value, module.__name__)]
    found = vars(module)[name if name in vars(module) else one_of(f"workload in {file} called", name, own)]
    made = found() if callable(found) and not isinstance(found, Workload) else found
    if not isinstance(made, Workload):
        leave(f"{text} is a {type(made).__name__}; give an argosy.memory.Workload, or a function that returns one")
    return made


def _is_workload_or_function(value: Any, module: str) -> bool:
    from argosy.memory.workload import Workload

    return isinstance(value, Workload) or (callable(value) and getattr(value, "__module__", None) == module)


def _module(path: Path) -> Any:
    """The file, run as a module of its own; its neighbours can be imported as from a script."""
    name = f"argosy_workload_{re.sub(r'[^0-9A-Za-z]', '_', path.stem)}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        leave(f"{path} is not a Python file; --workload is a file and a name in it, like study.py:solver")
    sys.path.insert(0, str(path.parent.resolve()))
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

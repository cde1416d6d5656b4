"""Everything that can be asked for a task, judged when it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argosy import arguments
from argosy.resources.need import Need
from argosy.units import parse_nbytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What `submit` and `@task` were told besides the function and its arguments, as plain Python."""

    need: Need
    inherit_ranks: bool
    """Nobody said how many ranks."""
    timeout: float | None
    retries: int
    priority: int
    name: str | None
    keep: bool


def judge(
    *,
    ranks: Any = None,
    gpus: Any = 0,
    cores: Any = None,
    memory: Any = None,
    timeout: Any = None,
    retries: Any = 0,
    priority: Any = 0,
    name: Any = None,
    keep: Any = False,
) -> Asked:
    """Raises a `TypeError` or a `ValueError` that names the first of them that makes no sense."""
    return Asked(
        need=Need(
            ranks=1 if ranks is None else arguments.whole("ranks", ranks, least=1),
            cores_per_rank=1 if cores is None else arguments.whole("cores", cores, least=1),
            gpus_per_rank=_gpus(gpus),
            nbytes_per_rank=0 if memory is None else parse_nbytes(memory, "memory", least=1),
            held_to_cores=cores is not None,
        ),
        inherit_ranks=ranks is None,
        timeout=_seconds(timeout),
        retries=arguments.whole("retries", retries, least=0),
        priority=arguments.whole("priority", priority),
        name=None if name is None else arguments.text("name", name),
        keep=arguments.flag("keep", keep),
    )


def _gpus(asked: Any) -> float:
    """A whole number stays one, however large: there may be too few, but it is not wrong."""
    if type(asked) is int and asked >= 0:
        return asked
    wanted = "a fraction of one GPU (0.25) or a whole number of them (2)"
    given = arguments.number("gpus", asked, least=0, wanted=wanted)
    if given > 1 and not given.is_integer():
        raise ValueError(f"gpus must be {wanted}, not {arguments.show(asked)}")
    return int(given) if given.is_integer() else given


def _seconds(timeout: Any) -> float | None:
    """For ever, if nothing or infinity is said."""
    if timeout is None:
        return None
    seconds = arguments.number("timeout", timeout, above=0, infinite=True, wanted="a number of seconds above 0")
    return None if seconds == float("inf") else seconds

"""The longest chain of what waited for what: with any number of threads, the call takes no less. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from argosy.tree.explaining.record import IN_TURN, NOT_RUN, Ran


def critical_path(runs: Sequence[Ran]) -> list[Ran]:
    """In program order. What runs in its turn waits for everything before it, and if alone all after it wait for it.

    finish(e) = seconds(e) + max finish(those that e waits for)
    """
    finish: list[float] = []
    before: list[int | None] = []
    barrier: int | None = None
    latest: int | None = None
    for run in runs:
        waits = [cause.number for cause in run.causes]
        waits += [other for other in (barrier, latest if run.where == IN_TURN else None) if other is not None]
        chosen = max(waits, key=finish.__getitem__, default=None)
        finish.append(run.seconds + (finish[chosen] if chosen is not None else 0.0))
        before.append(chosen)
        if run.state != NOT_RUN and (latest is None or finish[run.number] >= finish[latest]):
            latest = run.number
        if run.alone:
            barrier = run.number
    chain: list[Ran] = []
    while latest is not None:
        chain.append(runs[latest])
        latest = before[latest]
    return chain[::-1]

"""How often to run what, in the time that there is. Pure: seconds come in, numbers of runs go out."""

from __future__ import annotations

import math

REPEATS = (8, 16)
"""At least and at most so many runs of each placement, where neither a number nor a time is given."""
LEAST_REPEATS = 2
"""In however little time: a single run of each says nothing of the noise."""
NOISE_OF_A_MEAN = 0.02
"""How far the mean of a placement's runs may be off by chance, if as many runs as that are allowed."""
FOR_PLANS = 0.25
"""Of the time, for the runs that hold plans against the best placements."""
FINALS = (6, 60)
"""At least and at most so many runs of a plan and of the best placement, in turns."""


def repeats_for(noise: float) -> int:
    """Of each placement, so that chance does not drown what is to be judged, where one run is as noisy as this."""
    least, most = REPEATS
    return min(max(math.ceil((noise / NOISE_OF_A_MEAN) ** 2), least), most)


def affordable_repeats(wanted: int, placements: int, *, run_seconds: float, left_seconds: float | None) -> int:
    """Of each placement: as many as are wanted, or as the time allows; but never fewer than tell of the noise.

    Some of the time is kept back for the plans. None: there is no limit.
    """
    if left_seconds is None:
        return wanted
    can = int((1 - FOR_PLANS) * left_seconds / max(run_seconds * placements, 1e-9))
    return min(max(can, LEAST_REPEATS), wanted)


def affordable_finals(*, before: int, plans: int, run_seconds: float, left_seconds: float | None) -> int:
    """Of a plan and of the best placement, in turns. So many plans are still to be judged, and before the turns of
    each come `before` other runs."""
    least, most = FINALS
    if left_seconds is None:
        return most
    runs = left_seconds / max(run_seconds * plans, 1e-9) - before
    return min(max(int(runs / 2), least), most)

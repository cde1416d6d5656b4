"""One timed run of a frame on a pilot, and nothing left of it."""

from __future__ import annotations

import time

from argosy import DataFrame, Pilot


def timed(frame: DataFrame, pilot: Pilot) -> tuple[float, list[int]]:
    """Seconds from the call to the result on the ranks, and its rows on each of them."""
    began = time.perf_counter()
    result = frame.persist()
    seconds = time.perf_counter() - began
    counts = pilot.submit(lambda table: table.num_rows, result).results()
    result.__argosy_future__().release()
    pilot.submit(lambda: None, ranks=pilot.allocation.num_ranks).result()  # after which all ranks have freed it
    return seconds, counts

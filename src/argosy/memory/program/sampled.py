"""Sampled accesses: some of them, each with its time and address, from a processor or a table.

A sample stands for the accesses that were not sampled, so only shares mean something; each counts as one cache line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argosy.memory.heat import Heat
from argosy.memory.program.counting import PAGE_NBYTES
from argosy.memory.program.grouping import group_names, group_pages
from argosy.memory.program.result import FIXED, make_trace, window_names
from argosy.memory.trace import Trace

LINE_NBYTES = 64


class Samples(NamedTuple):
    """In the order of time."""

    seconds: NDArray[np.float64]
    addresses: NDArray[np.int64]
    writes: NDArray[np.bool_]


class Cut(NamedTuple):
    """How samples fall into windows."""

    window_of: NDArray[np.int64]
    """For each sample."""
    names: list[str]
    seconds: list[float]


def cut_by_time(seconds: NDArray[np.float64], windows: int) -> Cut:
    """Equal slices of the time from the first sample to the last."""
    first, last = float(seconds[0]), float(seconds[-1])
    width = (last - first) / windows
    if width <= 0:
        return Cut(np.zeros(len(seconds), np.int64), window_names(1), [0.0])
    window_of = np.minimum((seconds - first) / width, windows - 1).astype(np.int64)
    return Cut(window_of, window_names(windows), [width] * windows)


def cut_by_phase(seconds: NDArray[np.float64], phases: Sequence[str]) -> Cut:
    """A window for each stretch of one phase, from its first sample to the first of the next."""
    begins = [i for i in range(len(phases)) if i == 0 or phases[i] != phases[i - 1]]
    edges = np.append(seconds[begins], seconds[-1])
    window_of = np.zeros(len(phases), np.int64)
    window_of[begins[1:]] = 1
    return Cut(np.cumsum(window_of), [phases[i] for i in begins], [float(t) for t in np.diff(edges)])


def trace_samples(
    program: str,
    samples: Samples,
    cut: Cut,
    object_of: NDArray[np.int64] | None = None,
    names: Sequence[str] = (),
    sizes: Sequence[int] = (),
) -> tuple[Trace, Heat]:
    """Without `object_of`, pages that lie together are the objects. Object 0 has no name; its pages are counted."""
    pages, page_of = np.unique(samples.addresses // PAGE_NBYTES, return_inverse=True)
    if object_of is None:
        groups = group_pages(pages)
        names, sizes = group_names(pages, groups, PAGE_NBYTES)
        object_of, owners = groups[page_of], groups
    else:
        owners = np.zeros(len(pages), np.int64)
        owners[page_of] = object_of
        sizes = [max(int(np.count_nonzero(owners == 0)), 1) * PAGE_NBYTES, *sizes[1:]]
    num_windows = len(cut.names)
    moved = np.zeros((len(names), num_windows, 2), np.int64)
    np.add.at(moved, (object_of, cut.window_of, samples.writes.astype(np.int64)), LINE_NBYTES)
    by_page = np.zeros((num_windows, len(pages)), np.int64)
    np.add.at(by_page, (cut.window_of, page_of), LINE_NBYTES)
    heat = Heat.of_pages(pages, by_page, [names[owner] for owner in owners], page_nbytes=PAGE_NBYTES)
    kept = [i for i, name in enumerate(names) if name not in FIXED or moved[i].any()]
    trace = make_trace(
        program,
        sizes={names[i]: sizes[i] for i in kept},
        moved=moved[kept],
        windows=cut.names,
        seconds=cut.seconds,
    )
    return trace, heat

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.program.grouping import group_names, group_pages

pages_of = st.lists(st.integers(0, 300), unique=True, max_size=60).map(lambda pages: np.array(sorted(pages), np.int64))


@settings(max_examples=60)
@given(pages_of, st.integers(1, 8))
def test_groups_are_neighbours_and_never_too_many(pages, limit):
    groups = group_pages(pages, limit=limit)
    assert len(groups) == len(pages)
    if len(pages):
        assert groups[0] == 0
        assert groups[-1] < limit
        assert set(np.diff(groups)) <= {0, 1}
        gaps = np.diff(pages)
        assert (groups[1:] == groups[:-1])[gaps == 1].all()
        between, within = gaps[np.diff(groups) == 1], gaps[np.diff(groups) == 0]
        if len(between) and len(within):
            assert between.min() >= within.max()
        names, sizes = group_names(pages, groups, 4096)
        assert len(set(names)) == groups[-1] + 1
        assert sum(sizes) == 4096 * len(pages)


def test_a_group_is_named_by_its_addresses():
    pages = np.array([4, 5, 9])
    assert group_names(pages, group_pages(pages), 4096) == (
        ["pages 0x4000-0x6000", "pages 0x9000-0xa000"],
        [8192, 4096],
    )

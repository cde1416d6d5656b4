"""The heat map."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.heat import MOST_GROUPS, Heat


def heat_of(num_pages, windows=3, groups=MOST_GROUPS):
    draw = np.random.default_rng(num_pages)
    pages = np.cumsum(draw.integers(1, 5, num_pages))
    nbytes = draw.integers(0, 100, (windows, num_pages))
    names = ["x" if page < pages[num_pages // 2] else "y" for page in pages]
    return pages, nbytes, Heat.of_pages(pages, nbytes, names, page_nbytes=4096, groups=groups)


@settings(max_examples=40)
@given(st.integers(1, 300), st.integers(1, 40))
def test_grouping_keeps_the_bytes_of_every_window(num_pages, groups):
    pages, nbytes, heat = heat_of(num_pages, groups=groups)
    assert np.array_equal(heat.nbytes.sum(axis=1), nbytes.sum(axis=1))
    assert heat.nbytes.shape[1] == len(heat.addresses) == len(heat.objects) <= groups
    assert heat.addresses[0] == pages[0] * 4096
    assert (np.diff(heat.addresses) > 0).all()
    bands = heat.bands()
    assert [band[1] for band in bands] == [0, *(band[2] for band in bands[:-1])]
    assert bands[-1][2] == len(heat.objects)


def test_a_large_program_has_at_most_512_groups():
    assert heat_of(5000)[2].nbytes.shape == (3, 500)


@pytest.mark.parametrize("num_pages", [1, 700])
def test_it_is_drawn(tmp_path, num_pages):
    pytest.importorskip("matplotlib")
    path = heat_of(num_pages)[2].plot(tmp_path / "heat.png")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_map_of_nothing_is_drawn_too(tmp_path):
    pytest.importorskip("matplotlib")
    heat = Heat.of_pages(np.array([3]), np.zeros((1, 1), np.int64), ["x"], page_nbytes=4096)
    assert heat.plot(tmp_path / "heat.svg").stat().st_size > 0


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.colors", None)
    with pytest.raises(ImportError, match=r"argosy\[plots\]"):
        heat_of(5)[2].plot(tmp_path / "heat.png")

"""Counts of a stream keep what there was, however long it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.program.counting import PAGE_NBYTES, Counter
from argosy.memory.program.events import OTHER, STACK, Objects
from argosy.memory.program.lackey import Accesses

FAR = 1 << 40  # a stack that nobody else is near


def stream(seed, number, span):
    draw = np.random.default_rng(seed)
    addresses = draw.integers(0, span, number)
    addresses[:1] = FAR
    return Accesses(addresses, draw.integers(1, 9, number), draw.integers(1, 4, number).astype(np.int8), 0, number)


def moved(accesses, where):
    return [int(accesses.sizes[where & (accesses.kinds & bit > 0)].sum()) for bit in (1, 2)]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 99), number=st.integers(1, 6000), windows=st.integers(1, 9), cut=st.integers(0, 6000),
    span=st.sampled_from([5000, 1 << 22, 1 << 34]),
)  # fmt: skip
def test_bytes_of_objects_and_pages_are_all_there(seed, number, windows, cut, span):
    objects = Objects()
    objects.add_named("low", 100, 700)
    objects.add_named("high", 4000, span // 2)
    accesses = stream(seed, number, span)
    counter = Counter(objects, windows=windows, pages=1024)
    for part in (slice(None, cut), slice(cut, None)):
        assert not counter.count(Accesses(*(column[part] for column in accesses[:3]), 0, 0))[1]
    assert 1 <= counter.num_windows <= windows
    assert counter.accesses.sum() == number
    assert (counter.accesses > 0).all()
    at = accesses.addresses
    named = {2: (at >= 100) & (at < 800), 3: (at >= 4000) & (at < 4000 + span // 2), STACK: at == FAR}
    named[OTHER] = ~(named[2] | named[3] | named[STACK])
    for which, where in named.items():
        assert counter.by_object[which].sum(axis=0).tolist() == moved(accesses, where)
    pages, owners, by_page = counter.by_page()
    assert len(pages) <= 1024
    assert len(owners) == len(pages)
    assert np.array_equal(pages, np.unique(at >> counter.page_shift))
    assert np.array_equal(by_page.sum(axis=0), counter.by_object.sum(axis=0))
    if len(np.unique(at // PAGE_NBYTES)) <= 1024:
        assert 1 << counter.page_shift == PAGE_NBYTES


@pytest.mark.parametrize("windows", [2, 3, 7, 50])
def test_all_windows_but_the_last_have_the_same_number_of_accesses(windows):
    counter = Counter(Objects(), windows=windows)
    counter.count(stream(0, 100_000, 1 << 20))
    assert len(set(counter.accesses[:-1].tolist())) == 1
    assert counter.accesses[-1] <= counter.accesses[0]
    assert counter.num_windows >= windows // 2


def test_it_stops_at_the_mailbox_and_leaves_out_what_is_between():
    counter = Counter(Objects(), windows=4)
    counter.mailbox = 500
    addresses = np.array([FAR, 8, 500, 16, 24, 501, 8, 500, 32, 502, 8])
    accesses = Accesses(addresses, np.full(11, 4), np.full(11, 1, np.int8), 0, 11)
    assert counter.count(accesses) == (6, True)
    counter.objects.add_named("new", 8, 8)
    counter.refresh()
    assert counter.count(accesses, 6) == (11, False)
    assert counter.accesses.tolist() == [4]
    assert counter.by_object[:, 0, 0].tolist() == [4, 4, 8]  # other, stack, new


def test_an_event_at_the_end_of_a_block_is_not_lost():
    counter = Counter(Objects(), windows=4)
    counter.mailbox = 500
    accesses = Accesses(np.array([FAR, 500, 501]), np.full(3, 1), np.full(3, 2, np.int8), 0, 3)
    assert counter.count(accesses) == (3, True)


def test_there_is_room_for_more_objects_than_at_first():
    counter = Counter(Objects(), windows=2)
    for number in range(40):
        counter.objects.add_named(f"o{number}", 100 * number, 100)
    counter.refresh()
    counter.count(Accesses(np.arange(0, 4000, 50), np.full(80, 1), np.full(80, 3, np.int8), 0, 0))
    assert counter.by_object.shape == (42, 1, 2)

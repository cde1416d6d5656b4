"""Which address belongs to whom, as allocations come and go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import BadTrace
from argosy.memory.program.events import OTHER, Event, Frame, Objects, parse_event


def allocated(address, nbytes, *sites):
    return Event(kind="allocated", address=address, nbytes=nbytes, frames=tuple(Frame("", site) for site in sites))


def freed(address, nbytes=0):
    return Event(kind="freed", address=address, nbytes=nbytes)


changes = st.lists(
    st.one_of(
        st.builds(allocated, st.integers(0, 60), st.integers(1, 30), st.integers(1, 3)),
        st.builds(freed, st.integers(0, 60), st.integers(0, 30)),
    ),
    max_size=30,
)


@settings(max_examples=60)
@given(changes)
def test_a_byte_belongs_to_whoever_allocated_it_last(events):
    objects, owner = Objects(), dict.fromkeys(range(100), OTHER)
    for event in events:
        if event.kind == "freed" and not event.nbytes:
            ends = [b for a, b, _ in objects.ranges().tolist() if a == event.address]
            gone = range(event.address, ends[0]) if ends else range(0)
        else:
            gone = range(event.address, event.address + event.nbytes)
        objects.apply(event)
        for byte in gone:
            owner[byte] = OTHER
        if event.kind == "allocated":
            number = int(objects.locate(np.array([event.address]))[0])
            assert objects.found[number].frames == event.frames
            owner.update(dict.fromkeys(gone, number))
        assert objects.locate(np.arange(100)).tolist() == list(owner.values())
    for number, each in enumerate(objects.found[2:], start=2):
        assert each.live_nbytes == list(owner.values()).count(number)
        assert each.peak_nbytes >= each.live_nbytes


def test_a_temporary_of_a_loop_is_one_object_and_rows_are_several():
    objects = Objects()
    for _ in range(5):
        objects.apply(allocated(1000, 50, 7))
        objects.apply(freed(1000))
    assert len(objects.found) == 3
    for row in range(20):
        objects.apply(allocated(5000 + 100 * row, 100, 8))
    rows = objects.found[3:]
    assert len(rows) == 16
    assert rows[0].peak_nbytes == 100
    assert rows[-1].peak_nbytes == 500  # the rest


def test_a_realloc_keeps_its_object():
    objects = Objects()
    objects.apply(allocated(1000, 50, 7))
    objects.apply(Event(kind="moved", old=1000, address=9000, nbytes=500, frames=(Frame("", 8),)))
    assert objects.ranges().tolist() == [[9000, 9500, 2]]
    assert objects.found[2].peak_nbytes == 500
    objects.apply(Event(kind="moved", old=4, address=20000, nbytes=500, frames=(Frame("", 8),)))
    assert objects.found[3].frames == (Frame("", 8),)  # it was too small before to be told of


def test_the_interposers_lines_are_read():
    assert parse_event("H\t108000\t48411c0\t5.5\n") == Event(kind="hello", address=0x108000, old=0x48411C0, seconds=5.5)
    line = "A\t4a4f010\t80000\t6.25\t+1186\t/lib/a file+b.so+27249\n"
    frames = (Frame("", 0x1186), Frame("/lib/a file+b.so", 0x27249))
    assert parse_event(line) == Event(kind="allocated", address=0x4A4F010, nbytes=0x80000, seconds=6.25, frames=frames)
    moved = Event(kind="moved", old=0x10, address=0x20, nbytes=0x30, seconds=7)
    assert parse_event("R\t10\t20\t30\t7.0\n") == moved
    assert parse_event("F\t10\t0\t8.0\n") == Event(kind="freed", address=0x10, seconds=8)


@pytest.mark.parametrize("line", ["", "A\t1\n", "X\t1\t2\t3\n", "F\tzz\t0\t1\n"])
def test_any_other_line_is_no_event(line):
    with pytest.raises(BadTrace, match="not an event"):
        parse_event(line)

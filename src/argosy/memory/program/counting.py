"""Counts of a stream of accesses, for each window by page and by object, in memory that does not grow with the stream.

A window is a fixed number of accesses. When there would be too many windows, neighbours become one and the number
doubles; when there would be too many pages, the same happens to pages. So a stream of any length ends as at most
`windows` windows over at most `pages` pages.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from argosy.memory.program.events import OTHER, STACK, Objects
from argosy.memory.program.lackey import Accesses

PAGE_NBYTES = 4096
_FIRST_WINDOW = 256
_BELOW_STACK, _ABOVE_STACK = 16 << 20, 4 << 20
"""How far a stack may reach from the first access of a program: valgrind's largest, and the longest arguments."""
_DONE, _WINDOWS_FULL, _PAGES_FULL, _EVENT = range(4)
_FILLED, _WINDOW, _EACH, _SKIPPING, _NUM_PAGES, _LAST_RANGE = range(6)


class Counter:
    """Feed it with `count`; where it stops for an event of the mailbox, change `objects` and go on."""

    def __init__(self, objects: Objects, *, windows: int, pages: int = 1 << 16) -> None:
        self.objects = objects
        self.mailbox = -8
        """Address of the interposer's mailbox, once it is known."""
        self.page_shift = PAGE_NBYTES.bit_length() - 1
        self._max_windows, self._max_pages = windows, pages
        self._state = np.zeros(6, np.int64)
        self._state[_EACH] = _FIRST_WINDOW
        self._accesses = np.zeros(windows, np.int64)
        self._by_object = np.zeros((16, windows, 2), np.int64)
        self._ranges = objects.ranges()
        self._stack_range: tuple[int, int] | None = None
        self._new_pages(1024)

    def count(self, accesses: Accesses, begin: int = 0) -> tuple[int, bool]:
        """Count from access `begin`. Returns where to go on, and whether it stopped there for an event."""
        if self._stack_range is None and len(accesses.addresses):
            # The first thing that any program does is to use its stack.
            first = int(accesses.addresses[0])
            self._stack_range = (first - _BELOW_STACK, first + _ABOVE_STACK)
            self.refresh()
        while True:
            begin, why = _count(
                accesses.addresses, accesses.sizes, accesses.kinds, begin, self._state, self.mailbox, self._ranges,
                self._accesses, self._by_object, self.page_shift, self._keys, self._cells, self._pages,
                self._owners, self._by_page,
            )  # fmt: skip
            if why == _WINDOWS_FULL:
                self._merge_windows()
            elif why == _PAGES_FULL:
                self._more_pages()
            else:
                return int(begin), why == _EVENT

    def refresh(self) -> None:
        """To be called after `objects` changed."""
        ranges = self.objects.ranges()
        if self._stack_range is not None:
            ranges = np.vstack([ranges, [*self._stack_range, STACK]])
            ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
        self._ranges = ranges
        self._state[_LAST_RANGE] = 0
        lacking = len(self.objects.found) - len(self._by_object)
        if lacking > 0:
            more = np.zeros((max(lacking, len(self._by_object)), *self._by_object.shape[1:]), np.int64)
            self._by_object = np.concatenate([self._by_object, more])

    @property
    def num_windows(self) -> int:
        return int(self._state[_WINDOW]) + (1 if self._state[_FILLED] else 0)

    @property
    def accesses(self) -> NDArray[np.int64]:
        """Of each window."""
        return self._accesses[: self.num_windows]

    @property
    def by_object(self) -> NDArray[np.int64]:
        """Bytes read and written: [objects, windows, 2]."""
        return self._by_object[: len(self.objects.found), : self.num_windows]

    def by_page(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Page numbers in order, the object that was last seen in each, and bytes read and written of each:
        [pages, windows, 2]."""
        number = int(self._state[_NUM_PAGES])
        order = np.argsort(self._pages[:number])
        return self._pages[order], self._owners[order], self._by_page[order, : self.num_windows]

    def _merge_windows(self) -> None:
        """Called when the last window is full: neighbours become one."""
        for counts in (self._accesses[None, :, None], self._by_object, self._by_page):
            half = _pairs(counts, axis=1)
            counts[:, : half.shape[1]] = half
            counts[:, half.shape[1] :] = 0
        odd = self._max_windows % 2
        self._state[_FILLED] = self._state[_EACH] if odd else 0
        self._state[_WINDOW] = self._max_windows // 2
        self._state[_EACH] *= 2

    def _new_pages(self, room: int) -> None:
        self._pages = np.zeros(room, np.int64)
        self._owners = np.zeros(room, np.int64)
        self._by_page = np.zeros((room, self._max_windows, 2), np.int64)
        self._keys = np.full(4 * room, -1, np.int64)
        self._cells = np.zeros(4 * room, np.int64)

    def _more_pages(self) -> None:
        """Twice the room, or, at its end, pages of twice the size until half of it is free."""
        pages, owners, counts = self._pages, self._owners, self._by_page
        room = len(pages)
        if 2 * room <= self._max_pages:
            room *= 2
        else:
            while len(np.unique(pages)) > room // 2:
                pages = pages >> 1
                self.page_shift += 1
        self._new_pages(room)
        numbers, place = np.unique(pages, return_inverse=True)
        self._pages[: len(numbers)] = numbers
        self._owners[place] = owners
        np.add.at(self._by_page, place, counts)
        self._state[_NUM_PAGES] = len(numbers)
        _index(numbers, self._keys, self._cells)


def _pairs(counts: NDArray[np.int64], *, axis: int) -> NDArray[np.int64]:
    return np.add.reduceat(counts, np.arange(0, counts.shape[axis], 2), axis=axis)


@njit(cache=True, nogil=True)
def _slot(page: int, keys: NDArray[np.int64]) -> int:
    """Where a page is in the table, or should be."""
    mask = len(keys) - 1
    at = ((page * 0x9E3779B97F4A7C1) >> 20) & mask
    while keys[at] != -1 and keys[at] != page:
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True)
def _index(pages: NDArray[np.int64], keys: NDArray[np.int64], cells: NDArray[np.int64]) -> None:
    for cell in range(len(pages)):
        at = _slot(pages[cell], keys)
        keys[at] = pages[cell]
        cells[at] = cell


@njit(cache=True, nogil=True)
def _count(
    addresses: NDArray[np.int64], sizes: NDArray[np.int64], kinds: NDArray[np.int8], begin: int,
    state: NDArray[np.int64], mailbox: int, ranges: NDArray[np.int64],
    window_accesses: NDArray[np.int64], by_object: NDArray[np.int64],
    shift: int, keys: NDArray[np.int64], cells: NDArray[np.int64], pages: NDArray[np.int64],
    owners: NDArray[np.int64], by_page: NDArray[np.int64],
) -> tuple[int, int]:  # fmt: skip
    last_page = -1
    cell = 0
    last = state[_LAST_RANGE]
    for i in range(begin, len(addresses)):
        address = addresses[i]
        if mailbox <= address < mailbox + 3:
            if address == mailbox:
                state[_SKIPPING] = 1
            else:
                state[_SKIPPING] = 0
                if address == mailbox + 1:
                    return i + 1, _EVENT
            continue
        if state[_SKIPPING]:
            continue
        if state[_FILLED] == state[_EACH]:
            if len(window_accesses) > 1 and state[_WINDOW] == len(window_accesses) - 1:
                return i, _WINDOWS_FULL
            if len(window_accesses) > 1:
                state[_WINDOW] += 1
                state[_FILLED] = 0
            else:
                state[_EACH] *= 2
        page = address >> shift
        if page != last_page:
            at = _slot(page, keys)
            if keys[at] == -1:
                if state[_NUM_PAGES] == len(pages):
                    return i, _PAGES_FULL
                keys[at] = page
                cells[at] = state[_NUM_PAGES]
                pages[state[_NUM_PAGES]] = page
                state[_NUM_PAGES] += 1
            last_page = page
            cell = cells[at]
        number = OTHER
        if len(ranges):
            if not ranges[last, 0] <= address < ranges[last, 1]:
                low, high = 0, len(ranges)
                while low < high:
                    middle = (low + high) >> 1
                    if ranges[middle, 0] <= address:
                        low = middle + 1
                    else:
                        high = middle
                if low:
                    last = low - 1
            if ranges[last, 0] <= address < ranges[last, 1]:
                number = ranges[last, 2]
        window = state[_WINDOW]
        state[_FILLED] += 1
        window_accesses[window] += 1
        owners[cell] = number
        if kinds[i] & 1:
            by_object[number, window, 0] += sizes[i]
            by_page[cell, window, 0] += sizes[i]
        if kinds[i] & 2:
            by_object[number, window, 1] += sizes[i]
            by_page[cell, window, 1] += sizes[i]
    state[_LAST_RANGE] = last
    return len(addresses), _DONE

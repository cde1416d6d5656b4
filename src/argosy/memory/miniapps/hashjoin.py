"""A partitioned hash join: a small table of items, a large one of sales, three kinds of windows a query.

Both tables lie in the order of their partitions, as an exchange leaves them; the partition is the upper half of a key.
Each query builds the hash table of those items that are on offer, probes it with every sale, and adds up what the
matches are worth. One wide column of the items and one column of the sales are looked at after the last query only.
Gathers stay inside one partition, a few pages.
"""

from __future__ import annotations

import numpy as np

from argosy.memory.miniapps.compiled import Array, compiled
from argosy.memory.store import Store
from argosy.memory.workload import Workload

ITERATIONS = 2
SALES_PER_ITEM = 5
WIDTH = 8
"""Numbers in an item's profile."""
ITEMS_PER_PARTITION = 2048
SLOTS_PER_PARTITION = 4096
SHIFT = 32
"""Of a key, to the number of its partition."""
SPREAD = 2654435769
"""Odd: twice its multiples are even, and all differ in their lower 32 bits."""
NBYTES_PER_ITEM = 12 + 4 * WIDTH + 4 * SLOTS_PER_PARTITION // ITEMS_PER_PARTITION + 24 * SALES_PER_ITEM
"""Key 8, price 4, profile, slots; of each sale key 8, amount 4, discount 8, match 4."""


def make(nbytes: int, iterations: int) -> Workload:
    """Returns, from each run, each query's matches and revenue, and the last window's total."""
    num_partitions = max(round(nbytes / NBYTES_PER_ITEM / ITEMS_PER_PARTITION), 1)
    return Workload(
        name="hashjoin",
        objects=lambda: _objects(num_partitions),
        run=lambda store: _run(store, iterations),
    )


def _objects(num_partitions: int) -> dict[str, Array]:
    random = np.random.default_rng(19)
    num_items = num_partitions * ITEMS_PER_PARTITION
    num_sales = num_items * SALES_PER_ITEM
    partition = np.repeat(np.arange(num_partitions, dtype=np.uint64), ITEMS_PER_PARTITION)
    lower = (np.arange(num_items, dtype=np.uint64) * np.uint64(2 * SPREAD)) & np.uint64(0xFFFFFFFF)
    item_key = (partition << np.uint64(SHIFT)) | lower
    sale_key = np.empty(num_sales, np.uint64)
    _draw_sales(sale_key, item_key, random.random(num_sales, dtype=np.float32))
    return {
        "item.key": item_key,
        "item.price": random.random(num_items, dtype=np.float32) + np.float32(0.5),
        "item.profile": random.random((num_items, WIDTH), dtype=np.float32),
        "slots": np.zeros(num_partitions * SLOTS_PER_PARTITION, np.int32),
        "sale.key": sale_key,
        "sale.amount": random.random(num_sales, dtype=np.float32),
        "sale.discount": random.random(num_sales),
        "match": np.zeros(num_sales, np.int32),
    }


def _run(store: Store, iterations: int) -> tuple[tuple[int, float], ...]:
    results = []
    for query in range(iterations):
        with store.window("build"):
            _build(store["item.key"], store.write("slots"), query)
        with store.window("probe"):
            matches = _probe(store["sale.key"], store["item.key"], store["slots"], store.write("match"))
        with store.window("revenue"):
            results.append((matches, _revenue(store["match"], store["item.price"], store["sale.amount"])))
    with store.window("profile"):
        results.append((0, _profile(store["match"], store["item.profile"], store["sale.discount"])))
    return tuple(results)


@compiled
def _draw_sales(sale_key: Array, item_key: Array, draws: Array) -> None:
    """Each partition's sales are of its own items; one in four has a key, odd, that no item has."""
    for at in range(len(sale_key)):
        partition = at // (ITEMS_PER_PARTITION * SALES_PER_ITEM)
        item = partition * ITEMS_PER_PARTITION + int(draws[at] * ITEMS_PER_PARTITION)
        sale_key[at] = item_key[item] | np.uint64(at % 4 == 0)


@compiled
def _slot(key: np.uint64) -> np.uint64:
    """Where in its partition's slots to look for a key first."""
    return ((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & np.uint64(SLOTS_PER_PARTITION - 1)


@compiled
def _build(item_key: Array, slots: Array, query: int) -> None:
    """A slot holds 1 + an item's row, or 0. Of each query's items one in four is not on offer."""
    slots[:] = 0
    for row in range(len(item_key)):
        if (row + query) % 4 != 0:
            key = item_key[row]
            first = (key >> np.uint64(SHIFT)) * np.uint64(SLOTS_PER_PARTITION)
            slot = _slot(key)
            while slots[first + slot] != 0:
                slot = (slot + np.uint64(1)) & np.uint64(SLOTS_PER_PARTITION - 1)
            slots[first + slot] = row + 1


@compiled
def _probe(sale_key: Array, item_key: Array, slots: Array, match: Array) -> int:
    """The item's row of each sale, or -1. Returns how many match."""
    matches = 0
    for at in range(len(sale_key)):
        key = sale_key[at]
        first = (key >> np.uint64(SHIFT)) * np.uint64(SLOTS_PER_PARTITION)
        slot = _slot(key)
        row = slots[first + slot] - 1
        while row >= 0 and item_key[row] != key:
            slot = (slot + np.uint64(1)) & np.uint64(SLOTS_PER_PARTITION - 1)
            row = slots[first + slot] - 1
        match[at] = row
        matches += row >= 0
    return matches


@compiled
def _revenue(match: Array, price: Array, amount: Array) -> float:
    total = 0.0
    for at in range(len(match)):
        if match[at] >= 0:
            total += price[match[at]] * amount[at]
    return total


@compiled
def _profile(match: Array, profile: Array, discount: Array) -> float:
    """What was let off on each sale, times the middle of the item's profile."""
    total = 0.0
    for at in range(len(match)):
        row = match[at]
        if row >= 0:
            middle = np.float32(0)
            for i in range(profile.shape[1]):
                middle += profile[row, i]
            total += middle * discount[at] / profile.shape[1]
    return total

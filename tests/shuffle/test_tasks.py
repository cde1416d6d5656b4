"""A task of a pilot exchanges the rows of its frame over its own communicator."""

from __future__ import annotations

from typing import Any

import argosy
from argosy.shuffle import PartialExchange, partial_order


def _rows_by_epoch(table: Any, comm: Any) -> list[Any]:
    from argosy.shuffle import PartialExchange

    with PartialExchange(table, 0.5, seed=1, group=comm, epochs=3) as exchange:
        return [[(row["k"].item(), row["x"].item()) for row in exchange] for _ in range(3)]


def _samples_by_epoch(num_samples: int, comm: Any) -> list[Any]:
    from argosy.shuffle import PartialExchange

    with PartialExchange(list(range(num_samples)), 0.5, seed=1, group=comm) as exchange:
        return [list(exchange) for _ in range(3)]


def test_rows_of_a_frame_move_between_the_ranks_that_hold_them() -> None:
    rows = {"k": list(range(101)), "x": [k * 0.5 for k in range(101)]}
    with argosy.Pilot(ranks=3) as pilot:
        frame = argosy.from_pydict(rows).persist()
        seen = pilot.submit(_rows_by_epoch, frame, ranks=3).results()
        dealt = pilot.submit(_samples_by_epoch, 50, ranks=2).results()
    held = []
    for epoch in range(3):
        pairs = [pair for rank in range(3) for pair in seen[rank][epoch]]
        assert sorted(pairs) == list(zip(rows["k"], rows["x"], strict=True))
        held.append([{key for key, _ in seen[rank][epoch]} for rank in range(3)])
    assert [len(keys) for keys in held[0]] == [len(keys) for keys in held[2]]
    assert all(0.2 < len(before - after) / len(before) < 0.5 for before, after in zip(held[0], held[1], strict=True))
    for epoch in range(3):
        order = partial_order(50, 2, fraction=0.5, seed=1, epoch=epoch)
        assert [each[epoch] for each in dealt] == [line.tolist() for line in order]


def test_a_table_alone_is_one_shard() -> None:
    table = argosy.from_pydict({"a": [1, 2, 3], "label": [0, 1, 0]}).collect()
    samples = list(PartialExchange(table))
    assert sorted((sample["a"].item(), sample["label"].item()) for sample in samples) == [(1, 0), (2, 1), (3, 0)]

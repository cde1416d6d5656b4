"""Which nodes a task's ranks go to."""

from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from argosy.pilot.capacity import Capacity
from argosy.pilot.place import Rooms, place
from argosy.pilot.runs import Runs
from argosy.pilot.shape import PARTS, shape_of
from argosy.resources import Allocation, Need, Node

rooms_of_nodes = st.lists(st.integers(0, 6), min_size=1, max_size=8)


def fewest_nodes(rooms: list[int], num_ranks: int) -> int | None:
    """By trying every set of nodes."""
    for count in range(1, len(rooms) + 1):
        if any(sum(chosen) >= num_ranks for chosen in combinations(rooms, count)):
            return count
    return None


@given(rooms_of_nodes, st.integers(1, 40), st.integers(0, 2))
def test_a_task_gets_all_of_its_ranks_on_the_fewest_nodes_or_none(rooms: list[int], num_ranks: int, extra: int) -> None:
    index = Rooms(rooms, max(rooms) + extra)
    shares = place(index, num_ranks)
    fewest = fewest_nodes(rooms, num_ranks)
    if fewest is None:
        assert shares is None
        return
    assert shares is not None
    assert sum(count for _, count in shares) == num_ranks
    assert len(shares) == fewest
    assert [node for node, _ in shares] == sorted({node for node, _ in shares})
    assert all(0 < count <= rooms[node] for node, count in shares)
    assert index.room == rooms


@given(rooms_of_nodes, st.lists(st.tuples(st.integers(0, 7), st.integers(0, 6), st.integers(1, 20)), max_size=30))
def test_rooms_that_change_place_like_rooms_that_are_new(rooms: list[int], changes: list[tuple[int, int, int]]) -> None:
    index = Rooms(rooms, 6)
    place(index, 7 * len(rooms))
    for node, room, num_ranks in changes:
        index.update(node % len(rooms), room)
        fresh = Rooms(index.room, 6)
        assert (index.total, index.largest) == (fresh.total, fresh.largest)
        assert place(index, num_ranks) == place(fresh, num_ranks)


@given(st.sets(st.integers(0, 12)), st.lists(st.integers(0, 12), max_size=40))
def test_runs_are_the_stretches_of_the_nodes_in_them(nodes: set[int], toggled: list[int]) -> None:
    runs = Runs(nodes)
    for node in toggled:
        if node in nodes:
            runs.remove(node)
        else:
            runs.add(node)
        nodes ^= {node}
        fresh = Runs(nodes)
        for count in range(1, len(nodes) + 1):
            chosen = runs.choose(count)
            assert chosen == fresh.choose(count)
            assert set(chosen) <= nodes
            assert len(set(chosen)) == count
            stretches = {start for start in nodes if all(start + i in nodes for i in range(count))}
            assert not stretches or chosen == list(range(chosen[0], chosen[0] + count))


def test_a_task_that_fits_on_one_node_goes_where_the_least_is_left_over() -> None:
    assert place(Rooms([8, 3, 2, 3]), 3) == [(1, 3)]


def test_a_task_of_several_nodes_takes_neighbours() -> None:
    assert place(Rooms([4, 0, 4, 4, 4, 0, 4]), 12) == [(2, 4), (3, 4), (4, 4)]


def test_a_task_of_several_nodes_takes_the_shortest_stretch_that_is_long_enough() -> None:
    assert place(Rooms([4, 4, 4, 0, 4, 4, 0]), 8) == [(4, 4), (5, 4)]


def test_what_is_left_of_a_task_goes_beside_its_whole_nodes() -> None:
    assert place(Rooms([2, 0, 0, 4, 4, 3]), 10) == [(3, 4), (4, 4), (5, 2)]
    assert place(Rooms([2, 0, 3, 4, 4, 1]), 10) == [(2, 2), (3, 4), (4, 4)]
    assert place(Rooms([2, 0, 0, 4, 4, 1]), 10) == [(0, 2), (3, 4), (4, 4)]


def capacity_of(*nodes: Node) -> Capacity:
    capacity = Capacity(Allocation(nodes=nodes))
    for rank in range(sum(node.ranks for node in nodes)):
        capacity.join(rank)
    return capacity


def test_fractions_fill_one_gpu_before_they_break_the_next() -> None:
    capacity = capacity_of(Node(name="a", ranks=8, cores=8, gpus=2))
    third = shape_of(Need(gpus_per_rank=1 / 3))
    slots = capacity.try_claim(third, 4, None)
    assert slots is not None
    assert slots.gpus == ((0,), (0,), (0,), (1,))
    assert capacity.room(0, shape_of(Need(gpus_per_rank=1))) == 0
    capacity.release(third, slots)
    assert capacity.free_gpus == [[PARTS, PARTS]]


def test_whole_gpus_are_wholly_free_ones() -> None:
    capacity = capacity_of(Node(name="a", ranks=8, cores=8, gpus=4))
    assert capacity.try_claim(shape_of(Need(gpus_per_rank=0.5)), 1, None) is not None
    slots = capacity.try_claim(shape_of(Need(gpus_per_rank=3)), 1, None)
    assert slots is not None
    assert slots.gpus == ((1, 2, 3),)


@given(st.integers(1, 1000))
def test_as_many_equal_fractions_fit_on_a_gpu_as_arithmetic_says(number: int) -> None:
    shape = shape_of(Need(gpus_per_rank=1 / number))
    assert PARTS // shape.gpu_parts >= number
    assert (number + 1) * shape.gpu_parts > PARTS or number > 700


def test_a_rank_has_the_gpus_again_that_it_had_and_another_gets_others() -> None:
    capacity = capacity_of(Node(name="a", ranks=3, cores=3, gpus=3))
    one = shape_of(Need(gpus_per_rank=1))

    def claim(*ranks: int) -> tuple[tuple[int, ...], ...]:
        slots = capacity.claim_ranks(one, ranks)
        assert slots is not None
        capacity.release(one, slots)
        return slots.gpus

    assert claim(1) == ((0,),)
    assert claim(0) == ((1,),)
    assert claim(0, 1, 2) == ((1,), (0,), (2,))
    assert claim(2) == ((2,),)
    capacity.leave(1, returns=True)
    capacity.join(1)  # another process, which may begin with any
    assert claim(0, 1) == ((1,), (0,))


@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from([0.25, 0.5, 1, 2])), max_size=30), st.integers(0, 2**32))
def test_no_part_of_a_gpu_is_given_twice_and_none_is_lost(asked: list[tuple[int, float]], seed: int) -> None:
    chance = random.Random(seed)
    capacity = capacity_of(Node(name="a", ranks=6, cores=6, gpus=3))
    running = []
    for num_ranks, gpus in asked:
        shape = shape_of(Need(gpus_per_rank=gpus))
        there = capacity.room(0, shape)
        slots = capacity.try_claim(shape, num_ranks, None)
        assert (slots is not None) == (there >= num_ranks)
        if slots is not None:
            running.append((shape, slots))
            assert all(len(set(mine)) == len(mine) == max(shape.whole_gpus, 1) for mine in slots.gpus)
        held = [0, 0, 0]
        for claimed, of_task in running:
            for mine in of_task.gpus:
                for gpu in mine:
                    held[gpu] += min(claimed.gpu_parts, PARTS)
        assert capacity.free_gpus == [[PARTS - parts for parts in held]]
        if running and chance.random() < 0.4:
            capacity.release(*running.pop(chance.randrange(len(running))))

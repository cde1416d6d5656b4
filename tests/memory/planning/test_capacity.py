from __future__ import annotations

import pytest
from memory.planning.small import make_costs

from argosy.errors import CapacityTooSmall, UnknownObject
from argosy.memory.planning.capacity import parse_capacity
from argosy.memory.planning.solve import plan

COSTS = make_costs([[1.0, 2.0, 3.0]], [100, 200, 300])


@pytest.mark.parametrize(
    ("capacity", "nbytes"), [(7, 7), ("2KiB", 2048), ("25%", 150), (" 100 % ", 600), ("0%", 0), ("12.5%", 75), ("0", 0)]
)
def test_a_capacity_is_bytes_or_a_share_of_all_objects(capacity: int | str, nbytes: int) -> None:
    assert parse_capacity(capacity, 600) == nbytes


@pytest.mark.parametrize("capacity", ["much", "-3%", "x%", "nan%", "inf%", -1, ""])
def test_what_is_no_capacity_is_refused(capacity: int | str) -> None:
    with pytest.raises(ValueError, match=r"not a share|capacity (is not an amount|must be)"):
        parse_capacity(capacity, 600)


@pytest.mark.parametrize("solver", ["greedy", "exact", "exhaustive"])
def test_a_capacity_below_what_must_be_fast_says_the_least_that_would_do(solver: str) -> None:
    with pytest.raises(CapacityTooSmall, match=r"2 objects must be fast.*'c' alone.*at least 400 bytes") as caught:
        plan(COSTS, 399, solver=solver, must_be_fast=["a", "c"])
    assert caught.value.least_nbytes == 400
    assert plan(COSTS, 400, solver=solver, must_be_fast=["a", "c"]).nbytes_fast == 400


def test_one_object_that_must_be_fast_and_is_too_large_is_named() -> None:
    with pytest.raises(CapacityTooSmall, match="'c' must be fast and has 300 B, but the capacity is 150 B"):
        plan(COSTS, "25%", must_be_fast=["c"])


def test_an_unknown_object_that_must_be_fast_is_named() -> None:
    with pytest.raises(UnknownObject, match="no object 'z'"):
        plan(COSTS, 600, must_be_fast=["a", "z"])

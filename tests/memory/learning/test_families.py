from __future__ import annotations

import numpy as np
import pytest

from argosy.memory.learning.families import HELD_OUT, TAUGHT, UNSEEN, Family, broad
from argosy.memory.learning.phases import case

JUDGED = {**HELD_OUT, **UNSEEN}
EVERY = {**TAUGHT, **JUDGED}


@pytest.mark.parametrize("family", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize(("windows", "objects"), [(1, 2), (3, 20), (150, 6), (240, 13)])
def test_a_run_is_as_long_and_as_wide_as_asked_for(family: Family, windows: int, objects: int) -> None:
    for seed in range(10):
        passes, names = family(np.random.default_rng(seed), windows, objects)
        assert passes.shape == (windows, objects)
        assert len(names) == windows
        assert np.isfinite(passes).all()
        assert (passes >= 0).all()


@pytest.mark.parametrize("family", EVERY)
def test_a_case_is_the_same_each_time_and_another_for_another_seed(family: str) -> None:
    one, again, other = case(family, 3), case(family, 3), case(family, 4)
    assert np.array_equal(one.costs.slow, again.costs.slow)
    assert (one.costs.windows, one.capacity, one.moves) == (again.costs.windows, again.capacity, again.moves)
    assert one.costs.slow.shape != other.costs.slow.shape or not np.array_equal(one.costs.slow, other.costs.slow)
    assert (one.costs.slow > 0).any()


def test_what_is_judged_on_was_not_taught() -> None:
    assert len(EVERY) == len(TAUGHT) + len(HELD_OUT) + len(UNSEEN)
    assert not {family.__module__ for family in TAUGHT.values()} & {family.__module__ for family in JUDGED.values()}


def test_there_is_no_such_family() -> None:
    with pytest.raises(ValueError, match="there is no family 'loops'"):
        case("loops", 0)


@pytest.mark.parametrize("seed", range(20))
def test_a_program_does_the_same_in_every_operation_of_one_name(seed: int) -> None:
    passes, names = broad.programs(np.random.default_rng(seed), 120, 9)
    for name in set(names):
        rows = passes[[each == name for each in names]]
        assert (rows == rows[0]).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_stack_passes_over_a_few_objects_at_a_time(seed: int) -> None:
    passes, _ = broad.stack(np.random.default_rng(seed), 90, 12)
    always = (passes > 0).all(axis=0)
    assert ((passes[:, ~always] > 0).sum(axis=1) <= 3).all()


def test_what_comes_back_by_the_clock_comes_back_as_regularly() -> None:
    regular = 0
    for seed in range(30):
        passes, _ = broad.renewals(np.random.default_rng(seed), 200, 8)
        for object_ in range(8):
            gaps = np.diff(np.flatnonzero(passes[:, object_]))
            regular += len(gaps) > 5 and np.ptp(gaps) <= 1
    assert regular >= 30, "of 240 objects, three runs in nine have all by the clock and none changed"

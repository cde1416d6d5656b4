"""Tiles have the bits, dtype, shape and strides of the whole, whatever the expression and the layout of its arrays."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tree.tiles.random_expressions import Made, expressions
from tree.tiles.whole import all_tiles, assert_same, cut_of, whole_of

from argosy.tree.tiles import Limits

LIMITS = st.builds(
    Limits,
    min_nbytes=st.just(0),
    tile_nbytes=st.sampled_from((64, 300, 2000)),
    rows_multiple=st.sampled_from((1, 4)),
    short_axis=st.sampled_from((0, 4, 200)),
    short_result_axis=st.sampled_from((0, 4, 200)),
    tiles_per_thread=st.just(1),
)


@given(expressions(), LIMITS, st.integers(1, 3), st.integers(0, 5))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_tiles_in_any_order_are_the_whole_bit_for_bit(made: Made, limits: Limits, threads: int, seed: int) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cut = cut_of(made.source, made.variables, limits, threads)
        event("cut" if cut else "whole")
        if cut is None:
            return
        before = {name: np.array(value).tobytes() for name, value in made.variables.items()}
        try:
            whole = whole_of(made.source, made.variables)
        except ValueError:  # whole numbers to negative powers
            with pytest.raises(ValueError, match="powers"):
                all_tiles(cut, seed)
            return
        assert_same(all_tiles(cut, seed), whole)
        assert before == {name: np.array(value).tobytes() for name, value in made.variables.items()}

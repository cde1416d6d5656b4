"""A sample comes back as it was, and a batch of samples is what default_collate makes of them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import default_collate

from argosy.shuffle.seal import Seal, fresh_key
from argosy.shuffle.store.packing import Layout, layout_of, pickled, unpickled

SEAL = Seal(fresh_key())

Point = namedtuple("Point", ["x", "y"])
_DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.uint8, torch.bool]

_shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)
_tensors = st.builds(
    lambda shape, dtype, seed: (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 3).to(dtype),
    _shapes,
    st.sampled_from(_DTYPES),
    st.integers(0, 99),
)
_numbers = st.one_of(st.booleans(), st.integers(-(2**63) + 1, 2**63 - 1), st.floats(allow_nan=False))
_arrays = st.builds(
    lambda shape, kind: (np.arange(np.prod(shape, dtype=int)).reshape(shape) * 3).astype(kind),
    _shapes,
    st.sampled_from(["f4", "f8", "i2", "u1", "?"]),
)
_samples = st.recursive(
    st.one_of(_tensors, _numbers, _arrays),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.tuples(inner, inner),
        st.builds(Point, inner, inner),
        st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)


def _packed(layout: Layout, sample: Any) -> np.ndarray:
    row = np.zeros(layout.nbytes, np.uint8)
    assert layout.pack(sample, row)
    return row


@settings(max_examples=60)
@given(_samples)
def test_a_sample_comes_back_with_all_its_types(sample: Any) -> None:
    layout = layout_of(sample)
    assert layout is not None
    _check_same(layout.unpack(_packed(layout, sample)), sample)
    _check_same(unpickled(pickled(sample, "it", SEAL), SEAL), sample)


@settings(max_examples=60)
@given(_samples)
def test_a_batch_is_what_default_collate_makes(sample: Any) -> None:
    layout = layout_of(sample)
    assert layout is not None
    row = _packed(layout, sample)
    _check_same(layout.batch(np.stack([row, row, row])), default_collate([sample] * 3))


def test_what_has_no_layout_is_pickled() -> None:
    for sample in ("text", {"a": "text", "b": torch.ones(2)}, None, (1, b"bytes"), np.array(["x"]), [], {}):
        assert layout_of(sample) is None
        _check_same(unpickled(pickled(sample, "it", SEAL), SEAL), sample)
    sparse = torch.eye(3).to_sparse()
    assert layout_of(sparse) is None
    assert torch.equal(unpickled(pickled(sparse, "it", SEAL), SEAL).to_dense(), torch.eye(3))


def test_a_pickled_tensor_is_hardly_more_than_its_numbers() -> None:
    assert len(pickled((torch.zeros(1000)[::2], 3), "it", SEAL)) < 500 * 4 + 300


@pytest.mark.parametrize(
    "other",
    [
        (torch.zeros(2), 1.0),
        (torch.zeros(3), 1),
        (torch.zeros(2, dtype=torch.float64), 1),
        [torch.zeros(2), 1],
        (torch.zeros(2),),
        (np.zeros(2, np.float32), 1),
        (torch.zeros(2), True),
        {"a": 1},
        "text",
    ],
)
def test_a_sample_of_another_form_is_not_packed(other: Any) -> None:
    layout = layout_of((torch.zeros(2), 1))
    assert layout is not None
    assert not layout.pack(other, np.zeros(layout.nbytes, np.uint8))


def _check_same(here: Any, there: Any) -> None:
    assert type(here) is type(there)
    if isinstance(there, dict):
        assert list(here) == list(there)
        for key in there:
            _check_same(here[key], there[key])
    elif isinstance(there, (list, tuple)):
        assert len(here) == len(there)
        for one, other in zip(here, there, strict=True):
            _check_same(one, other)
    elif isinstance(there, torch.Tensor):
        assert (here.dtype, here.shape) == (there.dtype, there.shape)
        assert torch.equal(here, there)
    elif isinstance(there, np.ndarray):
        assert here.dtype == there.dtype
        np.testing.assert_array_equal(here, there)
    else:
        assert here == there

"""A sample comes back as what it was, and a batch is what default_collate makes of its samples."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import default_collate

from argosy.errors import CannotPack
from argosy.shuffle import PartialExchange
from argosy.shuffle.seal import Seal, fresh_key
from argosy.shuffle.store.packing import layout_of, pickled, unpickled

SEAL = Seal(fresh_key())

Pair = namedtuple("Pair", "x y")

_OF_ONE_FORM: dict[str, Callable[[int], Any]] = {
    "a tensor and a number": lambda n: (torch.full((2, 3), float(n)), n),
    "bfloat16": lambda n: torch.full((3,), float(n), dtype=torch.bfloat16),
    "an empty tensor": lambda n: (torch.empty(0, 3), n),
    "a dict in a dict": lambda n: {"x": {"z": float(n)}, "y": n % 2 == 0},
    "an OrderedDict": lambda n: OrderedDict(b=n, a=n + 1),
    "a namedtuple": lambda n: Pair(torch.tensor(n), n),
    "an array": lambda n: np.full(3, n, np.uint16),
    "a NumPy number": lambda n: (np.float32(n), np.int8(n)),
    "a tensor that is not in one piece": lambda n: torch.arange(12).reshape(3, 4).t() + n,
    "a conjugate": lambda n: torch.full((2,), complex(1, n)).conj(),
}
_OF_ANY_FORM: dict[str, Callable[[int], Any]] = {
    "text": lambda n: "x" * n,
    "tensors of different sizes": lambda n: torch.arange(n),
    "a number of more than 64 bits": lambda n: 2**70 + n,
    "a range": lambda n: range(n, n + 2),
    "a defaultdict": lambda n: defaultdict(int, a=n),
    "a number of 80 bits": lambda n: np.longdouble(n),
    "a masked array": lambda n: np.ma.masked_equal([n, 1], 1),
    "a time": lambda n: np.datetime64("2020-01-01") + n,
    "None": lambda n: (None, n),
}


@pytest.mark.parametrize("name", _OF_ONE_FORM)
def test_samples_of_one_form_come_back_from_their_layout(name: str) -> None:
    samples = [_OF_ONE_FORM[name](n) for n in range(5)]
    layout = layout_of(samples[0])
    assert layout is not None
    rows = np.zeros((5, layout.nbytes), np.uint8)
    assert all(map(layout.pack, samples, rows))
    for sample, row in zip(samples, rows, strict=True):
        back = layout.unpack(row)
        assert type(back) is type(sample)
        assert repr(back) == repr(sample)
    assert repr(layout.batch(rows)) == repr(default_collate(samples))


@pytest.mark.parametrize("name", [*_OF_ONE_FORM, *_OF_ANY_FORM])
def test_any_sample_comes_back_from_a_pickle(name: str) -> None:
    sample = (_OF_ONE_FORM | _OF_ANY_FORM)[name](3)
    back = unpickled(pickled(sample, "it", SEAL), SEAL)
    assert type(back) is type(sample)
    assert repr(back) == repr(sample)


@pytest.mark.parametrize("name", _OF_ANY_FORM)
def test_samples_that_share_no_layout_are_read_as_they_were(name: str) -> None:
    samples = [_OF_ANY_FORM[name](n) for n in range(5)]
    exchange = PartialExchange(samples)
    assert sorted(map(repr, exchange)) == sorted(map(repr, samples))


def test_one_sample_of_another_form_is_not_squeezed_into_the_layout() -> None:
    samples = [*range(40), 2**70]
    assert sorted(PartialExchange(samples)) == samples


def test_a_type_that_other_ranks_cannot_know_is_told_before_samples_are_read() -> None:
    local = namedtuple("Local", "x")
    with pytest.raises(CannotPack, match=r"form of a sample.*Local"):
        list(PartialExchange([local(1), local(2)]))

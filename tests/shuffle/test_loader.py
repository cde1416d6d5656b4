"""What a training program is told by a loader and a sampler."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import DistributedSampler, TensorDataset

from argosy.errors import BadBatch, BadData
from argosy.shuffle import PartialExchange


def test_the_length_of_a_loader_is_that_of_a_whole_epoch_also_when_it_goes_on_in_the_middle() -> None:
    exchange = PartialExchange(list(range(40)))
    loader = exchange.loader(4)
    batches = iter(loader)
    first = [next(batches) for _ in range(7)]
    state = loader.state_dict()
    again = PartialExchange(list(range(40))).loader(4)
    again.load_state_dict(state)
    assert len(again) == 10
    rest = list(again)
    assert len(rest) == 3
    assert sorted(torch.cat(first + rest).tolist()) == list(range(40))
    assert len(list(again)) == len(again)


def test_a_batch_that_is_larger_than_the_data_is_told_when_it_is_asked_for() -> None:
    with pytest.raises(BadBatch, match="a batch of 50 is larger than the data"):
        PartialExchange(list(range(40))).loader(50)


def test_the_sampler_is_left_alone_by_those_who_put_a_distributed_one_in_the_place_of_others() -> None:
    exchange = PartialExchange(list(range(40)))
    sampler = exchange.sampler
    assert isinstance(sampler, DistributedSampler)
    assert len(sampler) == 40
    assert sorted(exchange.samples[slot] for slot in sampler) == list(range(40))


@pytest.mark.parametrize("columns", [(torch.zeros(3, 2), torch.zeros(3)), {"x": torch.zeros(3)}])
def test_columns_without_a_dataset_around_them_are_not_taken_for_samples(columns: object) -> None:
    with pytest.raises(BadData, match="give TensorDataset"):
        PartialExchange(columns)
    assert len(PartialExchange(TensorDataset(torch.zeros(3, 2), torch.zeros(3)))) == 3

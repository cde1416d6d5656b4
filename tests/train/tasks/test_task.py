"""What every task that needs no file promises."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import TrainError
from argosy.train.tasks import Task, task_named

GENERATED = ("atoms", "fold")


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(params=GENERATED)
def task(request: pytest.FixtureRequest) -> Task:
    return task_named(request.param, num_train=300, num_valid=200)


def test_equal_seeds_give_equal_samples_and_other_seeds_give_others(task: Task) -> None:
    inputs, labels = task.samples("train", 200, 5)
    again, labels_again = task.samples("train", 200, 5)
    other, _ = task.samples("train", 200, 6)
    assert np.array_equal(inputs, again)
    assert np.array_equal(labels, labels_again)
    assert not np.array_equal(inputs, other)


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(GENERATED), seed=st.integers(0, 2**31), few=st.integers(0, 60), more=st.integers(0, 60))
def test_fewer_samples_are_the_first_of_more(name: str, seed: int, few: int, more: int) -> None:
    task = task_named(name)
    inputs, labels = task.samples("train", few, seed)
    all_inputs, all_labels = task.samples("train", few + more, seed)
    assert np.array_equal(inputs, all_inputs[:few])
    assert np.array_equal(labels, all_labels[:few])


def test_training_and_validation_are_drawn_apart(task: Task) -> None:
    data = task.data(0)
    assert len(data.train[0]) == task.num_train
    assert len(data.valid[0]) == task.num_valid
    assert not np.array_equal(data.train[0][:200], data.valid[0])


def test_samples_are_made_once(task: Task) -> None:
    assert task.data(1) is task.data(1)


def test_every_class_occurs_and_none_is_most_of_all(task: Task) -> None:
    _, labels = task.samples("train", 4_000, 0)
    share = np.bincount(labels, minlength=len(task.classes)) / len(labels)
    assert share.min() > 0.03
    assert share.max() < 0.5


@pytest.mark.parametrize("batch_norm", [False, True])
def test_a_model_takes_the_bytes_and_gives_one_number_for_each_class(task: Task, batch_norm: bool) -> None:
    inputs, _ = task.samples("train", 6, 0)
    model = task.model(0, batch_norm=batch_norm)
    assert model(torch.from_numpy(inputs)).shape == (6, len(task.classes))
    has_norm = any(isinstance(layer, torch.nn.modules.batchnorm._BatchNorm) for layer in model.modules())
    assert has_norm == batch_norm


def test_equal_seeds_give_equal_models_and_leave_the_random_state_alone(task: Task) -> None:
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    one, same, other = task.model(7), task.model(7), task.model(8)
    assert torch.equal(torch.random.get_rng_state(), before)
    pairs = list(zip(one.parameters(), same.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b in pairs)
    assert not all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_a_name_that_is_almost_right_is_answered_with_the_right_one() -> None:
    with pytest.raises(TrainError, match=r"no task 'atom', did you mean 'atoms'\?.*fold, cifar10, imagefolder"):
        task_named("atom")

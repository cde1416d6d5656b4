"""Stacked workers are the same workers: against models that are trained one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.comm.threads import on_threads
from argosy.errors import BadBatch, TrainError
from argosy.train.learners.learner import Batch
from argosy.train.learners.stacked import StackedLearner

torch.set_num_threads(1)
LOSS = torch.nn.functional.cross_entropy
Make = Callable[[], torch.nn.Module]


def plain() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))


def with_batch_norm() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 5)),
        torch.nn.Conv1d(1, 4, 3, bias=False),
        torch.nn.BatchNorm1d(4),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(12, 3),
    )


def batch_of(sizes: Sequence[int], seed: int) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    count = sum(sizes)
    bounds = tuple(sum(sizes[:i]) for i in range(len(sizes) + 1))
    return Batch(
        inputs=torch.randn(count, 5, generator=generator),
        labels=torch.randint(3, (count,), generator=generator),
        bounds=bounds,
        num_global=count,
    )


def train(
    learner: StackedLearner, batches: Sequence[Batch], kind: Any = torch.optim.SGD, **options: Any
) -> list[float]:
    optimizer = kind(learner.parameters, **options)
    losses = []
    for step, batch in enumerate(batches, 1):
        losses.append(float(learner.learn(batch)))
        optimizer.step()
        learner.stepped(step)
    return losses


def one_by_one(make: Make, batches: Sequence[Batch], every: int, kind: Any, **options: Any) -> torch.nn.Module:
    """Local SGD as anybody would write it: a list of models."""
    models = [make() for _ in batches[0].bounds[1:]]
    optimizers = [kind(model.parameters(), **options) for model in models]
    for step, batch in enumerate(batches, 1):
        for worker, (model, optimizer) in enumerate(zip(models, optimizers, strict=True)):
            rows = slice(batch.bounds[worker], batch.bounds[worker + 1])
            optimizer.zero_grad()
            LOSS(model(batch.inputs[rows]), batch.labels[rows]).backward()
            optimizer.step()
        if step % every == 0:
            average(models, [torch.nn.Module.parameters])
    average(models, [torch.nn.Module.parameters, torch.nn.Module.buffers])
    return models[0]


def average(models: list[torch.nn.Module], kinds: Sequence[Any]) -> None:
    with torch.no_grad():
        for kind in kinds:
            for same in zip(*(kind(model) for model in models), strict=True):
                if same[0].is_floating_point():
                    mean = torch.stack([one.detach() for one in same]).mean(0)
                    for one in same:
                        one.copy_(mean)


def assert_close(one: torch.nn.Module, other: torch.nn.Module) -> None:
    expected = other.state_dict()
    for name, value in one.state_dict().items():
        torch.testing.assert_close(value, expected[name], rtol=1e-4, atol=1e-5, msg=lambda said, name=name: name + said)


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(3, 4), min_size=1, max_size=5),
    every=st.integers(1, 4),
    make=st.sampled_from([plain, with_batch_norm]),
    optimizer=st.sampled_from(
        [
            (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
            (torch.optim.Adam, {"lr": 0.01}),
        ]
    ),
)
def test_stacked_workers_learn_what_separate_models_learn(
    sizes: list[int], every: int, make: Make, optimizer: tuple[Any, dict[str, Any]]
) -> None:
    kind, options = optimizer
    batches = [batch_of(sizes, step) for step in range(5)]
    learner = StackedLearner(make(), LOSS, len(sizes), every=every)
    train(learner, batches, kind, **options)
    assert_close(learner.settled(), one_by_one(make, batches, every, kind, **options))


def test_averaged_after_every_step_they_are_one_big_batch() -> None:
    batches = [batch_of([4, 4, 4], step) for step in range(6)]
    learner, whole = StackedLearner(plain(), LOSS, 3, every=1), plain()
    losses = train(learner, batches, lr=0.1)
    optimizer = torch.optim.SGD(whole.parameters(), lr=0.1)
    for batch, loss in zip(batches, losses, strict=True):
        optimizer.zero_grad()
        expected = LOSS(whole(batch.inputs), batch.labels)
        expected.backward()
        optimizer.step()
        assert loss == pytest.approx(expected.item(), rel=1e-4)
    assert_close(learner.settled(), whole)


def test_the_share_of_the_loss_is_over_samples_not_over_workers() -> None:
    batch = batch_of([3, 4], 0)
    loss = StackedLearner(plain(), LOSS, 2, every=8).learn(batch)
    assert float(loss) == pytest.approx(LOSS(plain()(batch.inputs), batch.labels).item(), rel=1e-5)


def test_an_outer_step_of_rate_one_without_momentum_is_the_mean() -> None:
    batches = [batch_of([4, 4], step) for step in range(6)]
    local = StackedLearner(plain(), LOSS, 2, every=3)
    outer = StackedLearner(plain(), LOSS, 2, every=3, outer=(1.0, 0.0))
    train(local, batches, lr=0.1)
    train(outer, batches, lr=0.1)
    assert_close(outer.settled(), local.settled())


def test_two_ranks_of_two_workers_are_four_workers() -> None:
    batches = [batch_of([4] * 4, step) for step in range(6)]
    four = StackedLearner(plain(), LOSS, 4, every=2, outer=(0.7, 0.9))
    train(four, batches, lr=0.1)
    models = [plain(), plain()]  # made here, as the random state is one for all threads

    def on_rank(ranks: Any) -> torch.nn.Module:
        def mean(tensors: Sequence[torch.Tensor]) -> None:
            every = ranks.allgather([one.clone() for one in tensors])
            for one, same in zip(tensors, zip(*every, strict=True), strict=True):
                one.copy_(torch.stack(same).mean(0))

        mine = [
            Batch(
                inputs=batch.inputs[8 * ranks.rank :][:8],
                labels=batch.labels[8 * ranks.rank :][:8],
                bounds=(0, 4, 8),
                num_global=16,
            )
            for batch in batches
        ]
        learner = StackedLearner(models[ranks.rank], LOSS, 2, every=2, outer=(0.7, 0.9), mean=mean)
        train(learner, mine, lr=0.1)
        return learner.settled()

    for settled in on_threads(2, on_rank):
        assert_close(settled, four.settled())


def test_settling_does_not_disturb_training() -> None:
    batches = [batch_of([4, 4], step) for step in range(5)]
    learner, looked_at = (StackedLearner(with_batch_norm(), LOSS, 2, every=3) for _ in range(2))
    for one in (learner, looked_at):
        optimizer = torch.optim.SGD(one.parameters, lr=0.1)
        for step, batch in enumerate(batches, 1):
            one.learn(batch)
            optimizer.step()
            one.stepped(step)
            if one is looked_at:
                one.settled().eval()
    assert all(torch.equal(a, b) for a, b in zip(learner.parameters, looked_at.parameters, strict=True))


def test_a_state_goes_on_with_the_same_workers_and_with_others() -> None:
    first = StackedLearner(with_batch_norm(), LOSS, 2, every=4, outer=(0.7, 0.9))
    train(first, [batch_of([4, 4], step) for step in range(6)], lr=0.1)
    shared, own = first.shared_state(), first.own_state()
    same, fewer = (StackedLearner(with_batch_norm(), LOSS, n, every=4, outer=(0.7, 0.9)) for n in (2, 1))
    same.load(shared, own)
    fewer.load(shared, None)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters, same.parameters, strict=True))
    assert_close(same.settled(), first.settled())
    assert_close(fewer.settled(), first.settled())


def test_each_worker_has_its_own_dropout() -> None:
    learner = StackedLearner(torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(5, 3)), LOSS, 2, every=9)
    one = batch_of([4], 0)
    learner.learn(Batch(inputs=one.inputs.repeat(2, 1), labels=one.labels.repeat(2), bounds=(0, 4, 8), num_global=8))
    gradient = learner.parameters[0].grad
    assert not torch.equal(gradient[0], gradient[1])


def test_a_parameter_that_does_not_learn_stays_one() -> None:
    model = plain()
    model[0].weight.requires_grad_(False)
    learner = StackedLearner(model, LOSS, 2, every=1)
    train(learner, [batch_of([4, 4], 0)], lr=0.1)
    assert len(learner.parameters) == 3
    assert torch.equal(learner.settled()[0].weight, plain()[0].weight)


class LooksAtItsValues(torch.nn.Linear):
    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return super().forward(inputs) if inputs.sum().item() < 1e9 else inputs


def test_mistakes_are_told_with_what_to_do() -> None:
    with pytest.raises(TrainError, match=r"LooksAtItsValues cannot learn as 2 stacked workers.*use the scheme 'sync'"):
        StackedLearner(LooksAtItsValues(5, 3), LOSS, 2, every=1).learn(batch_of([4, 4], 0))
    with pytest.raises(BadBatch, match=r"3 workers need a part of the batch each.*parts of \[4, 4\] samples"):
        StackedLearner(plain(), LOSS, 3, every=1).learn(batch_of([4, 4], 0))
    with pytest.raises(ValueError, match="at least 1 worker"):
        StackedLearner(plain(), LOSS, 0, every=1)

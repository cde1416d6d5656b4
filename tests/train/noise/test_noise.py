"""The gradient noise scale: its estimator, and its three sources against the truth and one another."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from argosy.errors import BadBatch, TrainError
from argosy.train.noise import NoiseScale

torch.set_num_threads(1)

DIMENSIONS = 6
DISTANCE = 0.5
SPREAD = 1.0
TRUTH = DIMENSIONS + 1 + SPREAD**2 * DIMENSIONS / DISTANCE**2


def linear_gaussian(samples: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    inputs = torch.randn(samples, DIMENSIONS, generator=generator)
    return inputs, SPREAD * torch.randn(samples, 1, generator=generator)


def model_at_a_distance() -> torch.nn.Module:
    model = torch.nn.Linear(DIMENSIONS, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(DISTANCE / DIMENSIONS**0.5)
    return model


def two_layers(seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))


@given(
    signal=st.floats(0.01, 100),
    noise=st.floats(0.01, 100),
    small=st.floats(1, 64),
    times=st.floats(1.5, 64),
)
def test_norms_as_expected_give_the_noise_scale_exactly(
    signal: float, noise: float, small: float, times: float
) -> None:
    scale = NoiseScale()
    large = small * times
    for _ in range(3):
        scale.observe(signal + noise / small, signal + noise / large, small_batch=small, large_batch=large)
    assert scale.value == pytest.approx(noise / signal, rel=1e-6)
    assert scale.ceiling(small) == pytest.approx(1 + noise / signal / small, rel=1e-6)


@given(factors=st.lists(st.floats(0.1, 10), min_size=8, max_size=40), unit=st.floats(0.01, 100))
def test_the_unit_of_the_loss_does_not_matter(factors: list[float], unit: float) -> None:
    plain, scaled = NoiseScale(), NoiseScale()
    for factor in factors:
        norms = 1 + 10 * factor / 4, 1 + 10 * factor / 32
        plain.observe(*norms, small_batch=4, large_batch=32)
        scaled.observe(*(unit * norm for norm in norms), small_batch=4, large_batch=32)
    assert scaled.value == pytest.approx(plain.value)
    assert scaled.low == pytest.approx(plain.low)
    assert scaled.high == pytest.approx(plain.high)


def measured(steps: int = 400, batch: int = 64) -> NoiseScale:
    noise, model, generator = NoiseScale(), model_at_a_distance(), torch.Generator().manual_seed(1)
    for _ in range(steps):
        inputs, labels = linear_gaussian(batch, generator)
        noise.measure(model, torch.nn.functional.mse_loss, inputs, labels, parts=8)
    return noise


def test_a_linear_gaussian_model_has_the_noise_scale_of_the_closed_form() -> None:
    noise = measured()
    assert noise.value == pytest.approx(TRUTH, rel=0.1)
    assert noise.low < TRUTH < noise.high
    assert noise.low < noise.value < noise.high
    assert "measured over 400 steps" in str(noise)


def test_accumulation_gives_what_measuring_the_same_parts_gives() -> None:
    measured, accumulated = NoiseScale(), NoiseScale()
    model, generator = two_layers(), torch.Generator().manual_seed(1)
    loss = torch.nn.functional.mse_loss
    for _ in range(5):
        inputs, labels = linear_gaussian(32, generator)
        measured.measure(model, loss, inputs, labels, parts=4)
        model.zero_grad()
        for rows in torch.arange(32).chunk(4):
            (loss(model(inputs[rows]), labels[rows]) / 4).backward()
            accumulated.micro(model.parameters())
        accumulated.large(model.parameters(), 32)
    assert accumulated.value == pytest.approx(measured.value, rel=1e-4)


def test_accumulation_of_unequal_parts_is_unbiased() -> None:
    noise, model, generator = NoiseScale(), model_at_a_distance(), torch.Generator().manual_seed(2)
    for _ in range(1500):
        inputs, labels = linear_gaussian(32, generator)
        for rows in torch.arange(32).split([4, 16, 12]):
            (torch.nn.functional.mse_loss(model(inputs[rows]), labels[rows]) * len(rows) / 32).backward()
            noise.micro(model.parameters(), len(rows))
        noise.large(model.parameters(), 32)
        model.zero_grad()
    assert noise.value == pytest.approx(TRUTH, rel=0.1)


def test_gradients_that_were_watched_while_accumulating_are_the_same_to_the_bit() -> None:
    inputs, labels = linear_gaussian(32, torch.Generator().manual_seed(1))
    plain, watched, noise = two_layers(), two_layers(), NoiseScale()
    for rows in torch.arange(32).chunk(4):
        for model in (plain, watched):
            (torch.nn.functional.mse_loss(model(inputs[rows]), labels[rows]) / 4).backward()
        noise.micro(watched.parameters())
    noise.large(watched.parameters(), 32)
    for one, other in zip(plain.parameters(), watched.parameters(), strict=True):
        assert torch.equal(one.grad, other.grad)


def test_measuring_leaves_gradients_statistics_and_random_states_as_they_were() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(6, 5), torch.nn.BatchNorm1d(5), torch.nn.Dropout(0.5), torch.nn.Linear(5, 1)
    )
    inputs, labels = linear_gaussian(32, torch.Generator().manual_seed(1))
    torch.nn.functional.mse_loss(model(inputs), labels).backward()
    gradients = [param.grad.clone() for param in model.parameters()]
    state = {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.random.get_rng_state()
    NoiseScale().measure(model, torch.nn.functional.mse_loss, inputs, labels, parts=4)
    assert all(torch.equal(param.grad, kept) for param, kept in zip(model.parameters(), gradients, strict=True))
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.random.get_rng_state(), random)


class LooksAtItsValues(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inside = two_layers()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.inside(inputs) if inputs.sum().item() < 1e9 else inputs


def test_a_model_that_vmap_cannot_run_is_measured_part_by_part() -> None:
    inputs, labels = linear_gaussian(32, torch.Generator().manual_seed(1))
    one, other = NoiseScale(), NoiseScale()
    one.measure(two_layers(), torch.nn.functional.mse_loss, inputs, labels, parts=4)
    other.measure(LooksAtItsValues(), torch.nn.functional.mse_loss, inputs, labels, parts=4)
    assert other.state_dict()["rows"][0] == pytest.approx(one.state_dict()["rows"][0], rel=1e-4)


def test_a_trajectory_follows_a_noise_scale_that_grows() -> None:
    noise = NoiseScale()
    for step in range(64):
        phi = 10 + step
        noise.observe(1 + phi / 4, 1 + phi / 32, small_batch=4, large_batch=32)
    windows = noise.trajectory(8)
    assert [samples for samples, _ in windows] == [256 * (number + 1) for number in range(8)]
    assert [phi for _, phi in windows] == pytest.approx([10 + 8 * number + 3.5 for number in range(8)])
    assert noise.between(256, 512) == pytest.approx(10 + 8 + 3.5)


def test_a_window_in_which_noise_hides_the_gradient_is_joined_with_its_neighbour() -> None:
    noise = NoiseScale()
    for signal in (1.0, 1.0, -0.5, 1.0):
        noise.observe(signal + 8 / 4, signal + 8 / 32, small_batch=4, large_batch=32)
    assert [samples for samples, _ in noise.trajectory(4)] == [32, 96, 128]
    assert all(math.isfinite(phi) for _, phi in noise.trajectory(4))


def test_a_gradient_hidden_by_noise_gives_an_infinite_scale_not_a_negative_one() -> None:
    noise = NoiseScale()
    noise.observe(2.0, 0.1, small_batch=4, large_batch=32)
    assert noise.value == math.inf
    assert (noise.low, noise.high) == (0.0, math.inf)


def test_a_state_goes_on_where_it_was_left_and_travels_as_json() -> None:
    whole, first, second = NoiseScale(), NoiseScale(), NoiseScale()
    for step in range(40):
        norms = 3 + math.sin(step), 1 + math.cos(step) / 8
        for noise in (whole, first if step < 17 else second):
            noise.observe(*norms, small_batch=4, large_batch=32)
        if step == 16:
            second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert second.state_dict() == whole.state_dict()
    assert second.trajectory() == whole.trajectory()


def test_a_long_run_stays_small_and_says_the_same() -> None:
    noise = NoiseScale()
    for step in range(20_000):
        noise.observe(3 + step % 7, 1 + step % 3, small_batch=4, large_batch=32)
    assert noise.num_steps == 20_000
    assert len(noise.state_dict()["rows"]) < 4096
    small, large = 3 + sum(range(7)) / 7, 1 + sum(range(3)) / 3
    truth = (small - large) / (1 / 4 - 1 / 32) / ((32 * large - 4 * small) / 28)
    assert noise.value == pytest.approx(truth, rel=1e-3)


def test_mistakes_are_told_with_what_to_do() -> None:
    noise, model = NoiseScale(), two_layers()
    assert str(noise) == "noise scale: nothing observed yet"
    with pytest.raises(TrainError, match="no gradient was observed; watch a DDP model"):
        noise.value  # noqa: B018
    with pytest.raises(TrainError, match="two sizes of batch, small_batch below large_batch, not 8 and 8"):
        noise.observe(1, 1, small_batch=8, large_batch=8)
    with pytest.raises(TrainError, match="wants a DistributedDataParallel model, not Sequential"):
        noise.watch(model)
    with pytest.raises(TrainError, match=r"follows noise\.watch"):
        noise.step(8)
    with pytest.raises(TrainError, match=r"call noise\.micro after each"):
        noise.large(model.parameters(), 8)
    with pytest.raises(BadBatch, match="3 samples cannot be cut into 4 parts; take 2 to 3"):
        noise.measure(model, torch.nn.functional.mse_loss, torch.ones(3, 6), torch.ones(3, 1), parts=4)


RANK = """
import json, sys
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from argosy.train.noise import NoiseScale

torch.set_num_threads(1)
rank, size, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=size)

def model():
    torch.manual_seed(0)
    inside = torch.nn.Sequential(torch.nn.Linear(6, 50), torch.nn.Tanh(), torch.nn.Linear(50, 1))
    return DistributedDataParallel(inside, bucket_cap_mb=0.0002)

def counted(state, bucket):
    seen.append(bucket.index())
    bucket.buffer().mul_(1 / size)
    return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda done: done.value()[0])

seen = []
plain, watched, around, noise, other, accumulated = model(), model(), model(), *(NoiseScale() for _ in range(3))
noise.watch(watched)
other.watch(around, counted)
single = torch.nn.Sequential(torch.nn.Linear(6, 50), torch.nn.Tanh(), torch.nn.Linear(50, 1))
models = plain, watched, around
optimizers = [torch.optim.SGD(one.parameters(), lr=0.01) for one in models]
generator = torch.Generator().manual_seed(7)
for step in range(6):
    inputs, labels = torch.randn(size * 8, 6, generator=generator), torch.randn(size * 8, 1, generator=generator)
    single.load_state_dict(plain.module.state_dict())
    for rows in torch.arange(size * 8).chunk(size):
        (torch.nn.functional.mse_loss(single(inputs[rows]), labels[rows]) / size).backward()
        accumulated.micro(single.parameters())
    accumulated.large(single.parameters(), size * 8)
    single.zero_grad()
    mine = slice(rank * 8, rank * 8 + 8)
    for one, optimizer in zip(models, optimizers):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(one(inputs[mine]), labels[mine]).backward()
        optimizer.step()
    noise.step(size * 8)
    other.step(size * 8)
states = [one.module.state_dict() for one in models]
equal = all(torch.equal(value, state[name]) for state in states[1:] for name, value in states[0].items())
if rank == 0:
    print(json.dumps({
        "equal": equal, "buckets": len(set(seen)), "hook": noise.state_dict()["rows"],
        "around": other.state_dict()["rows"], "accumulated": accumulated.state_dict()["rows"],
    }))
dist.barrier()
dist.destroy_process_group()
"""


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_watched_ddp_model_learns_the_same_to_the_bit_and_agrees_with_accumulation(
    ranks: int, tmp_path: Path
) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, str(rank), str(ranks), str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        for rank in range(ranks)
    ]
    try:
        said = [child.communicate(timeout=50)[0] for child in children]
    finally:
        for child in children:
            child.kill()
    assert [child.returncode for child in children] == [0] * ranks
    found = json.loads(said[0])
    assert found["equal"]
    assert found["buckets"] > 1
    assert len(found["hook"]) == (6 if ranks > 1 else 0)
    for name in ("around", "accumulated"):
        for one, other in zip(found["hook"], found[name], strict=True):
            assert one == pytest.approx(other, rel=1e-4)

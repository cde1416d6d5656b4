"""A diagnosis: what it finds in real shards and models, what it advises, and that all ranks hear the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from argosy.comm.threads import OverThreads, on_threads
from argosy.errors import BadFraction, ShuffleError, TooFewSamples
from argosy.shuffle import diagnose
from argosy.shuffle.diagnosis import auto_fraction
from argosy.shuffle.diagnosis.locality import is_in_batch, local_batch_norms
from argosy.shuffle.diagnosis.reasons import INSURANCE, UNKNOWN

_NUM_RANKS, _NUM_CLASSES = 16, 10


def _random_shards() -> list[Any]:
    return np.array_split(np.random.default_rng(0).integers(_NUM_CLASSES, size=16_000), _NUM_RANKS)


def _sorted_shards() -> list[Any]:
    return np.array_split(np.sort(np.concatenate(_random_shards())), _NUM_RANKS)


def _dirichlet_shards() -> list[Any]:
    """Each rank has classes in shares of its own, drawn with concentration 0.1."""
    numbers = np.random.default_rng(1)
    shares = numbers.dirichlet(np.full(_NUM_CLASSES, 0.1), size=_NUM_RANKS)
    return [numbers.choice(_NUM_CLASSES, size=1000, p=each) for each in shares]


def _model(norm: str) -> Any:
    import torch

    torch.set_num_threads(1)
    made = {
        "batch": torch.nn.BatchNorm2d,
        "sync": torch.nn.SyncBatchNorm,
        "group": lambda width: torch.nn.GroupNorm(2, width),
        "lazy": lambda _width: torch.nn.LazyBatchNorm2d(),
        "instance": torch.nn.InstanceNorm2d,
    }[norm]
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Sequential(made(8), torch.nn.ReLU()))


@pytest.mark.parametrize(
    ("norm", "found"), [("batch", ("1.0",)), ("lazy", ("1.0",)), ("sync", ()), ("group", ()), ("instance", ())]
)
def test_batch_norm_is_found_unless_it_is_synchronised(norm: str, found: tuple[str, ...]) -> None:
    assert local_batch_norms(_model(norm)) == found


def test_a_converted_model_has_no_local_batch_norm() -> None:
    import torch

    assert local_batch_norms(torch.nn.SyncBatchNorm.convert_sync_batchnorm(_model("batch"))) == ()
    assert local_batch_norms(torch.nn.BatchNorm1d(4)) == ("BatchNorm1d",)


@pytest.mark.parametrize("loss", ["in_batch", "contrastive", "InfoNCE", "NT-Xent", "triplet", "nt_xent_loss", "SupCon"])
def test_losses_over_pairs_of_a_batch_are_known_by_name(loss: str) -> None:
    assert is_in_batch(loss)


def test_losses_are_also_known_as_modules_and_functions() -> None:
    import torch

    def info_nce(a: Any, b: Any) -> Any:
        return a @ b

    assert is_in_batch(torch.nn.TripletMarginLoss())
    assert is_in_batch(info_nce)
    assert not is_in_batch(torch.nn.CrossEntropyLoss())
    assert not is_in_batch(torch.nn.functional.cross_entropy)
    assert not is_in_batch("mse")


@pytest.mark.parametrize("how", [{"model": "batch"}, {"model": "group", "loss": "infonce"}, {"averaging_every": 9}, {}])
@pytest.mark.parametrize("shards", [_sorted_shards, _dirichlet_shards])
def test_a_skew_that_can_hurt_is_to_be_mixed(shards: Any, how: dict[str, Any]) -> None:
    """Without a model nobody knows whether it has BatchNorm."""
    how = {name: _model(value) if name == "model" else value for name, value in how.items()}
    found = diagnose(shards(), epochs=8, tolerance=0.05, **how)
    assert found.skew is not None
    assert found.skew > 0.6
    assert 0.2 < found.fraction < 0.5
    assert found.left(found.fraction) <= 0.05 < found.left(found.fraction - 0.01)
    assert "can hurt" in str(found)


@pytest.mark.parametrize("norm", ["sync", "group"])
def test_a_skew_that_should_do_no_harm_is_told_as_such(norm: str) -> None:
    found = diagnose(_sorted_shards(), model=_model(norm), loss="cross_entropy")
    assert not found.locality.hurts
    assert found.fraction == INSURANCE
    assert "mostly an insurance" in str(found)


def test_a_skew_between_shards_of_unequal_size_hurts_any_model() -> None:
    shards = [np.zeros(1000, int), np.ones(300, int)]
    found = diagnose(shards, model=_model("group"))
    assert found.fraction > INSURANCE
    assert "small shards weigh more" in found.reasons[0]


@pytest.mark.parametrize("norm", ["batch", "group"])
def test_random_shards_need_no_exchange(norm: str) -> None:
    found = diagnose(_random_shards(), model=_model(norm))
    assert (found.skew, found.fraction) == (0, 0)
    assert "none needs to be exchanged" in str(found)


def test_small_random_shards_are_not_left_as_they_are_where_locality_hurts() -> None:
    shards = np.array_split(np.concatenate(_random_shards()), 1000)
    assert diagnose(shards, model=_model("batch")).fraction == INSURANCE
    assert diagnose(shards, model=_model("group")).fraction == 0


def test_features_that_differ_are_a_skew_too() -> None:
    numbers = np.random.default_rng(4)
    labels = [numbers.integers(2, size=500) for _ in range(4)]
    features = [numbers.normal(rank, 1, size=(500, 3)) for rank in range(4)]
    found = diagnose(labels, features=features)
    assert found.labels is not None
    assert found.labels.skew == 0
    assert found.features is not None
    assert found.skew == found.features.skew > 0.5
    assert found.fraction > 0.1


def test_datasets_of_pairs_are_read() -> None:
    import torch
    from torch.utils.data import TensorDataset

    shards = [TensorDataset(torch.full((50, 2, 2), float(rank)), torch.full((50,), rank)) for rank in range(3)]
    found = diagnose(shards, model=_model("batch"))
    assert found.labels is not None
    assert found.features is not None
    assert found.labels.skew == pytest.approx(1)
    assert found.features.skew == pytest.approx(1)
    assert found.num_samples == 150


def test_one_rank_has_nothing_to_exchange() -> None:
    found = diagnose([np.arange(10)], model=_model("batch"), averaging_every=4)
    assert found.fraction == 0
    assert "one rank" in str(found)


def test_a_diagnosis_prints_its_reasons_line_by_line() -> None:
    found = diagnose(
        _sorted_shards(), model=_model("batch"), loss="triplet", averaging_every=16, batch_size=25, fraction=0.01
    )
    lines = str(found).splitlines()
    assert lines == [*found.reasons, f"fraction={found.fraction:g}"]
    assert lines[0] == "16 shards of 1000 samples"
    assert "skew 0.9" in lines[1]
    assert "(1: 1.0)" in lines[3]
    assert "same batch" in lines[4]
    assert lines[5] == "averaging: workers take 16 steps alone, 0.4 passes over the smallest shard"
    assert lines[-3].endswith("within 0.1")
    assert lines[-2].startswith("with fraction=0.01 a skew of 0.8")
    assert lines[-2].endswith("above 0.1")


def test_all_ranks_come_to_the_same_as_one_that_sees_all() -> None:
    """Also where they know different things of the model: what hurts on one rank hurts all."""
    shards, model = _dirichlet_shards(), _model("batch")
    models = [_model("group"), model, *[None] * 14]

    def on_rank(ranks: OverThreads) -> Any:
        rank = ranks.rank
        return auto_fraction(shards[rank], None, num_ranks=16, gather=ranks.allgather, model=models[rank])

    assert set(on_threads(16, on_rank)) == {diagnose(shards, model=model)}


def test_a_rank_may_give_its_dataset_in_place_of_labels() -> None:
    def on_rank(ranks: OverThreads) -> Any:
        pairs = [([float(ranks.rank), 1.0], ranks.rank)] * 40
        return auto_fraction(pairs, None, num_ranks=2, gather=ranks.allgather)

    found = on_threads(2, on_rank)[0]
    assert found.labels.skew == pytest.approx(1)
    assert found.features.skew == pytest.approx(1)


def test_ranks_that_cannot_tell_their_labels_take_a_middling_fraction() -> None:
    found = on_threads(3, lambda ranks: auto_fraction(None, None, num_ranks=3, gather=ranks.allgather))
    assert [each.fraction for each in found] == [UNKNOWN] * 3
    assert found[0].skew is None


def test_what_one_rank_cannot_look_at_fails_on_all() -> None:
    def on_rank(ranks: OverThreads) -> str:
        labels = np.zeros(3 + (ranks.rank == 1))
        with pytest.raises(ShuffleError) as caught:
            auto_fraction(labels, np.zeros((3, 2)), num_ranks=3, gather=ranks.allgather)
        return str(caught.value)

    messages = on_threads(3, on_rank)
    assert len(set(messages)) == 1
    assert "rank 1 cannot look at its shard: ValueError: there are 4 labels for 3 rows" in messages[0]


def test_a_gather_that_misses_ranks_is_refused() -> None:
    with pytest.raises(ShuffleError, match="2 ranks were told of, but 1 answered"):
        auto_fraction(np.zeros(3), None, num_ranks=2, gather=lambda mine: [mine])


_RANK = """
import sys
import numpy as np, torch.distributed as dist
from argosy.shuffle import diagnose
rank, store = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
group = "world" if sys.argv[3] == "world" else dist.new_group([0, 1])
print(diagnose(np.full(100, rank), features=np.full((100, 2), rank), group=group, epochs=5))
dist.destroy_process_group()
"""


@pytest.mark.parametrize("group", ["world", "own"])
def test_ranks_of_a_torch_group_tell_one_another(tmp_path: Path, group: str) -> None:
    command = [sys.executable, "-c", _RANK]
    ranks = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "store"), group], stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    try:
        told = [rank.communicate(timeout=50)[0].strip() for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    shards = [np.full(100, rank) for rank in range(2)]
    wanted = str(diagnose(shards, features=[np.full((100, 2), rank) for rank in range(2)], epochs=5))
    assert told == [wanted, wanted]


def test_looking_at_shards_loads_no_torch() -> None:
    code = (
        "import sys; from argosy.shuffle import diagnose; diagnose([[0, 1], [1, 1]], loss='mse'); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_makes_no_sense_is_refused() -> None:
    shards = _random_shards()
    with pytest.raises(TooFewSamples, match="no shards"):
        diagnose([])
    with pytest.raises(ValueError, match="shards of 16 ranks, but features of 1"):
        diagnose(shards, features=[np.zeros((3, 2))])
    with pytest.raises(ValueError, match="averaging_every"):
        diagnose(shards, averaging_every=0)
    with pytest.raises(ValueError, match="batch_size"):
        diagnose(shards, batch_size=0)
    with pytest.raises(BadFraction, match="tolerance"):
        diagnose(shards, tolerance=2)
    with pytest.raises(BadFraction):
        diagnose(shards, fraction=1.5)
    with pytest.raises(ValueError, match="epochs"):
        diagnose(shards, epochs=0)
    with pytest.raises(TypeError, match="torch module"):
        diagnose(shards, model="resnet")

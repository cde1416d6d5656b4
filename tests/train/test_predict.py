"""How many workers are worth asking for: laws of the model."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import TrainError
from argosy.train.links import Link
from argosy.train.prediction import DEFAULT_WORKERS, constant_of, e_stat, predict

laws = settings(max_examples=30, deadline=None)
phis = st.floats(0, 1e6)
batches = st.integers(1, 4096)
LINK = Link(latency_seconds=2e-5, bytes_per_second=1e10)


@laws
@given(phis, batches, st.integers(1, 10_000), st.integers(1, 10_000))
def test_efficiency_is_a_share_and_falls_with_the_batch(phi: float, batch: int, fewer: int, more: int) -> None:
    fewer, more = sorted((fewer, more))
    small, large = e_stat(phi, batch, batch * fewer), e_stat(phi, batch, batch * more)
    assert 0 < large <= small <= 1
    assert e_stat(phi, batch, batch) == 1


@laws
@given(phis, batches, st.integers(1, 64), st.booleans())
def test_learning_speed_up_stays_below_the_ceiling(phi: float, batch: int, baseline: int, ideal: bool) -> None:
    cost = {} if ideal else {"step_seconds": 0.1, "nbytes": 1e8, "link": LINK}
    workers = [p for p in DEFAULT_WORKERS if p >= baseline]
    told = predict(phi, batch=batch, workers=workers, baseline=baseline, **cost)
    assert told.ceiling == 1 + phi / (batch * baseline)
    assert [row.workers for row in told.rows] == workers
    for row in told.rows:
        assert row.s_learn <= told.ceiling * (1 + 1e-12)
        assert row.s_learn == pytest.approx(row.s_par * row.e_stat)
        assert row.s_par <= row.workers / baseline * (1 + 1e-12) or not ideal
        assert row.kind == "modelled"


trajectories = st.lists(st.tuples(st.floats(1, 1e5), st.floats(0, 1e5)), min_size=1, max_size=20).map(
    lambda pairs: list(zip(np.cumsum([span for span, _ in pairs]).tolist(), [phi for _, phi in pairs], strict=True))
)


@laws
@given(trajectories, batches, st.integers(1, 10_000))
def test_a_trajectory_needs_as_many_samples_as_its_sum_says(
    trajectory: list[tuple[float, float]], batch: int, workers: int
) -> None:
    spans = np.diff([0.0] + [samples for samples, _ in trajectory])
    needed = sum(
        span * (phi + batch * workers) / (phi + batch) for span, (_, phi) in zip(spans, trajectory, strict=True)
    )
    phi = constant_of(trajectory, batch)
    assert spans.sum() / needed == pytest.approx(e_stat(phi, batch, batch * workers), rel=1e-6)
    assert min(at for _, at in trajectory) - 1e-6 <= phi + 1e-6 * batch
    assert phi <= max(at for _, at in trajectory) * (1 + 1e-9) + 1e-6 * batch


@laws
@given(phis, batches)
def test_the_largest_number_of_workers_is_the_last_above_one_half(phi: float, batch: int) -> None:
    told = predict(phi, batch=batch)
    ideal = np.arange(1, 15_001)
    assert told.largest == ideal[e_stat(phi, batch, batch * ideal) > 0.5][-1]


def test_figures_are_those_of_the_formulas() -> None:
    told = predict(300, batch=100, workers=[1, 4], step_seconds=0.01, nbytes=1e8, link=LINK, overlap=0.5)
    comm = 2 * 3 * (2e-5 + 1e8 / 4 / 1e10)
    assert told.ceiling == 4
    assert told.rows[1].s_par == pytest.approx(4 * 0.01 / (0.01 + comm / 2))
    assert told.rows[1].e_stat == pytest.approx(400 / 700)
    assert told.rows[0].s_learn == 1
    assert told.communicates


def test_the_ceiling_is_the_first_number_shown() -> None:
    text = str(predict(300, batch=100))
    assert text.startswith("ceiling of learning speed-up against 1 worker: 4 (modelled")
    assert "S_par is the ideal" in text
    json.dumps(predict(300, batch=100).as_dict(), allow_nan=False)


def test_the_interval_of_the_noise_scale_becomes_one_of_the_speed_up() -> None:
    row = predict(SimpleNamespace(value=300.0, low=200.0, high=500.0), batch=100, workers=[8]).rows[0]
    assert row.low == pytest.approx(8 * 300 / 1000)
    assert row.high == pytest.approx(8 * 600 / 1300)
    assert row.low < row.s_learn < row.high


def test_workers_go_to_fifteen_thousand() -> None:
    assert DEFAULT_WORKERS[-1] == 8192
    assert predict(1e9, batch=1).largest == 15_000
    assert predict(1e9, batch=1, workers=[15_000]).rows[0].s_learn == pytest.approx(15_000, rel=1e-3)


@pytest.mark.parametrize(
    ("phi", "asked", "says"),
    [
        (-1, {}, "0 or more, not -1"),
        (float("nan"), {}, "not nan; measure it over more steps"),
        ([], {}, "samples that increase"),
        ([(10, 1), (5, 1)], {}, "samples that increase"),
        (1, {"workers": [0]}, "between the baseline of 1 and 15,000"),
        (1, {"workers": [2], "baseline": 4}, "between the baseline of 4"),
        (1, {"workers": [20_000]}, "15,000, not"),
        (1, {"batch": 0}, "batch must be a whole number from 1 to 9223372036854775807, not 0"),
        (1, {"overlap": 2}, r"overlap must be a share from 0 to 1, not 2\.0"),
        (1, {"link": LINK}, "give all or none"),
        (1, {"link": LINK, "nbytes": 1, "step_seconds": 0}, "above 0"),
    ],
)
def test_what_cannot_be_predicted_is_refused_clearly(phi: object, asked: dict[str, object], says: str) -> None:
    with pytest.raises(TrainError, match=says):
        predict(phi, **{"batch": 8, **asked})

"""When to stop before the last epoch."""

from __future__ import annotations

import pytest

from argosy.train import EarlyStop, Evaluation


def told(*values: float, metric: str = "loss") -> list[Evaluation]:
    return [Evaluation(samples=n, seconds=float(n), metrics={metric: value}) for n, value in enumerate(values, 1)]


def test_it_waits_as_long_as_the_metric_becomes_better() -> None:
    stop = EarlyStop(patience=2)
    assert not stop(told(3, 2, 1))
    assert not stop(told(3, 1, 2))
    assert stop(told(3, 1, 2, 1))
    assert not stop(told(3, 1, 2, 0.9))


def test_a_metric_may_be_better_when_larger() -> None:
    stop = EarlyStop(metric="accuracy", patience=2)
    assert not stop(told(0.1, 0.2, 0.3, metric="accuracy"))
    assert stop(told(0.5, 0.4, 0.3, metric="accuracy"))


def test_a_gain_below_the_least_does_not_count() -> None:
    assert EarlyStop(patience=1, least=0.5)(told(2.0, 1.8))
    assert not EarlyStop(patience=1, least=0.5)(told(2.0, 1.4))


def test_it_stops_at_its_target() -> None:
    stop = EarlyStop(metric="accuracy", patience=None, target=0.9)
    assert not stop(told(0.5, 0.4, 0.3, 0.2, metric="accuracy"))
    assert stop(told(0.5, 0.91, metric="accuracy"))
    assert EarlyStop(patience=None, target=0.1)(told(0.05))


def test_mistakes_are_told() -> None:
    with pytest.raises(ValueError, match="never stops"):
        EarlyStop(patience=None)
    with pytest.raises(ValueError, match="patience"):
        EarlyStop(patience=0)
    with pytest.raises(ValueError, match="waits for the metric 'acuracy', but there are: loss"):
        EarlyStop(metric="acuracy")(told(1.0))

"""Learning rates as one product."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argosy.train.rates import LrRule, lr_rule_of, rates_of

sizes = st.integers(1, 10_000)


@given(base=sizes, batch=sizes, phi=st.floats(1, 1e6))
def test_the_gain_lies_between_constant_and_linear(base: int, batch: int, phi: float) -> None:
    gain = LrRule(kind="gain", noise_scale=phi).factor(batch, base)
    low, high = sorted((1.0, batch / base))
    assert low * (1 - 1e-9) <= gain <= high * (1 + 1e-9)


@given(base=sizes, batch=sizes)
def test_rules_do_nothing_to_the_batch_that_the_rate_was_chosen_for(base: int, batch: int) -> None:
    for kind in ("none", "linear", "sqrt"):
        assert LrRule(kind=kind).factor(base, base) == 1
    assert LrRule(kind="linear").factor(batch, base) == batch / base
    assert LrRule(kind="sqrt").factor(batch, base) == math.sqrt(batch / base)
    assert LrRule().factor(batch, base) == 1


@given(steps=st.integers(1, 100), epochs=st.integers(1, 60), factor=st.integers(1, 64))
def test_linear_warm_up_grows_to_the_factor_and_stays_there(steps: int, epochs: int, factor: int) -> None:
    rates = rates_of(lr_rule_of("linear"), None, batch=8 * factor, base_batch=8, steps_per_epoch=steps, epochs=epochs)
    seen = [rates.at(step) for step in range(steps * epochs)]
    assert seen == sorted(seen)
    assert rates.warmup_steps <= max(1, round(5 * steps))
    assert all(rate == factor for rate in seen[rates.warmup_steps :])
    assert rates.at(rates.warmup_steps) == factor


def test_a_schedule_multiplies_the_rate() -> None:
    rates = rates_of(lr_rule_of(None), "cosine", batch=8, base_batch=8, steps_per_epoch=10, epochs=10)
    assert rates.at(0) == 1
    assert rates.at(50) == pytest.approx(0.5)
    halved = rates_of(lr_rule_of("sqrt"), lambda done: 0.5, batch=32, base_batch=8, steps_per_epoch=10, epochs=1)
    assert halved.at(3) == 1.0


def test_the_ledger_is_told_what_was_done_to_the_rate() -> None:
    rates = rates_of(lr_rule_of("linear"), None, batch=64, base_batch=8, steps_per_epoch=10, epochs=10)
    assert rates.facts() == {
        "lr_rule": "linear",
        "lr_base_batch": 8,
        "lr_factor": 8.0,
        "lr_noise_scale": None,
        "warmup_steps": 10,
    }


def test_mistakes_are_told() -> None:
    with pytest.raises(ValueError, match="no learning-rate rule 'cubic'; there are none, linear, sqrt, gain"):
        lr_rule_of("cubic")
    with pytest.raises(ValueError, match="needs the gradient noise scale"):
        lr_rule_of("gain")
    with pytest.raises(ValueError, match="no schedule 'stairs'"):
        rates_of(LrRule(), "stairs", batch=1, base_batch=1, steps_per_epoch=1, epochs=1)
    with pytest.raises(ValueError, match="base_batch"):
        LrRule(base_batch=0)
    with pytest.raises(ValueError, match="warmup_epochs"):
        LrRule(warmup_epochs=-1)

"""How long an all-reduce takes: the model, and its numbers measured on real ranks."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import argosy
from argosy.errors import TrainError
from argosy.train.links import SIZES, Link, _How, _on_nodes, fit_ring, measure

laws = settings(max_examples=40, deadline=None)
links = st.builds(Link, latency_seconds=st.floats(1e-7, 1e-3), bytes_per_second=st.floats(1e6, 1e12))


@laws
@given(links, st.integers(2, 5000))
def test_a_fit_of_ring_times_finds_the_link(link: Link, ranks: int) -> None:
    times = [2 * (ranks - 1) * (link.latency_seconds + n / ranks / link.bytes_per_second) for n in SIZES]
    found = fit_ring(SIZES, times, ranks)
    assert found.latency_seconds == pytest.approx(link.latency_seconds, rel=1e-3)
    assert found.bytes_per_second == pytest.approx(link.bytes_per_second, rel=0.05)
    assert found.kind == "measured"


@laws
@given(links, st.floats(0, 1e10), st.integers(1, 15_000))
def test_more_bytes_take_longer_and_one_rank_takes_none(link: Link, nbytes: float, ranks: int) -> None:
    assert link.all_reduce_seconds(nbytes, 1) == 0
    assert link.all_reduce_seconds(nbytes, ranks) <= link.all_reduce_seconds(2 * nbytes + 1, ranks)


@laws
@given(links, st.floats(0, 1e10), st.integers(1, 64), st.integers(1, 1000))
def test_two_levels_are_the_node_and_then_the_nodes(link: Link, nbytes: float, per_node: int, nodes: int) -> None:
    fast = Link(latency_seconds=1e-6, bytes_per_second=1e11)
    two = Link(
        latency_seconds=link.latency_seconds,
        bytes_per_second=link.bytes_per_second,
        ranks_per_node=per_node,
        inside=fast,
    )
    expected = fast.all_reduce_seconds(nbytes, per_node) + link.all_reduce_seconds(nbytes, nodes)
    assert two.all_reduce_seconds(nbytes, per_node * nodes) == pytest.approx(expected)


def test_few_ranks_make_a_ring_and_many_a_tree() -> None:
    link = Link(latency_seconds=1e-5, bytes_per_second=1e10)
    assert link.all_reduce_seconds(1e8, 2) == pytest.approx(2 * (1e-5 + 1e8 / 2 / 1e10))
    assert link.all_reduce_seconds(1e6, 8192) == pytest.approx(2 * 13 * 1e-5 + 2 * 1e6 / 1e10)


def test_latency_is_never_below_zero() -> None:
    assert fit_ring([100, 1000, 10_000], [1, 20, 400], 2).latency_seconds >= 0


@pytest.mark.parametrize("wrong", [{"latency_seconds": -1}, {"bytes_per_second": 0}, {"ranks_per_node": 0}])
def test_a_link_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(TrainError, match="a link has"):
        Link(**{"latency_seconds": 1e-6, "bytes_per_second": 1e9, **wrong})


def test_times_that_do_not_grow_with_the_bytes_give_a_link_that_is_rather_too_slow() -> None:
    link = fit_ring([8, 1000], [2.0, 1.0], 2)
    assert link.bytes_per_second == pytest.approx(1000)
    assert 0.5 <= link.latency_seconds <= 1


def test_the_link_is_measured_on_the_ranks_of_a_pilot() -> None:
    small = (8, 65_536, 1 << 20)
    with argosy.Pilot(ranks=3, name="links") as pilot:
        link = measure(pilot, sizes=small, repeats=3)
        as_if = pilot.submit(lambda comm: _on_nodes(_How("cpu", small, 3), comm, [0, 0, 1]), ranks=3)
        two = as_if.results()
        with pytest.raises(TrainError, match="there is one only"):
            pilot.submit(lambda comm: measure(comm), ranks=1).result()
    assert link.kind == "measured"
    assert link.latency_seconds >= 0
    assert link.bytes_per_second > 0
    assert two[0] == two[1] == two[2]
    assert two[0].ranks_per_node == 2
    assert two[0].inside is not None
    assert "inside a node of 2" in str(two[0])


def test_the_model_does_not_load_torch() -> None:
    modules = "argosy.train.links, argosy.train.prediction, argosy.train.speedups, argosy.train.ledger"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

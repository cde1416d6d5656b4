"""The programs of the benchmarks compute what their names say; futurized they answer the same to the last bit.

Sizes are small: whether anything is faster is for `benchmarks/tree.py` to tell.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import argosy

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
try:
    from work import tree_programs as programs
    from work.tree_chains import BY_HAND, CHAINS
    from work.tree_programs import PROGRAMS, Program
    from work.tree_statements import LOOPS, arguments, written_out
    from work.tree_turns import DifferentAnswer, check, in_turns, same
finally:
    sys.path.remove(str(BENCHMARKS))

ALL = {**PROGRAMS, **CHAINS}
GRAINS: dict[str, dict[str, Any]] = {"everything issued": {"grain": 0, "threads": 3}, "measured": {}}


@pytest.mark.parametrize("options", GRAINS.values(), ids=GRAINS)
@pytest.mark.parametrize("name", ALL)
def test_a_futurized_program_answers_bit_for_bit_as_plain_numpy(name: str, options: dict[str, Any]) -> None:
    program = ALL[name]
    decorated = argosy.futurize(program.run, **options)
    expected = program.run(*program.make(*program.small))
    for _ in range(3):  # later calls know how long things take
        given = program.make(*program.small)
        check(name, decorated(*given), expected)
        assert same(given, program.make(*program.small)), "it wrote into its arguments"


@pytest.mark.parametrize("options", GRAINS.values(), ids=GRAINS)
@pytest.mark.parametrize("shape", LOOPS)
def test_many_statements_that_do_next_to_nothing_answer_as_plain_python(
    shape: str, options: dict[str, Any], tmp_path: Path
) -> None:
    loop, lines = LOOPS[shape], written_out(shape, 60, tmp_path)
    expected = loop(*arguments(), 60)
    check(shape, lines(*arguments()), expected)
    check(shape, argosy.futurize(loop, **options)(*arguments(), 60), expected)
    check(shape, argosy.futurize(lines, **options)(*arguments()), expected)


class TestAnyData:
    """Once futurized, called with arrays of many sizes."""

    kmeans = staticmethod(argosy.futurize(programs.kmeans, grain=0, threads=3))
    als = staticmethod(argosy.futurize(programs.als, grain=0, threads=3))
    heat = staticmethod(argosy.futurize(programs.heat_plate, grain=0, threads=3))

    @settings(max_examples=15, deadline=None)
    @given(points=st.integers(40, 90), columns=st.integers(1, 4), clusters=st.integers(1, 3), rounds=st.integers(1, 3))
    def test_kmeans_answers_bit_for_bit_as_plain_numpy(
        self, points: int, columns: int, clusters: int, rounds: int
    ) -> None:
        arguments = programs.grouped(points, columns, clusters, rounds)
        check("k-means", self.kmeans(*arguments), programs.kmeans(*arguments))

    @settings(max_examples=15, deadline=None)
    @given(users=st.integers(1, 9), items=st.integers(1, 9), factors=st.integers(1, 3), rounds=st.integers(0, 2))
    def test_als_answers_bit_for_bit_as_plain_numpy(self, users: int, items: int, factors: int, rounds: int) -> None:
        arguments = programs.rated(users, items, factors, rounds)
        check("ALS", self.als(*arguments), programs.als(*arguments))

    @settings(max_examples=15, deadline=None)
    @given(cells=st.integers(0, 12), steps=st.integers(0, 4))
    def test_heat_answers_bit_for_bit_as_plain_numpy(self, cells: int, steps: int) -> None:
        start = np.random.default_rng(cells).random((cells, cells))
        check("heat", self.heat(start, 0.2, steps), programs.heat_plate(start, 0.2, steps))


class TestWhatTheProgramsCompute:
    def test_linear_regression_comes_to_the_least_squares(self) -> None:
        x, y = programs.measured(60, 4)
        weights, error = programs.linear_regression(x, y, 0.1, 500)
        expected, squares, *_ = np.linalg.lstsq(x, y)
        np.testing.assert_allclose(weights, expected)
        assert error == pytest.approx(squares[0] / 60)

    def test_the_normal_equations_have_the_least_squares(self) -> None:
        x, y = programs.measured(60, 4)
        weights, explained = programs.normal_equations(x, y + 7, 0.0)
        np.testing.assert_allclose(weights, np.linalg.lstsq(np.column_stack([np.ones(60), x]), y + 7)[0])
        assert 0.9 < explained < 1

    def test_logistic_regression_ends_where_the_gradient_does(self) -> None:
        x, y, _, _ = programs.classified(200, 3, 0)
        weights = programs.logistic_regression(x, y, 0.01, 3000)
        np.testing.assert_allclose(x.T @ (1 / (1 + np.exp(-x @ weights)) - y), 0, atol=1e-8)

    def test_both_ways_to_the_main_directions_agree_with_the_singular_values(self) -> None:
        x = programs.correlated(80, 5)
        directions, variances = programs.pca_by_powers(x, 3, 1e-12)
        _, values, vectors = np.linalg.svd(x - x.mean(axis=0))
        np.testing.assert_allclose(variances, values[:3] ** 2 / 79)
        np.testing.assert_allclose(np.abs(directions), np.abs(vectors[:3]), atol=1e-8)
        scaled = (x - x.mean(axis=0)) / x.std(axis=0)
        directions, along = programs.pca_by_eigh(x, 2)
        np.testing.assert_allclose(np.abs(directions.T), np.abs(np.linalg.svd(scaled)[2][:2]))
        np.testing.assert_allclose(along, scaled @ directions)

    def test_a_wave_of_heat_decays_at_its_rate(self) -> None:
        wave = np.sin(np.pi * np.arange(21) / 20)
        rate = 4 * np.sin(np.pi / 40) ** 2
        np.testing.assert_allclose(programs.heat_line(wave, 0.25, 30), wave * (1 - 0.25 * rate) ** 30, atol=1e-14)
        bump = np.outer(wave, wave)
        np.testing.assert_allclose(programs.heat_plate(bump, 0.2, 30), bump * (1 - 0.4 * rate) ** 30, atol=1e-14)

    def test_als_leaves_each_item_at_its_least_squares(self) -> None:
        ratings, factors, regularization, alpha, _ = programs.rated(9, 7, 3, 1)
        users, items = programs.als(ratings, factors, regularization, alpha, 2)
        for item in range(7):
            confidence, liked = 1 + alpha * ratings[:, item], ratings[:, item] > 0
            slope = users.T @ (confidence * (users @ items[item] - liked)) + regularization * items[item]
            np.testing.assert_allclose(slope, 0, atol=1e-9)

    def test_kmeans_leaves_each_centroid_in_the_middle_of_its_points(self) -> None:
        points, clusters, _ = programs.grouped(90, 2, 3, 0)
        centroids, closest = programs.kmeans(points, clusters, 50)
        np.testing.assert_array_equal(closest, [np.argmin(((centroids - point) ** 2).sum(axis=1)) for point in points])
        for cluster in range(clusters):
            np.testing.assert_allclose(centroids[cluster], points[closest == cluster].mean(axis=0))

    @pytest.mark.parametrize("name", BY_HAND)
    def test_two_chains_are_one_and_one(self, name: str) -> None:
        program = CHAINS[name]
        a, b, steps = program.make(*program.small)
        check(name, (BY_HAND[name](a, steps), BY_HAND[name](b, steps)), program.run(a, b, steps))


class TestTheJudge:
    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            (0.0, -0.0),
            (1, 1.0),
            (np.float64(1.0), 1.0),
            ((1, 2), [1, 2]),
            ((1, 2), (1, 2, 3)),
            (np.zeros(2), np.zeros((1, 2))),
            (np.zeros(2), -np.zeros(2)),
            (np.zeros(2), np.zeros(2, np.int64)),
            ([np.ones(2)], [np.nextafter(np.ones(2), 2)]),
        ],
    )
    def test_sees_a_difference(self, answer: object, expected: object) -> None:
        assert not same(answer, expected)

    def test_takes_nan_for_itself(self) -> None:
        assert same((np.array([np.nan]), np.nan), (np.array([np.nan]), np.nan))

    def test_stops_the_benchmark_at_a_wrong_answer(self) -> None:
        with pytest.raises(DifferentAnswer, match="sums, ours"):
            in_turns("sums", {"plain": lambda: 1.0, "ours": lambda: np.nextafter(1.0, 2)}, 1)

    def test_stops_the_benchmark_at_a_peer_that_computes_something_else(self) -> None:
        seconds = in_turns("sums", {"plain": lambda: 1.0}, 2, {"peer": lambda: 1.0 + 1e-12})
        assert [len(values) for values in seconds.values()] == [2, 2]
        with pytest.raises(DifferentAnswer, match="sums, peer"):
            in_turns("sums", {"plain": lambda: 1.0}, 1, {"peer": lambda: 1.1})


def test_every_program_is_timed_at_sizes_of_its_own() -> None:
    for program in ALL.values():
        assert isinstance(program, Program)
        assert program.large
        assert all(len(sizes) == len(program.small) for sizes in program.large)

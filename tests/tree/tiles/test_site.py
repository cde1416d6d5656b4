"""Which expressions are cut, for which arrays, and what a cut leaves alone."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from tree.tiles.whole import TINY, all_tiles, assert_same, cut_of, is_cut_and_same, site_of, whole_of

from argosy.tree.tiles import Cut, Limits
from argosy.tree.tiles.parse import CannotCut
from argosy.tree.tiles.parts import Apply, Product, Variable
from argosy.tree.tiles.plan import plan

RNG = np.random.default_rng(0)
VARIABLES: dict[str, object] = {
    "u": RNG.random((40, 30)),
    "v": RNG.standard_normal((40, 30)),
    "m": RNG.integers(0, 9, (40, 30)),
    "z": RNG.standard_normal(500) + 1j,
    "x": RNG.standard_normal(500),
    "w": RNG.standard_normal(30),
    "t": RNG.random((30, 40)),
    "cube": RNG.random((6, 20, 9)),
    "a": 0.1,
    "k": np.float32(3),
    "mask": RNG.random((40, 30)) > 0.5,
    "words": ["a", "b"],
}

CUT = (
    "u[1:-1, 1:-1] + a * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])",
    "1 / (1 + np.exp(-x))",
    "np.exp(-(u @ w))",
    "1 / (1 + np.exp(-u.dot(w)))",
    "np.where(u > 0.5, v, -v)",
    "np.where(mask, 0, m) // 2",
    "np.clip(v, -1, 1) * k",
    "v.clip(-0.5, 0.5).astype(np.float32)",
    "abs(v) ** 3 + m",
    "z * z + 2j",
    "~mask & (u < 0.5)",
    "(u + v).T",
    "(u + v)[:, None]",
    "u + t.T",
    "np.transpose(t) * v",
    "u - u.mean(axis=0)",
    "u / u.sum()",
    "np.exp(u - u.max(axis=1, keepdims=True))",
    "m.sum(axis=1)",
    "np.argmax(u * v, axis=1)",
    "(u > 0.5).any(axis=1)",
    "(cube * 2).sum(axis=(0, 2))",
    "np.max(cube, axis=0)",
    "np.linalg.norm(u - w, axis=1, keepdims=True)",
    "x[::2] * x[1::2]",
    "x[:, None] - x[None, :50]",
    "np.sqrt(u) > a",
    "u.astype('f4')",
)

NEVER = (
    "u @ w",  # a product is left to the library
    "u[mask] + 1",  # how many elements depends on the data
    "u[1:-1]",  # nothing to compute
    "x + 1 if a else x",
    "a < x < 1",
    "np.add(u, v, dtype='f4')",
    "np.add.reduce(u)",
    "np.sort(u) + 1",
    "x[k:] + 1",  # bounds are known only when the program runs
    "u.sum(axis=k)",
    "np.sum(u, initial=2)",
    "np.modf(u)",
    "np.matmul(u, t)",
    "len(words) + x",
    "[x + 1]",
    "np.nosuch(x)",
    "np.add(*words)",
)

NOT_THESE = (
    "u.sum() + w",  # too little is left to cut
    "x.astype(np.float16) * 2",
    "words + x",
    "m.mean(axis=1)",  # NumPy converts piece by piece
    "x + u",  # shapes that do not fit raise, when computed whole
    "u[0, 0] + a",
)


@pytest.mark.parametrize("source", CUT)
@pytest.mark.parametrize("threads", [1, 2])
def test_is_cut_and_the_same_as_the_whole(source: str, threads: int) -> None:
    assert is_cut_and_same(source, VARIABLES, TINY, threads)


@pytest.mark.parametrize("source", NEVER)
def test_is_no_site_whatever_the_arrays_are(source: str) -> None:
    assert site_of(source, VARIABLES) is None


@pytest.mark.parametrize("source", NOT_THESE)
def test_is_not_cut_for_these_arrays(source: str) -> None:
    limits = Limits(min_nbytes=1000, tile_nbytes=256)
    assert site_of(source, VARIABLES) is not None
    assert cut_of(source, VARIABLES, limits) is None


def test_names_are_the_local_variables_in_the_order_of_their_first_use() -> None:
    site = site_of("b * x + a * x + np.pi", {"a": 0, "b": 0, "x": 0})
    assert site is not None
    assert site.names == ("b", "x", "a")


def test_a_global_is_read_anew_for_each_cut() -> None:
    others: dict[str, object] = {"scale": 2.0}
    site = site_of("x * scale", VARIABLES, others)
    assert site is not None
    x = VARIABLES["x"]
    assert isinstance(x, np.ndarray)
    for scale in (2.0, 3.0):
        others["scale"] = scale
        cut = site.cut([x], 2, TINY)
        assert cut is not None
        assert_same(all_tiles(cut), x * scale)


def test_small_arrays_are_computed_whole() -> None:
    assert cut_of("x * 2 + 1", VARIABLES, Limits()) is None


@pytest.mark.parametrize("source", ["x[:, None] - x", "(x + 1)[:, None] * x", "x * y", "y @ y.T + x"])
def test_small_arrays_with_a_large_result_are_cut(source: str) -> None:
    variables = {"x": np.arange(400.0), "y": np.arange(400.0)[:, None]}
    assert is_cut_and_same(source, variables, Limits(min_nbytes=1 << 20))


def test_subclasses_objects_and_unaligned_arrays_are_computed_whole() -> None:
    unaligned = np.zeros(8001, np.uint8)[1:].view(np.float64)
    swapped = np.zeros(1000, ">f8")
    for odd in (np.ma.masked_array(np.ones(1000)), np.ones(1000, object), np.ones(1000, "f2"), unaligned, swapped):
        assert cut_of("y * 2", {"y": odd}) is None


def test_the_memory_order_of_large_temporaries_is_that_of_numpy() -> None:
    """NumPy computes an operator in the memory of a large temporary and so keeps its order, not that of a small one."""
    limits = Limits(min_nbytes=0)
    c, f = np.ones((400, 300)), np.asfortranarray(np.ones((400, 300)))
    num_cut = 0
    for source in ("f * 2 + c", "c + f * 2", "c * 2 + f", "-(f + f) / c", "(c + f) + (f + f)", "np.sqrt(f + f) - c"):
        cut = cut_of(source, {"c": c, "f": f}, limits)
        if cut is not None:
            num_cut += 1
            assert_same(all_tiles(cut), whole_of(source, {"c": c, "f": f}))
    assert num_cut


def test_loops_that_run_backwards_have_the_bits_of_the_whole_or_are_not_cut() -> None:
    """NumPy turns some of them round, depending on how many rows there are, and some functions then have other bits."""
    rng = np.random.default_rng(0)
    limits = Limits(min_nbytes=0, tile_nbytes=64, rows_multiple=1, tiles_per_thread=1)
    for dtype in ("f4", "f8"):
        variables = {"y": rng.standard_normal(50).astype(dtype), "x": rng.random((50, 7)).astype(dtype)}
        for function in ("np.exp(x[:, ::-1])", "np.arctan2(y[:, None], x[:, ::-1])", "np.exp2(x[::-1, ::-1])"):
            is_cut_and_same(function, variables, limits, threads=1)
        assert is_cut_and_same("np.sqrt(x[:, ::-1]) + y[:, None]", variables, limits, threads=1)


def test_a_tile_of_one_row_would_add_up_in_another_order_and_is_not_made() -> None:
    rng = np.random.default_rng(0)
    for length in range(5, 30):
        x = np.asfortranarray(rng.standard_normal((length, 100)) * np.exp2(rng.integers(-9, 9, (length, 100))))
        limits = Limits(min_nbytes=0, tile_nbytes=3200, rows_multiple=4, short_axis=0, tiles_per_thread=1)
        assert is_cut_and_same("(x * 2).sum(axis=1)", {"x": x}, limits, threads=1)


def test_a_temporary_is_not_put_into_memory_of_another_order_before_a_sum() -> None:
    rng = np.random.default_rng(0)
    c = rng.standard_normal((60, 100)) * np.exp2(rng.integers(-9, 9, (60, 100)))
    limits = Limits(min_nbytes=0, tile_nbytes=8000, rows_multiple=4, short_axis=0, short_result_axis=0)
    assert is_cut_and_same("np.add(f * 2, c).sum(axis=1)", {"c": c, "f": np.asfortranarray(c * 1.1)}, limits)


def test_a_tile_that_raises_is_heard() -> None:
    cut = cut_of("1 / x", {"x": np.arange(1000.0)[::-1].copy()})
    assert cut is not None
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        all_tiles(cut)


def test_what_raises_before_the_tiles_is_left_to_the_whole() -> None:
    zeros = np.zeros((40, 30))
    assert cut_of("x / (1 / zeros.sum(axis=0)).sum() + x", {"x": np.ones(500), "zeros": zeros}) is None
    assert cut_of("u[:, :, :, 1:] + 1", VARIABLES) is None


def test_an_array_like_an_earlier_one_is_cut_with_its_own_values() -> None:
    site = site_of("x * y + 1", {"x": 0, "y": 0})
    assert site is not None
    for seed in range(3):
        x = np.random.default_rng(seed).random(1000)
        cut = site.cut([x, seed], 2, TINY)
        assert cut is not None
        assert_same(all_tiles(cut), x * seed + 1)


def test_an_array_like_an_earlier_one_but_for_its_memory_order_is_cut_anew() -> None:
    site = site_of("np.sqrt(x) + 1", {"x": 0})
    assert site is not None
    rows = np.random.default_rng(0).random((40, 50))
    for x in (rows, np.asfortranarray(rows), np.repeat(rows, 2, axis=1)[:, ::2]):
        cut = site.cut([x], 2, TINY)
        assert cut is not None
        assert_same(all_tiles(cut), np.sqrt(x) + 1)


def test_a_product_with_another_memory_order_than_expected_is_not_cut() -> None:
    matrix = np.ones((40, 30))
    parts = (
        Variable(place=0),
        Variable(place=1),
        Product(operands=(0, 1), call=np.matmul),
        Apply(operands=(2,), call=np.sqrt, ufunc=np.sqrt),
    )
    leaves = [matrix, matrix.T, None, None]
    found = plan(parts, leaves, 1, TINY)
    assert Cut(parts, leaves, found).num_tiles > 1
    ((place, strides),) = found.whole
    assert strides is not None
    with pytest.raises(CannotCut):
        Cut(parts, leaves, replace(found, whole=((place, strides[::-1]),)))


def test_what_numpy_warns_of_is_warned_of_once() -> None:
    assert cut_of("z.astype(float)", VARIABLES) is None
    assert cut_of("u[:, :0].mean(axis=1) + u[:, 0]", VARIABLES) is None


def test_tiles_can_be_computed_by_several_threads() -> None:
    limits = Limits(min_nbytes=0, tile_nbytes=1 << 14)
    variables = {"x": np.random.default_rng(0).standard_normal((300, 400))}
    source = "np.tanh(x) * x + np.exp(-x ** 2)"
    cut = cut_of(source, variables, limits, threads=4)
    assert cut is not None
    assert cut.num_tiles >= 8
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(cut.compute, range(cut.num_tiles)))
    assert_same(cut.result(), whole_of(source, variables))


def test_every_thread_has_at_least_two_tiles() -> None:
    for length in range(64, 90):
        x = np.random.default_rng(length).random((length, 1000))
        cut = cut_of("x.sum(axis=1)", {"x": x}, Limits(min_nbytes=0), threads=4)
        assert cut is not None
        assert cut.num_tiles >= 8

"""Each mini-app against an independent computation in double precision."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from argosy.memory import miniapps
from argosy.memory.miniapps import hydro as hydro_app
from argosy.memory.miniapps import kmeans as kmeans_app
from argosy.memory.miniapps import spmv as spmv_app


def run(name, iterations, nbytes=1 << 19):
    """The result, the objects before the run, and those after it."""
    workload = miniapps.load(name, nbytes, iterations)
    before = {key: value.copy() for key, value in workload.objects().items()}
    with workload.store() as store:
        result = workload.run(store)
        after = {key: store[key].copy() for key in store}
    return result, before, after


def heat_matrix(capacity, sides, up):
    sparse = pytest.importorskip("scipy.sparse")
    shape = capacity.shape
    cells = np.arange(capacity.size).reshape(shape)
    matrix = sparse.diags(capacity.ravel()).tocsr()
    for axis, along in ((2, sides[0]), (1, sides[1]), (0, up)):
        low = [slice(None)] * 3
        high = [slice(None)] * 3
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        one, other = cells[tuple(low)].ravel(), cells[tuple(high)].ravel()
        a, b = along[tuple(low)].ravel(), along[tuple(high)].ravel()
        g = 2 / (1 / a + 1 / b)
        values = np.concatenate([g, g, -g, -g])
        rows, columns = np.concatenate([one, other, one, other]), np.concatenate([one, other, other, one])
        matrix = matrix + sparse.coo_matrix((values, (rows, columns)), shape=matrix.shape).tocsr()
    return matrix


def test_cg_does_what_scipys_does():
    linalg = pytest.importorskip("scipy.sparse.linalg")
    (square, total), objects, after = run("cg", 4)
    matrix = heat_matrix(objects["capacity"], objects["sides"], objects["up"])
    warm = np.flatnonzero(objects["cold"].ravel() == 0)
    matrix = matrix[warm][:, warm]
    b = objects["b"].ravel()[warm]
    inverse = linalg.LinearOperator(matrix.shape, lambda v: v.ravel() / matrix.diagonal())
    # the diagonal of a warm cell includes its faces to cold ones, so that this is the app's preconditioner too
    x, _ = linalg.cg(matrix, b, rtol=0, atol=0, maxiter=4, M=inverse)
    assert_allclose(after["x"].ravel()[warm], x, rtol=1e-3, atol=1e-5)
    assert np.all(after["x"][objects["cold"] == 1] == 0)
    assert square == pytest.approx(np.sum((b - matrix @ x) ** 2), rel=1e-3)
    assert total == pytest.approx(x.sum(), rel=1e-3, abs=1e-2)


def test_cg_goes_on_to_the_solution():
    linalg = pytest.importorskip("scipy.sparse.linalg")
    (square, _), objects, after = run("cg", 40)
    matrix = heat_matrix(objects["capacity"], objects["sides"], objects["up"])
    warm = np.flatnonzero(objects["cold"].ravel() == 0)
    b = objects["b"].ravel()[warm]
    assert square < 1e-8 * np.sum(b**2)
    exact = linalg.spsolve(matrix[warm][:, warm].tocsc(), b)
    assert_allclose(after["x"].ravel()[warm], exact, rtol=1e-3, atol=1e-4)


def test_spmv_multiplies_each_block_at_its_rate():
    sparse = pytest.importorskip("scipy.sparse")
    norms, objects, after = run("spmv", 5)
    num_rows = len(objects["x"])
    blocks = []
    start = 0
    for block in spmv_app.BLOCKS:
        values, offsets, rows = (objects[f"{block.name}.{part}"] for part in ("values", "offsets", "rows"))
        columns = start + np.repeat(np.arange(len(rows) - 1), np.diff(rows)) + offsets
        blocks.append(sparse.csr_matrix((values.astype(float), columns, rows), shape=(len(rows) - 1, num_rows)))
        start += len(rows) - 1
    assert start == num_rows
    for block in blocks:
        block.check_format()
        assert block.has_canonical_format
    x = 1 + 0.001 * (np.arange(num_rows) % 7)
    products = [None] * len(blocks)
    expected = []
    for iteration in range(5):
        for at, (block, matrix) in enumerate(zip(spmv_app.BLOCKS, blocks, strict=True)):
            if iteration % block.rate == 0:
                products[at] = matrix @ x
        y = np.concatenate(products)
        expected.append(np.linalg.norm(y))
        x = y / expected[-1]
    assert_allclose(norms, expected, rtol=1e-5)
    assert_allclose(after["y"], y, rtol=1e-5)


def test_spmv_stays_within_its_band():
    _, objects, _ = run("spmv", 1)
    assert all(np.abs(objects[f"{block.name}.offsets"]).max() <= spmv_app.HALF_BAND for block in spmv_app.BLOCKS)


def test_kmeans_does_what_lloyd_wrote():
    (scores, flat_centers), objects, after = run("kmeans", 4)
    points = np.concatenate(
        [np.hstack([objects[f"{shard}.{group}"] for group in kmeans_app.GROUPS]) for shard in kmeans_app.SHARDS]
    ).astype(float)
    weights = objects["weights"].astype(float)
    centers = kmeans_app.first_centers().astype(float)
    widths = np.cumsum(list(kmeans_app.GROUPS.values()))
    expected = []
    for iteration in range(4):
        used = widths[min(iteration, len(widths) - 1)]
        squares = ((points[:, None, :used] - centers[None, :, :used]) ** 2).sum(axis=2)
        labels = squares.argmin(axis=1)
        expected.append(np.sum(squares.min(axis=1) * weights))
        for center in range(len(centers)):
            mine = labels == center
            if mine.any():
                centers[center, :used] = np.average(points[mine, :used], axis=0, weights=weights[mine])
    assert_allclose(scores, expected, rtol=1e-3)
    assert_allclose(flat_centers, centers.ravel(), rtol=1e-2)
    assert np.mean(after["labels"] == labels) > 0.99


def test_kmeans_gets_better_once_it_looks_at_all_features():
    (scores, _), _, _ = run("kmeans", 7)
    assert all(later <= earlier for earlier, later in pairwise(scores[2:]))


def hydro_in_numpy(objects, steps):
    fields = {name: value.astype(float) for name, value in objects.items()}
    gamma = hydro_app.GAMMAS.astype(float)[objects["gas"]]
    dt = float(hydro_app.DT)
    density, (u, v) = fields["start.density"], fields["start.velocity"]
    energy = fields["start.pressure"] / (gamma - 1) + density * (u**2 + v**2) / 2
    state = [density, density * u, density * v, energy]
    for step in range(steps):
        axis = 0 if step % 2 else 1
        inner = (gamma - 1) * (state[3] - (state[1] ** 2 + state[2] ** 2) / (2 * state[0]))
        pressure = np.maximum(inner, fields["floor"])

        def after(field, axis=axis):
            return np.roll(field, -1, axis)

        speed = state[2 - axis] / state[0]
        reach = np.abs(speed) + np.sqrt(gamma * pressure / state[0])
        wind = (speed + after(speed)) / 2
        wave = fields["viscosity"] * np.maximum(reach, after(reach))
        both = pressure + after(pressure)
        push = [0, both * (axis == 1), both * (axis == 0), wind * both]
        opening = fields["open_x" if axis == 1 else "open_y"]
        moved = []
        for field, pushed in zip(state, push, strict=True):
            flux = opening / 2 * (wind * (field + after(field)) - wave * (after(field) - field) + pushed)
            moved.append(field - dt * (flux - np.roll(flux, 1, axis)) / fields["volume"])
        state = moved
        if step % 2:
            pull = dt * fields["gravity"]
            state[3] = state[3] + pull * state[2] + dt * fields["heating"]
            state[2] = (state[2] + pull * state[0]) / (1 + dt * fields["drag"])
    return state, pressure, fields


@pytest.mark.parametrize("steps", [1, 2, 3, 6])
def test_hydro_does_what_its_formulas_say(steps):
    (mass, energy, watched, apart), objects, after = run("hydro", steps)
    state, pressure, fields = hydro_in_numpy(objects, steps)
    for name, expected in zip(hydro_app.STATE, state, strict=True):
        assert_allclose(after[name], expected, rtol=2e-4, atol=1e-5, err_msg=name)
    assert_allclose(after["pressure"], pressure, rtol=2e-4)
    assert mass == pytest.approx(np.sum(state[0] * fields["volume"]), rel=1e-5)
    assert energy == pytest.approx(np.sum(state[3] * fields["volume"]), rel=1e-5)
    assert watched == pytest.approx(pressure[objects["sensor"] == 1].mean(), rel=1e-5)
    square = np.sum((pressure - fields["survey.pressure"]) ** 2)
    square += np.sum((np.array(state[:3]) - fields["survey.state"]) ** 2)
    assert apart == pytest.approx(np.sqrt(square), rel=1e-4)


def test_hydro_keeps_its_mass():
    first, last = (run("hydro", steps)[0][0] for steps in (1, 20))
    assert last == pytest.approx(first, rel=1e-5)


def test_hashjoin_finds_what_a_dict_finds():
    result, objects, after = run("hashjoin", 3)
    keys = objects["item.key"].tolist()
    assert len(set(keys)) == len(keys)
    price = objects["item.price"].astype(float)
    amount = objects["sale.amount"].astype(float)
    for query, (matches, revenue) in enumerate(result[:-1]):
        rows = {key: row for row, key in enumerate(keys) if (row + query) % 4 != 0}
        match = np.array([rows.get(key, -1) for key in objects["sale.key"].tolist()])
        found = match >= 0
        assert matches == found.sum()
        assert revenue == pytest.approx(np.sum(price[match[found]] * amount[found]), rel=1e-6)
    np.testing.assert_array_equal(after["match"], match)
    middle = objects["item.profile"].astype(float).mean(axis=1)
    assert result[-1][1] == pytest.approx(np.sum(middle[match[found]] * objects["sale.discount"][found]), rel=1e-6)

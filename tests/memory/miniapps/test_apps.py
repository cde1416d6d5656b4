"""What holds for every mini-app, with a real disk."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from argosy.memory import miniapps
from argosy.memory.tiers.disk import Disk
from argosy.memory.trace import Trace

NBYTES = 1 << 20


@pytest.fixture(params=miniapps.APPS)
def app(request):
    return request.param


def stored(workload, tmp_path):
    return workload.store(slow=Disk(tmp_path))


def seen(trace: Trace):
    """All of a trace but the times and the tiers."""
    return [
        (window.name, [(touch.object, touch.bytes_read, touch.bytes_written) for touch in window.touches])
        for window in trace.windows
    ]


def first_touches(trace: Trace):
    first = {}
    for window in trace.windows:
        for touch in window.touches:
            first.setdefault(touch.object, touch)
    return first


def written_objects(trace: Trace):
    return {touch.object for window in trace.windows for touch in window.touches if touch.bytes_written}


def read_only(trace: Trace):
    return set(trace.objects) - written_objects(trace)


def test_the_result_is_the_same_to_the_bit_wherever_the_objects_are(app, tmp_path):
    workload = miniapps.load(app, NBYTES)
    random = np.random.default_rng(1)
    with stored(workload, tmp_path) as store:
        in_memory = workload.run(store)
        store.place(dict.fromkeys(store, "disk"))
        assert workload.run(store) == in_memory
        for _ in range(4):
            store.place({name: ("ram", "disk")[random.integers(2)] for name in store})
            assert workload.run(store) == in_memory


def test_the_kernels_are_compiled_once_for_all_placements(app, tmp_path):
    workload = miniapps.load(app, NBYTES)
    with stored(workload, tmp_path) as store:
        workload.run(store)
        store.place({name: ("ram", "disk")[at % 2] for at, name in enumerate(store)})
        workload.run(store)
    kernels = [one for one in vars(import_module(miniapps.__name__ + "." + app)).values() if hasattr(one, "signatures")]
    assert max(len(kernel.signatures) for kernel in kernels) == 1


def test_every_run_touches_the_same_bytes_in_the_same_windows(app, tmp_path):
    workload = miniapps.load(app, NBYTES)
    with stored(workload, tmp_path) as store:
        workload.run(store)
        first = store.trace()
        store.forget()
        store.place({name: ("ram", "disk")[at % 2] for at, name in enumerate(store)})
        workload.run(store)
        assert seen(store.trace()) == seen(first)
        assert set(first_touches(first)) == set(store)
        for window in first.windows:
            for touch in window.touches:
                assert max(touch.bytes_read, touch.bytes_written) <= store.sizes[touch.object]


@pytest.mark.parametrize(("name", "part"), [("kmeans", "labels"), ("kmeans", "distances"), ("spmv", "y")])
def test_windows_that_write_parts_count_those_parts_and_together_the_whole(name, part, tmp_path):
    workload = miniapps.load(name, NBYTES, iterations=1)
    with stored(workload, tmp_path) as store:
        workload.run(store)
        counted = [
            touch.bytes_written
            for window in store.trace().windows
            for touch in window.touches
            if touch.object == part and touch.bytes_written
        ]
        assert len(counted) > 1
        assert sum(counted) == store.sizes[part]


def test_what_a_run_changes_it_has_counted_as_written(app, tmp_path):
    workload = miniapps.load(app, NBYTES)
    initial = {name: value.copy() for name, value in workload.objects().items()}
    with stored(workload, tmp_path) as store:
        workload.run(store)
        written = written_objects(store.trace())
        changed = {name for name, value in initial.items() if not np.array_equal(store[name], value)}
    assert changed == written
    assert 0 < len(written) < len(initial)


def test_a_run_does_not_depend_on_what_it_overwrites(app, tmp_path):
    workload = miniapps.load(app, NBYTES)
    with stored(workload, tmp_path) as store:
        expected = workload.run(store)
        overwritten = [name for name, touch in first_touches(store.trace()).items() if not touch.bytes_read]
        assert overwritten
        for name in overwritten:
            store.put(name, np.full_like(store[name], 77))
        assert workload.run(store) == expected


def test_every_object_that_is_only_read_makes_a_difference(app, tmp_path):
    workload = miniapps.load(app, NBYTES)
    initial = workload.objects()
    with stored(workload, tmp_path) as store:
        expected = workload.run(store)
        for name in read_only(store.trace()):
            store.put(name, initial[name].ravel()[::-1].reshape(initial[name].shape))
            assert workload.run(store) != expected, name
            store.put(name, initial[name])


def test_there_are_8_to_24_objects_that_differ_tenfold_in_size_and_in_bytes_moved_per_byte(app, tmp_path):
    workload = miniapps.load(app, 8 << 20)
    with stored(workload, tmp_path) as store:
        workload.run(store)
        trace = store.trace()
    sizes = trace.sizes
    assert 8 <= len(sizes) <= 24
    assert max(sizes.values()) >= 9 * min(sizes.values())
    assert sum(sizes.values()) == pytest.approx(8 << 20, rel=0.05)
    moved = dict.fromkeys(sizes, 0)
    for window in trace.windows:
        for touch in window.touches:
            moved[touch.object] += touch.bytes_read + touch.bytes_written
    rates = [moved[name] / sizes[name] for name in sizes]
    assert max(rates) >= 3 * min(rates)


def test_three_apps_are_small_enough_for_an_exhaustive_search_and_one_is_not():
    counts = [len(miniapps.load(app, NBYTES).objects()) for app in miniapps.APPS]
    assert sum(count <= 12 for count in counts) >= 3
    assert max(counts) >= 20


def test_more_iterations_are_more_windows(app, tmp_path):
    counts = []
    for iterations in (2, 4):
        workload = miniapps.load(app, NBYTES, iterations)
        with stored(workload, tmp_path) as store:
            workload.run(store)
            counts.append(len(store.trace().windows))
    assert counts[0] < counts[1]


def test_a_footprint_below_the_smallest_problem_is_rounded_up(app, tmp_path):
    workload = miniapps.load(app, 1, iterations=1)
    with stored(workload, tmp_path) as store:
        result = np.hstack([np.ravel(part) for part in workload.run(store)])
    assert np.all(np.isfinite(result))


def test_the_default_footprint_is_that_of_this_machine(monkeypatch):
    monkeypatch.setattr("argosy.memory.miniapps.sized.nbytes_here", lambda: 3 << 20)
    objects = miniapps.load("hydro").objects()
    assert sum(value.nbytes for value in objects.values()) == pytest.approx(3 << 20, rel=0.05)


def test_an_unknown_app_is_told_the_near_name():
    with pytest.raises(ValueError, match=r"no mini-app 'kmean'; did you mean 'kmeans'\? there are cg, spmv"):
        miniapps.load("kmean")
    with pytest.raises(ValueError, match="no mini-app 'zzz'; there are cg, spmv"):
        miniapps.load("zzz")


def test_sizes_and_iterations_below_one_are_refused():
    with pytest.raises(ValueError, match=r"nbytes must be .* a whole number of bytes and at least 1, not 0"):
        miniapps.load("cg", 0)
    with pytest.raises(ValueError, match="iterations must be a whole number of at least 1, not 0"):
        miniapps.load("cg", NBYTES, 0)

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.miniapps.sized import cache_nbytes, default_nbytes, nbytes_here

amounts = st.integers(0, 1 << 44)


@settings(max_examples=60)
@given(memory=amounts, cache=amounts)
def test_never_more_than_a_sixteenth_of_the_memory_and_a_cache_if_that_allows(memory, cache):
    nbytes = default_nbytes(memory=memory, cache=cache)
    assert nbytes <= min(memory / 16, 64 << 20)
    assert nbytes >= cache or nbytes in (memory // 16, 64 << 20)


@settings(max_examples=60)
@given(memory=amounts, cache=amounts, more=amounts)
def test_a_larger_machine_never_has_a_smaller_footprint(memory, cache, more):
    nbytes = default_nbytes(memory=memory, cache=cache)
    assert default_nbytes(memory=memory + more, cache=cache) >= nbytes
    assert default_nbytes(memory=memory, cache=cache + more) >= nbytes


def test_a_machine_of_24_gib_and_a_cache_of_32_mib_gets_32_mib():
    assert default_nbytes(memory=24 << 30, cache=32 << 20) == 32 << 20


def test_a_cache_that_is_a_whole_processors_is_not_filled():
    assert default_nbytes(memory=24 << 30, cache=480 << 20) == 64 << 20


def test_the_largest_cache_of_a_core_counts(tmp_path):
    for at, size in enumerate(("32K", "1024K", "32768K")):
        (tmp_path / f"index{at}").mkdir()
        (tmp_path / f"index{at}" / "size").write_text(size + "\n")
    assert cache_nbytes(tmp_path) == 32 << 20
    assert cache_nbytes(tmp_path / "nothing") == 0


def test_this_machine_has_room_for_some():
    assert nbytes_here() > 0

"""Lines of lackey become arrays."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory.program.lackey import BOTH, READ, WRITE, parse

KINDS = {"L": READ, "S": WRITE, "M": BOTH}
accesses = st.tuples(st.sampled_from("LSM"), st.integers(0, 2**47), st.integers(1, 512))
noise = st.sampled_from(
    ["I  0401ab70,3", "==12== Process terminating", "", " ", "x", " L ", " L zz,8", " S 12", " L ,8", " Q 12,8"]
)
lines = st.lists(st.one_of(accesses, noise), max_size=40)


def text_of(items: list) -> bytes:
    return "".join(f"{x}\n" if isinstance(x, str) else f" {x[0]} {x[1]:08x},{x[2]}\n" for x in items).encode()


@settings(max_examples=60)
@given(lines)
def test_every_access_is_found_and_nothing_else(items):
    text = text_of(items)
    found = parse(text)
    wanted = [x for x in items if not isinstance(x, str)]
    assert found.addresses.tolist() == [address for _, address, _ in wanted]
    assert found.sizes.tolist() == [size for _, _, size in wanted]
    assert found.kinds.tolist() == [KINDS[kind] for kind, _, _ in wanted]
    assert found.lines == len(items)
    assert found.consumed == len(text)


@settings(max_examples=60)
@given(lines, st.integers(0, 2000))
def test_a_stream_may_be_cut_anywhere(items, cut):
    text = text_of(items)
    first = parse(text[:cut])
    second = parse(text[:cut][first.consumed :] + text[cut:])
    whole = parse(text)
    assert [*first.addresses, *second.addresses] == whole.addresses.tolist()
    assert [*first.sizes, *second.sizes] == whole.sizes.tolist()
    assert first.lines + second.lines == whole.lines


def test_no_bytes_are_no_accesses():
    assert parse(b"").lines == 0
    assert parse(b" L 04025310,8").consumed == 0

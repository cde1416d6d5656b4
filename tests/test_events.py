from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from argosy.events import Event, decode, encode, read

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
names = st.text().filter(lambda name: name not in ("time", "kind", "id", "state"))
events = st.builds(
    Event,
    st.integers(0, 4 * 10**15).map(lambda microseconds: round(microseconds / 1e6, 6)),
    st.sampled_from(["run", "rank", "task"]),
    st.integers(min_value=0),
    st.text(),
    st.dictionaries(names, values, max_size=4),
)


@given(events)
def test_an_event_comes_back_from_its_line_as_it_was(event: Event) -> None:
    assert decode(encode(event)) == event


@given(events)
def test_an_event_is_one_line_whatever_its_fields_hold(event: Event) -> None:
    assert len(encode(event).splitlines()) == 1


def test_a_last_line_without_an_end_is_not_read_yet(tmp_path: Path) -> None:
    whole = Event(1.5, "task", 7, "done")
    path = tmp_path / "events.jsonl"
    path.write_text(encode(whole) + "\n" + encode(whole)[:10])
    assert list(read(path)) == [whole]

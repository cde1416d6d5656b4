from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from run_events import runs

from argosy.events import Event, encode
from argosy.report.tail import Tail

ONE = Event(1.0, "task", 1, "queued", {"name": "ö"})
TWO = Event(2.0, "task", 1, "done")


@given(runs(), st.data())
def test_a_file_that_grows_in_any_pieces_gives_each_event_once(events: list[Event], data: st.DataObject) -> None:
    text = "".join(encode(event) + "\n" for event in events).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    with tempfile.TemporaryDirectory() as folder:
        tail = Tail(Path(folder) / "events.jsonl")
        seen = []
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            with tail.path.open("ab") as file:
                file.write(text[start:end])
            seen += tail.read()
    assert seen == events
    assert tail.num_unreadable == tail.restarts == 0


def test_a_half_line_waits_for_its_end(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "events.jsonl")
    tail.path.write_text(encode(ONE)[:12])
    assert tail.read() == []
    tail.path.write_text(encode(ONE) + "\n")
    assert tail.read() == [ONE]


def test_a_file_that_shrank_is_read_again_from_its_beginning(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "events.jsonl")
    tail.path.write_text(encode(ONE) + "\n" + encode(TWO) + "\n")
    assert tail.read() == [ONE, TWO]
    tail.path.write_text(encode(TWO) + "\n")
    assert tail.read() == [TWO]
    assert tail.restarts == 1


def test_lines_that_are_no_events_are_counted_and_left_out(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "events.jsonl")
    tail.path.write_bytes(b'{"time": 1}\n[1]\nnull\n\0\0\0\n\xff\xfe\n\n' + encode(ONE).encode() + b"\n")
    assert tail.read() == [ONE]
    assert tail.num_unreadable == 5


def test_a_file_that_is_not_there_yet_has_no_events(tmp_path: Path) -> None:
    assert Tail(tmp_path / "events.jsonl").read() == []

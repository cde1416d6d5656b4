"""The same as a graph and as a trace."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tree.explaining.runs import recording, run

import argosy
from argosy.tree.explaining.explanation import Explanation
from argosy.tree.explaining.graph import graph_of
from argosy.tree.explaining.record import IN_TURN, PILOT, Part
from argosy.tree.explaining.text import text_of
from argosy.tree.explaining.trace import trace_of

NODE = re.compile(r'  (n\d+) \[label="(?:[^"\\]|\\.)*"(?: style="[a-z,]+")?\];')
EDGE = re.compile(r'  (n\d+) -> (n\d+) \[(?:label="((?:[^"\\]|\\.)*)"|style=dotted)\];')


@argosy.futurize(grain=0)
def program(x: Any, name: str) -> Any:
    a = x + 1
    label = f'"{name}" \\ [é]'
    print(end="")
    for i in range(3):
        a[i] = i
    return a, label


@pytest.fixture(scope="module")
def explanation() -> Explanation:
    return program.explain(np.ones(3), "n")  # type: ignore[no-any-return]


def parsed(dot: str) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Nodes and edges. Fails on any line that is none."""
    first, second, *rest = dot.splitlines()
    assert re.fullmatch(r'digraph "\w+" \{', first)
    assert second.startswith("  node [")
    assert rest.pop() == "}"
    nodes = [found[1] for line in rest if (found := NODE.fullmatch(line))]
    edges = [(found[1], found[2], found[3] or "") for line in rest if (found := EDGE.fullmatch(line))]
    assert len(nodes) + len(edges) == len(rest), dot
    assert {end for one, two, _ in edges for end in (one, two)} <= set(nodes)
    return nodes, edges


def test_a_graph_has_a_node_for_each_line_and_only_edges_between_them(explanation: Explanation) -> None:
    nodes, _ = parsed(explanation.dot)
    assert len(nodes) == len({run.line for run in explanation.expressions})


def test_edges_are_labelled_by_the_variable_and_order_alone_is_dotted() -> None:
    runs = [run(0, 0, 1), run(1, 1, 2, [0]), run(2, 2, 3, where=IN_TURN, alone=True), run(3, 3, 4)]
    _, edges = parsed(graph_of(recording(*runs)))
    assert edges == [("n0", "n1", "v0"), ("n1", "n2", ""), ("n2", "n3", "")]


def test_a_graph_is_written_as_it_is(explanation: Explanation, tmp_path: Path) -> None:
    explanation.write_dot(tmp_path / "a.dot")
    assert (tmp_path / "a.dot").read_text(encoding="utf-8") == explanation.dot


def test_a_notebook_shows_the_graph_where_graphviz_is(
    explanation: Explanation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dot = tmp_path / "dot"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert explanation._repr_svg_() is None
    dot.write_text("#!/bin/sh\necho '<svg>'\n")
    dot.chmod(0o755)
    assert explanation._repr_svg_() == "<svg>\n"
    dot.write_text("#!/bin/sh\nexit 1\n")
    assert explanation._repr_svg_() is None


def test_a_trace_is_json_with_a_slice_for_each_run(explanation: Explanation, tmp_path: Path) -> None:
    explanation.write_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    assert len(slices) == len(explanation.expressions)
    assert all(event["dur"] > 0 and event["ts"] >= 0 for event in slices)
    assert {event["args"]["line"] for event in slices} == {run.line for run in explanation.expressions}


def test_arrows_leave_inside_of_one_slice_and_arrive_at_the_begin_of_another() -> None:
    runs = [run(0, 0, 1e-3), run(1, 1e-3, 1e-3, [0]), run(2, 2e-3, 3e-3, [1, 0], where="thread 1", lane=1)]
    events = trace_of(recording(*runs))["traceEvents"]
    slices = {event["args"]["line"] - 10: event for event in events if event["ph"] == "X"}
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert set(starts) == set(ends)
    assert len(starts) == 3
    for number, start in starts.items():
        one = next(its for its in slices.values() if f"v{its['args']['line'] - 10}" == start["name"])
        assert one["ts"] <= start["ts"] < one["ts"] + one["dur"]
        assert start["tid"] == one["tid"]
        assert ends[number]["ts"] in {its["ts"] for its in slices.values() if its["tid"] == ends[number]["tid"]}


def test_parts_are_slices_of_the_threads_that_did_them() -> None:
    parted = run(0, 0, 3, parts=(Part(1, 1, 2), Part(2, 1, 3)))
    events = trace_of(recording(parted))["traceEvents"]
    assert [event["tid"] for event in events if event.get("cat") == "part"] == [1, 2]
    assert {event["tid"] for event in events if event["name"] == "thread_name"} == {0, 1, 2}
    assert recording(parted).parallelism == 2


def test_each_thread_and_each_wait_for_a_pilot_has_a_track_with_a_name() -> None:
    runs = [run(0, 0, 1), run(1, 0, 1, where="thread 1", lane=1), run(2, 0, 1, where=PILOT, lane=2)]
    events = trace_of(recording(*runs))["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert names == {0: "calling thread", 1: "thread 1", 2: "pilot 1"}


def test_the_text_tells_shares_and_places_of_made_up_times() -> None:
    runs = [run(0, 0, 4, overlapped=1.0), run(1, 3, 5, overlapped=1.0, where="thread 1", lane=1)]
    told = text_of(recording(*runs))
    assert told.startswith("made, line 9 of made.py: 5.0 s for 6.0 s of work on 2 threads, 1.20 at a time")
    assert re.search(r"10  v0 = f\(\) +1 +4\.0 s +25% +main thread", told)
    assert re.search(r"11  v1 = f\(\) +1 +2\.0 s +50% +thread 1", told)

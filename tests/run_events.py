"""Runs made up by Hypothesis: what a controller could write (`runs`), and what no controller would (`soups`)."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from argosy.events import Event

START = 1_700_000_000.0
NUM_RANKS = 4
NODES = ["one", "one", "two", "two"]


@st.composite
def soups(draw: st.DrawFn) -> list[Event]:
    """Events in any order, with a clock that also steps back."""
    events = []
    for _ in range(draw(st.integers(0, 40))):
        kind = draw(st.sampled_from(["task", "task", "task", "rank", "run"]))
        fields: dict[str, Any] = {}
        if kind == "task":
            state = draw(st.sampled_from(["waiting", "queued", "running", "running", "done", "failed", "cancelled"]))
            if state == "running":
                ranks = sorted(draw(st.sets(st.integers(0, NUM_RANKS - 1), min_size=1)))
                fields = {"name": "soup", "attempt": draw(st.integers(0, 3)), "ranks": ranks}
        else:
            state = draw(st.sampled_from(["joined", "lost"] if kind == "rank" else ["started", "ended"]))
        time = START + draw(st.integers(0, 1000)) / 100
        events.append(Event(time, kind, 0 if kind == "run" else draw(st.integers(0, 3)), state, fields))
    return events


@st.composite
def runs(draw: st.DrawFn) -> list[Event]:
    """A whole run: tasks of one or more ranks that end well or badly, ranks that die under them and come back."""
    now = START
    events = [Event(now, "run", 0, "started", {"name": "made up", "mpi": "Open MPI 5.0.11", "ulfm": True})]
    events += [Event(now, "rank", rank, "joined", {"node": NODES[rank]}) for rank in range(NUM_RANKS)]
    idle, lost = set(range(NUM_RANKS)), set[int]()
    queued: list[int] = []
    attempts: dict[int, int] = {}
    running: dict[int, list[int]] = {}
    for step in draw(st.lists(st.sampled_from(["submit", "start", "end", "lose", "return"]), max_size=60)):
        now = round(now + draw(st.integers(0, 300)) / 100, 6)  # as precise as a line of the file
        if step == "submit":
            task = len(attempts)
            attempts[task] = -1
            queued.append(task)
            events.append(Event(now, "task", task, "queued", {"name": f"t{task}", "ranks": 1}))
        elif step == "start" and queued and idle:
            task = queued.pop(0)
            attempts[task] += 1
            running[task] = sorted(draw(st.sets(st.sampled_from(sorted(idle)), min_size=1)))
            idle -= set(running[task])
            fields = {"name": f"t{task}", "attempt": attempts[task], "ranks": running[task]}
            events.append(Event(now, "task", task, "running", fields))
        elif step == "end" and running:
            task = draw(st.sampled_from(sorted(running)))
            idle |= set(running.pop(task)) - lost
            state = draw(st.sampled_from(["done", "failed", "cancelled", "queued"]))
            if state == "queued":
                queued.append(task)
            events.append(Event(now, "task", task, state, {"error": "ValueError: no"} if state == "failed" else {}))
        elif step == "lose" and len(lost) < NUM_RANKS:
            rank = draw(st.sampled_from(sorted(set(range(NUM_RANKS)) - lost)))
            lost.add(rank)
            idle.discard(rank)
            events.append(Event(now, "rank", rank, "lost", {"node": NODES[rank], "signal": 9}))
        elif step == "return" and lost:
            rank = draw(st.sampled_from(sorted(lost)))
            lost.discard(rank)
            idle.add(rank)
            for task, ranks in running.items():
                running[task] = [other for other in ranks if other != rank]
            events.append(Event(now, "rank", rank, "joined", {"node": NODES[rank]}))
    if draw(st.booleans()):
        events.append(Event(now + 1, "run", 0, "ended"))
    return events

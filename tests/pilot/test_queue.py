"""Who is next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from argosy.pilot.queue import Queue
from argosy.resources import Need

steps = st.lists(st.tuples(st.sampled_from(["push", "push", "pop", "remove"]), st.integers(0, 9), st.integers(0, 3)))


@given(steps)
def test_lines_stand_in_the_order_of_their_first_tasks_and_nobody_stands_twice(
    steps: list[tuple[str, int, int]],
) -> None:
    """Against a plain list. A task that comes back has the need and the priority that it had."""
    queue = Queue()
    queued: set[int] = set()

    def key(task: int) -> tuple[int, int]:
        return -(task % 3), task

    def need(task: int) -> Need:
        return Need(ranks=task % 2 + 1)

    for what, task, at in steps:
        if what == "push" and task not in queued:
            queue.push(task, task % 3, need(task), None)
            queued.add(task)
        elif what == "remove" and task in queued:
            queue.remove(task)
            queued.remove(task)
        elif what == "pop" and at < len(queue.order):
            line = queue.order[at][2]
            popped = queue.pop(at)
            assert popped == min((other for other in queued if need(other) == line.need), key=key)
            queued.remove(popped)
        lines = {need(other): sorted((o for o in queued if need(o) == need(other)), key=key) for other in queued}
        assert [(minus, first) for minus, first, _ in queue.order] == sorted(key(line[0]) for line in lines.values())
        assert {line.need: queue.tasks(line) for _, _, line in queue.order} == lines
        assert len(queue) == len(queued)

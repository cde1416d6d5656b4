"""Real operations on the processor."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.errors import BadTrace
from argosy.memory.trace import Touch, Trace, Window

torch = pytest.importorskip("torch")
from argosy.memory.torch_trace import trace_torch  # noqa: E402, it needs torch


def touches(window: Window) -> dict[str, tuple[int, int]]:
    return {touch.object: (touch.bytes_read, touch.bytes_written) for touch in window.touches}


def only(trace: Trace) -> Window:
    (window,) = trace.windows
    return window


def test_an_operation_is_a_window_with_what_it_read_and_wrote() -> None:
    a, b, c = torch.ones(4, 8), torch.ones(8, 2), torch.empty(4, 2)
    with trace_torch({"a": a, "b": b, "c": c}, program="product") as recorded:
        torch.mm(a, b, out=c)
    trace = recorded.trace()
    assert trace.program == "product"
    assert trace.sizes == {"a": 128, "b": 64, "c": 32}
    assert only(trace).name == "aten.mm"
    assert only(trace).seconds > 0
    assert only(trace).touches == (
        Touch(object="a", bytes_read=128, tier="ram"),
        Touch(object="b", bytes_read=64, tier="ram"),
        Touch(object="c", bytes_written=32, tier="ram"),
    )


def test_an_operation_in_place_reads_and_writes() -> None:
    a, b = torch.ones(16), torch.ones(16)
    with trace_torch({"a": a, "b": b}) as recorded:
        a.add_(b)
        a.copy_(b)
        a.zero_()
        a.uniform_()
    assert [touches(window) for window in recorded.trace().windows] == [
        {"a": (64, 64), "b": (64, 0)},
        {"a": (0, 64), "b": (64, 0)},
        {"a": (0, 64)},
        {"a": (0, 64)},
    ]


def test_a_view_touches_nothing_and_belongs_to_its_object() -> None:
    a = torch.ones(8, 8)
    with trace_torch({"a": a}) as recorded:
        part = a.view(64)[16:32].reshape(4, 4).t().detach()
        part.mul_(2)
    assert touches(only(recorded.trace())) == {"a": (64, 64)}


def test_what_is_spread_without_bytes_of_its_own_counts_once() -> None:
    row, out = torch.ones(1, 8), torch.empty(100, 8)
    with trace_torch({"row": row, "out": out}) as recorded:
        out.copy_(row.expand(100, 8))
    assert touches(only(recorded.trace())) == {"row": (32, 0), "out": (0, 3200)}


def test_a_lookup_reads_the_rows_it_takes() -> None:
    table, ids, out = torch.ones(1000, 4), torch.tensor([5, 7]), torch.zeros(2, 4)
    with trace_torch({"table": table, "ids": ids, "out": out}) as recorded:
        torch.nn.functional.embedding(ids, table)
        table.index_copy_(0, ids, out)
    looked_up, put_back = (touches(window) for window in recorded.trace().windows)
    assert looked_up == {"table": (32, 0), "ids": (16, 0), "other": (0, 32)}
    assert put_back == {"table": (32, 32), "ids": (16, 0), "out": (32, 0)}


def test_tensors_without_a_name_are_grouped_by_what_made_them_if_they_are_large() -> None:
    a = torch.ones(64, 64)
    with trace_torch({"a": a}, large_nbytes=1024) as recorded:
        for _ in range(3):
            large = a + 1
            small = large[0].sum()
        both = [a * 2, a * 2]
    trace = recorded.trace()
    assert trace.sizes["add[64x64]"] <= 2 * a.nbytes, "each one lives until the next is there"
    assert trace.sizes["mul[64x64]"] == 2 * a.nbytes
    assert touches(trace.windows[1]) == {"add[64x64]": (256, 0), "other": (0, 4)}
    assert small == 128
    assert len(both) == 2


def test_large_tensors_that_came_from_outside_are_objects_too() -> None:
    outside, a = torch.ones(1024), torch.ones(4)
    with trace_torch({"a": a}, large_nbytes=1024) as recorded:
        outside.sum()
    assert touches(only(recorded.trace())) == {"given[1024]": (4096, 0), "other": (0, 4)}


def test_memory_that_is_used_again_is_not_taken_for_what_was_there_before() -> None:
    a = torch.ones(1 << 16)
    with trace_torch({"a": a}, large_nbytes=1024) as recorded:
        for _ in range(4):
            first = a + 1
            del first
            second = a * 2
            del second
    trace = recorded.trace()
    assert trace.sizes == {"a": a.nbytes, "add[65536]": a.nbytes, "mul[65536]": a.nbytes}


def test_a_step_of_training_names_parameters_gradients_and_the_optimizers_work() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs = torch.randn(16, 32)

    def step() -> Any:
        optimizer.zero_grad()
        loss = model(inputs).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    with trace_torch(model, program="step", large_nbytes=1024) as recorded:
        first = step()
        second = step()
    assert second < first, "it is recorded, and runs all the same"
    trace = recorded.trace()
    weight = "0.weight"
    assert trace.sizes[weight] == trace.sizes[f"{weight}.grad"] == 32 * 64 * 4
    readers = [window.name for window in trace.windows if touches(window).get(weight, (0, 0))[0] > 0]
    assert "aten.addmm" in readers
    writers = [window.name for window in trace.windows if touches(window).get(weight, (0, 0))[1] > 0]
    assert len(writers) == 2
    assert all("add" in name for name in writers)
    backward = [window.name for window in trace.windows if touches(window).get(f"{weight}.grad", (0, 0))[1] > 0]
    assert "aten.mm" in backward
    assert {touch.tier for window in trace.windows for touch in window.touches} == {"ram"}


def test_two_names_of_the_same_bytes_are_one_object() -> None:
    a = torch.ones(8)
    with trace_torch({"first": a, "second": a.view(2, 4)}) as recorded:
        a.sum()
    assert recorded.trace().sizes == {"first": 32, "other": 4}


def test_hooks_do_not_stay_behind() -> None:
    a = torch.ones(8, requires_grad=True)
    with trace_torch({"a": a}) as recorded:
        a.sum().backward()
    num_windows = len(recorded.trace().windows)
    a.sum().backward()
    assert len(recorded.trace().windows) == num_windows
    assert not a._post_accumulate_grad_hooks


def test_a_trace_in_which_nothing_happened_is_refused() -> None:
    with trace_torch({"a": torch.ones(4)}) as recorded:
        pass
    with pytest.raises(BadTrace, match="empty"):
        recorded.trace()


def test_a_trace_survives_a_file(tmp_path: Any) -> None:
    a = torch.ones(16)
    with trace_torch({"a": a}, program="p") as recorded:
        a.mul_(2)
    trace = recorded.trace()
    trace.save(tmp_path / "trace.arrow")
    assert Trace.load(tmp_path / "trace.arrow") == trace


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_a_gpu_the_time_is_that_of_the_stream_and_backward_is_recorded_too() -> None:
    model = torch.nn.Linear(2048, 2048, device="cuda")
    inputs = torch.randn(2048, 2048, device="cuda")
    with trace_torch(model, program="step") as recorded:
        model(inputs).square().mean().backward()
    trace = recorded.trace()
    names = [window.name for window in trace.windows]
    assert "aten.addmm" in names
    assert "aten.mm" in names[names.index("aten.addmm") :]
    assert trace.sizes["weight.grad"] == 2048 * 2048 * 4
    assert {touch.tier for window in trace.windows for touch in window.touches if touch.object == "weight"} == {"hbm"}
    assert all(window.seconds > 0 for window in trace.windows)


OPERATIONS = {
    "add": lambda a, b: a + b,
    "add_": lambda a, b: a.add_(b),
    "mm": lambda a, b: a @ b,
    "sum": lambda a, b: (a.sum(), b.sum()),
    "cat": lambda a, b: torch.cat([a, b]),
    "t": lambda a, b: a.t() * b,
}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(OPERATIONS)), min_size=1, max_size=8), st.integers(1, 6))
def test_no_window_moves_more_of_a_named_object_than_there_is(names: list[str], edge: int) -> None:
    a, b = torch.ones(edge, edge), torch.ones(edge, edge)
    with trace_torch({"a": a, "b": b}) as recorded:
        for name in names:
            OPERATIONS[name](a, b)
    trace = recorded.trace()
    assert len(trace.windows) >= len(names)
    for window in trace.windows:
        for touch in window.touches:
            if touch.object != "other":
                assert max(touch.bytes_read, touch.bytes_written) <= trace.sizes[touch.object]

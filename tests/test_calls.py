"""What functions and classes say of themselves is so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import argosy
from argosy.calls import PURE, Call, declared, result_of, value
from argosy.frame.expressions.nodes import Expr
from argosy.train import Checkpoint, DiLoCo, EarlyStop, Fit, LrRule, fit

VALUES = [argosy.DataFrame, argosy.Future, Expr, Fit, DiLoCo, EarlyStop, LrRule, Checkpoint]


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_names_only_methods_that_it_has(kind: Any) -> None:
    assert kind.__argosy_value__
    for name in kind.__argosy_pure__:
        assert callable(getattr(kind, name))


def test_what_runs_a_frame_waits_and_what_only_plans_does_not() -> None:
    frame = argosy.from_pydict({"a": [3, 1, 2]})
    for name in ("collect", "persist", "describe", "to_pandas", "to_torch", "__len__"):
        assert getattr(frame, name).__argosy_call__ == Call(waits=True)
        assert name not in frame.__argosy_pure__
    for name in ("filter", "join", "select", "with_columns", "group_by", "sort", "concat"):
        assert name in frame.__argosy_pure__


@pytest.mark.parametrize("name", ["write_parquet", "write_csv"])
def test_what_writes_files_promises_nothing(name: str) -> None:
    method = getattr(argosy.DataFrame, name)
    assert not hasattr(method, "__argosy_call__")
    assert name not in argosy.DataFrame.__argosy_pure__


@pytest.mark.parametrize(
    "function", [argosy.read_parquet, argosy.from_arrow, argosy.from_pydict, argosy.col, argosy.lit, argosy.when]
)
def test_what_makes_frames_and_expressions_is_pure_and_quick(function: Any) -> None:
    assert function.__argosy_call__ == PURE


def test_operators_of_columns_are_pure() -> None:
    assert {"__add__", "__radd__", "__gt__", "__and__", "sum", "is_null"} <= Expr.__argosy_pure__  # type: ignore[attr-defined]
    assert "agg" in type(argosy.from_pydict({"a": [1]}).group_by("a")).__argosy_pure__  # type: ignore[attr-defined]
    assert "upper" in type(argosy.col("a").str).__argosy_pure__  # type: ignore[attr-defined]


def test_a_training_is_pure_unless_it_leaves_files_or_shares_a_communicator() -> None:
    call = fit.__argosy_call__  # type: ignore[attr-defined]
    assert call.waits
    assert call.is_pure_with({"epochs", "seed", "noise"})
    for seen in ("checkpoint", "ledger", "comm"):
        assert not call.is_pure_with({"epochs", seen})


def test_a_call_that_is_not_pure_is_so_with_no_keywords_either() -> None:
    assert not Call(pure=False).is_pure_with(())


def test_a_value_adds_its_methods_to_those_of_its_base_and_leaves_out_what_is_its_own_business() -> None:
    @value()
    class Base:
        def __init__(self) -> None:
            self.a = 1

        def one(self) -> int:
            return self._hidden()

        def _hidden(self) -> int:
            return 1

    @value()
    class More(Base):
        def __add__(self, other: object) -> More:
            return self

    assert Base.__argosy_pure__ == {"one"}  # type: ignore[attr-defined]
    assert More.__argosy_pure__ == {"one", "__add__"}  # type: ignore[attr-defined]


def test_what_a_chain_of_calls_gives_is_known_before_it_runs() -> None:
    frame, column = argosy.DataFrame, argosy.col("a")
    assert result_of(argosy.read_parquet) is result_of(frame.filter) is result_of(frame.persist) is frame
    assert result_of(type(frame.group_by(argosy.from_pydict({"a": [1]}), "a")).agg) is frame
    assert result_of(argosy.col) is result_of(Expr.__add__) is Expr
    assert result_of(Expr.str) is type(column.str)
    assert result_of(fit) is Fit
    assert result_of(frame.collect) is None
    assert result_of(len) is None


def test_a_declared_function_stays_itself() -> None:
    def three() -> int:
        return 3

    assert declared(PURE)(three) is three


def test_a_frame_does_not_change_with_the_array_it_was_made_of() -> None:
    numbers = np.arange(3.0)
    frame = argosy.from_pydict({"a": numbers})
    numbers[0] = 7
    assert frame.collect()["a"].to_pylist() == [0, 1, 2]

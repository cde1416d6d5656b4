"""Warnings are kept where an expression runs, and shown in its turn."""

from __future__ import annotations

import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import argosy
from argosy.tree.warned import forget, hear, show


def test_a_thread_that_hears_keeps_its_warnings_and_others_do_not() -> None:
    messages: list[warnings.WarningMessage] = []

    def elsewhere() -> None:
        assert hear(messages) is None
        warnings.warn("kept", stacklevel=1)
        assert hear(None) is messages
        warnings.warn("shown after", stacklevel=1)

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        warnings.warn("shown here", stacklevel=1)
    assert [str(message.message) for message in shown] == ["shown after", "shown here"]
    assert [str(message.message) for message in messages] == ["kept"]


def test_warnings_of_c_code_are_heard_too() -> None:
    messages: list[warnings.WarningMessage] = []
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        before = hear(messages)
        _ = np.ones(1) / np.zeros(1)
        hear(before)
        assert shown == []
        for message in messages:
            show(message)
    assert [message.category for message in shown] == [RuntimeWarning]
    assert shown[0].filename == __file__


def test_a_warning_shown_inside_an_expression_belongs_to_that_expression() -> None:
    inner: list[warnings.WarningMessage] = []
    outer: list[warnings.WarningMessage] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        before = hear(outer)
        within = hear(inner)
        warnings.warn("inner", stacklevel=1)
        assert hear(within) is inner
        assert outer == []
        for message in inner:
            show(message)
        assert hear(before) is outer
    assert outer == inner


@pytest.mark.parametrize(
    "action",
    [
        "default",
        "once",
        "module",
    ],
)
def test_a_warning_that_was_forgotten_is_shown_the_next_time(action: Any) -> None:
    def warn() -> list[warnings.WarningMessage]:
        messages: list[warnings.WarningMessage] = []
        before = hear(messages)
        warnings.warn("once in a while", stacklevel=1)
        hear(before)
        return messages

    with warnings.catch_warnings():
        warnings.simplefilter(action)
        globals().pop("__warningregistry__", None)
        first = warn()
        assert len(first) == 1
        assert warn() == []
        forget(first)
        assert len(warn()) == 1


def mean_of(a: Any) -> Any:
    b = a * 2.0
    return np.mean(b)


@pytest.mark.parametrize(
    "action",
    [
        "always",
        "default",
        "once",
        "module",
    ],
)
def test_an_expression_that_warns_and_then_is_run_again_warns_as_in_plain_python(action: Any) -> None:
    """The mean of nothing warns of that, then divides 0 by 0, for which it must have its turn."""

    def said(function: Any) -> list[str]:
        for module in list(sys.modules.values()):
            vars(module).get("__warningregistry__", {}).clear()
        messages: list[str] = []
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            warnings.showwarning = lambda message, *_: messages.append(str(message))  # type: ignore[assignment]
            function(np.zeros(0))
        return messages

    assert len(said(mean_of)) == 2
    assert said(argosy.futurize(grain=0, threads=3)(mean_of)) == said(mean_of)

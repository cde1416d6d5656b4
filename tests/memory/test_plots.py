"""The three pictures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.memory import plots
from argosy.memory.trace import Touch, Trace, Window

GIB = 1 << 30


def trace_of(num_windows: int = 3) -> Trace:
    touches = (Touch(object="cold", bytes_read=8), Touch(object="hot", bytes_read=800, bytes_written=80))
    windows = [Window(name="sweep", seconds=0.1, touches=touches[i % 2 :]) for i in range(num_windows)]
    return Trace(program="made up", sizes={"cold": 800, "unused": 0, "hot": 80}, windows=tuple(windows))


def draw_trace(path: Path) -> Path:
    return plots.plot_touches(trace_of(), path)


def draw_validation(path: Path) -> Path:
    return plots.plot_validation(np.array([1.0, 2.0]), np.array([1.05, 1.0]), path, title="cg")


def draw_curve(path: Path) -> Path:
    return plots.plot_curve([(0, 2.0), (GIB, 1.0)], path, title="cg", chosen=(GIB // 2, 1.5))


DRAWN = [draw_trace, draw_validation, draw_curve]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The axes of each picture, as it is saved."""
    axes: list[Any] = []
    save = plots._save
    monkeypatch.setattr(plots, "_save", lambda canvas, path: (axes.append(canvas.axes[0]), save(canvas, path))[1])
    return axes


@pytest.mark.parametrize("draw", DRAWN)
@pytest.mark.parametrize("ending", plots.FORMATS)
def test_a_picture_has_the_format_that_its_name_says(draw: Callable[[Path], Path], ending: str, tmp_path: Path) -> None:
    path = draw(tmp_path / f"picture.{ending}")
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert path.read_bytes().startswith(begins)


@pytest.mark.parametrize("draw", DRAWN)
def test_every_axis_says_what_it_is_and_in_which_unit(
    draw: Callable[[Path], Path], drawn: list[Any], tmp_path: Path
) -> None:
    draw(tmp_path / "picture.png")
    assert drawn[0].get_xlabel()
    assert drawn[0].get_ylabel()
    assert drawn[0].get_title()


def test_objects_stand_in_the_order_of_heat_and_the_hottest_on_top(drawn: list[Any], tmp_path: Path) -> None:
    draw_trace(tmp_path / "heat.png")
    assert [label.get_text() for label in drawn[0].get_yticklabels()] == ["unused", "cold", "hot"]


@pytest.mark.parametrize("num_windows", [1, 40, 41])
def test_windows_are_named_while_there_is_room(num_windows: int, drawn: list[Any], tmp_path: Path) -> None:
    plots.plot_touches(trace_of(num_windows), tmp_path / "heat.png")
    named = [label.get_text() for label in drawn[0].get_xticklabels()] == ["sweep"] * num_windows
    assert named == (num_windows <= 40)


def test_points_outside_the_band_are_counted_apart(drawn: list[Any], tmp_path: Path) -> None:
    measured = np.array([1.0, 1.0, 1.0, 1.0])
    plots.plot_validation(measured, np.array([1.0, 1.09, 1.2, 0.5]), tmp_path / "scatter.png", title="")
    labels = [text.get_text() for text in drawn[0].get_legend().get_texts()]
    assert labels[-2:] == ["inside: 2 of 4", "outside: 2 of 4"]


@settings(max_examples=40)
@given(st.integers(0, 1 << 45))
def test_a_capacity_is_shown_in_the_largest_unit_of_which_there_is_one(nbytes: int) -> None:
    unit, name = plots._unit(nbytes)
    assert nbytes >= unit or name == "bytes"
    assert nbytes < 1024 * unit or name == "GiB"


def test_the_unit_is_in_the_label_and_the_points_are_in_that_unit(drawn: list[Any], tmp_path: Path) -> None:
    draw_curve(tmp_path / "curve.png")
    assert drawn[0].get_xlabel().endswith("GiB")
    line, chosen = drawn[0].get_lines()
    assert list(line.get_xdata()) == [0, 1]
    assert list(chosen.get_xdata()) == [0.5]


def test_a_picture_that_cannot_be_written_is_refused_beforehand(tmp_path: Path) -> None:
    plots.check_plot(tmp_path / "picture.PNG")
    with pytest.raises(ValueError, match=r"picture.txt is not the name of a picture; let it end with .png, .svg, .pdf"):
        plots.check_plot(tmp_path / "picture.txt")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        plots.check_plot(tmp_path / "none" / "picture.png")


@pytest.mark.parametrize("draw", [*DRAWN, plots.check_plot])
def test_without_matplotlib_it_says_what_to_install(
    draw: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'argosy\[plots\]'"):
        draw(tmp_path / "picture.png")
    assert not list(tmp_path.iterdir())

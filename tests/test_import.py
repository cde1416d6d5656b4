from __future__ import annotations

import subprocess
import sys

import pytest

import argosy

HEAVY = ("mpi4py", "torch", "numba", "zmq", "numpy", "pyarrow", "typer", "rich")


def loaded_by(code: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after this code."""
    code += "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50)
    return set(done.stdout.split())


def test_importing_argosy_loads_nothing_heavy() -> None:
    assert loaded_by("import argosy").isdisjoint(HEAVY)


def test_a_frame_loads_neither_mpi_nor_what_it_converts_to() -> None:
    table = "pyarrow.schema({'a': 'int64'}).empty_table()"
    packages = loaded_by(f"import argosy, pyarrow; argosy.from_arrow({table}).filter(argosy.col('a') > 0).explain()")
    assert "pyarrow" in packages
    assert packages.isdisjoint({"mpi4py", "torch", "polars", "duckdb"})  # pyarrow itself looks for pandas


def test_expressions_are_made_without_loading_kernels() -> None:
    assert loaded_by("import argosy; argosy.col('a') + argosy.lit(1)").isdisjoint({"mpi4py", "torch", "numba", "zmq"})


def test_the_frame_is_an_attribute_of_the_package() -> None:
    loaded_by("import argosy; assert argosy.frame.__name__ == 'argosy.frame'")


def test_the_command_line_shows_its_help_without_loading_mpi_or_numbers() -> None:
    packages = loaded_by("import argosy.cli")
    assert "typer" in packages
    assert packages.isdisjoint({"mpi4py", "torch", "numba", "zmq", "numpy", "pyarrow"})


@pytest.mark.parametrize("name", argosy.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(argosy, name).__name__.rpartition(".")[2] == name


def test_public_names_show_up_in_dir() -> None:
    assert set(argosy.__all__) <= set(dir(argosy))


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = argosy.no_such_name

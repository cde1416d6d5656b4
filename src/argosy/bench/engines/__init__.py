"""One small adapter for each engine: its tables in memory, its own way to ask, its result in its own form.

Each runs as its documentation says, with as many threads or workers as Argosy has ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, Protocol

import pyarrow as pa

from argosy.bench.cases import Case


class Engine(Protocol):
    """A started engine. `load` comes first; each result is freed before the next question."""

    def load(self, left: pa.Table, right: pa.Table | None) -> None:
        """Make these its own tables, in memory."""

    def run(self, case: Case) -> Any:
        """The answer, complete and in the engine's own form when this returns. This is what is timed."""

    def to_arrow(self, result: Any) -> pa.Table: ...

    def free(self, result: Any) -> None:
        """Give the answer's memory back; the caller drops its own reference after this."""

    def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """An engine that can be asked."""

    name: str
    title: str
    asked_as: str
    """What `--against` calls it; several may go by one name."""
    module: str
    package: str
    is_quiet: bool = True
    """Uses no processor while it waits. One that does only meets Argosy, and nobody else is up meanwhile."""

    @property
    def is_installed(self) -> bool:
        return find_spec(self.package) is not None

    @property
    def label(self) -> str:
        """With the version, where the package was installed and not only found."""
        name, comma, mode = self.title.partition(",")
        try:
            return f"{name} {version(self.package)}{comma}{mode}"
        except PackageNotFoundError:
            return self.title

    def open(self, num_threads: int) -> Engine:
        engine: Engine = import_module(f"argosy.bench.engines.{self.module}").open_engine(self.name, num_threads)
        return engine


OURS = Kind(name="argosy", title="Argosy", asked_as="argosy", module="ours", package="argosy")
PEERS = (
    Kind(name="polars", title="Polars, in memory", asked_as="polars", module="polars", package="polars"),
    Kind(name="polars-streaming", title="Polars, streaming", asked_as="polars", module="polars", package="polars"),
    Kind(name="duckdb", title="DuckDB, to its own table", asked_as="duckdb", module="duckdb", package="duckdb"),
    Kind(name="duckdb-arrow", title="DuckDB, to Arrow", asked_as="duckdb", module="duckdb", package="duckdb"),
    Kind(name="dask", title="Dask", asked_as="dask", module="dask", package="dask", is_quiet=False),
    Kind(name="ray", title="Ray Data", asked_as="ray", module="ray", package="ray", is_quiet=False),
)
KINDS = {kind.name: kind for kind in (OURS, *PEERS)}
ASKED = tuple(dict.fromkeys(kind.asked_as for kind in PEERS))
"""What `--against` takes."""

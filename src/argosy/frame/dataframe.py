"""The frame that users write: a table spread over ranks, described by a plan and computed when somebody looks."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pyarrow as pa

from argosy import arguments
from argosy.calls import WAITS, declared, value
from argosy.errors import FrameError, TypeMismatch
from argosy.frame import run
from argosy.frame.align import aligned
from argosy.frame.arguments import (
    Named,
    flat,
    named_expressions,
    require_columns,
    require_count,
    require_distinct,
    require_key,
    require_rows,
    require_seed,
    row_type,
)
from argosy.frame.describe import describe
from argosy.frame.elsewhere import no_attribute
from argosy.frame.explain import explain
from argosy.frame.expressions.columns import conjunction, has_aggregate
from argosy.frame.expressions.nodes import Expr, col
from argosy.frame.grouping import GroupBy
from argosy.frame.home import home_of, is_there
from argosy.frame.io.options import delimiter_of, parquet_options
from argosy.frame.joining import joined
from argosy.frame.keep.asked import TierName, asked_for
from argosy.frame.known import known_rows
from argosy.frame.plan import (
    Concat,
    Distinct,
    Filter,
    JoinAlgorithm,
    JoinHow,
    Operation,
    Project,
    Repartition,
    Resident,
    Sample,
    SetKind,
    SetOperation,
    Shuffle,
    Slice,
)
from argosy.frame.rewrite import rewrite
from argosy.frame.show import as_html, as_text
from argosy.frame.sorting import sorted_by
from argosy.pilot.future import Future
from argosy.tensors import tensors

if TYPE_CHECKING:
    import pandas
    import polars
    import torch


@value(
    "select", "with_columns", "filter", "drop", "rename", "__getitem__", "sort", "unique", "head", "tail", "slice",
    "sample", "shuffle", "repartition", "join", "group_by", "union", "intersect", "difference", "concat", "explain",
)  # fmt: skip
class DataFrame:
    """A lazy, immutable table over the ranks of the open pilot, or in this process where there is none.

    Every method that returns a frame only extends the plan, and checks at once that names and types fit. Work is done
    by `collect`, `persist`, `len`, `describe`, `to_...` and `write_...`. A column is named by a string or by an
    expression (`argosy.col`). The order of rows is kept by everything but joins, group-bys, `unique`, the set
    operations, `shuffle` and `repartition(by)`, which leave it open. Several threads may use one frame.
    """

    def __init__(self, plan: Operation) -> None:
        self._plan = plan
        self._resident: Resident | None = plan if isinstance(plan, Resident) else None

    @property
    def plan(self) -> Operation:
        """What is to be done, as the user said it; `explain` shows what it becomes."""
        return self._plan

    # columns and rows

    def select(self, *columns: str | Expr, **named: Any) -> DataFrame:
        """These columns alone, in this order. With aggregates only, the one row of their results."""
        pairs = named_expressions("select", columns, named)
        if any(has_aggregate(expr) for _, expr in pairs):
            return self.group_by().agg(**dict(pairs))
        return self._project("select", pairs)

    def with_columns(self, *columns: Expr, **named: Any) -> DataFrame:
        """All columns and these: a name that is there is replaced in its place. All see the columns as they were."""
        new = dict(named_expressions("with_columns", columns, named))
        require_rows("with_columns", tuple(new.items()), self.schema)
        kept = {name: new.pop(name, col(name)) for name in self.columns}
        return DataFrame(Project(input=self._plan, columns=(*kept.items(), *new.items())))

    def filter(self, *predicates: Expr | str) -> DataFrame:
        """The rows for which all predicates are true; not those for which one is null."""
        conditions = [col(one) if isinstance(one, str) else one for one in flat(predicates)]
        if not conditions:
            raise TypeError('filter() needs a condition, such as col("a") > 0')
        for one in conditions:
            if not isinstance(one, Expr):
                raise TypeError(f'filter() takes expressions such as col("a") > 0, not {arguments.show(one)}')
            kind = row_type("filter", one, self.schema)
            if not (pa.types.is_boolean(kind) or pa.types.is_null(kind)):
                raise TypeMismatch(f"filter() needs a condition that is true or false, but {one!r} is {kind}")
        return DataFrame(Filter(input=self._plan, predicate=conjunction(conditions)))

    def drop(self, *names: str) -> DataFrame:
        """All columns but these."""
        gone = require_columns("drop", flat(names), self.schema)
        return self._project("drop", tuple((name, col(name)) for name in self.columns if name not in gone))

    def rename(self, mapping: Mapping[str, str]) -> DataFrame:
        """The same columns under other names: `rename({"old": "new"})`."""
        mapping = arguments.mapping("mapping", mapping, 'a dictionary like {"old": "new"}')
        require_columns("rename", list(mapping), self.schema)
        for old, new in mapping.items():
            arguments.text(f"rename(): mapping[{arguments.show(old)}]", new)
        return self._project("rename", tuple((mapping.get(name, name), col(name)) for name in self.columns))

    def _project(self, method: str, columns: Named) -> DataFrame:
        require_distinct(method, [name for name, _ in columns])
        require_rows(method, columns, self.schema)
        return DataFrame(Project(input=self._plan, columns=columns))

    def __getitem__(self, name: str | list[str]) -> Any:
        """`frame["a"]` is the expression `col("a")`, known to be there; `frame[["a", "b"]]` selects."""
        if isinstance(name, list):
            return self.select(*name)
        if isinstance(name, str):
            require_columns("frame[...]", [name], self.schema)
            return col(name)
        raise TypeError(
            f"a frame is looked up by the name of a column, not by {arguments.show(name)}; "
            "take rows with filter(), head() or slice()"
        )

    def __getattr__(self, name: str) -> Any:
        """Only for what is not there."""
        raise no_attribute(name, () if name.startswith("_") else self.columns)

    # order and choice of rows

    def sort(self, *by: str | Expr, descending: bool | Sequence[bool] = False, nulls_first: bool = False) -> DataFrame:
        """Rows in order of the first key, then of the next. Stable; nulls last either way unless asked; NaN largest."""
        return DataFrame(sorted_by(self._plan, flat(by), descending, nulls_first))

    def unique(self, *subset: str) -> DataFrame:
        """The first of all rows that are equal: in these columns, or in all when none is named."""
        names = require_columns("unique", flat(subset), self.schema)
        require_distinct("unique", names)
        for name in names or self.columns:
            require_key("unique", name, self.schema.field(name).type)
        return DataFrame(Distinct(input=self._plan, subset=names or None))

    def head(self, n: int = 5) -> DataFrame:
        """The first n rows."""
        return DataFrame(Slice(input=self._plan, offset=0, length=require_count("head", "n", n)))

    def tail(self, n: int = 5) -> DataFrame:
        """The last n rows."""
        count = require_count("tail", "n", n)
        return DataFrame(Slice(input=self._plan, offset=-count, length=count))

    def slice(self, offset: int, length: int | None = None) -> DataFrame:
        """So many rows from `offset` on, or all that follow; a negative offset counts from the end."""
        count = None if length is None else require_count("slice", "length", length)
        return DataFrame(
            Slice(
                input=self._plan,
                offset=arguments.whole("slice(): offset", offset, least=-(2**63), most=2**63 - 1),
                length=count,
            )
        )

    def sample(self, n: int | None = None, fraction: float | None = None, seed: int = 0) -> DataFrame:
        """So many rows (all where there are fewer), or this share of them, each at most once."""
        if (n is None) == (fraction is None):
            raise ValueError("sample() needs either n, a number of rows, or fraction, a share of them")
        rows = None if n is None else require_count("sample", "n", n)
        share = None if fraction is None else arguments.number("sample(): fraction", fraction, least=0, most=1)
        number = require_seed("sample", seed)
        return DataFrame(Sample(input=self._plan, num_rows=rows, fraction=share, seed=number))

    def shuffle(self, seed: int) -> DataFrame:
        """All rows in random order. The same seed gives the same order, on however many ranks."""
        return DataFrame(Shuffle(input=self._plan, seed=require_seed("shuffle", seed)))

    def repartition(self, by: str | Sequence[str] | None = None) -> DataFrame:
        """Rows spread evenly over the ranks, in their order; with `by`, rows with equal keys on one rank."""
        names = None if by is None else arguments.names("repartition(): by", by)
        keys = None if names is None else require_columns("repartition", names, self.schema)
        if keys is not None and not keys:
            raise ValueError("repartition() needs a column to go by; leave `by` out to spread rows evenly")
        for name in keys or ():
            require_key("repartition", name, self.schema.field(name).type)
        return DataFrame(Repartition(input=self._plan, by=keys))

    # several frames, and groups

    def join(
        self,
        other: DataFrame,
        on: str | Sequence[str] | None = None,
        *,
        left_on: str | Sequence[str] | None = None,
        right_on: str | Sequence[str] | None = None,
        how: JoinHow = "inner",
        suffix: str = "_right",
        algorithm: JoinAlgorithm = "auto",
    ) -> DataFrame:
        """Rows of both with equal keys: the columns of this frame, then those of the other without its keys.

        A name that is taken gets the suffix. Null keys match nothing; NaN matches NaN. Keys of one family (integers,
        floats, strings) are compared in the type that holds both, and have it in the result. `semi` keeps the rows
        of this frame that have a match, `anti` those that have none, `cross` pairs all with all and takes no keys.
        """
        plan = joined(
            self._plan, _plan_of("join", other), on, left_on, right_on, how=how, suffix=suffix, algorithm=algorithm
        )
        return DataFrame(plan)

    def group_by(self, *keys: str | Expr, **named: Any) -> GroupBy:
        """Groups of rows with equal keys; `agg` says what becomes of each. No keys: all rows are one group."""
        return GroupBy(self._plan, named_expressions("group_by", keys, named), DataFrame)

    def union(self, other: DataFrame) -> DataFrame:
        """The distinct rows of both. Columns are matched by name; null equals null."""
        return self._set_operation("union", other)

    def intersect(self, other: DataFrame) -> DataFrame:
        """The distinct rows that are in both."""
        return self._set_operation("intersect", other)

    def difference(self, other: DataFrame) -> DataFrame:
        """The distinct rows of this frame that are not in the other."""
        return self._set_operation("difference", other)

    def _set_operation(self, kind: SetKind, other: DataFrame) -> DataFrame:
        right = aligned(kind, _plan_of(kind, other), self.schema)
        for field in self.schema:
            require_key(kind, field.name, field.type)
        return DataFrame(SetOperation(kind=kind, left=self._plan, right=right))

    def concat(self, *others: DataFrame) -> DataFrame:
        """All rows of this frame, then all rows of the others. Columns are matched by name."""
        plans = [self._plan, *(aligned("concat", _plan_of("concat", other), self.schema) for other in others)]
        while len(plans) > 1:  # neighbours two by two, so that many frames make a flat plan
            odd = plans[len(plans) // 2 * 2 :]
            plans = [Concat(first=one, second=two) for one, two in zip(plans[::2], plans[1::2], strict=False)] + odd
        return DataFrame(plans[0])

    # what is known without running anything

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._plan.schema

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self._plan.schema.names)

    def explain(self) -> str:
        """The plan as it will run, one operation a line, inputs indented, with estimated rows and bytes."""
        return explain(rewrite(self._plan), run.num_ranks(self._plan))

    def __repr__(self) -> str:
        return as_text(self._plan)

    def _repr_html_(self) -> str:
        return as_html(self._plan)

    # what runs the plan

    @declared(WAITS)
    def collect(self) -> pa.Table:
        """The whole result in this process, in order. Refuses what does not fit into its memory."""
        return run.collect(self._now())

    @declared(WAITS)
    def persist(self, tier: TierName | None = None, *, memory: str | int | None = None) -> DataFrame:
        """Runs the plan and leaves the result on the ranks: the frame of that result.

        `tier`: "ram", "disk" (columns in files without a name, mapped), or "auto": in RAM what a measured plan says is
        worth it, as the columns come to be used, the rest on disk. "auto" is the default where there is a limit: all
        frames share half of the pilot's `memory`, or `$ARGOSY_MEMORY` without a pilot; `memory` is one for this frame
        alone, for each node. A column that cannot go to disk is an error with "disk", and a warning with "auto".
        """
        with _turn_of(self):
            kept = self._resident if self._resident is not None and is_there(self._resident) else None
            if kept is None or tier is not None or memory is not None:
                asked = asked_for(tier, memory, home_of(kept or self._plan))
                if kept is None or kept.asked != asked:
                    kept = self._resident = run.persist(kept or self._plan, asked)
            return DataFrame(kept)

    def __argosy_future__(self) -> Future:
        """The Future of the persisted frame, as which it travels to a task: each rank gets its own table."""
        with _turn_of(self):
            self.persist()
            kept = self._resident
            if kept is not None and not isinstance(kept.future, Future) and (pilot := home_of(kept)) is not None:
                # it was persisted in this process, before the pilot came
                memory = kept.asked.nbytes if kept.asked.alone else None
                kept = self._resident = run.persist(kept, asked_for(kept.asked.tier, memory, pilot))
        if kept is None or not isinstance(kept.future, Future):
            raise FrameError("a frame travels to a task on the ranks of a pilot, but no pilot is open; open one first")
        return run.lent(kept)

    def _now(self) -> Operation:
        """The plan, or its result where that is on the ranks already."""
        kept = self._resident  # which another thread may replace meanwhile
        return self._plan if kept is None or not is_there(kept) else kept

    @declared(WAITS)
    def __len__(self) -> int:
        """Number of rows. Runs the plan where it cannot be known without."""
        known = known_rows(self._now())
        return run.count_rows(self._now()) if known is None else known

    def __bool__(self) -> bool:
        raise TypeError("a frame is neither true nor false; ask for len(frame) > 0, or use & | ~ between conditions")

    __iter__ = None

    @declared(WAITS)
    def describe(self) -> DataFrame:
        """Count, nulls, mean, deviation, quartiles and extremes of each column, as a small frame. Runs the plan."""
        return DataFrame(describe(self._now()))

    @declared(WAITS)
    def to_pandas(self) -> pandas.DataFrame:
        """The whole result as a pandas frame."""
        return self.collect().to_pandas()

    @declared(WAITS)
    def to_polars(self) -> polars.DataFrame:
        """The whole result as a Polars frame, over the same memory where the type allows."""
        import polars

        return polars.DataFrame(self.collect())

    @declared(WAITS)
    def to_torch(self, columns: Sequence[str] | None = None) -> dict[str, torch.Tensor]:
        """A tensor for each column, over the same memory where the type allows. Nulls must be filled first."""
        chosen = self if columns is None else self.select(*arguments.names("columns", columns))
        return tensors(chosen.collect())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The whole result for anything that reads Arrow: Polars, DuckDB, pandas, pyarrow."""
        return self.collect().__arrow_c_stream__(requested_schema)

    def write_parquet(
        self,
        path: str | PathLike[str],
        overwrite: bool = False,
        *,
        compression: str = "zstd",
        row_group_nbytes: int | None = None,
    ) -> int:
        """A folder of Parquet files, one for each rank; there as a whole or not at all. Returns the number of rows."""
        options = parquet_options(compression, row_group_nbytes)
        return run.write(self._now(), path, "parquet", overwrite, options)

    def write_csv(
        self, path: str | PathLike[str], overwrite: bool = False, *, delimiter: str = ",", header: bool = True
    ) -> int:
        """A folder of CSV files, one for each rank; there as a whole or not at all. Returns the number of rows."""
        options = {"delimiter": delimiter_of(delimiter), "header": arguments.flag("header", header)}
        return run.write(self._now(), path, "csv", overwrite, options)


_turns: WeakKeyDictionary[DataFrame, threading.RLock] = WeakKeyDictionary()


def _turn_of(frame: DataFrame) -> threading.RLock:
    """One thread persists the frame; the others wait for that."""
    return _turns.setdefault(frame, threading.RLock())


def _plan_of(method: str, other: object) -> Operation:
    if not isinstance(other, DataFrame):
        raise TypeError(f"{method}() takes another frame, not {type(other).__name__}; make one with argosy.from_arrow")
    return other.plan

"""A frame as it shows itself at a prompt and in a notebook. Runs nothing."""

from __future__ import annotations

from html import escape

import pyarrow as pa

from argosy.frame.known import known_rows
from argosy.frame.plan import Memory, Operation

_MOST_COLUMNS = 30
_MOST_ROWS = 10
_LONGEST_CELL = 60


def as_text(plan: Operation) -> str:
    """Names and types, and the number of rows where it is known."""
    names = plan.schema.names
    width = max((len(name) for name in names[:_MOST_COLUMNS]), default=0)
    lines = [f"  {field.name:{width}}  {field.type}" for field in list(plan.schema)[:_MOST_COLUMNS]]
    if len(names) > _MOST_COLUMNS:
        lines.append(f"  ... and {len(names) - _MOST_COLUMNS} more")
    return "\n".join([_headline(plan), *lines])


def as_html(plan: Operation) -> str:
    """The same as a table, with the first rows where they are in this process."""
    fields = list(plan.schema)[:_MOST_COLUMNS]
    header = "".join(f"<th>{escape(one.name)}<br><small>{escape(str(one.type))}</small></th>" for one in fields)
    rows = _first_rows(plan.table.select([one.name for one in fields])) if isinstance(plan, Memory) else ""
    return f"<div><small>{escape(_headline(plan))}</small><table><tr>{header}</tr>{rows}</table></div>"


def _headline(plan: Operation) -> str:
    known = known_rows(plan)
    rows = "rows not yet known" if known is None else f"{known:,} row{'s' * (known != 1)}"
    number = len(plan.schema.names)
    return f"DataFrame: {number} column{'s' * (number != 1)}, {rows}"


def _first_rows(table: pa.Table) -> str:
    rows = zip(*(column.to_pylist() for column in table.slice(0, _MOST_ROWS).columns), strict=True)
    return "".join(f"<tr>{''.join(f'<td>{escape(_cell(value))}</td>' for value in row)}</tr>" for row in rows)


def _cell(value: object) -> str:
    text = "null" if value is None else str(value)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 3] + "..."

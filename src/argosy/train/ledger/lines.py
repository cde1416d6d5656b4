"""A ledger as text, one JSON object a line.

    {"kind":"run","version":1,"workers":2,"seed":0,"batch":64}                              and all other facts
    {"kind":"step","step":1,"epoch":0,"samples":64,"loss":2.3,"lr":0.1,"seconds":{"data":0.0001,"forward":0.0004}}
    {"kind":"evaluation","step":1,"samples":64,"seconds":0.0021,"metrics":{"accuracy":0.1}}
    {"kind":"resume","step":1,"samples":64,"seconds":{"data":0.0001},"workers":4}           facts as they are from here
    {"kind":"offload","step":1,...}                                                        what a run tells of itself
    {"kind":"end","step":1,"samples":64,"seconds":{"data":0.0001}}

`samples` counts from the start of the run, over all workers. `seconds` of a step are its own, by phase (phases without
time are left out); of an evaluation, the time spent training until then; of `resume` and `end`, the totals by phase.
Numbers that JSON does not have are text: "NaN", "Infinity", "-Infinity". No loss is null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from argosy.errors import TrainError

VERSION = 1
_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_ODD = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def encode(record: Mapping[str, Any]) -> str:
    """The record as one line."""
    try:
        return _encoder.encode(record) + "\n"
    except ValueError:
        return _encoder.encode(_spelled(record)) + "\n"
    except TypeError as error:
        raise TrainError(f"a ledger keeps text, numbers, lists and dicts: {error}") from error


def encode_step(
    step: int,
    epoch: int | None,
    samples: int,
    loss: Any,
    lr: Any,
    seconds: Mapping[str, float],
    more: Mapping[str, Any] | None = None,
) -> str:
    """The same for a step, several times as fast: there are many."""
    spent = ",".join([f'"{phase}":{second:.7f}' for phase, second in seconds.items() if second])
    head = (
        f'{{"kind":"step","step":{step},"epoch":{"null" if epoch is None else epoch},"samples":{samples},'
        f'"loss":{_number(loss)},"lr":{_number(lr)},"seconds":{{{spent}}}'
    )
    return f"{head},{encode(more)[1:]}" if more else head + "}\n"


def decode(line: bytes) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(line)
    for holder in (record, record.get("metrics") or {}):
        for name, value in holder.items():
            if isinstance(value, str) and value in _ODD:
                holder[name] = _ODD[value]
    return record


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each whole line, with the place in the file where it ends. A last line that was cut by a kill is passed over."""
    end = 0
    with path.open("rb") as lines:
        line = next(lines, b"")
        while line.endswith(b"\n"):
            following = next(lines, b"")
            try:
                record = decode(line)
            except ValueError as error:
                if not following:
                    return
                raise TrainError(f"{path}: what begins at byte {end} is not a line of a ledger: {error}") from error
            end += len(line)
            yield end, record
            line = following


def end_of(path: Path, step: int, num_evaluations: int) -> int:
    """Where that step ends: what is beyond was written by a run that did not live to keep it."""
    kept = 0
    for end, record in read_lines(path):
        num_evaluations -= record["kind"] == "evaluation"
        if record["kind"] == "end" or record.get("step", 0) > step or num_evaluations < 0:
            break
        kept = end
    return kept


def _number(value: Any) -> str:
    if value is None:
        return "null"
    value = float(value)
    return repr(value) if math.isfinite(value) else f'"{_odd(value)}"'


def _odd(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _spelled(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return _odd(value)
    if isinstance(value, Mapping):
        return {key: _spelled(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_spelled(inner) for inner in value]
    return value

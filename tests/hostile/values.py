"""Values that no caller means, and some that he does: each made anew, since some can be used once only."""

from __future__ import annotations

import datetime
import math
import os
import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa


class Broken(Exception):
    """What the values below raise, whatever is asked of them."""


def _raise(*_args: Any, **_kwargs: Any) -> Any:
    raise Broken("this value was asked for something")


class Mute:
    """Raises at whatever is asked of it."""

    __repr__ = __str__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __len__ = __iter__ = _raise
    __index__ = __int__ = __float__ = __fspath__ = __contains__ = __getitem__ = __call__ = __hash__ = _raise
    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __array__ = _raise


class Liar:
    """Is equal to everything, true, of length 1, and says that it is `2`."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 2

    def __len__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "2"


class Index:
    """A whole number, as Python sees it, of a class of its own."""

    def __index__(self) -> int:
        return 2


class Plain:
    pass


def _own_list() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def _deep() -> list[Any]:
    found: list[Any] = []
    for _ in range(2000):
        found = [found]
    return found


def _objects() -> Any:
    made = np.empty(2, dtype=object)
    made[0] = Mute()
    return made


def _folder() -> str:
    return tempfile.gettempdir()


def _no_file() -> str:
    return str(Path(tempfile.gettempdir()) / "there" / "is" / "no" / "such.file")


def _binary_file() -> str:
    path = Path(tempfile.gettempdir()) / f"hostile-{os.getpid()}.parquet"
    path.write_bytes(bytes(range(256)) * 4)
    return str(path)


def _frame() -> Any:
    import argosy

    return argosy.from_pydict({"z": [1, 2]})


def _column() -> Any:
    import argosy

    return argosy.col("a")


def _future() -> Any:
    from concurrent.futures import Future

    return Future()


VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None, "True": lambda: True, "False": lambda: False, "...": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "0": lambda: 0, "1": lambda: 1, "2": lambda: 2, "-1": lambda: -1, "3": lambda: 3,
    "2**31": lambda: 2**31, "2**63": lambda: 2**63, "-2**63-1": lambda: -(2**63) - 1, "2**100": lambda: 2**100,
    "10**400": lambda: 10**400, "10**5000": lambda: 10**5000,
    "0.0": lambda: 0.0, "-0.0": lambda: -0.0, "0.5": lambda: 0.5, "1.0": lambda: 1.0, "1.5": lambda: 1.5,
    "2.0": lambda: 2.0, "-0.5": lambda: -0.5, "1e300": lambda: 1e300, "5e-324": lambda: 5e-324,
    "nan": lambda: math.nan, "inf": lambda: math.inf, "-inf": lambda: -math.inf,
    "complex": lambda: 1 + 2j, "Decimal 2": lambda: Decimal(2), "Decimal NaN": lambda: Decimal("NaN"),
    "Fraction 1/2": lambda: Fraction(1, 2), "Index": Index,
    "empty text": lambda: "", "blank": lambda: " ", "NUL": lambda: "\0", "a NUL b": lambda: "a\0b",
    "newline": lambda: "a\nb", "surrogate": lambda: "\ud800", "long text": lambda: "x" * 10**6, "'2'": lambda: "2",
    "'nan'": lambda: "nan", "'auto'": lambda: "auto", "'a'": lambda: "a", "ship": lambda: "\N{SHIP}", "'*'": lambda: "*",
    "'../..'": lambda: "../..", "bytes": lambda: b"a", "bytearray": lambda: bytearray(b"a"), "memoryview": lambda: memoryview(b"a"),
    "Path": lambda: Path("x"), "folder": _folder, "no file": _no_file, "binary file": _binary_file,
    "[]": list, "[1]": lambda: [1], "['a']": lambda: ["a"], "['a', 'a']": lambda: ["a", "a"], "[None]": lambda: [None],
    "[[]]": lambda: [[]], "()": lambda: (), "(1, 2)": lambda: (1, 2), "{}": dict, "{'a': 1}": lambda: {"a": 1},
    "{1: 'a'}": lambda: {1: "a"}, "set()": set, "{1}": lambda: {1}, "range": lambda: range(3), "generator": lambda: (i for i in (1, 2)),
    "iterator": lambda: iter(["a"]), "own list": _own_list, "deep list": _deep, "dict of Mute": lambda: {"a": Mute()},
    "[Mute]": lambda: [Mute()],
    "int64 0": lambda: np.int64(0), "int64 2": lambda: np.int64(2), "int8 -1": lambda: np.int8(-1), "uint64 max": lambda: np.uint64(2**64 - 1),
    "float32 .5": lambda: np.float32(0.5), "float64 nan": lambda: np.float64("nan"), "float16 inf": lambda: np.float16("inf"),
    "bool_": lambda: np.bool_(True), "array 2": lambda: np.array(2), "array 1.5": lambda: np.array(1.5), "array [1 2]": lambda: np.array([1, 2]),
    "array []": lambda: np.array([]), "array of text": lambda: np.array(["a", "b"]), "array of objects": _objects,
    "datetime64": lambda: np.datetime64("2020-01-01"), "str_": lambda: np.str_("a"),
    "date": lambda: datetime.date(2020, 1, 1), "timedelta": lambda: datetime.timedelta(seconds=2),
    "arrow 2": lambda: pa.scalar(2), "arrow null": lambda: pa.scalar(None), "arrow table": lambda: pa.table({"z": [1]}), "arrow type": lambda: pa.int8(),
    "object": object, "Plain": Plain, "a class": lambda: Plain, "int": lambda: int, "Mute": Mute, "class Mute": lambda: Mute, "Liar": Liar,
    "an error": lambda: ValueError("x"), "class of errors": lambda: KeyError, "lambda": lambda: lambda: None,
    "len": lambda: len, "module": lambda: math, "property": lambda: property(), "slice": lambda: slice(None),
    "frame": _frame, "column": _column, "a future": _future,
}  # fmt: skip
"""By the name that a finding is told with."""


def twisted(valid: Any) -> dict[str, Callable[[], Any]]:
    """What is nearly the valid value: the same in another guise, or the class of it and not one."""
    made: dict[str, Callable[[], Any]] = {
        "[valid]": lambda: [valid], "(valid,)": lambda: (valid,), "class of valid": lambda: type(valid),
        "maker of valid": lambda: lambda: valid,
    }  # fmt: skip
    if isinstance(valid, bool):
        made |= {"np valid": lambda: np.bool_(valid), "int of valid": lambda: int(valid), "text": lambda: str(valid)}
    elif isinstance(valid, int):
        made |= {
            "int64 valid": lambda: np.int64(valid), "int32 valid": lambda: np.int32(valid), "uint8 valid": lambda: np.uint8(valid % 256),
            "0-d valid": lambda: np.array(valid), "float valid": lambda: float(valid), "float64 valid": lambda: np.float64(valid),
            "text of valid": lambda: str(valid), "-valid": lambda: -valid, "valid*10**20": lambda: valid * 10**20,
        }  # fmt: skip
    elif isinstance(valid, float):
        made |= {
            "float64 valid": lambda: np.float64(valid), "float32 valid": lambda: np.float32(valid), "0-d valid": lambda: np.array(valid),
            "text of valid": lambda: str(valid), "-valid": lambda: -valid, "Fraction valid": lambda: Fraction(valid),
            "Decimal valid": lambda: Decimal(valid),
        }  # fmt: skip
    elif isinstance(valid, str):
        made |= {
            "str_ valid": lambda: np.str_(valid), "bytes valid": lambda: valid.encode(), "VALID": lambda: valid.upper() + "X",
            " valid ": lambda: f" {valid} ", "valid NUL": lambda: valid + "\0", "Path valid": lambda: Path(valid),
        }  # fmt: skip
    elif isinstance(valid, (list, tuple)):
        made |= {
            "text of valid": lambda: str(valid),
            "set": lambda: {str(one) for one in valid},
            "twice": lambda: list(valid) * 2,
        }
    elif isinstance(valid, dict):
        made |= {
            "items": lambda: list(valid.items()),
            "keys": lambda: valid.keys(),
            "upside down": lambda: {str(v): k for k, v in valid.items()},
        }
    return made

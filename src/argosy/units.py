"""Numbers with units, as people write them."""

from __future__ import annotations

import re
import sys
from fractions import Fraction

from argosy import arguments

_FACTORS = {"": 1, "B": 1} | {
    prefix + suffix: base**power
    for power, prefix in enumerate("KMGTP", start=1)
    for suffix, base in (("B", 1000), ("iB", 1024), ("", 1024))
}
_WANTED = "a text like '2GiB' or a whole number of bytes"


def parse_nbytes(text: str | int, name: str = "", least: int = 0) -> int:
    """`"2GiB"`, `"500MB"`, `"4G"` (as Slurm means it: GiB) or a plain whole number, in bytes.

    `name`: of the argument that it is the value of, for the error of one that is none, or has fewer than `least` bytes.
    """
    if isinstance(text, str):
        text = arguments.text(name or "memory", text, _WANTED)
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
        if match is None or (factor := _FACTORS.get(match[2][:1].upper() + match[2][1:])) is None:
            said = f"{name} is" if name else "this is"
            raise ValueError(
                f"{said} not an amount of memory: {arguments.show(text)}; write it like '2GiB', '500MB' or 1048576"
            )
        nbytes = int(Fraction(match[1]) * factor)
    else:
        nbytes = arguments.whole(name or "memory", text, wanted=_WANTED)
    if nbytes < least:
        raise ValueError(f"{name or 'memory'} must be {_WANTED} and at least {least}, not {arguments.show(text)}")
    return nbytes


def format_nbytes(nbytes: float) -> str:
    """`1536` becomes `1.5 KiB`."""
    if type(nbytes) is not int:
        nbytes = arguments.number("nbytes", nbytes, infinite=True)
    nbytes = min(nbytes, sys.float_info.max)  # a whole number may be too large to be divided
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(nbytes) < 1024 or unit == "TiB":
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    raise AssertionError("unreachable")


def format_seconds(seconds: float) -> str:
    """`0.00025` becomes `250 µs`, `75` becomes `1 min 15 s`."""
    seconds = arguments.number("seconds", seconds, infinite=True)
    if seconds == float("inf"):
        return "for ever"
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"

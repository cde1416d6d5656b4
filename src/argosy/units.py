"""Numbers with units, as people write them."""

from __future__ import annotations

import re

_FACTORS = {"": 1, "B": 1} | {
    prefix + suffix: base**power
    for power, prefix in enumerate("KMGTP", start=1)
    for suffix, base in (("B", 1000), ("iB", 1024), ("", 1024))
}


def parse_nbytes(text: str | int) -> int:
    """`"2GiB"`, `"500MB"`, `"4G"` (as Slurm means it: GiB) or a plain number, in bytes."""
    if isinstance(text, int):
        return text
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if match is None or (factor := _FACTORS.get(match[2][:1].upper() + match[2][1:])) is None:
        raise ValueError(f"not an amount of memory: {text!r}; write it like '2GiB', '500MB' or 1048576")
    return int(float(match[1]) * factor)


def format_nbytes(nbytes: float) -> str:
    """`1536` becomes `1.5 KiB`."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(nbytes) < 1024 or unit == "TiB":
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    raise AssertionError("unreachable")


def format_seconds(seconds: float) -> str:
    """`0.00025` becomes `250 µs`, `75` becomes `1 min 15 s`."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"

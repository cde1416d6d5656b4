"""What objects are called: the line of the source that allocated them, where the program has symbols.

    relax (solver.c:42)                function and line, of the innermost frame in the program itself
    grid (grid.c:7) from solver.c:9    if others, too, get their memory from that line
    relax (4.0 MiB)                    no line numbers: function and size
    heap#3 (4.0 MiB)                   no symbols
    table                              a static array
Names that would be the same get ` #2`, ` #3`, in the order of their first allocation.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from argosy.memory.program.events import Found, Frame
from argosy.units import format_nbytes

Place = tuple[str, str]
"""Function and `file:line`, either empty where it is not known."""
_SYSTEM = re.compile(r"/(usr/)?(include|lib)/|\.\./sysdeps/|/c\+\+/")


class Static(NamedTuple):
    name: str
    address: int
    """As in the file, before the program was loaded."""
    nbytes: int


def name_objects(found: Sequence[Found], places: Mapping[Frame, Sequence[Place]]) -> list[str]:
    """One name for each object, all different. `places`: what is known of frames, innermost inlined function first."""
    sites = [_sites(each.frames, places) for each in found]
    stacks_of: dict[Place, set[tuple[Frame, ...]]] = defaultdict(set)
    for each, outwards in zip(found, sites, strict=True):
        stacks_of[outwards[0]].add(each.frames)
    names, taken, unknown = [], Counter[str](), 0
    for each, outwards in zip(found, sites, strict=True):
        function, line = outwards[0]
        if each.name is not None:
            name = each.name
        elif not function:
            unknown += 1
            name = f"heap#{unknown} ({format_nbytes(each.peak_nbytes)})"
        else:
            name = f"{function} ({line or format_nbytes(each.peak_nbytes)})"
            if len(stacks_of[outwards[0]]) > 1 and len(outwards) > 1 and outwards[1][1]:
                name += f" from {outwards[1][1]}"
        taken[name] += 1
        names.append(name if taken[name] == 1 else f"{name} #{taken[name]}")
    return names


def _sites(frames: Sequence[Frame], places: Mapping[Frame, Sequence[Place]]) -> list[Place]:
    """The program's own functions from the allocation outwards, or else the library's that allocated; at least one."""
    own = [frame for frame in frames if not frame.path]
    shown = [place for frame in own for place in places.get(frame, ()) if not _SYSTEM.search(place[1])]
    if not own:
        shown = [place for frame in frames for place in places.get(frame, ()) if place[0]][:1]
    return [(function, Path(line).name) for function, line in shown] or [("", "")]


def find_places(frames: Iterable[Frame], program: str) -> dict[Frame, list[Place]]:
    """Ask `addr2line`; without it nothing is known."""
    tool = shutil.which("addr2line")
    by_file: dict[str, set[Frame]] = defaultdict(set)
    for frame in frames:
        by_file[frame.path or program].add(frame)
    places: dict[Frame, list[Place]] = {}
    for path, wanted in by_file.items():
        if tool is None or not Path(path).is_file():
            continue
        asked = "".join(f"{frame.offset:#x}\n" for frame in wanted)
        answer = subprocess.run(
            [tool, "-a", "-f", "-i", "-C", "-e", path], input=asked, capture_output=True, text=True, check=False
        )
        at = parse_addr2line(answer.stdout)
        places.update({frame: at[frame.offset] for frame in wanted if frame.offset in at})
    return places


def parse_addr2line(text: str) -> dict[int, list[Place]]:
    """The answer of `addr2line -a -f -i`: an address, then pairs of lines, function and `file:line`."""
    places: dict[int, list[Place]] = {}
    lines = iter(text.splitlines())
    now: list[Place] = []
    for line in lines:
        if line.startswith("0x"):
            now = places.setdefault(int(line, 16), [])
            continue
        where = re.sub(r" \(discriminator \d+\)$", "", next(lines, ""))
        now.append(
            ("" if line == "??" else line, "" if where.startswith("??") or where.endswith(("?", ":0")) else where)
        )
    return places


def find_statics(program: str, least_nbytes: int) -> list[Static]:
    """Arrays in the data of a program, by `nm`; none for a stripped program or without `nm`."""
    tool = shutil.which("nm")
    if tool is None:
        return []
    answer = subprocess.run([tool, "-S", "--defined-only", program], capture_output=True, text=True, check=False)
    return parse_nm(answer.stdout, least_nbytes)


def parse_nm(text: str, least_nbytes: int) -> list[Static]:
    """Lines `address size type name`; data is of type b, d, r, g, s, u or v, in either case."""
    statics: dict[int, Static] = {}
    for line in text.splitlines():
        parts = line.split(maxsplit=3)
        if len(parts) == 4 and parts[2] in "bBdDrRgGsSuvV" and int(parts[1], 16) >= least_nbytes:
            address = int(parts[0], 16)
            statics.setdefault(address, Static(parts[3], address, int(parts[1], 16)))  # others are aliases
    return list(statics.values())

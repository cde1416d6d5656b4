"""Text files by line: byte ranges that ranks can read apart, without a look at the file beforehand.

A range stands for the lines that start in it. So ranges that touch hold every line once, wherever they were cut.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyarrow import fs

RANGE_NBYTES = 16 << 20
"""A file is cut into ranges of this size."""
FIRST_NBYTES = 1 << 20
"""How much of each file the types are inferred from."""
LARGEST_LINE_NBYTES = 256 << 20

_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_LOOK_NBYTES = 64 << 10


def endings(*names: str) -> tuple[str, ...]:
    """These endings of names, and the same followed by that of a compression."""
    return names + tuple(name + more for name in names for more in _COMPRESSED)


def is_compressed(path: str) -> bool:
    return path.lower().endswith(_COMPRESSED)


def ranges(nbytes: int) -> list[tuple[int, int]]:
    """Start and stop of each range of a file of this size."""
    return [(start, min(start + RANGE_NBYTES, nbytes)) for start in range(0, nbytes, RANGE_NBYTES)]


def line_start(file: pa.NativeFile, offset: int) -> int:
    """Where the first line starts that starts at `offset` or later; the end of the file if there is none."""
    if offset == 0:
        return 0
    file.seek(offset - 1)
    place = offset - 1
    while data := file.read(_LOOK_NBYTES):
        found: int = data.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(data)
    return place


def open_lines(filesystem: fs.FileSystem, path: str, start: int, stop: int) -> pa.NativeFile | None:
    """A stream of the lines that start in the range, None if none does; of all lines where the file is compressed."""
    if is_compressed(path):
        return filesystem.open_input_stream(path)
    file = filesystem.open_input_file(path)
    first = line_start(file, start)
    last = line_start(file, stop)
    return file.get_stream(first, last - first) if last > first else None


def first_lines(filesystem: fs.FileSystem, path: str) -> bytes:
    """The whole lines within the first block; all of a shorter file, also when its last line does not end."""
    with filesystem.open_input_stream(path) as stream:
        data: bytes = stream.read(FIRST_NBYTES)
        while len(data) >= FIRST_NBYTES and b"\n" not in data and len(data) < LARGEST_LINE_NBYTES:
            data += stream.read(len(data))
        ended = len(data) < FIRST_NBYTES
    return data if ended else data[: data.rfind(b"\n") + 1]


def blocks(stream: pa.NativeFile, block_nbytes: int) -> Iterator[bytes]:
    """The stream in blocks of whole lines, of about this size."""
    rest = b""
    while data := stream.read(block_nbytes):
        end = data.rfind(b"\n") + 1
        if end:
            yield rest + data[:end]
            rest = data[end:]
        else:
            rest += data
    if rest:
        yield rest


def num_lines_before(filesystem: fs.FileSystem, path: str, start: int) -> int:
    """How many lines start before those of a range that starts here. Reads all that comes before it."""
    if start == 0 or is_compressed(path):
        return 0
    with filesystem.open_input_file(path) as file:
        stream = file.get_stream(0, line_start(file, start))
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(RANGE_NBYTES), b""))

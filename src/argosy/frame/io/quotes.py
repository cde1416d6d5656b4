"""Quoted values that span lines: a file that has them must not be cut at line ends."""

from __future__ import annotations

import io

import pyarrow as pa

from argosy.errors import BadFile

_NO_SIGNS = bytes(set(range(256)) - set(b'"\n'))


def spans_lines(text: bytes) -> bool:
    """Whether a line has an odd number of quotes, so that a quoted value may go on in the next one."""
    return _odd_lines(text, odd=False)[0]


class QuoteCheck(io.RawIOBase):
    """A stream of whole lines that raises where a quoted value spans lines.

    The first line of such a value has an odd number of quotes, and that line lies whole in some piece of the file. So
    when the readers of all pieces have checked, every cut was at the end of a row.
    """

    def __init__(self, stream: pa.NativeFile, path: str) -> None:
        self._stream = stream
        self._path = path
        self._odd = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(None if size < 0 else size)
        found, self._odd = _odd_lines(data, self._odd)
        if found:
            raise BadFile(
                self._path, "a quoted value seems to span lines; read it with newlines_in_values=True, in one piece"
            )
        return data


def _odd_lines(text: bytes, odd: bool) -> tuple[bool, bool]:
    """Whether a line that ends in this text has an odd number of quotes, and whether the unended last one has.

    `odd` is the second of what came back for the text before.
    """
    signs = (b'"' if odd else b"") + text.translate(None, delete=_NO_SIGNS)
    ended, _, last = signs.replace(b'""', b"").rpartition(b"\n")
    return b'"' in ended, bool(last)

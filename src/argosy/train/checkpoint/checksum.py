"""The checksum of a stream, worked out by a second thread while the next bytes are written or read."""

from __future__ import annotations

import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

_LARGE_NBYTES = 1 << 20
"""Below this, handing over costs more than the checksum."""


class Checksum:
    """CRC-32 of what `add` is given. One stretch is at work at a time, and must not change until the next call."""

    def __init__(self) -> None:
        self._crc = 0
        self._at_work: Future[int] | None = None
        self._thread = ThreadPoolExecutor(1)

    def __enter__(self) -> Checksum:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()

    def add(self, data: memoryview) -> None:
        self._settle()
        if len(data) < _LARGE_NBYTES:
            self._crc = zlib.crc32(data, self._crc)
        else:
            self._at_work = self._thread.submit(zlib.crc32, data, self._crc)

    def take(self) -> int:
        """The checksum until here; the next one starts anew."""
        self._settle()
        crc, self._crc = self._crc, 0
        return crc

    def _settle(self) -> None:
        if self._at_work is not None:
            self._crc, self._at_work = self._at_work.result(), None

"""A launcher that runs: its guard, and what it says."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from argosy.pilot import private
from argosy.pilot.launch.guard import ENDS, GOES_ON

_MOST_SECONDS_FOR_GUARD = 20.0
"""Three times what it takes when the launcher does not end by itself and does not listen."""
_PACKAGE_PARENT = Path(__file__).resolve().parents[3]


class Launched:
    """The command, started under a guard. When this process ends in any way, so does all that was started."""

    def __init__(
        self, command: list[str], environment: Mapping[str, str], log: Path, remove: list[Path], lock: int
    ) -> None:
        """`lock`: a descriptor that the guard is to hold as long as it lives."""
        guard = [sys.executable, "-m", "argosy.pilot.launch.guard", *map(str, remove), "--", *command]
        self._log = open(log, "ab", buffering=0, opener=private.opener)  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                guard,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=_with_package(environment),
                start_new_session=True,
                pass_fds=(lock,),
            )
        except BaseException:
            self._log.close()
            raise
        assert self._process.stdout is not None
        self.output = self._process.stdout.fileno()
        os.set_blocking(self.output, False)
        self._rest = b""
        self.ended = False

    def read_lines(self) -> list[str]:
        """Complete lines that the launcher has printed since; sets `ended` when there will be no more."""
        try:
            chunk = os.read(self.output, 65536)
        except BlockingIOError:
            return []
        if not chunk:
            self.ended = True
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def note(self, line: str) -> None:
        """Keep a line that the launcher printed with its other messages. A full disk costs the line."""
        with contextlib.suppress(OSError):
            self._log.write(line.encode(errors="backslashreplace") + b"\n")

    def say_goodbye(self, pilot_goes_on: bool) -> None:
        """The ranks have been told to leave: the guard gives them a moment and then ends them."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the guard has ended by itself
            self._process.stdin.write(GOES_ON if pilot_goes_on else ENDS)
            self._process.stdin.close()

    def wait(self) -> int:
        """Until everything has ended. The guard sees to it that this does not take long: one that does not is ended.

        Negative when the guard was killed, and something may be left.
        """
        try:
            return self._process.wait(_MOST_SECONDS_FOR_GUARD)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
        finally:
            self._log.close()
            assert self._process.stdout is not None
            self._process.stdout.close()


def _with_package(environment: Mapping[str, str]) -> dict[str, str]:
    """The child must find this very package, also where it is not installed."""
    if _PACKAGE_PARENT.name in ("site-packages", "dist-packages"):
        return dict(environment)
    path = [str(_PACKAGE_PARENT), *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    return dict(environment) | {"PYTHONPATH": os.pathsep.join(path)}

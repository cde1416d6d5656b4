"""Which pilot a process has open."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import argosy
from argosy.pilot.pilot import current_pilot


def test_the_pilot_made_last_and_not_closed_is_current(tmp_path: Path) -> None:
    before = current_pilot()
    outer = argosy.Pilot(ranks=1, folder=tmp_path)
    assert current_pilot() is outer
    with argosy.Pilot(ranks=1, folder=tmp_path) as inner:
        assert current_pilot() is inner
        seen = []
        thread = threading.Thread(target=lambda: seen.append(current_pilot()))
        thread.start()
        thread.join()
        assert seen == [inner]
        outer.close()
        assert current_pilot() is inner
    assert current_pilot() is before


def test_the_child_of_a_fork_and_a_rank_have_none(tmp_path: Path) -> None:
    with argosy.Pilot(ranks=1, folder=tmp_path) as pilot:
        child = os.fork()
        if child == 0:
            os._exit(0 if current_pilot() is None else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert current_pilot() is pilot

        def ask() -> bool:
            from argosy.pilot.current import current_pilot

            return current_pilot() is None

        assert pilot.submit(ask).result(timeout=20)


def test_being_current_does_not_keep_a_pilot_alive(tmp_path: Path) -> None:
    before = current_pilot()
    pilot = argosy.Pilot(ranks=1, folder=tmp_path)
    reference = weakref.ref(pilot)
    del pilot
    gc.collect()
    assert reference() is None
    assert current_pilot() is before


def test_asking_loads_neither_sockets_nor_mpi() -> None:
    code = (
        "from argosy.pilot.current import current_pilot; assert current_pilot() is None; "
        "import sys; assert not {'zmq', 'mpi4py', 'cloudpickle'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)

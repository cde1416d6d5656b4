"""Memory of one NUMA node: another socket, high-bandwidth memory or memory behind CXL show up as nodes."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
from pathlib import Path

from argosy import arguments
from argosy.errors import NoTier
from argosy.memory.tiers.ram import RamBlock
from argosy.memory.tiers.tier import Room, asked_nbytes, full

NODES = Path("/sys/devices/system/node")
_PREFER, _BIND = 1, 2  # MPOL_PREFERRED, MPOL_BIND
_STRICT = 1  # MPOL_MF_STRICT: a page that lies elsewhere already is an error, EIO
_MBIND = {"x86_64": 237, "aarch64": 235, "ppc64le": 259, "riscv64": 235}


class Numa:
    """Main memory of node `node`, bound there by `mbind`; a page that does not fit is an error and not elsewhere."""

    def __init__(self, node: int, capacity: str | int | None = None) -> None:
        self.node = node = arguments.whole("node", node, least=0, most=2**31 - 1)
        self.name = f"numa:{node}"
        self._room = Room(self.name, capacity)

    def check(self) -> None:
        if platform.machine() not in _MBIND or not NODES.is_dir():
            raise NoTier("this machine does not let memory be bound to a node (no mbind); use Ram()")
        there = nodes()
        if self.node not in there:
            raise NoTier(f"there is no NUMA node {arguments.show(self.node)}; there are: {', '.join(map(str, there))}")

    def hold(self, nbytes: int) -> RamBlock:
        nbytes = asked_nbytes(nbytes)
        self.check()
        free = free_nbytes(self.node)
        self._room.claim(nbytes, free=free)
        try:
            block = RamBlock(nbytes, self._room)
            fill(block, self.node)
        except BaseException as error:
            self._room.release(nbytes)
            if isinstance(error, MemoryError) or getattr(error, "errno", None) in (errno.EIO, errno.ENOMEM):
                raise full(self.name, nbytes, free_nbytes(self.node)) from error
            raise
        return block

    def settle(self) -> None:
        """Nothing is ever under way."""


def nodes() -> list[int]:
    """Those of this machine that have memory."""
    online = (NODES / "has_memory").read_text().strip()
    ranges = [part.split("-") for part in online.split(",") if part]
    return [node for ends in ranges for node in range(int(ends[0]), int(ends[-1]) + 1)]


def free_nbytes(node: int) -> int:
    """Free, or held by files that can be dropped."""
    text = (NODES / f"node{node}" / "meminfo").read_text()
    amounts = {name: int(kib) * 1024 for name, kib in re.findall(r"(\w+(?:\(\w+\))?):\s+(\d+) kB", text)}
    return amounts["MemFree"] + amounts.get("Active(file)", 0) + amounts.get("Inactive(file)", 0)


def fill(block: RamBlock, node: int) -> None:
    """Gives the block pages of this node. An `OSError` with `EIO` where not all of them are to be had there.

    Bound at once, it would be the system that ends a process for a page that the node cannot give. So pages are asked
    for with that node preferred, and bound when they are there: what had to go elsewhere shows then.
    """
    if block.nbytes == 0:
        return
    _set_policy(block, node, _PREFER, 0)
    block.open()[:: os.sysconf("SC_PAGE_SIZE")] = 0
    _set_policy(block, node, _BIND, _STRICT)


def _set_policy(block: RamBlock, node: int, policy: int, flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    mask = (ctypes.c_ulong * (node // 64 + 1))()
    mask[node // 64] = 1 << (node % 64)
    address = ctypes.c_void_p(block.open().ctypes.data)
    failed = libc.syscall(
        ctypes.c_long(_MBIND[platform.machine()]),
        address,
        ctypes.c_ulong(block.nbytes),
        ctypes.c_int(policy),
        mask,
        ctypes.c_ulong(64 * len(mask) + 1),
        ctypes.c_uint(flags),
    )
    if not failed:
        return
    number = ctypes.get_errno()
    if number == errno.EIO:
        raise OSError(number, f"NUMA node {node} has no room for all pages")
    raise NoTier(f"memory cannot be bound to NUMA node {node}: {os.strerror(number)}")

"""Kinds of memory: main memory, disk, the memory of a NUMA node, and that of an accelerator."""

from __future__ import annotations

from argosy.memory.tiers.disk import Disk
from argosy.memory.tiers.numa import Numa
from argosy.memory.tiers.ram import Ram
from argosy.memory.tiers.tier import Block, Tier

__all__ = ["Block", "Disk", "Numa", "Ram", "Tier"]

"""How much memory a process may use is told from the texts of its control groups, of both versions."""

from __future__ import annotations

from collections.abc import Mapping

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argosy.errors import TierFull
from argosy.memory import Ram
from argosy.resources.discover import memory
from argosy.resources.discover.memory import Limit, available_nbytes, limits, memory_nbytes

GIB = 1 << 30
V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = (
    "36 25 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "38 25 0:33 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
)


def told(files: Mapping[str, str]) -> list[Limit]:
    return limits(files.get)


def v2(path: str, mounts: str = V2, **groups: dict[str, object]) -> dict[str, str]:
    """Files of a machine whose group at a folder (with `_` for `/`) has these."""
    found = {"/proc/self/cgroup": f"0::{path}\n", "/proc/self/mountinfo": mounts}
    for folder, files in groups.items():
        where = f"/sys/fs/cgroup{folder.replace('_', '/')}".rstrip("/")
        found |= {f"{where}/memory.{name}": f"{text}\n" for name, text in files.items()}
    return found


def test_the_least_limit_on_the_way_up_counts_wherever_it_is() -> None:
    files = v2(
        "/job/step/task",
        _={"max": "max"},
        _job={"max": 4 * GIB, "current": 3 * GIB},
        _job_step={"max": "max", "current": GIB},
        _job_step_task={"max": 8 * GIB, "current": GIB},
    )
    assert told(files) == [Limit(8 * GIB, GIB), Limit(4 * GIB, 3 * GIB)]
    assert min(limit.left_nbytes for limit in told(files)) == GIB


@given(st.lists(st.tuples(st.none() | st.integers(1, 1 << 50), st.integers(0, 1 << 50)), min_size=1, max_size=6))
def test_no_group_around_a_process_is_overlooked(heights: list[tuple[int | None, int]]) -> None:
    groups = {
        "_" + "_".join(f"g{at}" for at in range(depth)): {"max": "max" if most is None else most, "current": used}
        for depth, (most, used) in enumerate(heights)
    }
    path = "/" + "/".join(f"g{at}" for at in range(len(heights) - 1))
    limited = [Limit(most, used) for most, used in heights if most is not None]
    assert sorted(told(v2(path, **groups)), key=repr) == sorted(limited, key=repr)


def test_what_throttles_a_group_counts_like_what_ends_it() -> None:
    assert told(v2("/job", _job={"max": 4 * GIB, "high": 3 * GIB, "current": GIB})) == [Limit(3 * GIB, GIB)]


def test_pages_of_files_that_the_system_would_drop_are_not_in_use() -> None:
    stat = f"anon {GIB}\ninactive_file {2 * GIB}\nactive_file 0"
    assert told(v2("/job", _job={"max": 4 * GIB, "current": 3 * GIB, "stat": stat})) == [Limit(4 * GIB, GIB)]


def test_the_first_version_has_other_names_for_the_same() -> None:
    where = "/sys/fs/cgroup/memory/batch/job7"
    files = {
        "/proc/self/cgroup": "12:cpuset:/\n5:cpu,cpuacct:/other\n4:memory:/batch/job7\n0::/system.slice\n",
        "/proc/self/mountinfo": V1,
        f"{where}/memory.limit_in_bytes": f"{4 * GIB}\n",
        f"{where}/memory.usage_in_bytes": f"{3 * GIB}\n",
        f"{where}/memory.stat": f"inactive_file 5\ntotal_inactive_file {2 * GIB}\n",
        "/sys/fs/cgroup/memory/batch/memory.limit_in_bytes": f"{2 * GIB}\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    }
    assert told(files) == [Limit(4 * GIB, GIB), Limit(2 * GIB, 0)]


@pytest.mark.parametrize("version", [1, 2])
def test_in_a_container_the_group_is_where_its_root_is_mounted(version: int) -> None:
    """Without a namespace of its own, the path in /proc is the host's, and the mount shows what is below its root."""
    inside = "/docker/8f"
    name, mounts = {
        1: ("limit_in_bytes", f"38 25 0:33 {inside} /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"),
        2: ("max", f"30 23 0:26 {inside} /sys/fs/cgroup ro - cgroup2 cgroup rw\n"),
    }[version]
    point = "/sys/fs/cgroup/memory" if version == 1 else "/sys/fs/cgroup"
    line = f"4:memory:{inside}/task" if version == 1 else f"0::{inside}/task"
    files = {
        "/proc/self/cgroup": line,
        "/proc/self/mountinfo": mounts,
        f"{point}/memory.{name}": str(GIB),
        f"{point}/task/memory.{name}": str(2 * GIB),
    }
    assert told(files) == [Limit(2 * GIB, 0), Limit(GIB, 0)]


@pytest.mark.parametrize("path", ["/../../other", "/elsewhere"])
def test_a_group_that_cannot_be_seen_from_here_is_told_from_the_top_that_can(path: str) -> None:
    mounts = "30 23 0:26 /docker/8f /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
    assert told(v2(path, mounts, _={"max": GIB})) == [Limit(GIB, 0)]


def test_a_mount_point_with_a_space_is_found() -> None:
    files = {
        "/proc/self/cgroup": "0::/",
        "/proc/self/mountinfo": "30 23 0:26 / /my\\040groups rw - cgroup2 none rw\n",
        "/my groups/memory.max": "7",
    }
    assert told(files) == [Limit(7, 0)]


@given(st.text(max_size=60), st.text(max_size=60))
def test_texts_that_make_no_sense_are_no_limit(cgroup: str, mountinfo: str) -> None:
    assert told({"/proc/self/cgroup": cgroup, "/proc/self/mountinfo": mountinfo}) == []


def test_a_machine_without_groups_has_no_limit() -> None:
    assert told({}) == []
    assert 0 < available_nbytes() <= memory_nbytes() <= psutil.virtual_memory().total


def test_a_tier_of_main_memory_is_as_large_as_the_group_lets_it_be(monkeypatch: pytest.MonkeyPatch) -> None:
    files = v2("/job", _job={"max": 64 << 20, "current": 63 << 20})
    monkeypatch.setattr(memory, "_read", files.get)
    memory._groups_here.cache_clear()
    try:
        assert memory_nbytes() == 64 << 20
        with pytest.raises(TierFull, match=r"2\.0 MiB are needed and 1\.0 MiB are free"):
            Ram().hold(2 << 20)
        Ram().hold(1 << 19).free()
    finally:
        memory._groups_here.cache_clear()

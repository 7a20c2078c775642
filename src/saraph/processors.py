"""How many processors this process may use."""
from __future__ import annotations

import math
import os
from pathlib import Path


def usable(groups: Path = Path("/proc/self/cgroup"), mounts: Path = Path("/sys/fs/cgroup")) -> int:
    """The processors that the scheduler may give to this process, or fewer where a container's quota (rounded up) allows fewer."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    limit = quota(groups, mounts)
    return count if limit is None else max(1, min(count, math.ceil(limit)))


def quota(groups: Path, mounts: Path) -> float | None:
    """The smallest processor time per time that a Linux control group of this process, or one above it, allows; None where there is no limit.

    groups  a file like /proc/self/cgroup: lines of number:controllers:path
    mounts  the folder where control groups are mounted
    """
    limits = []
    for line in _text(groups).splitlines():
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if not controllers:
            roots = [mounts, mounts / "unified"]
        elif "cpu" in controllers.split(","):
            roots = [mounts / controllers, mounts / "cpu"]
        else:
            continue
        for root in roots:
            folder = root / path.strip("/")
            # in a container the path may be the host's, while only the container's own group is mounted
            for place in {root, folder, *(parent for parent in folder.parents if root in parent.parents)}:
                limits.append(_unified(place) if not controllers else _separate(place))
    found = [limit for limit in limits if limit is not None]
    return min(found) if found else None


def _unified(folder: Path) -> float | None:
    words = _text(folder / "cpu.max").split()
    return _ratio(*words) if len(words) == 2 else None


def _separate(folder: Path) -> float | None:
    return _ratio(_text(folder / "cpu.cfs_quota_us").strip(), _text(folder / "cpu.cfs_period_us").strip())


def _ratio(time: str, period: str) -> float | None:
    return int(time) / int(period) if time.isdigit() and period.isdigit() and int(time) and int(period) else None


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""

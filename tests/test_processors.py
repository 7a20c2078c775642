import os

import pytest

from saraph import processors


@pytest.fixture
def system(tmp_path):
    """system(groups, files): fake files of a system, and the two paths that `quota` reads."""
    def make(groups, files):
        (tmp_path / "cgroup").write_text(groups)
        for name, text in files.items():
            file = tmp_path / "mounts" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path / "cgroup", tmp_path / "mounts"
    return make


@pytest.mark.parametrize("groups, files, limit", [
    ("0::/\n", {}, None),
    ("0::/\n", {"cpu.max": "max 100000\n"}, None),
    ("0::/\n", {"cpu.max": "150000 100000\n"}, 1.5),
    ("0::/a/b\n", {"a/cpu.max": "400000 100000\n", "a/b/cpu.max": "max 100000\n"}, 4.0),
    ("0::/a/b\n", {"a/cpu.max": "400000 100000\n", "a/b/cpu.max": "50000 100000\n"}, 0.5),
    ("0::/host/path\n", {"cpu.max": "200000 100000\n"}, 2.0),
    ("4:cpu,cpuacct:/box\n2:memory:/\n", {"cpu,cpuacct/box/cpu.cfs_quota_us": "300000\n", "cpu,cpuacct/box/cpu.cfs_period_us": "100000\n"}, 3.0),
    ("1:cpu:/box\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
    ("1:cpuset:/box\n", {"cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
    ("nonsense", {"cpu.max": "a b c"}, None),
    ("0::/\n", {"cpu.max": "0 0\n"}, None),
])
def test_quota(system, groups, files, limit):
    assert processors.quota(*system(groups, files)) == limit


def test_no_files(tmp_path):
    assert processors.quota(tmp_path / "none", tmp_path / "neither") is None
    assert processors.usable(tmp_path / "none", tmp_path / "neither") >= 1


def test_usable_is_rounded_up_and_at_least_one(system):
    paths = system("0::/\n", {"cpu.max": "1000 100000\n"})
    assert processors.usable(*paths) == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_affinity(tmp_path):
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert processors.usable(tmp_path / "none", tmp_path) == 1
    finally:
        os.sched_setaffinity(0, before)

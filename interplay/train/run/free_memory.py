"""Memory that this process may still use, by machine, container and process limit."""

from __future__ import annotations

import os
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


def free_bytes() -> int | None:
    """The smallest of the three limits in bytes, swap included; None if all are unknown."""
    known = [bytes_ for bytes_ in (_machine(), _container(), _process()) if bytes_ is not None]
    return min(known, default=None)


def _machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        table = {
            name: int(rest.split()[0]) * 1024 for name, _, rest in (line.partition(":") for line in lines)
        }
        return table["MemAvailable"] + table.get("SwapFree", 0)
    except (OSError, ValueError, KeyError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _container() -> int | None:
    """Of the control group, version 2 or 1; its inactive file cache counts as free."""
    try:
        own = Path("/proc/self/cgroup").read_text().rpartition("0::/")[2].strip()
    except OSError:
        return None
    folders = [_GROUPS, *(_GROUPS / own / up for up in ("", ".."))] if own else [_GROUPS]
    free = [
        _left(folder, "memory.max", "memory.current", "inactive_file") for folder in dict.fromkeys(folders)
    ]
    old = _GROUPS / "memory"
    free.append(_left(old, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"))
    return min((bytes_ for bytes_ in free if bytes_ is not None), default=None)


def _left(folder: Path, limit: str, used: str, given_back: str) -> int | None:
    try:
        most, now = (folder / limit).read_text().strip(), int((folder / used).read_text())
        if not most.isdigit() or int(most) >= 1 << 60:  # no limit, in version 2 and 1
            return None
        files = [line.split() for line in (folder / "memory.stat").read_text().splitlines()]
    except (OSError, ValueError):
        return None
    cache = next((int(words[1]) for words in files if len(words) == 2 and words[0] == given_back), 0)
    return max(int(most) - now + cache, 0)


def _process() -> int | None:
    """Of the address space, where it is limited (`ulimit -v`)."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return max(most - pages * os.sysconf("SC_PAGE_SIZE"), 0)
    except (ImportError, OSError, ValueError, IndexError):
        return None

"""Machine code on disk: object code by key, shared by processes and never trusted further than its checksum.

The folder is `kernels` in SARAPH_CACHE_DIR, else in $XDG_CACHE_HOME/saraph, else in ~/.cache/saraph. It is made on the first store. It may be
deleted, damaged, read-only or full at any time: what cannot be read is compiled again, what cannot be written is kept in memory only.

An entry is one file: MAGIC, the SHA-256 of its key and its content, the content. It is written beside its place and moved there, so that
readers see all of it or nothing. Files of other users (but root) are not used: they would be run as code. The entries that were used least
recently go when there are more than LIMIT bytes.
"""
from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path

MAGIC = b"saraph-kernel-1\n"
LIMIT = 256 << 20  #: bytes of all entries, after which the oldest go until a quarter of it is free
TOUCHED = 86400.0  #: seconds for which an entry counts as just used without being touched again
ABANDONED = 3600.0  #: seconds after which a half-written file is of no use to anybody
LOOK_EVERY = 64  #: stores of a process between looks at the size of the folder

_SUFFIX, _UNFINISHED = ".kernel", ".unfinished"
_SOURCES = os.path.dirname(os.path.abspath(__file__))
_started = time.time()  # when the sources began to be imported

_fingerprint: str | None = None
_stores = 0


def folder() -> Path | None:
    """Where entries are; None when the user has no home folder. It need not exist."""
    chosen, home = os.environ.get("SARAPH_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    if chosen:
        return Path(chosen, "kernels")
    if home:
        return Path(home, "saraph", "kernels")
    try:
        return Path.home() / ".cache" / "saraph" / "kernels"
    except RuntimeError:
        return None


def fingerprint() -> str:
    """A digest of the source files of this package: what decides, beside the parameters, which code a kernel has.

    An empty string where nothing may be cached: when a file was changed after this process began to import them, or when they are not files.
    """
    global _fingerprint
    if _fingerprint is None:
        _fingerprint = _digest(_SOURCES, _started)
    return _fingerprint


def _digest(sources: str, started: float) -> str:
    digest, now, found = hashlib.sha256(), time.time(), False
    try:
        for place, folders, names in os.walk(sources):
            folders.sort()
            for name in sorted(names):
                if not name.endswith(".py"):
                    continue
                with open(os.path.join(place, name), "rb") as file:
                    if started - 0.05 < os.fstat(file.fileno()).st_mtime <= now:
                        return ""
                    content = file.read()
                digest.update(f"{os.path.relpath(place, sources)} {name} {len(content)}\n".encode())
                digest.update(content)
                found = True
    except OSError:
        return ""
    return digest.hexdigest() if found else ""


def key(*identity: object) -> str:
    """The name of an entry, from all that its content depends on: the repr of plain values. Empty where nothing may be cached."""
    sources = fingerprint()
    if not sources:
        return ""
    return hashlib.sha256(repr((sources, sys.platform, identity)).encode()).hexdigest()


def _checksum(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + content).digest()


def load(name: str) -> bytes | None:
    """The content stored under a key; None where there is none that is whole and the user's own."""
    place = folder()
    if place is None or not name:
        return None
    path = os.path.join(place, name + _SUFFIX)
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if hasattr(os, "geteuid") and status.st_uid not in (os.geteuid(), 0):
                return None
            stored = file.read()
    except OSError:
        return None
    head = len(MAGIC) + 32
    content = stored[head:]
    if stored[:head] != MAGIC + _checksum(name, content):
        return None
    if time.time() - status.st_mtime > TOUCHED:
        with contextlib.suppress(OSError):  # read-only: then it does not count as used
            os.utime(path)
    return content


def store(name: str, content: bytes) -> bool:
    """Keep content under a key. False where it cannot be written."""
    global _stores
    place = folder()
    if place is None or not name:
        return False
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _stores % LOOK_EVERY == 0:
            trim(place)
        _stores += 1
        handle, unfinished = tempfile.mkstemp(_UNFINISHED, name[:16], place)
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + _checksum(name, content) + content)
        os.replace(unfinished, place / (name + _SUFFIX))
    except OSError:  # the disk is full, or the folder was removed
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        return False
    return True


def trim(place: Path, limit: int | None = None) -> None:
    """Remove what was abandoned and, when all entries have more than `limit` (LIMIT) bytes, those used least recently."""
    limit = LIMIT if limit is None else limit
    entries, total, now = [], 0, time.time()
    with os.scandir(place) as files:
        for file in files:
            with contextlib.suppress(OSError):  # another process removed it
                status = file.stat()
                if file.name.endswith(_SUFFIX):
                    entries.append((status.st_mtime, status.st_size, file.path))
                    total += status.st_size
                elif file.name.endswith(_UNFINISHED) and now - status.st_mtime > ABANDONED:
                    os.unlink(file.path)
    if total <= limit:
        return
    for _, size, path in sorted(entries):
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
        if total <= limit * 3 // 4:
            break

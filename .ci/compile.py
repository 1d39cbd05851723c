"""Compiles the kernels of every registered world into build/compiled, from where a wheel takes them.

    .venv/bin/python .ci/compile.py

The first pass compiles into an empty cache; the second, in another process, asks for everything again, and what it
loads is what a wheel needs: helpers that only ever stand inside of other kernels stay behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPILED = ROOT / "build" / "compiled"
INDEX = "index.json"


def stamp_of_sources() -> str:
    """A digest of the package's sources: their names and what stands in them."""
    digest = hashlib.sha256()
    for file in sorted((ROOT / "interplay").rglob("*.py")):
        text = file.read_bytes()
        digest.update(f"{file.relative_to(ROOT).as_posix()} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def compile_all() -> None:
    """Both passes, each in a process of its own; where `INTERPLAY_CACHE` is said, what is compiled stays there."""
    stamp = stamp_of_sources()
    shutil.rmtree(COMPILED, ignore_errors=True)
    given = os.environ.get("INTERPLAY_CACHE")
    with contextlib.nullcontext(given) if given else tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "INTERPLAY_CACHE": cache, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "interplay.cli", "prepare", "--all"]
        subprocess.run(command, env=environment, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        asked = [sys.executable, __file__, "collect", stamp]
        subprocess.run(asked, env=environment, cwd=ROOT, check=True)


def collect(stamp: str) -> None:
    """Copies what a warm start of every world loads, and writes the index."""
    from interplay.core import kernel_cache
    from interplay.core.processor import LEVEL_3, processor
    from interplay.evaluate.prepare import prepare_worlds
    from interplay.registry import list_worlds

    if processor() == "x86-64":
        raise SystemExit(f"this machine lacks {LEVEL_3}: a wheel would serve no other; build on a newer one")
    loaded: set[Path] = set()
    read = kernel_cache._read_sound

    def remembering(file: Path) -> bytes:
        data = read(file)
        loaded.add(file)
        return data

    kernel_cache._read_sound = remembering
    for _ in prepare_worlds([spec.id for spec in list_worlds() if not spec.missing], processes=1):
        pass
    kernels = kernel_cache.cache_root() / "kernels"
    for file in sorted(loaded):
        target = COMPILED / file.relative_to(kernels)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    index = {"sources": stamp, "processor": processor(), "made_with": kernel_cache.made_with()}
    (COMPILED / INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
    size = sum(file.stat().st_size for file in loaded)
    print(f"{len(loaded)} kernels for {processor()}, {size / 1e6:.1f} MB, in {COMPILED.relative_to(ROOT)}")


if __name__ == "__main__":
    collect(sys.argv[2]) if sys.argv[1:2] == ["collect"] else compile_all()

"""Builds the viewer's page, interplay/view/static, from interplay/view/web, if it is not built of these sources already.

python .ci/page.py                  needs Node 20 or later; fails without
python .ci/page.py --if-possible    says so and goes on, also where npm's registry cannot be reached

With PAGE_REQUIRED=1 in the environment, as in CI and in a release, there is no going on.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WEB, STATIC = Path("interplay/view/web"), Path("interplay/view/static")
BESIDE = ("../palette.json", "build.mjs", "package.json", "package-lock.json", "tsconfig.json")
NODE = 20
PATIENCE = 300  # seconds for what npm fetches


def stamp_of_page(root: Path = ROOT) -> str:
    """A digest of the page's sources, which build.mjs writes into the manifest."""
    web = root / WEB
    files = {name: web / name for name in BESIDE}
    files |= {file.relative_to(web).as_posix(): file for file in (web / "src").rglob("*") if file.is_file()}
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        text = file.read_bytes()
        digest.update(f"{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def state_of_page(root: Path = ROOT) -> str:
    """``built``; ``stale``: of other sources, or in part; ``missing``."""
    manifest = root / STATIC / "manifest.json"
    if not manifest.exists():
        return "missing"
    found = json.loads(manifest.read_text(encoding="utf-8"))
    whole = all((root / STATIC / name).exists() for name in found["files"])
    return "built" if whole and found["sources"] == stamp_of_page(root) else "stale"


def lacking() -> str | None:
    """What is not there of that which builds the page; None: nothing."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        return f"Node is not installed ({NODE} or later is needed)"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    major = version.removeprefix("v").partition(".")[0]
    if not major.isdigit() or int(major) < NODE:
        return f"Node is {version or 'silent'}, {NODE} or later is needed"
    return None if fetch_packages() else "npm could not fetch its packages"


def fetch_packages() -> bool:
    """Fetches what the lock file names, where that has changed; whether it is there."""
    web = ROOT / WEB
    installed, lock = web / "node_modules" / ".package-lock.json", web / "package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime:
        return True
    command = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        return subprocess.run(command, cwd=web, timeout=PATIENCE).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main(arguments: list[str]) -> int:
    """The exit status."""
    if state_of_page() == "built":
        return 0
    if (missing := lacking()) is not None:
        print(f"the page is not built: {missing}", file=sys.stderr)
        return 0 if "--if-possible" in arguments and os.environ.get("PAGE_REQUIRED") != "1" else 1
    return subprocess.run(["npm", "run", "build", "--loglevel=error"], cwd=ROOT / WEB).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

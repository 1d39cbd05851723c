"""Builds the viewer's page, interplay/view/static, from interplay/view/web, if it is not built of these sources already.

python .ci/page.py                  needs Node 20 or later; fails without
python .ci/page.py --if-possible    says so and goes on, also where npm's registry cannot be reached
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WEB, STATIC = Path("interplay/view/web"), Path("interplay/view/static")
BESIDE = ("build.mjs", "package.json", "package-lock.json", "tsconfig.json")


def stamp_of_page(root: Path = ROOT) -> str:
    """A digest of the page's sources, which build.mjs writes into the manifest."""
    web = root / WEB
    files = [*(web / name for name in BESIDE), *(file for file in (web / "src").rglob("*") if file.is_file())]
    digest = hashlib.sha256()
    for name, file in sorted((file.relative_to(web).as_posix(), file) for file in files):
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


def fetch_packages() -> bool:
    """Fetches what the lock file names, where that has changed; whether it is there."""
    web = ROOT / WEB
    installed, lock = web / "node_modules" / ".package-lock.json", web / "package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime:
        return True
    return (
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=web).returncode == 0
    )


def main(arguments: list[str]) -> int:
    """The exit status."""
    if state_of_page() == "built":
        return 0
    missing = None
    if shutil.which("npm") is None:
        missing = "Node is not installed (20 or later is needed)"
    elif not fetch_packages():
        missing = "npm could not fetch its packages"
    if missing is not None:
        print(f"the page is not built: {missing}", file=sys.stderr)
        return 0 if "--if-possible" in arguments else 1
    return subprocess.run(["npm", "run", "build", "--loglevel=error"], cwd=ROOT / WEB).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The page's own tests: vitest and a browser, against recordings and a server of this checkout; last, a look at what pictures cost.

    python -m tests.page.run [NAMES ...]

Needs Node 20, the page built (`make page`), and for the browser Chromium, which is looked for under its usual names or named by the
variable CHROMIUM. What is missing is said, and its tests are left out; with PAGE_REQUIRED=1, as in CI, that is a failure. NAMES go
to vitest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.page.fixtures import write_all

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "interplay" / "view" / "web"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
UNIT = (
    "scene",
    "clock",
    "reel",
    "replay",
    "palette",
    "keys",
    "hands",
    "cones",
    "legend",
    "glide",
    "thinning",
    "sprites",
    "life",
    "history",
    "live",
    "served",
)


def main(names: list[str]) -> int:
    """Runs them; the exit status of vitest."""
    required = int(os.environ.get("PAGE_REQUIRED") == "1")
    if shutil.which("npx") is None:
        print("the page was not tested: Node is not installed (20 or later is needed)")
        return required
    if not (WEB / "node_modules" / "vitest").exists():
        print("the page was not tested: its packages were not fetched (make page)")
        return required
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as folder:
        write_all(Path(folder))
        environment = {**os.environ, "PAGE_FIXTURES": folder}
        if browser is None:
            print("the page was tested without a browser: no Chromium was found; name one by CHROMIUM")
            return _vitest(names or [f"tests/{name}.test.ts" for name in UNIT], environment) or required
        command = [sys.executable, "-m", "interplay", "view", "--no-browser"]
        paths = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        # Opened without a name, it shows the recordings of its folder and every world.
        server = subprocess.Popen(command, cwd=folder, env=paths, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+#token=\S+", server.stdout.readline())
            if found is None:
                print("the server has not said where it is")
                return 1
            there = {"PAGE_URL": found[0], "CHROMIUM": browser, "PYTHON": sys.executable}
            failed = _vitest(names, {**environment, **there, "PYTHONPATH": str(ROOT)})
        finally:
            server.terminate()
            server.wait(20)
    if failed or names:
        return failed
    # On a machine that does other work a figure may be over its bar by chance, hardly twice.
    quick = [sys.executable, "-m", "bench.viewer", "--quick"]
    return _run(quick, {**os.environ, "CHROMIUM": browser}) and _run(
        quick, {**os.environ, "CHROMIUM": browser}
    )


def _run(command: list[str], environment: dict[str, str]) -> int:
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def _vitest(names: list[str], environment: dict[str, str]) -> int:
    return subprocess.run(
        ["npx", "--no-install", "vitest", "run", *names], cwd=WEB, env=environment
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What a wheel takes beside the sources: the kernels that `.ci/compile.py` has compiled, if they are of these sources, and the
viewer's page, which is built where Node is.

Without Node an installation from a checkout has no page and says so when it is looked for; a release (`make wheel`, which sets
PAGE_REQUIRED) fails. A wheel with kernels is one for a platform and a version of Python; without them (a checkout where nothing was compiled,
an sdist) it is for every one, and worlds compile at first use.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        here = Path(self.root) / ".ci"
        if version != "standard" or not (here / "compile.py").exists():
            return
        _build_page(_load(here / "page.py"))
        compile_kernels = _load(here / "compile.py")
        index = compile_kernels.COMPILED / compile_kernels.INDEX
        if not index.exists():
            return
        found = json.loads(index.read_text(encoding="utf-8"))
        if found["sources"] != compile_kernels.stamp_of_sources():
            raise SystemExit(
                f"{index.parent} was compiled from other sources; run .ci/compile.py again, or remove it"
            )
        if not found["made_with"]["Python"].startswith(f"{sys.implementation.cache_tag} "):
            raise SystemExit(
                f"{index.parent} was compiled by another Python; run .ci/compile.py with this one, or remove it"
            )
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{python}-{platform}"
        build_data["force_include"][str(index.parent)] = "interplay/compiled"


def _build_page(page: Any) -> None:
    if page.state_of_page() != "built" and page.main(["--if-possible"]):
        raise SystemExit("the viewer's page could not be built; mend what is said above")
    if page.state_of_page() == "stale":
        raise SystemExit(f"{page.STATIC} was built from other sources; run make page, or remove it")


def _load(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

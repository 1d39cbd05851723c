"""What a wheel takes: compiled kernels of exactly these sources and this Python, or none; likewise the viewer's page."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

CI = Path(__file__).parents[1] / ".ci"


def load(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A package with one file, and compiled kernels of it."""
    (tmp_path / ".ci").mkdir()
    for name in ("compile.py", "page.py"):
        (tmp_path / ".ci" / name).write_bytes((CI / name).read_bytes())
    (tmp_path / "interplay").mkdir()
    (tmp_path / "interplay" / "one.py").write_text("ONE = 1\n")
    compiled = load(tmp_path / ".ci" / "compile.py")
    compiled.COMPILED.mkdir(parents=True)
    made_with = {"Python": f"{sys.implementation.cache_tag} 00"}
    index = {"sources": compiled.stamp_of_sources(), "made_with": made_with}
    (compiled.COMPILED / "index.json").write_text(json.dumps(index))
    return tmp_path


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch, checkout: Path) -> Any:
    """The hook, as hatchling calls it; hatchling itself need not be installed."""
    plugin = ModuleType("hatchling.builders.hooks.plugin.interface")
    plugin.BuildHookInterface = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, plugin.__name__, plugin)
    for parent in (
        "hatchling",
        "hatchling.builders",
        "hatchling.builders.hooks",
        "hatchling.builders.hooks.plugin",
    ):
        monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
    hook = load(CI / "hatch_build.py").CompiledKernels

    def build(version: str = "standard") -> dict[str, Any]:
        data: dict[str, Any] = {"force_include": {}, "pure_python": True}
        hook.initialize(SimpleNamespace(root=str(checkout)), version, data)
        return data

    return build


def test_kernels_of_these_sources_make_a_wheel_for_this_platform(build, checkout):
    data = build()
    assert data["force_include"] == {str(checkout / "build" / "compiled"): "interplay/compiled"}
    assert data["pure_python"] is False
    python, abi, platform = data["tag"].split("-")
    assert python == abi == f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert platform not in ("any", "")


@pytest.mark.parametrize("version", ["standard", "editable"])
def test_without_kernels_and_editable_the_wheel_is_for_everybody(build, checkout, version):
    if version == "standard":
        (checkout / "build" / "compiled" / "index.json").unlink()
    assert build(version) == {"force_include": {}, "pure_python": True}


@pytest.mark.parametrize("edit", ["text", "name", "new"])
def test_kernels_of_other_sources_are_refused(build, checkout, edit):
    one = checkout / "interplay" / "one.py"
    if edit == "text":
        one.write_text("ONE = 2\n")
    elif edit == "name":
        one.rename(one.with_name("two.py"))
    else:
        one.with_name("two.py").write_text("")
    with pytest.raises(SystemExit, match="other sources"):
        build()


def test_a_new_time_of_a_file_changes_nothing(build, checkout):
    one = checkout / "interplay" / "one.py"
    one.write_text(one.read_text())
    assert build()["pure_python"] is False


def test_kernels_of_another_python_are_refused(build, checkout):
    index = checkout / "build" / "compiled" / "index.json"
    found = json.loads(index.read_text())
    index.write_text(json.dumps({**found, "made_with": {"Python": "cpython-27 00"}}))
    with pytest.raises(SystemExit, match="another Python"):
        build()


@pytest.fixture
def page(checkout: Path) -> Path:
    """A page that was built: its folder."""
    said = load(checkout / ".ci" / "page.py")
    web, static = checkout / said.WEB, checkout / said.STATIC
    (web / "src").mkdir(parents=True)
    static.mkdir()
    for name in (*said.BESIDE, "src/main.tsx"):
        (web / name).write_text(name)
    (static / "index.html").write_text("<!doctype html>")
    manifest = {"sources": said.stamp_of_page(checkout), "files": ["index.html"]}
    (static / "manifest.json").write_text(json.dumps(manifest))
    return static


def test_a_page_of_these_sources_goes_with_the_wheel(build, page):
    assert build()["pure_python"] is False


@pytest.mark.parametrize("edit", ["source", "new", "lost"])
def test_a_page_of_other_sources_is_refused(build, page, edit):
    if edit == "source":
        (page.parent / "web" / "package-lock.json").write_text("{}")
    elif edit == "new":
        (page.parent / "web" / "src" / "more.ts").write_text("")
    else:
        (page / "index.html").unlink()
    with pytest.raises(SystemExit, match="run make page"):
        build()


def test_the_lock_file_names_versions_and_no_registry():
    web = CI.parent / "interplay" / "view" / "web"
    said = json.loads((web / "package.json").read_text())
    versions = [*said["dependencies"].values(), *said["devDependencies"].values()]
    assert all(version[0].isdigit() for version in versions), versions
    lock = (web / "package-lock.json").read_text()
    assert "resolved" not in lock
    assert "registry" not in lock
    packages = json.loads(lock)["packages"]
    assert all("integrity" in package for name, package in packages.items() if name)

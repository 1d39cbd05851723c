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
def build(monkeypatch: pytest.MonkeyPatch, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The hook, as hatchling calls it, on a machine without Node; hatchling itself need not be installed."""
    monkeypatch.setenv("PATH", str(tmp_path_factory.mktemp("no programs")))
    monkeypatch.delenv("PAGE_REQUIRED", raising=False)
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


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Any:
    """Puts a Node of some version there, whose npm notes what it is asked and builds a page; what was asked."""
    programs = tmp_path_factory.mktemp("programs")
    asked = programs / "asked"

    def install(version: str, fails: bool = False) -> Path:
        build = f"from pathlib import Path; import runpy; Path({str(checkout)!r}, 'interplay/view/static').mkdir()"
        said = f"runpy.run_path({str(checkout / '.ci' / 'page.py')!r})"
        manifest = f"json.dumps(dict(sources={said}['stamp_of_page'](), files=[]))"
        build += f"; import json; Path({str(checkout)!r}, 'interplay/view/static/manifest.json').write_text({manifest})"
        scripts = {
            "node": f"#!/bin/sh\necho {version}\n",
            "npm": f'#!/bin/sh\necho "$1" >> {asked}\n[ "$1" = ci ] && exit 0\n{sys.executable} -c "{build}"\nexit {int(fails)}\n',
        }
        for name, text in scripts.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(programs))
        return asked

    return install


def test_a_page_that_is_not_there_is_built_where_node_is(build, page, node):
    for file in page.iterdir():
        file.unlink()
    page.rmdir()
    asked = node("v20.1.0")
    build()
    assert asked.read_text().split() == ["ci", "run"]
    assert (page / "manifest.json").exists()


def test_a_page_that_does_not_build_makes_no_wheel(build, page, node):
    (page / "index.html").unlink()
    node("v22.0.0", fails=True)
    with pytest.raises(SystemExit, match="could not be built"):
        build()


@pytest.mark.parametrize("version", [None, "v18.20.4"])
def test_without_node_an_installation_has_no_page_and_a_release_fails(
    build, page, node, version, capfd, monkeypatch
):
    (page / "manifest.json").unlink()
    asked = node(version) if version else None
    build()
    told = (
        "Node is v18.20.4, 20 or later is needed"
        if version
        else "Node is not installed (20 or later is needed)"
    )
    assert told in capfd.readouterr().err
    assert asked is None or not asked.exists()
    monkeypatch.setenv("PAGE_REQUIRED", "1")
    with pytest.raises(SystemExit, match="could not be built"):
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

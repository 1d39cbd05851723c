"""Nobody reads a file of outside data, or writes a file that matters, past core/reading.py and core/files.py."""

from __future__ import annotations

import ast
from pathlib import Path

import interplay

PACKAGE = Path(interplay.__file__).parent

# Calls that read or write files by themselves: the name called, and for `open` and the like any mode.
READERS = {"read_bytes", "read_text", "fromfile", "genfromtxt", "loadtxt", "memmap", "read_csv", "imread"}
WRITERS = {
    "write_bytes",
    "write_text",
    "tofile",
    "savetxt",
    "savefig",
    "replace",
    "rename",
    "symlink_to",
    "hardlink_to",
}
OF_MODULES = {
    "json": {"load", "loads", "dump"},
    "tomllib": {"load", "loads"},
    "pickle": {"load", "loads", "dump", "dumps"},
    "np": {"load", "save", "savez", "savez_compressed"},
    "os": {"open", "replace", "rename", "truncate", "link", "symlink"},
    "av": {"open"},
    "image": {"load", "save"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "move", "rmtree"},
    "numpy": {"load", "save", "loads"},  # safetensors.numpy
    "marshal": {"load", "loads"},
    "zipfile": {"ZipFile"},
    "tempfile": {"mkstemp", "NamedTemporaryFile", "mkdtemp", "TemporaryDirectory"},
}
# Where such a call stands for a reason; the file, the call, and why.
ALLOWED = {
    ("train/export/files.py", "np.savez"): "into memory; written whole by core.files",
    ("train/export/plain.py", "np.load"): "stands alone where the package is not; without objects",
    ("train/export/plain.py", "json.loads"): "the program in the same file",
    ("verbs/showing.py", "read_bytes"): "a picture that was written just now",
    (
        "verbs/tournaments.py",
        "tempfile.TemporaryDirectory",
    ): "the folder of a tournament that nobody wants to keep",
    (
        "core/shared_folder.py",
        "tempfile.NamedTemporaryFile",
    ): "a mark that other machines look for, gone at once",
    ("train/forecast.py", "tempfile.TemporaryDirectory"): "a trial run, deleted at its end",
    ("core/helping.py", "open"): "the system's own words about its processor",
    ("core/reading.py", "json.loads"): "the reader",
    ("core/reading.py", "tomllib.loads"): "the reader",
    ("core/reading.py", "os.open"): "the reader",
    ("core/reading_arrays.py", "zipfile.ZipFile"): "the reader, on bytes that it has read",
    ("core/files.py", "os.open"): "the writers, folders and locks",
    ("core/files.py", "os.replace"): "the writers",
    ("core/files.py", "open"): "the writers",
    ("core/files.py", "shutil.rmtree"): "removes trees of ours",
    ("core/replay/exact.py", "numpy.load"): "bytes of a chunk that the reader has checked",
    ("core/replay/exact.py", "numpy.save"): "into memory",
    (
        "core/replay/writer.py",
        "open",
    ): "the file that `replacing` gives, or one that grows and was made by `write_file`",
    ("core/trust.py", "os.open"): "one line is appended to the user's own list",
    ("core/trust.py", "read_bytes"): "the user's own list",
    ("core/kernel_cache.py", "read_bytes"): "compiled kernels in the user's own cache, with a checksum",
    ("core/kernel_cache.py", "write_bytes"): "compiled kernels in the user's own cache, which may be lost",
    ("core/kernel_cache.py", "os.replace"): "compiled kernels in the user's own cache",
    ("core/kernel_cache.py", "pickle.loads"): "compiled kernels in the user's own cache",
    ("core/helping.py", "pickle.dumps"): "to a helper that compiles, through sockets that the two alone have",
    (
        "core/helping.py",
        "pickle.loads",
    ): "from a helper that compiles, through sockets that the two alone have",
    ("worlds/doom/batch.py", "tempfile.mkdtemp"): "where engines write; deleted by their guard",
    ("worlds/doom/match.py", "tempfile.mkdtemp"): "the same of one match",
    ("worlds/doom/probe.py", "tempfile.mkdtemp"): "the same of a trial, deleted at its end",
    ("worlds/doom/guard.py", "shutil.rmtree"): "deletes them",
    ("worlds/doom/guard.py", "read_text"): "process numbers that our own launcher has written",
    ("worlds/doom/engine.py", "symlink_to"): "to our launcher, in that folder",
    ("worlds/doom/engine.py", "open"): "the table of a map file, of which the engine reads the rest",
    ("worlds/sc2/launcher.py", "tempfile.mkdtemp"): "where the game writes",
    ("worlds/sc2/launcher.py", "shutil.rmtree"): "deletes it",
    ("checker/copies.py", "pickle.dumps"): "copies a world in memory",
    ("checker/copies.py", "pickle.loads"): "copies a world in memory",
    ("train/run/room.py", "read_text"): "the system's own figures",
    ("cli/stopping.py", "os.open"): "os.devnull",
    ("evaluate/tournaments/results_log.py", "json.loads"): "what it has just written, as JSON has it",
    ("evaluate/communication/shards.py", "json.loads"): "what it is about to write, as JSON has it",
    ("evaluate/communication/shards.py", "numpy.load"): "bytes that the reader has read",
    ("evaluate/communication/shards.py", "numpy.save"): "into memory",
    ("train/run/checkpoint.py", "numpy.load"): "bytes that the reader has read",
    ("train/run/checkpoint.py", "numpy.save"): "into memory",
    ("train/run/checkpoint.py", "os.rename"): "whole folders, after everything in them is durable",
    ("train/run/copies.py", "os.rename"): "a whole folder, after everything in it is durable",
    ("train/run/metrics_log.py", "open"): "the file that `replacing` gives",
    ("train/run/writers/tensorboard.py", "open"): "events as they happen, which tensorboard alone reads",
    ("train/tabular/debug.py", "open"): "written as it happens, on purpose",
    ("view/output.py", "savefig"): "into memory",
    ("view/picture.py", "image.save"): "into memory",
    ("view/encode.py", "av.open"): "a file of ours that remembers a failed write",
    ("view/encode.py", "open"): "the file that `replacing` gives",
    ("cli/overlays.py", "np.savez_compressed"): "into memory",
    ("connect/werewolf/evaluated.py", "np.savez_compressed"): "into memory",
    ("cli/main.py", "os.open"): "os.devnull",
}


def calls(path: Path) -> set[str]:
    """Calls in a source that open files, as ``module.name`` or ``name``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if isinstance(function, ast.Name) and function.id == "open":
            found.add("open")
        if not isinstance(function, ast.Attribute):
            continue
        owner = function.value
        module = (
            owner.id
            if isinstance(owner, ast.Name)
            else owner.attr
            if isinstance(owner, ast.Attribute)
            else ""
        )
        if function.attr in OF_MODULES.get(module, ()):
            found.add(f"{module}.{function.attr}")
        elif function.attr in READERS or (function.attr in WRITERS - {"replace"} and module != "self"):
            found.add(function.attr)
        elif function.attr == "open" and module not in ("RunFolder", "cls", "webbrowser", "self"):
            modes = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if any(set(mode) <= set("rwxabt+") for mode in modes):
                found.add("open")
    return found


def test_every_reader_and_writer_of_files_goes_through_them() -> None:
    past = {
        (str(path.relative_to(PACKAGE)), call)
        for path in sorted(PACKAGE.rglob("*.py"))
        for call in calls(path)
    }
    assert sorted(past - ALLOWED.keys()) == []


def test_the_search_finds_what_it_is_for(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_text(
        "import json, os, tomllib\nopen('x')\nPath('x').read_bytes()\nPath('x').open('rb')\njson.loads(text)\n"
        "tomllib.load(f)\nnp.load('x')\nos.replace('a', 'b')\nfigure.savefig('x')\npygame.image.save(s, 'x')\n'a'.replace('a', 'b')\n"
    )
    assert calls(source) == {
        "open", "read_bytes", "json.loads", "tomllib.load", "np.load", "os.replace", "savefig", "image.save",
    }  # fmt: skip

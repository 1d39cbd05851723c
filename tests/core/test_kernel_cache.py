"""The kernel cache: never stale, mended when it was cut, and the user's alone."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from interplay.core import kernel_cache
from interplay.core.kernel_cache import KernelCache, cache_root, describe_type, private_folder

pytestmark = pytest.mark.slow

ACT = "from interplay.core.jit import kernel\nfrom helper import rule\n@kernel\ndef act(x):\n    return rule(x) + 1.0\n"


# No bytecode: Python takes that of an edit of equal length within one second for the new file's.
def run(folder: Path, code: str = "import acting; print(acting.act(2.0))") -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "INTERPLAY_CACHE": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "cache" / "kernels").rglob("*.kernel"))


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "numbers_of_mine.py").write_text("FACTOR = 2.0\n")
    (tmp_path / "helper.py").write_text(
        "from interplay.core.jit import phase\nfrom numbers_of_mine import FACTOR\n"
        "@phase\ndef rule(x):\n    return x * FACTOR\n"
    )
    (tmp_path / "acting.py").write_text(ACT)
    return tmp_path


def test_an_edited_helper_in_another_file_is_seen(module):
    assert run(module).stdout == "5.0\n"
    helper = module / "helper.py"
    helper.write_text(helper.read_text().replace("x * FACTOR", "x * FACTOR * x"))
    assert run(module).stdout == "9.0\n"


def test_an_edited_constant_in_a_file_that_knows_no_kernels_is_seen(module):
    assert run(module).stdout == "5.0\n"
    (module / "numbers_of_mine.py").write_text("FACTOR = 3.0\n")
    assert run(module).stdout == "7.0\n"


def test_nothing_is_compiled_again_for_a_comment_or_in_another_place(module):
    run(module)
    before = entries(module)
    acting = module / "acting.py"
    acting.write_text("# Why: because.\n\n\n" + acting.read_text())
    assert run(module).stdout == "5.0\n"
    assert entries(module) == before
    elsewhere = module / "elsewhere"
    elsewhere.mkdir()
    for file in ("acting.py", "helper.py", "numbers_of_mine.py"):
        (module / file).rename(elsewhere / file)
    (elsewhere / "cache").symlink_to(module / "cache")
    assert run(elsewhere).stdout == "5.0\n"
    assert entries(module) == before


def test_fields_of_a_state_that_change_places_are_seen(tmp_path):
    state = "from typing import NamedTuple\nimport numpy as np\nclass State(NamedTuple):\n    {}: np.ndarray\n    {}: np.ndarray\n"
    (tmp_path / "acting.py").write_text(
        "import numpy as np\nfrom interplay.core.jit import kernel\nfrom state import State\n"
        "@kernel\ndef first(state):\n    return state.health[0]\n"
        "one, two = np.array([1.0]), np.array([2.0])\n"
        "print(first(State(one, two)))\n"
    )
    (tmp_path / "state.py").write_text(state.format("health", "food"))
    assert run(tmp_path, "import acting").stdout == "1.0\n"
    (tmp_path / "state.py").write_text(state.format("food", "health"))
    assert run(tmp_path, "import acting").stdout == "2.0\n"


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped"])
def test_a_damaged_entry_is_said_once_and_compiled_again(module, damage):
    run(module)
    (entry,) = [path for path in entries(module) if path.name.startswith("act-")]
    data = entry.read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    entry.write_bytes({"empty": b"", "cut": data[:middle], "flipped": flipped}[damage])
    again = run(module)
    assert again.stdout == "5.0\n"
    assert again.stderr.count("was damaged") == 1
    assert str(entry) in again.stderr
    healed = run(module)
    assert (healed.stdout, healed.stderr) == ("5.0\n", "")


def test_the_folder_is_the_users_alone(module):
    run(module)
    assert stat.S_IMODE((module / "cache").stat().st_mode) & 0o077 == 0  # so nobody gets at what lies below


def test_a_folder_that_others_may_write_to_is_not_used(module):
    (module / "cache").mkdir()
    (module / "cache").chmod(0o777)
    result = run(module)
    assert result.stdout == "5.0\n"
    assert result.stderr.count("others may write to it") == 1
    assert not entries(module)


@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_nobody_else_at_all_may_write_to_the_folder(tmp_path, capsys, mode):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    assert private_folder(folder) is None
    assert "others may write to it" in capsys.readouterr().err


@pytest.mark.parametrize("inside", ["kernels", "kernels/acting"])
def test_folders_inside_of_it_are_asked_too(module, inside):
    run(module)
    (module / "cache" / inside).chmod(0o775)
    for entry in entries(module):
        entry.write_bytes(b"planted")
    result = run(module)
    assert result.stdout == "5.0\n"
    assert result.stderr.count("others may write to it") == 1
    assert "damaged" not in result.stderr


def test_what_is_made_there_is_the_users_alone_whatever_the_umask(module):
    before = os.umask(0o002)
    try:
        run(module)
    finally:
        os.umask(before)
    (entry,) = entries(module)
    for folder in (entry.parent, entry.parent.parent, module / "cache"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_planted_entry_in_such_a_folder_is_not_loaded_either(module):
    run(module)
    (module / "cache").chmod(0o777)
    for entry in entries(module):
        entry.write_bytes(b"planted")
    result = run(module)
    assert result.stdout == "5.0\n"
    assert "damaged" not in result.stderr


def test_a_file_in_the_place_of_the_folder_is_one_line(tmp_path, capsys):
    (tmp_path / "cache").write_text("")
    assert private_folder(tmp_path / "cache" / "inside") is None
    assert "INTERPLAY_CACHE" in capsys.readouterr().err


def test_cache_root_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("INTERPLAY_CACHE", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.delenv("INTERPLAY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "interplay"


def test_how_a_function_is_compiled_is_part_of_its_entrys_name():
    from numba.core import types
    from numba.core.registry import cpu_target

    def rule(x):
        return x + 1.0

    codegen = cpu_target.target_context.codegen()
    names = {KernelCache(rule, options)._name((types.float64,), codegen) for options in ("fast", "exact")}
    assert len(names) == 2


def test_types_are_told_apart():
    import numba
    from numba.core import types

    plain = np.zeros((2, 3))
    readonly = plain.copy()
    readonly.setflags(write=False)
    arrays = [plain, plain.T, plain[:, ::2], readonly, plain.astype(np.float32), plain[0]]
    record = np.zeros(2, [("a", "i4"), ("b", "i4")])
    swapped = np.zeros(2, [("b", "i4"), ("a", "i4")])
    kinds = [numba.typeof(value) for value in (*arrays, record, swapped, 1, 1.0, True, (1, 2.0), (2.0, 1))]
    kinds.append(types.unicode_type)
    assert len({describe_type(kind) for kind in kinds}) == len(kinds)


def test_print_once(capsys, monkeypatch):
    monkeypatch.setattr(kernel_cache, "_reported", set())
    kernel_cache.print_once("a line")
    kernel_cache.print_once("a line")
    assert capsys.readouterr().err == "interplay: a line\n"

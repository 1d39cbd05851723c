"""A checkpoint is whole and right, or it is not there; whatever is wrong is said in one line."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from interplay.core import files
from interplay.core.errors import UserError
from interplay.train.run import manifest as manifests
from interplay.train.run.checkpoint import (
    CheckpointWriter,
    find_checkpoint,
    latest_checkpoint,
    list_checkpoints,
    problem,
    prune_checkpoints,
    read_checkpoint,
    write_arrays,
)
from tests.machines.write_points import failing
from tests.train import fake_run

ARRAYS = {
    "flags": np.array([[True, False], [False, True]]),
    "stream": np.array([[2**64 - 1, 0, 7]], np.uint64),
    "double": np.array([np.pi, -0.0, np.inf, np.nan]),
    "scalar": np.array(3.5, np.float32),
    "step": np.array(2**63 - 1, np.int64),
    "nothing": np.zeros((0, 4), np.float32),
    "half": np.linspace(0, 1, 5, dtype=np.float16),
    "turned": np.arange(6.0).reshape(2, 3).T,
    "every other": np.arange(10, dtype=np.int16)[::2],
    "swapped": np.arange(3, dtype=">i4"),
}


def save(run: Path, steps: int, **arrays: np.ndarray) -> Path:
    with CheckpointWriter(run, steps) as writer:
        writer.write("learner", arrays or {"weights": np.full(8, steps)})
        return writer.commit({"steps": steps}, "toy/world", 3)


def hidden(run: Path) -> list[str]:
    return [path.name for path in (run / "checkpoints").iterdir() if path.name.startswith(".")]


def test_every_dtype_and_shape_comes_back_bit_for_bit(tmp_path: Path) -> None:
    got = read_checkpoint(save(tmp_path, 5, **ARRAYS)).arrays["learner"]
    assert set(got) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert got[name].dtype == array.dtype.newbyteorder("="), name
        assert got[name].shape == array.shape, name
        assert got[name].tobytes() == array.astype(got[name].dtype).tobytes(), name
        assert got[name].flags.writeable, name


def test_record_and_manifest_come_back(tmp_path: Path) -> None:
    with CheckpointWriter(tmp_path, 4096) as writer:
        record = {"seed": 2**64 - 1, "name": "ä", "kl": np.float32(0.5), "n": np.int64(3), "list": [1, None]}
        path = writer.commit(record, "toy/world", 3)
    checkpoint = read_checkpoint(path)
    assert path == tmp_path / "checkpoints" / "000000004096"
    assert checkpoint.agent_steps == 4096
    assert checkpoint.record == {"seed": 2**64 - 1, "name": "ä", "kl": 0.5, "n": 3, "list": [1, None]}
    assert checkpoint.manifest["world"] == {"id": "toy/world", "version": 3}


@pytest.mark.parametrize("value", [np.array(["text"]), np.array([object()]), np.zeros(2, np.complex128)])
def test_arrays_that_cannot_be_kept_are_named(tmp_path: Path, value: np.ndarray) -> None:
    with pytest.raises(UserError, match="checkpoint file learner: array odd has dtype"):
        save(tmp_path, 1, odd=value)
    assert list(tmp_path.rglob("*.safetensors")) == []


def test_stems_cannot_leave_the_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'\.\./x': name it with letters"):
        write_arrays(tmp_path, "../x", {})


def test_several_processes_write_one_checkpoint(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with CheckpointWriter(tmp_path, 1) as writer:
        workers = [
            context.Process(target=write_arrays, args=(writer.staging, f"shard-{k}", {"x": np.full(3, k)}))
            for k in range(2)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
        path = writer.commit({})
    assert {stem: a["x"].tolist() for stem, a in read_checkpoint(path).arrays.items()} == {
        "shard-0": [0, 0, 0],
        "shard-1": [1, 1, 1],
    }


def test_a_full_disk_in_another_process_is_one_line_too(tmp_path: Path) -> None:
    full = pytest.raises(UserError, match="000000000007: the disk is full")
    with CheckpointWriter(tmp_path, 7) as writer, full, failing("shard-1: half written"):
        write_arrays(writer.staging, "shard-1", {"x": np.ones(3)})
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_a_writer_that_is_left_early_leaves_nothing(tmp_path: Path) -> None:
    with CheckpointWriter(tmp_path, 1) as writer:
        writer.write("learner", {"x": np.ones(3)})
    assert list((tmp_path / "checkpoints").iterdir()) == []


# -- damage ---------------------------------------------------------------------------------------


def test_every_flipped_byte_is_found(tmp_path: Path) -> None:
    path = save(tmp_path, 7, weights=np.arange(4, dtype=np.float32))
    missed = []
    for file in sorted(path.iterdir()):
        data = file.read_bytes()
        for at in range(len(data)):
            file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            # A flip in the blanks between the manifest's tokens changes no meaning; any other one must be found.
            blank = file.name == manifests.NAME and _same_json(file.read_bytes(), data)
            if problem(path) is None and not blank:
                missed.append((file.name, at))
        file.write_bytes(data)
    assert missed == []
    assert problem(path) is None


def _same_json(one: bytes, other: bytes) -> bool:
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


@pytest.mark.parametrize("name", ["learner.safetensors", "record.json", "manifest.json"])
@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_truncated_files_are_found(tmp_path: Path, name: str, keep: float) -> None:
    path = save(tmp_path, 7)
    data = (path / name).read_bytes()
    (path / name).write_bytes(data[: int(len(data) * keep)])
    assert f"is damaged: {name}" in (problem(path) or "")


@pytest.mark.parametrize("name", ["learner.safetensors", "record.json"])
def test_missing_files_are_found(tmp_path: Path, name: str) -> None:
    path = save(tmp_path, 7)
    (path / name).unlink()
    assert problem(path) == f"{path} is damaged: {name}: the file is missing; choose an earlier checkpoint"


def test_foreign_folders_are_refused_in_one_line(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    assert "manifest.json is missing" in (problem(foreign) or "")
    for text, part in [
        ("[]", "no checkpoint of interplay"),
        ('{"format": "other"}', "no checkpoint of interplay"),
        (
            '{"format": "interplay-checkpoint", "format_version": 99, "interplay_version": "9.1"}',
            "interplay 9.1",
        ),
        ('{"format": "interplay-checkpoint", "format_version": 1}', "format 1 "),
        ('{"format": "interplay-checkpoint", "format_version": 2}', "checksum"),
        ("\x00", "it is not JSON"),
    ]:
        (foreign / "manifest.json").write_text(text)
        said = problem(foreign) or ""
        assert part in said
        assert "\n" not in said


def test_the_newest_sound_checkpoint_is_found_and_the_others_are_named(tmp_path: Path) -> None:
    first, second, third = (save(tmp_path, steps) for steps in (64, 128, 1_000))
    (third / "record.json").unlink()
    (second / "learner.safetensors").write_bytes(b"")
    said: list[str] = []
    assert latest_checkpoint(tmp_path, said.append) == first
    assert [str(third) in said[0], str(second) in said[1], len(said)] == [True, True, 2]
    assert find_checkpoint(tmp_path, said.append) == first
    assert find_checkpoint(first) == first


def test_no_sound_checkpoint_is_an_error_and_none_at_all_is_not(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    with pytest.raises(UserError, match="holds no checkpoint; name a run folder"):
        find_checkpoint(tmp_path)
    with pytest.raises(UserError, match="is no folder"):
        find_checkpoint(tmp_path / "typo")
    (save(tmp_path, 1) / "record.json").unlink()
    with pytest.raises(UserError, match="none of the 1 checkpoints is sound"):
        latest_checkpoint(tmp_path, lambda line: None)


def test_files_that_memory_cannot_take_in_together_are_refused_unread(tmp_path: Path, monkeypatch) -> None:
    path = save(tmp_path, 1)
    sizes = [entry["size"] for entry in manifests.read_manifest(path)["files"].values()]
    monkeypatch.setattr(manifests, "memory_limit", lambda: sum(sizes) - 1)
    assert max(sizes) < sum(sizes) - 1
    assert f"its files have {sum(sizes):,} bytes, more than" in str(problem(path))


# -- replacing, pruning ---------------------------------------------------------------------------


def test_names_sort_like_numbers(tmp_path: Path) -> None:
    for steps in (9, 10**11, 100):
        save(tmp_path, steps)
    assert [int(path.name) for path in list_checkpoints(tmp_path)] == [9, 100, 10**11]


def test_a_sound_checkpoint_is_kept_and_a_damaged_one_makes_way(tmp_path: Path) -> None:
    path = save(tmp_path, 7)
    inode = path.stat().st_ino
    assert save(tmp_path, 7).stat().st_ino == inode
    (path / "record.json").write_text("{}")
    assert save(tmp_path, 7) == path
    assert problem(path) is None
    assert (path.with_name("aside-000000000007-1") / "record.json").read_text() == "{}"
    assert hidden(tmp_path) == []


def test_pruning_keeps_the_newest(tmp_path: Path) -> None:
    for steps in range(1, 6):
        save(tmp_path, steps)
    prune_checkpoints(tmp_path, 2)
    assert [int(path.name) for path in list_checkpoints(tmp_path)] == [4, 5]
    assert hidden(tmp_path) == []


def test_what_a_crash_left_hidden_is_swept_by_the_next_save(tmp_path: Path) -> None:
    path = save(tmp_path, 1)
    path.rename(path.with_name(".removed-000000000001"))
    (path.parent / ".staging-000000000002").mkdir()
    save(tmp_path, 3)
    assert hidden(tmp_path) == []


# -- faults at every write point --------------------------------------------------------------------


def write_points() -> list[str]:
    """The points that a save reaches, found by saving once."""
    seen: list[str] = []
    files.hooks.append(seen.append)
    with tempfile.TemporaryDirectory() as folder:
        fake_run.save(Path(folder), 64, fake_run.first_state())
    files.hooks.clear()
    assert len(set(seen)) == len(seen) == 15, seen
    return seen


POINTS = write_points()


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_failing_disk_leaves_earlier_checkpoints_and_one_line(
    tmp_path: Path, point: str, code: int
) -> None:
    state = fake_run.first_state()
    fake_run.save(tmp_path, 64, state)
    intact = pytest.raises(UserError, match=r"saving the checkpoint .*earlier checkpoints are intact")
    with intact as caught, failing(point, OSError(code, os.strerror(code))):
        fake_run.save(tmp_path, 128, fake_run.update(state))
    assert ("the disk is full" in str(caught.value)) == (code == errno.ENOSPC)
    assert "\n" not in str(caught.value)
    assert hidden(tmp_path) == []
    latest = latest_checkpoint(tmp_path)
    assert latest is not None
    assert int(latest.name) == (128 if point == "checkpoint: renamed" else 64)
    # Space was freed: the same save goes through.
    fake_run.save(tmp_path, 128, fake_run.update(state))
    assert fake_run.load(list_checkpoints(tmp_path)[-1])[0] == 128


def test_a_file_that_the_system_cuts_short(tmp_path: Path) -> None:
    """The system itself takes half of a file and then refuses, by a limit on file sizes."""
    resource = pytest.importorskip("resource")
    first = save(tmp_path, 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(UserError, match="file too large; earlier checkpoints are intact"):
            save(tmp_path, 2, big=np.zeros(150_000, np.uint8))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert latest_checkpoint(tmp_path) == first
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("point", POINTS)
def test_a_process_killed_at_any_point_leaves_only_sound_checkpoints(tmp_path: Path, point: str) -> None:
    state = fake_run.first_state()
    fake_run.save(tmp_path, 64, fake_run.update(state))
    command = [sys.executable, "-m", "tests.train.fake_run", "save", str(tmp_path), point]
    done = subprocess.run(command, check=False, timeout=60, cwd=fake_run.ROOT)
    assert done.returncode == -signal.SIGKILL
    assert [problem(path) for path in list_checkpoints(tmp_path)] == [None] * len(list_checkpoints(tmp_path))
    latest = latest_checkpoint(tmp_path)
    assert latest is not None
    steps, found = fake_run.load(latest)
    assert steps == (128 if point == "checkpoint: renamed" else 64)
    assert fake_run.digest(found) == fake_run.digest(
        fake_run.update(state) if steps == 64 else fake_run.update(fake_run.update(state))
    )
    fake_run.save(tmp_path, 192, state)
    assert hidden(tmp_path) == []


def test_a_pruning_cut_short_hides_the_old_checkpoint_whole(tmp_path: Path) -> None:
    for steps in (1, 2):
        save(tmp_path, steps)
    with pytest.raises(KeyboardInterrupt), failing("prune: hidden", KeyboardInterrupt()):
        prune_checkpoints(tmp_path, 1)
    assert [int(path.name) for path in list_checkpoints(tmp_path)] == [2]
    assert hidden(tmp_path) == [".removed-000000000001"]

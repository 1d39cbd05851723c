"""Copies of a run at an address: the bytes of the folder, whole at every moment, and a run that goes on from one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
import pytest

from interplay.core.errors import UserError
from interplay.train.run.checkpoint import latest_checkpoint, list_checkpoints, problem
from interplay.train.run.copies import Copies, fetch
from interplay.train.trainer import resume, train
from tests.train.runs import arrays_of, short_run

STORE = "memory://store"


@pytest.fixture(autouse=True)
def storage() -> Any:
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]
    return memory


def settings_of(updates: int, **more: Any) -> Any:
    group = {"max_updates": updates, "checkpoint_updates": 1, "quiet": True, "copy_to": STORE, **more}
    return short_run("dilemma/fixed", {}, {"train": group})


def files_of(folder: Path) -> dict[str, bytes]:
    """What `resume` needs of a run."""
    found = [folder / "settings.toml", folder / "metrics.jsonl"]
    found += [path for path in (folder / "checkpoints").glob("*/*") if path.parent.name[0] != "."]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_a_copy_has_the_bytes_of_the_folder(tmp_path: Path, storage: Any) -> None:
    run = train(settings_of(6, keep_checkpoints=2, best_by="episode_return"), tmp_path / "run")
    copied = {name.removeprefix("/store/run/"): bytes(storage.cat_file(name)) for name in storage.find("")}
    assert copied.pop(".copy").decode().partition(" ")[0] == (run / ".copy").read_text()
    assert copied == files_of(run)
    assert sum(name.endswith("manifest.json") for name in copied) == 3  # two and the best


def test_a_run_goes_on_from_its_copy(tmp_path: Path) -> None:
    alone = train(settings_of(6, copy_to=None), tmp_path / "alone")
    train(settings_of(3), tmp_path / "run")
    fetched = fetch(f"{STORE}/run", tmp_path / "elsewhere")
    assert files_of(fetched) == files_of(tmp_path / "run")
    file = fetched / "settings.toml"
    file.write_text(file.read_text().replace("max_updates = 3", "max_updates = 6"))
    resume(fetched)
    assert arrays_of(fetched) == arrays_of(alone)
    assert files_of(fetch(f"{STORE}/run", tmp_path / "third")) == files_of(fetched)


@pytest.mark.parametrize("failing", ["pipe_file", "rm_file"])
def test_a_copy_is_sound_wherever_it_ends(
    tmp_path: Path, storage: Any, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """The storage fails at each of its calls in turn, while old checkpoints go and new ones come."""
    run = train(settings_of(5, copy_to=None, keep_checkpoints=5), tmp_path / "run")
    every = list_checkpoints(run)

    def keep(kept: list[Path]) -> None:
        for path in every:
            source, target = (run / path.name, path) if path in kept else (path, run / path.name)
            if source.exists():
                source.rename(target)

    keep(every[:2])
    Copies(run, STORE)._copy()
    before = {name: bytes(storage.cat_file(name)) for name in storage.find("")}
    keep(every[2:])
    log = (run / "metrics.jsonl").read_bytes()
    calls, works = 0, getattr(type(storage), failing)

    def fail_at(self: Any, *arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls -= 1
        if not calls:
            raise ConnectionError("cut")
        return works(self, *arguments, **named)

    seen = set()
    for cut in range(1, 60):
        storage.store.clear()
        for name, data in before.items():
            storage.pipe_file(name, data[:500] if name.endswith("metrics.jsonl") else data)
        copies = Copies(run, STORE)
        with monkeypatch.context() as patch:
            patch.setattr(type(storage), failing, fail_at)
            calls = cut
            copies.update()
            copies._wait()
        fetched = fetch(f"{STORE}/run", tmp_path / f"cut {cut}")
        there = [path.name for path in list_checkpoints(fetched)]
        assert [problem(path) for path in list_checkpoints(fetched)] == [None] * len(there)
        assert there
        if there[-1] in [path.name for path in every[2:]]:
            assert (fetched / "metrics.jsonl").read_bytes() == log
        seen.add(tuple(there))
        if calls > 0:  # it did not fail any more
            assert there == [path.name for path in every[2:]]
            break
    else:
        raise AssertionError("the storage always failed")
    assert len(seen) > 2


def test_a_failure_of_the_storage_ends_no_run(
    tmp_path: Path, storage: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ConnectionError("no way")

    with monkeypatch.context() as patch:
        patch.setattr(type(storage), "pipe_file", fail)
        run = train(settings_of(2), tmp_path / "run")
    assert latest_checkpoint(run) is not None
    assert (
        "the copy at memory://store/run is not complete: ConnectionError: no way" in capsys.readouterr().err
    )
    assert storage.find("") == []


def test_another_run_of_this_name_is_left_alone(tmp_path: Path, storage: Any) -> None:
    first = train(settings_of(2), tmp_path / "run")
    with pytest.raises(UserError, match="holds another run"):
        train(settings_of(2, keep_checkpoints=1), tmp_path / "b" / "run")
    assert not (tmp_path / "b" / "run").exists()
    assert files_of(fetch(f"{STORE}/run", tmp_path / "c")) == files_of(first)
    storage.rm_file("/store/run/.copy")  # a run that is no copy
    with pytest.raises(UserError, match="holds another run"):
        train(settings_of(2), tmp_path / "b" / "run")
    with pytest.raises(UserError, match="is where the run is"):
        train(settings_of(2, copy_to=f"file://{tmp_path}"), tmp_path / "own")


def test_two_runs_that_begin_together_do_not_mix(tmp_path: Path) -> None:
    runs = [
        train(settings_of(2, copy_to=None, keep_checkpoints=count), tmp_path / f"{count}" / "run")
        for count in (1, 2)
    ]
    copies = [Copies(run, STORE) for run in runs]
    for each in copies:
        each.update()
        each.close()
    assert files_of(fetch(f"{STORE}/run", tmp_path / "c")) == files_of(runs[0])


def test_an_older_run_and_an_older_process_leave_newer_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = train(settings_of(2), tmp_path / "run")
    elsewhere = fetch(f"{STORE}/run", tmp_path / "elsewhere")
    first = Copies(run, STORE)
    first._copy()
    for folder, updates in ((elsewhere, 4), (run, 3)):
        file = folder / "settings.toml"
        file.write_text(file.read_text().replace("max_updates = 2", f"max_updates = {updates}"))
    resume(elsewhere)
    first.update()
    first.close()
    assert "another process copies this run" in capsys.readouterr().err
    with pytest.raises(UserError, match="newer than this run's"):
        resume(run)
    assert files_of(fetch(f"{STORE}/run", tmp_path / "c")) == files_of(elsewhere)


def test_names_with_patterns_remove_only_their_own(tmp_path: Path) -> None:
    runs = [train(settings_of(4, keep_checkpoints=1), tmp_path / name) for name in ("ab", "a?", "[ab]*")]
    for run in runs:
        assert files_of(fetch(f"{STORE}/{run.name}", tmp_path / "c")) == files_of(run)


def test_a_resumed_run_completes_its_copy(
    tmp_path: Path, storage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(type(storage), "pipe_file", lambda *_: 1 / 0)
        run = train(settings_of(2), tmp_path / "run")
    resume(run)
    assert files_of(fetch(f"{STORE}/run", tmp_path / "c")) == files_of(run)


def test_an_address_from_elsewhere_needs_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storage: Any
) -> None:
    run = train(settings_of(2), tmp_path / "run")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another user"))
    with pytest.raises(UserError, match="--trust"):
        resume(run)
    fetched = fetch(f"{STORE}/run", tmp_path / "c")
    resume(fetched)  # to the address that was typed


def test_nothing_is_fetched_to_another_place(tmp_path: Path, storage: Any) -> None:
    train(settings_of(1), tmp_path / "run")
    (name,) = [one for one in storage.find("") if one.endswith("manifest.json")]
    for bad in ("../../../bad", "../bad", "x/../../../bad", "bad/bad", ".bad"):
        storage.store[name.replace("manifest.json", bad)] = storage.store[name]
    storage.pipe_file("/store/run/checkpoints/000000000001/big.bin", b"0" * 1000)
    fetched = fetch(f"{STORE}/run", tmp_path / "there" / "runs")
    assert not list(tmp_path.rglob("*bad*"))
    assert files_of(fetched) == files_of(tmp_path / "run")


def test_a_damaged_checkpoint_is_left_out(
    tmp_path: Path, storage: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run = train(settings_of(4), tmp_path / "run")
    first, second, third = (f"/store/run/checkpoints/{path.name}" for path in list_checkpoints(run))
    storage.pipe_file(f"{second}/manifest.json", b"{}")
    storage.rm_file(f"{third}/record.json")
    fetched = fetch(f"{STORE}/run", tmp_path / "c")
    assert [path.name for path in list_checkpoints(fetched)] == [first.rpartition("/")[2]]
    assert capsys.readouterr().err.count("left out") == 2

"""A run goes on with the settings that it was made with, or says which keys are others."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.seals import read_sealed
from interplay.core.settings import build, to_toml
from interplay.train.run.checkpoint import CheckpointWriter, latest_checkpoint, read_checkpoint
from interplay.train.run.folder import RunFolder
from interplay.train.run.settings_file import settings_of
from interplay.train.settings import TrainSettings

VALUES = {"world": {"id": "toy/world", "options": {"size": 3, "late": None, "shares": [0.5, 1]}}, "seed": 5}
ASKED = build(TrainSettings, VALUES, "test")
BACK = build(
    TrainSettings,
    {**VALUES, "world": {"id": "toy/world", "options": {"size": 3, "late": "off", "shares": [0.5, 1]}}},
    "test",
)


def save(run: Path, steps: int, settings: TrainSettings | None = ASKED) -> Path:
    with CheckpointWriter(run, steps) as writer:
        writer.write("policy", {"x": np.ones(2, np.float32)})
        return writer.commit({"updates": 1, "seconds": 0.0}, "toy/world", 1, settings)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    RunFolder.create(tmp_path / "run", ASKED).close()
    save(tmp_path / "run", 64)
    return tmp_path / "run"


def edit(run: Path, old: str, new: str) -> None:
    text = (run / "settings.toml").read_text()
    assert old in text
    (run / "settings.toml").write_text(text.replace(old, new))


def go_on(run: Path, accept: bool = False, **changes: int) -> TrainSettings:
    """As `resume` does with the settings."""
    with RunFolder.open(run) as folder:
        path = latest_checkpoint(run)
        folder.admit(read_checkpoint(path) if path else None, accept)
        folder.change(folder.settings.model_copy(update=changes))
        return folder.settings


EDITS = {
    "seed": ("seed = 5", "seed = 6"),
    "ppo.reward_scale": ("\nreward_scale = 1.0", "\nreward_scale = 2.0"),
    "world.id": ('id = "toy/world"', 'id = "toy/other"'),
    "world.options.size": ("size = 3", "size = 4"),
    "world.options.size ": ("size = 3", "size = 3.0"),
    "world.options.width": ("size = 3", "size = 3, width = 2"),
    "world.options.shares": ("0.5, 1]", "0.5, true]"),
    "train.best_by": ('best_by = "off"', 'best_by = "life"'),
    "network.hidden": ("hidden = [64, 64]", "hidden = [64, 63]"),
    "opponents.pop1": ("opponents = {}", 'opponents = { pop1 = "random" }'),
    "ppo.target_kl": ("target_kl = 0.01", 'target_kl = "off"'),
}


@pytest.mark.parametrize("key", EDITS)
def test_an_edit_is_named_and_can_be_meant(run: Path, key: str) -> None:
    edit(run, *EDITS[key])
    for act in (lambda: go_on(run), lambda: settings_of(run / "checkpoints" / "000000000064")):
        with pytest.raises(
            UserError, match=rf"settings\.toml was changed: [\w. ]*{key.strip()} is .*, was "
        ) as caught:
            act()
        assert "--accept-settings`" in str(caught.value)
    meant = go_on(run, accept=True)
    assert meant != ASKED
    # From there on nobody asks again, neither for the old checkpoint nor for a new one.
    assert settings_of(run / "checkpoints" / "000000000064") == meant == go_on(run)
    save(run, 128, meant)
    assert settings_of(run / "checkpoints" / "000000000128") == go_on(run) == meant
    edit(run, "clip = 0.2", "clip = 0.3")
    with pytest.raises(UserError, match=r"ppo\.clip is 0\.3, was 0\.2 in checkpoint 000000000128"):
        go_on(run)


def test_several_edits_are_all_named(run: Path) -> None:
    for old, new in (
        ("seed = 5", "seed = 6"),
        ("clip = 0.2", "clip = 0.1"),
        ("gamma = 0.99\n", "gamma = 0.9\n"),
        ("gae_lambda = 0.95", "gae_lambda = 0.9"),
    ):
        text = (run / "settings.toml").read_text()
        (run / "settings.toml").write_text(re.sub(re.escape(old.strip()), new.strip(), text, count=1))
    with pytest.raises(
        UserError,
        match=r"seed is 6, was 5, ppo\.gamma is 0\.9, was 0\.99, ppo\.gae_lambda is 0\.9, was 0\.95, ppo\.clip in",
    ):
        go_on(run)


def test_what_is_said_otherwise_is_no_edit(run: Path) -> None:
    text = (run / "settings.toml").read_text()
    plain = "\n".join(line.partition("  #")[0].rstrip() + "\r" for line in text.splitlines()[1:]) + "\n"
    for other in (
        text + "\n# mine\n",
        text.partition("\n")[2],
        plain,
        text.replace("seed = 5", "seed = 0x5"),
    ):
        (run / "settings.toml").write_text(other, newline="")
        assert go_on(run) == BACK  # a free option comes back as TOML has it
        assert read_sealed(run / "settings.toml").seal == "whole"  # sealed anew


def test_how_far_a_run_goes_may_be_edited_and_is_told(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(run, 'max_updates = "off"', "max_updates = 8")
    assert settings_of(run / "checkpoints" / "000000000064").train.max_updates == 8
    assert go_on(run).train.max_updates == 8
    assert "going on with an edit of" in (said := capsys.readouterr().err)
    assert "train.max_updates is 8, was " in said
    go_on(run)
    assert capsys.readouterr().err == ""


def test_what_resume_changes_itself_needs_no_word(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert go_on(run, steps=77).steps == 77
    assert go_on(run).steps == 77  # killed before the next checkpoint
    assert settings_of(run / "checkpoints" / "000000000064").steps == 77
    assert capsys.readouterr().err == ""


def test_a_run_without_a_checkpoint_notices_an_edit_too(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", ASKED).close()
    go_on(tmp_path / "run")
    # The order of keys is no edit.
    edit(tmp_path / "run", 'size = 3, late = "off"', 'late = "off", size = 3')
    assert go_on(tmp_path / "run") == BACK
    edit(tmp_path / "run", "seed = 5", "seed = 6")
    with pytest.raises(UserError, match=r"settings\.toml was changed since it was written"):
        go_on(tmp_path / "run")
    assert go_on(tmp_path / "run", accept=True).seed == 6
    assert go_on(tmp_path / "run").seed == 6


def test_another_runs_settings_are_noticed_though_their_seal_is_whole(run: Path, tmp_path: Path) -> None:
    other = build(TrainSettings, {**VALUES, "seed": 9}, "test")
    RunFolder.create(tmp_path / "other", other).close()
    (run / "settings.toml").write_bytes((tmp_path / "other" / "settings.toml").read_bytes())
    with pytest.raises(UserError, match="seed is 9, was 5"):
        go_on(run)


def test_runs_of_older_versions_go_on(tmp_path: Path) -> None:
    """No seal, and manifests that do not say the settings."""
    run = tmp_path / "run"
    RunFolder.create(run, ASKED).close()
    (run / "settings.toml").write_text(to_toml(ASKED))
    save(run, 64, None)
    assert go_on(run) == BACK == settings_of(run / "checkpoints" / "000000000064")


@pytest.mark.parametrize(
    ("now", "was"), [("gae_lambda", "lam"), ("max_updates", "most_updates"), ("scale_pictures.*\n", "")]
)
def test_a_run_of_an_earlier_version_is_one_line(run: Path, now: str, was: str) -> None:
    text = (run / "settings.toml").read_text()
    (run / "settings.toml").write_text(re.sub(rf"\n{now}", f"\n{was}", text))
    for act in (lambda: go_on(run), lambda: settings_of(run / "checkpoints" / "000000000064")):
        with pytest.raises(UserError, match=was.strip() or r"network\.scale_pictures") as caught:
            act()
        assert "\n" not in str(caught.value)


def test_a_setting_that_a_later_version_brought_had_its_default(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import interplay.train.run.settings_file as module

    real = module.canonical
    monkeypatch.setattr(module, "canonical", lambda settings: {**real(settings), "ppo.fresh": 1})
    assert settings_of(run / "checkpoints" / "000000000064") == BACK


@pytest.mark.parametrize("value", ['"a\\u0000b"', "99999999999999999999999"])
def test_what_no_setting_can_be_is_one_line(run: Path, value: str) -> None:
    file = run / "settings.toml"
    file.write_text(file.read_text().replace('id = "toy/world"', f"id = {value}"))
    with pytest.raises(UserError, match=r"holds a NUL|has 77 bits") as caught:
        settings_of(latest_checkpoint(run))
    assert "\n" not in str(caught.value)

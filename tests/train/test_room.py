"""Runs that memory cannot hold are refused before anything is made; a refusal leaves no folder in the way of the corrected command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.settings import build, merge
from interplay.train.policy_network import PolicyNetwork
from interplay.train.populations import Populations
from interplay.train.run import room
from interplay.train.run.folder import RunFolder
from interplay.train.run.room import check_room, memory_errors_as_user_errors
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from tests.cli.command import refusal, typed
from tests.train.meadow import Meadow
from tests.train.real_run import SETTINGS
from tests.train.toy_worlds import Corridor, make_corridor

LINE = "tests.connect.toys:Line"
SMALL = ("network.kind=mlp", "network.hidden=[8]", "ppo.rollout=16", "ppo.epochs=1", "--workers", "1")
SMALL += ("train.shards=2", "--num-worlds", "4", "--steps", "192")


def settings_of(**own: Any) -> TrainSettings:
    return build(TrainSettings, merge({**SETTINGS, "num_worlds": 4}, own), "test")


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("ppo.rollout=9000000000000000000", "not enough memory"),
        ("num_worlds=4000000000000000", "num_worlds = 4000000000000000 needs at least "),
        ("network.hidden=[1000000,1000000]", "network.hidden = [1000000, 1000000] needs at least "),
    ],
)
def test_what_memory_cannot_hold_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, override: str, named: str
) -> None:
    words = [word for word in SMALL if word.partition("=")[0] != override.partition("=")[0]]
    if override.startswith("num_worlds"):
        del words[words.index("--num-worlds") : words.index("--num-worlds") + 2]
    assert named in refusal(capsys, "train", LINE, *words, override, "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("part", ["_worlds", "_networks"])
def test_each_part_is_compared_with_what_is_free(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    world, asked = Corridor(1), settings_of()
    populations = with_opponents(asked, world)
    needs = {
        "_worlds": room._worlds(world, "num_worlds", asked.num_worlds),
        "_networks": room._networks(asked, world, populations),
    }
    size = needs[part].size
    other = "_networks" if part == "_worlds" else "_worlds"
    monkeypatch.setattr(room, other, lambda *_: room.Need("", 0))
    for free in (None, size):
        monkeypatch.setattr(room, "free_bytes", lambda free=free: free)
        check_room(asked, world, populations)
    monkeypatch.setattr(room, "free_bytes", lambda: size - 1)
    with pytest.raises(UserError, match="of memory"):
        check_room(asked, world, populations)


@pytest.mark.parametrize("kind", ["mlp", "attention", "tiles", "tiles_attention"])
def test_parameters_are_counted_without_making_them(kind: str) -> None:
    asked = settings_of(network={"kind": kind, "width": 8})
    (agent,) = (Meadow(1) if kind.startswith("tiles") else Corridor(1)).kinds
    made = PolicyNetwork(agent, asked, jax.random.key(0), Populations(("pop0",), None))
    assert room._parameters(asked, agent) == made.size > 50


def test_every_worker_has_networks_of_its_own() -> None:
    world, one = Corridor(1), settings_of(train={"workers": 1})
    two = settings_of(train={"workers": 2})
    sizes = [room._networks(asked, world, with_opponents(asked, world)).size for asked in (one, two)]
    assert sizes == [sizes[0], 2 * sizes[0]]


def test_a_container_and_a_limit_of_the_process_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("700000\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 100000\n")
    monkeypatch.setattr(room, "_GROUPS", tmp_path)
    assert room.free_bytes() == 400_000
    (tmp_path / "memory.max").write_text("max\n")
    free = room.free_bytes()
    assert free is not None
    assert free > 10**6


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 7.3 TiB"),
        jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory\nallocating 8 bytes"),
    ],
)
def test_memory_that_ends_on_the_way_is_one_line(error: Exception) -> None:
    says = r"^training: not enough memory \(.*\); lower num_worlds"
    with pytest.raises(UserError, match=says) as caught, memory_errors_as_user_errors():
        raise error
    assert "\n" not in str(caught.value)
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL"), memory_errors_as_user_errors():
        raise jax.errors.JaxRuntimeError("INTERNAL: something else")


class Greedy(Corridor):
    """Has no memory left for its third step."""

    def _step(self, action: np.ndarray) -> Any:
        if self.state.steps[0] == 2:
            raise MemoryError("Unable to allocate 1 TiB")
        return super()._step(action)


def test_a_command_refused_in_its_first_update_leaves_no_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "runs" / "first"
    line = refusal(capsys, "train", "tests.train.test_room:Greedy", *SMALL, "--out", run)
    assert "not enough memory (Unable to allocate 1 TiB)" in line
    assert not run.exists()
    assert typed(capsys, "train", LINE, *SMALL, "--out", run)[0] == 0


def test_a_folder_that_was_there_before_stays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "notes.txt").write_text("mine")
    settings = settings_of(steps=10)
    with RunFolder.create(run, settings) as folder:
        folder.take_back()
    assert {path.name for path in run.iterdir()} <= {"notes.txt", ".lock"}
    train(settings, run, make_corridor)
    with RunFolder.open(run) as folder:
        folder.take_back()  # it has something to show
    assert (run / "settings.toml").exists()

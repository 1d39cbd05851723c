"""Runs that begin with another run's weights: bit for bit at step 0, one line for what does not fit, exact resumption."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.settings import changed
from interplay.core.world import Kind
from interplay.train.run.checkpoint import list_checkpoints, read_checkpoint
from interplay.train.run.warm_start import describe_spaces
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train
from tests.train.runs import short_run
from tests.train.toy_worlds import Corridor, TwoKinds, make_corridor, make_two_kinds

pytestmark = pytest.mark.slow


def settings_of(updates: int, seed: int = 0, **group: Any) -> TrainSettings:
    limits = {"checkpoint_updates": 1, "keep_checkpoints": 9, "max_updates": updates} | group
    ppo = {"rollout": 8, "minibatch": 32, "epochs": 2, "learning_rate": 3e-3}
    return short_run("corridor", seed=seed, num_worlds=4, steps=10_000_000, train=limits, ppo=ppo)


def arrays_of(checkpoint: Path) -> dict[str, bytes]:
    groups = read_checkpoint(checkpoint).arrays
    return {f"{stem}/{name}": a.tobytes() for stem, group in groups.items() for name, a in group.items()}


def weights(checkpoint: Path) -> dict[str, bytes]:
    return {name: a.tobytes() for name, a in read_checkpoint(checkpoint).arrays["policy-pop0"].items()}


class Renamed(Corridor):
    """The corridor with another kind name, other bounds or fewer actions."""

    def __init__(self, name: str = "agent", top: float = 4.0, choices: int = 2, **batch: int) -> None:
        super().__init__(**batch)
        parts: Any = self.kinds[0].observation_space
        space = spaces.Dict({**parts.spaces, "place": spaces.Box(0, top, (1,), np.float32)})
        self.kinds = (Kind(name, self.kinds[0].slots, space, spaces.Discrete(choices)),)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(settings_of(3), tmp_path_factory.mktemp("first") / "run", make_corridor)


@pytest.fixture(scope="module")
def second(first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Begins with the weights of a run that is removed afterwards."""
    folder = tmp_path_factory.mktemp("second")
    shutil.copytree(first, folder / "source")
    run = train(settings_of(3, seed=1, start_from=str(folder / "source")), folder / "run", make_corridor)
    shutil.rmtree(folder / "source")
    return run


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(settings_of(2), tmp_path_factory.mktemp("pair") / "run", make_two_kinds)


def test_a_run_begins_with_the_bits_of_the_last_checkpoint(first: Path, tmp_path: Path) -> None:
    settings = settings_of(2, seed=1, start_from=str(first))
    run = train(settings, tmp_path / "run", make_corridor)
    begin, *_, end = list_checkpoints(run)
    last = list_checkpoints(first)[-1]
    assert int(begin.name) == 0
    assert weights(begin) == weights(last)
    assert weights(end) != weights(last)
    moments = read_checkpoint(begin).arrays["optimiser-pop0"]
    assert moments
    assert not any(array.any() for array in moments.values())  # Adam starts anew
    assert f'start_from = "{last}"' in (run / "settings.toml").read_text()


def test_the_number_of_workers_changes_no_bit(first: Path, second: Path, tmp_path: Path) -> None:
    settings = settings_of(1, seed=1, start_from=str(first), workers=2)
    run = train(settings, tmp_path / "run", make_corridor)
    for mine, other in zip(list_checkpoints(run), list_checkpoints(second), strict=False):
        assert arrays_of(mine) == arrays_of(other)


def test_a_named_checkpoint_is_the_one(first: Path, tmp_path: Path) -> None:
    early, *_, last = list_checkpoints(first)
    run = train(settings_of(1, seed=1, start_from=str(early)), tmp_path / "run", make_corridor)
    assert weights(list_checkpoints(run)[0]) == weights(early) != weights(last)


@pytest.mark.parametrize("left", [1, 2])
def test_a_resumed_run_is_exact_and_needs_the_first_no_more(second: Path, tmp_path: Path, left: int) -> None:
    """With `left` = 1 the run was killed before its first update: it goes on from the checkpoint of step 0."""
    run = tmp_path / "run"
    shutil.copytree(second, run)
    for path in list_checkpoints(run)[left:]:
        shutil.rmtree(path)
    resume(run, make_world=make_corridor)
    assert [path.name for path in list_checkpoints(run)] == [path.name for path in list_checkpoints(second)]
    assert arrays_of(list_checkpoints(run)[-1]) == arrays_of(list_checkpoints(second)[-1])


def test_the_only_kind_may_have_another_name(first: Path, tmp_path: Path) -> None:
    settings = settings_of(1, start_from=str(first))
    run = train(settings, tmp_path / "run", functools.partial(Renamed, name="runner"))
    begin = weights(list_checkpoints(run)[0])
    assert begin == {
        name.replace("agent/", "runner/"): bits for name, bits in weights(list_checkpoints(first)[-1]).items()
    }


class OtherGuide(TwoKinds):
    """Its guide is of a new kind."""

    def __init__(self, num_worlds: int, seed: int, first_world: int) -> None:
        super().__init__(num_worlds, seed, first_world)
        walker, guide = self.kinds
        self.kinds = (walker, Kind("scout", guide.slots, guide.observation_space, guide.action_space))

    def _step(self, action: Any) -> Any:
        return super()._step({"walker": action["walker"], "guide": action["scout"]})

    def _read(self) -> Any:
        step = super()._read()
        return step._replace(
            observation={"walker": step.observation["walker"], "scout": step.observation["guide"]}
        )


def test_new_kinds_begin_anew_and_are_told_once(pair: Path, tmp_path: Path, capsys: Any) -> None:
    settings = settings_of(1, seed=1, start_from=str(pair), quiet=True)
    run = train(settings, tmp_path / "run", OtherGuide)
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if "scout" in line] == [
        f"{list_checkpoints(pair)[-1]} has no kind scout; its weights are new"
    ]
    begin, last = weights(list_checkpoints(run)[0]), weights(list_checkpoints(pair)[-1])
    assert {name for name in begin if begin[name] == last.get(name)} == {
        name for name in begin if name.startswith("walker/")
    }


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (make_two_kinds, ["has the kinds agent", "this world walker, guide", "kind of the same name"]),
        (functools.partial(Renamed, top=9.0), ["kind agent", "observation", "0.0..4.0", "0.0..9.0", "set"]),
        (functools.partial(Renamed, choices=3), ["kind agent", "action", "0..1", "Discrete 0..2", "set"]),
    ],
)
def test_other_kinds_and_spaces_are_one_line_and_leave_no_folder(
    first: Path, tmp_path: Path, make: Callable[..., Any], words: list[str]
) -> None:
    """Bounds count too: (2100, 2100) and (19, 19) have one shape and mean different places."""
    with pytest.raises(UserError) as caught:
        train(settings_of(1, start_from=str(first)), tmp_path / "run", make)
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words), caught.value
    assert not (tmp_path / "run").exists()


def test_another_network_is_one_line_with_the_settings_to_say(first: Path, tmp_path: Path) -> None:
    asked = {"train": {"start_from": str(first)}, "network": {"hidden": [16, 4], "input_scale": True}}
    with pytest.raises(
        UserError, match=r"kind agent: .*set network\.hidden=\[8\] network\.input_scale=false"
    ):
        train(changed(settings_of(1), asked, "x"), tmp_path / "run", make_corridor)


def test_equal_texts_are_equal_spaces() -> None:
    def text(low: Any, high: Any) -> str:
        space = spaces.Dict(x=spaces.Box(np.asarray(low, np.float32), np.asarray(high, np.float32)))
        return describe_spaces([Kind("k", (0,), space, spaces.Discrete(2))])["k"]["observation"]

    many = np.arange(500.0)
    other = many.copy()
    other[250] += 0.5  # where NumPy's own text has an ellipsis
    assert text(0 * many, many + 1) == text(0 * many, many + 1)
    assert text(0 * many, many + 1) != text(0 * many, other + 1)
    assert text([0, 0], [1, 2]) != text([0, 0], [2, 1])

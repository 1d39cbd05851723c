"""Pictures of bytes in networks without convolutions, and pictures whose channels stand first."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from gymnasium import Env, spaces

import interplay
from interplay.train import networks
from interplay.train.networks.pictures import shape_of, warn_of_flat_pictures
from interplay.train.observations import ObservationRows
from interplay.train.settings import NetworkGroup

BYTES = spaces.Box(0, 255, (3, 40, 44), np.uint8)
SETTINGS = NetworkGroup(kind="pictures", channels=(2, 2, 2), hidden=(4,))


def test_bytes_are_scaled_for_networks_that_read_numbers() -> None:
    space = spaces.Dict(
        seen=spaces.Box(0, 255, (3, 7, 7), np.uint8),
        level=spaces.Box(0, 255, (2,), np.uint8),
        map=spaces.Box(0, 9, (2, 2, 2), np.uint8),
    )
    ends = np.array([[0, 255]]).repeat(2, 0)
    given = {"seen": np.full((1, 3, 7, 7), 255, np.uint8), "level": ends[:1], "map": np.ones((1, 2, 2, 2))}
    read = ObservationRows(space, pictures=True).shown(jax.tree.map(jax.numpy.asarray, given))
    assert read["seen"].min() == read["seen"].max() == 1.0
    assert read["level"].tolist() == [[0.0, 255.0]]
    assert read["map"].max() == 1.0
    raw = ObservationRows(space, raw=True, pictures=True).shown(jax.tree.map(jax.numpy.asarray, given))
    assert raw["seen"].max() == 255


def test_a_picture_with_channels_first_is_seen_as_the_same_with_channels_last() -> None:
    last = spaces.Box(0, 255, shape_of(BYTES.shape), np.uint8)
    seen = np.random.default_rng(0).integers(0, 256, (2, *BYTES.shape), np.uint8)
    said = []
    for part, picture in ((BYTES, seen), (last, seen.transpose(0, 2, 3, 1))):
        made = networks.make_network(SETTINGS, spaces.Dict(x=part), spaces.Discrete(3), key=jax.random.key(0))
        said.append(made(made.prepare({"x": jax.numpy.asarray(picture)}))[0])
    assert np.array_equal(*said)


@pytest.mark.parametrize(
    ("kind", "part", "warns"),
    [
        ("attention", BYTES, True),
        ("mlp", BYTES, True),
        ("pictures", BYTES, False),
        ("mlp", spaces.Box(0, 255, (3, 7, 7), np.uint8), False),
    ],
)
def test_a_line_tells_of_convolutions_where_they_would_do(kind: str, part: spaces.Box, warns: bool) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_flat_pictures(kind, spaces.Dict(x=part))
    assert len(found) == warns


class Filmed(Env):
    """Shows a picture; nothing is to be learnt."""

    action_space = spaces.Discrete(2)

    def __init__(self, side: int = 40) -> None:
        self.observation_space = spaces.Box(0, 255, (3, side, 44), np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self.observation_space.sample(), 1.0, False, self.steps == 4, {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "given", "kind"),
    [
        (Filmed, {}, "pictures"),
        (Filmed, {"kind": "mlp", "hidden": (4,)}, "mlp"),
        (Filmed, {"width": 4}, "attention"),  # which pictures does not read
        (Filmed(side=12), {}, "attention"),  # too small for three convolutions
    ],
)
def test_who_names_no_network_gets_convolutions_for_pictures(
    tmp_path: Path, world: Any, given: dict[str, Any], kind: str
) -> None:
    run = interplay.train(
        world,
        tmp_path / "run",
        steps=16,
        num_worlds=2,
        workers=1,
        network=given,
        ppo={"rollout": 4, "epochs": 1},
        train={"quiet": True, "writers": []},
        record={"every": 0},
    )
    assert run.settings.network.kind == kind

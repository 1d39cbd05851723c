"""Compiled steps equal the NumPy reference bit by bit: deaths, truncation, masks, memory, opponents, critics, kinds."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.settings import build, merge
from interplay.registry import make_world, training_settings
from interplay.train.learner import Learner
from interplay.train.making import make_learner
from interplay.train.observations import WIDE, ObservationRows, RowCopier
from interplay.train.rollout import collect
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard
from tests.train.meadow import make_meadow
from tests.train.plain_rollout import PlainCollector, state_of
from tests.train.toy_worlds import make_corridor, make_two_kinds

MLP = {"kind": "mlp", "hidden": [8]}
RUNS: dict[str, dict[str, Any]] = {
    "deaths and heals": {"world": "survival/2v2-all-low"},
    "cuts": {"make": make_corridor},
    "the dead teach": {"world": "survival/2v2-all-low", "ppo": {"mask_dead": False}},
    "agents that wait do not": {"make": make_corridor, "ppo": {"mask_dead": False}},
    "two kinds": {"make": make_two_kinds},
    "births": {"make": make_meadow},
    "a horizon": {
        "make": make_meadow,
        "algorithm": "policy_gradient",
        "policy_gradient": {"rollout": 24, "horizon": 60},
    },
    "memory": {
        "world": "matrix/recall",
        "network": {"memory": "gru", "memory_size": 4},
        "ppo": {"sequence": 8},
    },
    "a team's critic": {"world": "battle/3m", "network": {"critic": "team"}},
    "masks, populations, guesses": {
        "world": "werewolf/9",
        "network": {"kind": "seats"},
        "belief": {"about": "werewolf", "listening": 0.5},
    },
    "tiles, populations": {"world": "mmo/combat", "network": {"kind": "tiles"}},
    "opponents": {"world": "battle/3m", "sides": {"by": "team"}, "opponents": {"team1": "attack_move"}},
    "past selves": {"world": "pong/2p", "pool": {"share": 0.5, "keep": 2, "every": 1}},
    "numbers": {"world": "simulation/multi-corridor"},
    "few learn": {"make": make_two_kinds, "train": {"learners": ["walker"]}},
}
STEPS, WORLDS, ROLLOUTS = 24, 4, 4
pytestmark = pytest.mark.filterwarnings("ignore:train.learners")


class PlainShard(Shard):
    collector_class = PlainCollector


def shards_of(run: dict[str, Any]) -> tuple[Learner, list[Shard]]:
    """A learner, and twice the same shard: with kernels and without."""
    own = dict(run)
    world, make = own.pop("world", "toy"), own.pop("make", None)
    base = {"world": {"id": world}, "num_worlds": WORLDS, "train": {"shards": 1}, "steps": 10**6}
    values = merge(
        {} if make else training_settings(world), {**base, "network": MLP, "ppo": {"rollout": STEPS}}
    )
    settings = build(TrainSettings, merge(values, own), "test")
    make = make or functools.partial(make_world, world)
    learner = make_learner(settings, make, begins=True, say=str)
    shards: list[Shard] = []
    for kind in (Shard, PlainShard):
        made = make(num_worlds=WORLDS, seed=3, first_world=0)
        made.reset()
        shards.append(kind(0, made, learner, settings))
    return learner, shards


def rollout(learner: Learner, shard: Shard, update: int) -> dict[str, np.ndarray]:
    """What a rollout leaves, copied; the samples are forgotten."""
    shard.collector.set_learning(learner.learns)
    collect([shard.collector], learner.inference_parameters(), update)
    found = {name: array.copy() for name, array in state_of(shard.collector).items()}
    shard.estimate()
    shard.finish()
    return found


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_compiled_step_is_a_plain_one(run: dict[str, Any]) -> None:
    learner, (lean, plain) = shards_of(run)
    for update in range(ROLLOUTS):
        got, wanted = (rollout(learner, shard, update) for shard in (lean, plain))
        assert got.keys() == wanted.keys()
        for name, array in wanted.items():
            assert np.array_equal(got[name], array, equal_nan=True), f"rollout {update}: {name}"
        learner.keep_selves(update, update)


def test_the_runs_meet_what_can_happen() -> None:
    """The runs above cover ends, truncation, idle rows, several networks, memory, guesses and masks."""
    met: set[str] = set()
    for run in RUNS.values():
        learner, (lean, _) = shards_of(run)
        for update in range(ROLLOUTS):
            found = rollout(learner, lean, update)
            learner.keep_selves(update, update)
            met |= {"ended"} if found["ended"].any() else set()
            met |= {"cut"} if found["bootstrap"].any() else set()
            met |= {"over"} if found["ended episodes"].any() else set()
            kinds = [key.removesuffix(" acts") for key in found if key.endswith(" acts")]
            met |= {"waits"} if any(not found[f"{kind} acts"].all() for kind in kinds) else set()
            met |= (
                {"several"}
                if any(len(set(found[f"{kind} population"].tolist())) > 1 for kind in kinds)
                else set()
            )
            met |= (
                {"remembers"}
                if any(key.endswith(" memory") and array.any() for key, array in found.items())
                else set()
            )
            met |= (
                {"guesses"}
                if any(key.endswith(" truth") and array.any() for key, array in found.items())
                else set()
            )
            met |= (
                {"masked"}
                if any(key.endswith(" mask") and not array.all() for key, array in found.items())
                else set()
            )
    assert met == {"ended", "cut", "over", "waits", "several", "remembers", "guesses", "masked"}


SPACE = spaces.Dict(
    a=spaces.Box(-1, 1, (3,)),
    b=spaces.Box(0, 9, (), np.int16),
    c=spaces.Box(-1, 1, (2, 2)),
    d=spaces.Box(0, 1, (WIDE + 1,)),
    e=spaces.Box(0, 255, (5,), np.uint8),
    f=spaces.Discrete(7),
    g=spaces.Box(0, 1, (0,)),
)


def test_leaves_of_any_layout_are_copied() -> None:
    """Views of one array, arrays of their own, broadcast and transposed ones; the same array in two steps and another one."""
    layout, rng = ObservationRows(SPACE), np.random.default_rng(0)
    lead, copier = (3, 4), RowCopier(layout)
    numbers = rng.normal(size=(*lead, 12)).astype(np.float32)
    shown = {
        "a": numbers[..., 7:10],
        "c": numbers[..., 2:6].reshape(*lead, 2, 2),
        "d": rng.random((*lead, WIDE + 1)).astype(np.float32),
        "b": rng.integers(0, 9, lead).astype(np.int16),
        "e": np.ascontiguousarray(rng.integers(0, 255, (4, 3, 5)).astype(np.uint8)).transpose(1, 0, 2),
        "f": np.broadcast_to(np.array([2, 0, 5, 6]), lead),
        "g": np.zeros((*lead, 0), np.float32),
    }
    for step in range(4):
        if step == 2:
            numbers[:] = rng.normal(size=numbers.shape)  # the next step is written where the last one was
        if step == 3:
            shown = shown | {"a": numbers[..., 0:3].copy(), "e": shown["e"].copy()}
        picked = np.sort(rng.choice(12, 5, replace=False))
        got, wanted = layout.allocate(12), layout.allocate(5)
        copier.write(shown, picked, got)
        layout.write(shown, picked, wanted)
        for dtype, array in wanted.items():
            assert np.array_equal(got[dtype][:5], array), f"step {step}: {dtype}"
            assert not got[dtype][5:].any()

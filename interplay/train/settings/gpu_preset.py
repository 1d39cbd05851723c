"""The preset `gpu`: batch sizes for a GPU, above a world's own settings and below the user's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.core.errors import UserError
from interplay.core.settings import merge
from interplay.train.settings.algorithms import RolloutGroup
from interplay.train.settings.train import TrainSettings

GPU = "gpu"
AGENTS, ROLLOUT, EPOCHS = 4096, 64, 2
SHARDS = 2  # the GPU infers for one while the worlds of the other step (`rollout.collect`)
_WORLDS = TrainSettings.model_fields["num_worlds"].default
MINIBATCH = 16_384  # at least; a quarter of an update where that is more


def with_gpu_preset(values: Mapping[str, Any], asked: Mapping[str, Any], agents: int) -> dict[str, Any]:
    """Puts the preset over `values` and the user's settings over both.

    Args:
        values: nested, of the world and the user together.
        agents: slots of one world.

    Raises:
        UserError: if the algorithm does not learn from rollouts.

    Example:
        >>> found = with_gpu_preset({"num_worlds": 64}, {"ppo": {"epochs": 3}}, agents=2)
        >>> found["num_worlds"], found["ppo"]
        (2048, {'rollout': 64, 'epochs': 3, 'minibatch': 65536})
    """
    algorithm = str(values.get("algorithm", "ppo"))
    field = TrainSettings.model_fields.get(algorithm)
    group = None if field is None else type(field.default)
    if group is None or not issubclass(group, RolloutGroup):
        raise UserError(f"--preset {GPU}: {algorithm} has no minibatches of rollouts; leave the preset out")
    own = {"rollout": ROLLOUT} | ({"epochs": EPOCHS} if "epochs" in group.model_fields else {})
    below = merge(dict(values), {"train": {"shards": SHARDS}, algorithm: own})
    found = merge(below, asked)
    split, rule, worlds = found["train"], found[algorithm], found.get("num_worlds", _WORLDS)
    if not (isinstance(split, Mapping) and isinstance(rule, Mapping)):
        return found  # `build` refuses it
    shards, rollout = split["shards"], rule["rollout"]
    if not all(isinstance(number, int) and number > 0 for number in (worlds, shards, rollout)):
        return found
    if "num_worlds" not in asked:
        worlds = -(-max(worlds, -(-AGENTS // agents)) // shards) * shards
    least = {"num_worlds": worlds}
    if "minibatch" in group.model_fields:
        least |= {algorithm: {"minibatch": max(MINIBATCH, worlds * agents * rollout // 4)}}
    return merge(merge(found, least), asked)

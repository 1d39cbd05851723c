"""Keys of settings that had other names in earlier versions, so that what runs of those wrote can still be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

RENAMED = {
    "train.best_updates": "train.best_measurements",
    "train.most_updates": "train.max_updates",
    "train.most_episodes": "train.max_episodes",
    "train.most_seconds": "train.max_seconds",
    "ppo.lam": "ppo.gae_lambda",
    "ppo.entropy": "ppo.entropy_coefficient",
    "policy_gradient.entropy": "policy_gradient.entropy_coefficient",
}
# Settings of networks that earlier versions did not have, and what they did.
ABSENT = {"discrete": "number", "scale_pictures": False}
# What papers, Stable-Baselines3, CleanRL and RLlib call what stands behind; nobody's key is read by another name, they are told ours.
ALSO_CALLED = {
    "lr": "learning_rate",
    "step_size": "learning_rate",
    "discount_factor": "gamma",
    "lam": "gae_lambda",
    "lambda": "gae_lambda",
    "lambda_": "gae_lambda",
    "ent_coef": "entropy_coefficient",
    "entropy_coeff": "entropy_coefficient",
    "vf_coef": "value_coefficient",
    "vf_loss_coeff": "value_coefficient",
    "clip_range": "clip",
    "clip_coef": "clip",
    "clip_param": "clip",
    "n_steps": "rollout",
    "num_steps": "rollout",
    "rollout_fragment_length": "rollout",
    "batch_size": "minibatch",
    "minibatch_size": "minibatch",
    "n_epochs": "epochs",
    "num_epochs": "epochs",
    "update_epochs": "epochs",
    "grad_clip": "max_grad_norm",
    "norm_adv": "normalise_advantage",
    "normalize_advantage": "normalise_advantage",
    "reward_scaling": "reward_scale",
    "n_envs": "num_worlds",
    "num_envs": "num_worlds",
    "total_timesteps": "steps",
    "timesteps": "steps",
    "env_id": "id",
    "num_workers": "workers",
    "hidden_sizes": "hidden",
    "net_arch": "hidden",
}
_POPULATION = re.compile(r"\.populations\..+\.")


def renew(values: Mapping[str, Any], group: str = "") -> dict[str, Any]:
    """What an earlier version wrote, with today's keys; the rates of populations are renewed like those of their group.

    Args:
        values: nested as in ``settings.toml``, or by the paths of keys as in manifests. An old key beside the new one stays.
        group: path of the group that they are, with a dot behind it.

    Example:
        >>> renew({"ppo": {"lam": 0.9, "clip": 0.1}}), renew({"ppo.lam": 0.9})
        ({'ppo': {'gae_lambda': 0.9, 'clip': 0.1}}, {'ppo.gae_lambda': 0.9})
    """
    found: dict[str, Any] = {}
    for old, value in values.items():
        _, _, name = RENAMED.get(_POPULATION.sub(".", group + old), "").rpartition(".")
        new = old[: -len(old.rpartition(".")[2])] + name if name else old
        found[old if new in values else new] = (
            renew(value, f"{group}{old}.") if isinstance(value, Mapping) else value
        )
    return found if group else _with_absent(found)


def _with_absent(values: dict[str, Any]) -> dict[str, Any]:
    """With `ABSENT`, where the values are those of a whole run."""
    if "network.kind" in values:
        return {f"network.{key}": value for key, value in ABSENT.items()} | values
    own = values.get("network")
    return {**values, "network": {**ABSENT, **own}} if isinstance(own, Mapping) and "kind" in own else values

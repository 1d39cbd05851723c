"""Trains an experiment with one of RLlib's own algorithms. Needs the extra ``rllib``.

Iteration, episode and time step mean what they mean in RLlib. Checkpoints are RLlib's, in
``checkpoint_<six digits>`` folders of the run. Source: specification 6.2, 6.3 and 8.1.
"""

from __future__ import annotations

import difflib
import importlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError

OURS = ("env", "env_config", "horizon", "multiagent", "num_workers", "num_envs_per_worker", "seed")
IGNORED = ("disable_env_checking",)


def train(tune: Mapping[str, Any], make_env: Callable[[], Any], folder: Path) -> None:
    """Trains until one of the conditions of ``stop`` holds.

    Args:
        tune: the experiment's section ``ray_tune``, with a mapping that takes what RLlib hands over.
        make_env: makes an RLlib environment.
        folder: where checkpoints go.

    Raises:
        UserError: if RLlib is not installed or has no such algorithm.
    """
    name = tune.get("run_or_experiment", "PPO")
    algorithm = configured(name, tune.get("config", {}), make_env).build_algo()
    try:
        began, iteration, saved = time.monotonic(), 0, -1
        every = tune.get("checkpoint_freq", 0)
        while True:
            result = algorithm.train()
            iteration += 1
            if tune.get("verbose", 1):
                print(f"iteration {iteration}, {_line(result)}")
            if every and iteration % every == 0:
                saved = _save(algorithm, folder, iteration)
            if _over(tune.get("stop", {}), result, iteration, time.monotonic() - began):
                break
        if tune.get("checkpoint_at_end", True) and saved != iteration:
            _save(algorithm, folder, iteration)
    finally:
        algorithm.stop()


def configured(name: str, config: Mapping[str, Any], make_env: Callable[[], Any]) -> Any:
    """RLlib's configuration of an algorithm.

    Args:
        name: that RLlib registers.
        config: the experiment's; keys that are not of the experiment's own go to RLlib as they are.
        make_env: makes the environment.

    Raises:
        UserError: if RLlib is not installed or has no such algorithm.
    """
    known = sorted(_ray("ray.rllib.algorithms.registry").ALGORITHMS)
    if name not in known:
        raise UserError(
            f"run_or_experiment = {name!r}: RLlib has no such algorithm; it has {', '.join(known)}"
        )
    made = _ray("ray.tune.registry").get_trainable_cls(name).get_default_config()
    env = config.get("env", "interplay")
    _ray("ray.tune.registry").register_env(env, lambda env_config: make_env())
    made = made.environment(env, env_config=dict(config.get("env_config", {})))
    made = made.env_runners(
        num_env_runners=config.get("num_workers", 0),
        num_envs_per_env_runner=config.get("num_envs_per_worker", 1),
        env_to_module_connector=_flattening,
    )
    multiagent = config.get("multiagent", {})
    if "policies" in multiagent:
        made = made.multi_agent(
            policies=set(multiagent["policies"]),
            policy_mapping_fn=multiagent["policy_mapping_fn"],
            policies_to_train=list(multiagent.get("policies_to_train") or multiagent["policies"]),
            algorithm_config_overrides_per_module=_overrides(multiagent["policies"], made),
        )
    if config.get("seed") is not None:
        made = made.debugging(seed=config["seed"])
    rest = {key: value for key, value in config.items() if key not in OURS + IGNORED}
    _refuse_unknown(rest, made)
    return made.update_from_dict(rest) if rest else made


def _overrides(policies: Mapping[str, Any], made: Any) -> dict[str, dict[str, Any]]:
    """Each policy's own configuration."""
    own = {}
    for policy_id, (kind, _, _, config) in policies.items():
        if kind is not None:
            raise UserError(
                f"policies[{policy_id!r}] names the class {kind!r}, which RLlib's modules do not have; give None"
            )
        _refuse_unknown(config, made)
        own[policy_id] = dict(config)
    return own


def _refuse_unknown(keys: Mapping[str, Any], made: Any) -> None:
    """Refuses unknown keys, which RLlib itself accepts silently."""
    known = [*OURS, *IGNORED, *(name.lstrip("_") for name in vars(made)), "lambda"]
    for key in keys:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.0)[0]
            raise UserError(f"ray_tune.config: unknown key {key!r}; did you mean {near!r}?")


def _flattening(*args: Any, **kwargs: Any) -> Any:
    # Dict and Discrete observations need it (specification 8.1).
    return _ray("ray.rllib.connectors.env_to_module").FlattenObservations(multi_agent=True)


def _over(stop: Mapping[str, Any], result: Mapping[str, Any], iteration: int, seconds: float) -> bool:
    runners = result.get("env_runners", {})
    counts = {
        "episodes_total": runners.get("num_episodes_lifetime", 0),
        "timesteps_total": runners.get("num_env_steps_sampled_lifetime", 0),
        "training_iteration": iteration,
        "time_total_s": seconds,
    }
    return any(counts[key] >= limit for key, limit in stop.items())


def _line(result: Mapping[str, Any]) -> str:
    return f"mean return {result.get('env_runners', {}).get('episode_return_mean', float('nan')):.4g}"


def _save(algorithm: Any, folder: Path, iteration: int) -> int:
    algorithm.save_to_path(str((folder / f"checkpoint_{iteration:06d}").absolute()))
    return iteration


def _ray(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UserError(
            'backend "rllib" needs ray; install it with pip install "interplay[rllib]", or leave the backend out'
        ) from error

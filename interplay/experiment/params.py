"""An experiment's dictionary, checked; an unknown key is refused with the nearest known one.

Source: manual 2.2; specification 6.3.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from interplay.core.errors import UserError

WHOLE = "a whole number"


@dataclass(frozen=True)
class Experiment:
    """A checked `params` dictionary.

    Attributes:
        title: names the run folders.
        sim_creator: makes a manager or a connector from `env_config`.
        tune: the section ``ray_tune``; empty if there is none.
        params: the dictionary itself.
        last: the simulation that `sim_creator` returned last, if any; None if unknown; see `simulations.Maker`.
    """

    title: str
    sim_creator: Callable[[Any], Any]
    tune: Mapping[str, Any]
    params: Mapping[str, Any]
    last: list[Any] = field(default_factory=list)

    def __deepcopy__(self, memo: dict[int, Any]) -> Experiment:
        """Itself: all copies share the record of `sim_creator`'s last result."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        # After unpickling, a simulation of `sim_creator` may be in use elsewhere.
        return {**vars(self), "last": [None]}

    @property
    def config(self) -> Mapping[str, Any]:
        """The section ``ray_tune.config``."""
        config: Mapping[str, Any] = self.tune.get("config", {})
        return config

    @property
    def stop(self) -> Mapping[str, Any]:
        """The section ``ray_tune.stop``."""
        stop: Mapping[str, Any] = self.tune.get("stop", {})
        return stop

    @property
    def multiagent(self) -> Mapping[str, Any]:
        """The section ``ray_tune.config.multiagent``."""
        section: Mapping[str, Any] = self.config.get("multiagent", {})
        return section

    @property
    def storage_path(self) -> str | None:
        """The folder of results; None: the home directory."""
        path: str | None = self.tune.get("storage_path")
        return path

    @property
    def seed(self) -> int | None:
        """Of simulation, spaces and learning."""
        seed: int | None = self.config.get("seed")
        return seed


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


Checks = Mapping[str, tuple[Callable[[Any], bool], str]]

EXPERIMENT: Checks = {
    "title": (lambda value: isinstance(value, str) and bool(value), "a text that names the runs"),
    "sim_creator": (callable, "a function of env_config that makes a manager"),
}
TUNE: Checks = {
    "run_or_experiment": (_is(str), "the name of an algorithm, for example 'PPO'"),
    "stop": (_is(Mapping), "a dictionary, for example {'training_iteration': 100}"),
    "checkpoint_freq": (_whole(0), f"{WHOLE} of iterations, 0 for none"),
    "checkpoint_at_end": (_is(bool), "True or False"),
    "verbose": (_whole(0), f"{WHOLE}, 0 for silence"),
    "storage_path": (_is(str), "a folder"),
    "config": (_is(Mapping), "a dictionary"),
    "backend": (lambda value: value in ("interplay", "rllib"), "'interplay' or 'rllib'"),
    "settings": (_is(Mapping), "groups of docs/train.md, for example {'ppo': {'gamma': 0.9}}"),
}
STOP: Checks = {
    "episodes_total": (_whole(1), f"{WHOLE} above 0"),
    "timesteps_total": (_whole(1), f"{WHOLE} above 0"),
    "training_iteration": (_whole(1), f"{WHOLE} above 0"),
    "time_total_s": (_number, "a number of seconds above 0"),
}
CONFIG: Checks = {
    "env": (_is(str), "the simulation's name"),
    "env_config": (_is(Mapping), "a dictionary, the argument of sim_creator"),
    "horizon": (_whole(1), f"{WHOLE} of steps above 0"),
    "multiagent": (_is(Mapping), "a dictionary"),
    "num_workers": (_whole(0), f"{WHOLE}"),
    "num_envs_per_worker": (_whole(1), f"{WHOLE} above 0"),
    "seed": (_whole(0), f"{WHOLE}, 0 or above"),
    "disable_env_checking": (_is(bool), "True or False"),
}
MULTIAGENT: Checks = {
    "policies": (
        lambda value: isinstance(value, Mapping) and bool(value),
        "a dictionary id -> (None, observation space, action space, {})",
    ),
    "policy_mapping_fn": (callable, "a function of an agent's id"),
    "policies_to_train": (_is(list, tuple, set), "a list of policy ids"),
}
OPTIONAL_NONE = ("horizon", "seed", "storage_path", "policies_to_train", "policy_mapping_fn")


def read_params(params: Any, owner: str = "params") -> Experiment:
    """Checks an experiment's dictionary.

    Args:
        params: the dictionary.
        owner: named first in errors.

    Raises:
        UserError: for a missing or unknown key or a value of another kind, in one line.
    """
    if not isinstance(params, Mapping):
        raise UserError(f"{owner} is a {type(params).__name__}; an experiment is a dictionary")
    _check_keys(params, ("experiment", "ray_tune"), owner)
    experiment = params.get("experiment")
    if not isinstance(experiment, Mapping):
        raise UserError(f"{owner}: 'experiment' is missing; give it 'title' and 'sim_creator'")
    for key in EXPERIMENT:
        if key not in experiment:
            raise UserError(f"{owner}: experiment.{key} is missing; give {EXPERIMENT[key][1]}")
    _check(experiment, EXPERIMENT, f"{owner}: experiment")
    tune = params.get("ray_tune", {})
    if not isinstance(tune, Mapping):
        raise UserError(f"{owner}: ray_tune is a {type(tune).__name__}; give a dictionary")
    _check(tune, TUNE, f"{owner}: ray_tune")
    _check(tune.get("stop", {}), STOP, f"{owner}: ray_tune.stop")
    config = tune.get("config", {})
    _check(config, CONFIG, f"{owner}: ray_tune.config", strict=tune.get("backend") != "rllib")
    _check(config.get("multiagent", {}), MULTIAGENT, f"{owner}: ray_tune.config.multiagent")
    return Experiment(experiment["title"], experiment["sim_creator"], tune, params)


def _check(section: Mapping[str, Any], checks: Checks, owner: str, strict: bool = True) -> None:
    if strict:
        _check_keys(section, checks, owner)
    for key, (fits, wanted) in checks.items():
        value = section.get(key)
        if key not in section or (value is None and key in OPTIONAL_NONE):
            continue
        if not fits(value):
            raise UserError(f"{owner}.{key} = {value!r}; give {wanted}")


def _check_keys(section: Mapping[str, Any], known: Iterable[str], owner: str) -> None:
    known = list(known)
    for key in section:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.0)[0]
            raise UserError(f"{owner}: unknown key {key!r}; did you mean {near!r}?")

"""From the section ``ray_tune`` to the settings of our trainer.

A2C and PPO are the trainer's own (`docs/train.md`), A2C with rollouts of 32 steps. PG is the policy gradient that PPO becomes with a
single gradient step per rollout: the ratio of new to old probabilities is then 1, so nothing is clipped and the gradient is that of
log pi times the return, as far as the rollout reaches (lambda = 1), with the value as a baseline, which changes no expectation.

Source: specification 6.3 and section 3, row 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.core.errors import UserError
from interplay.core.settings import build, changed, merge
from interplay.core.world import World
from interplay.experiment.assignment import learners
from interplay.experiment.params import Experiment
from interplay.train.settings import TrainSettings

ALGORITHMS: Mapping[str, Mapping[str, Any]] = {
    "PG": {"ppo": {"rollout": 64, "learning_rate": 3e-3}},
    "A2C": {"algorithm": "a2c", "a2c": {"rollout": 32, "learning_rate": 2e-3}},
    "PPO": {},
}
ONE_STEP = {"epochs": 1, "gae_lambda": 1.0, "target_kl": "off"}
DEFAULT = "PPO"
WORLDS_EACH = 8  # per worker, unless num_envs_per_worker says otherwise
UNLIMITED = 10**12  # agent-steps; something else ends the run
NEVER = 1e9  # seconds
KEEP_ALL = 10**6  # checkpoints


def settings_of(
    experiment: Experiment, world: World, assigned: Mapping[str, str] | None, workers: int = 1
) -> TrainSettings:
    """The settings of an experiment's training run.

    ``settings`` of the section come last: they may change everything.

    Args:
        experiment: checked.
        world: one world of it.
        assigned: agent -> policy.
        workers: most processes.

    Raises:
        UserError: for an algorithm that there is not, or values that do not fit.
    """
    name = experiment.tune.get("run_or_experiment", DEFAULT)
    if name not in ALGORITHMS:
        raise UserError(
            f"{experiment.title}: run_or_experiment = {name!r}; here are {', '.join(sorted(ALGORITHMS))}, and RLlib's algorithms with 'backend': 'rllib'"
        )
    shards = _power_of_two(max(experiment.config.get("num_workers", 1), 1))
    worlds = shards * experiment.config.get("num_envs_per_worker", WORLDS_EACH)
    values: dict[str, Any] = {
        "world": {"id": world.id},
        "num_worlds": worlds,
        "seed": experiment.seed or 0,
        "train": {
            "shards": shards,
            "workers": min(_power_of_two(workers), shards),
            "quiet": experiment.tune.get("verbose", 1) == 0,
            "learners": learners(experiment, assigned),
            **_saving(experiment),
        },
        "network": {"kind": "mlp", "input_scale": True},
    }
    given = experiment.tune.get("settings", {})
    values = merge(values, ALGORITHMS[name])
    values = merge(values, given)
    if name == "PG":
        rows = values["ppo"]["rollout"] * values["num_worlds"] * max(len(k.slots) for k in world.kinds)
        values = merge(merge(values, {"ppo": {**ONE_STEP, "minibatch": rows}}), given)
    values = merge(_stopping(experiment), values)
    return _stop_at_steps(experiment, build(TrainSettings, values, f"{experiment.title}: ray_tune"))


def _saving(experiment: Experiment) -> dict[str, Any]:
    """Checkpoints at the requested frequency; without one, by time and at the end."""
    at_end = experiment.tune.get("checkpoint_at_end", True)
    every = experiment.tune.get("checkpoint_freq", 0)
    saving: dict[str, Any] = {"checkpoint_at_end": at_end}
    if every:
        saving |= {"checkpoint_updates": every, "keep_checkpoints": KEEP_ALL}
    if every or not at_end:
        saving["checkpoint_seconds"] = NEVER
    return saving


def _stopping(experiment: Experiment) -> dict[str, Any]:
    """The run's limits; the first one reached ends it."""
    stop = experiment.stop
    if not stop:
        raise UserError(
            f"{experiment.title}: ray_tune.stop is missing; give a limit, for example {{'episodes_total': 2000}}"
        )
    names = {
        "episodes_total": "max_episodes",
        "training_iteration": "max_updates",
        "time_total_s": "max_seconds",
    }
    limits = {ours: stop[theirs] for theirs, ours in names.items() if theirs in stop}
    return {"steps": UNLIMITED, "train": limits}


def _stop_at_steps(experiment: Experiment, settings: TrainSettings) -> TrainSettings:
    """Settings with ``timesteps_total``, steps of the simulation, as a number of updates.

    Agent-steps do not do: they are actions, of which a step may have few.
    """
    if "timesteps_total" not in experiment.stop:
        return settings
    from interplay.train.algorithms import make_algorithm  # needs the extra "train"

    updates = -(
        -experiment.stop["timesteps_total"] // (make_algorithm(settings).rollout * settings.num_worlds)
    )
    most = settings.train.max_updates
    updates = updates if most is None else min(updates, most)
    return changed(settings, {"train": {"max_updates": updates}}, experiment.title)


def _power_of_two(number: int) -> int:
    """The largest power of two that is not above the number."""
    return 1 << (number.bit_length() - 1)

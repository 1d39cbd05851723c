"""A trained policy for play: reads a run's checkpoint, acts in any batch of the same spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.trust import Untrusted
from interplay.core.world import TimeStep, World
from interplay.train.brain import Brain
from interplay.train.checkpoint import find_checkpoint, read_checkpoint
from interplay.train.manifest import read_manifest
from interplay.train.population_policy import (
    AT_ONCE,
    PopulationPolicy,
    pad_rows,
    population_names,
    read_populations,
)
from interplay.train.ppo import read_policy
from interplay.train.restoring import check_weights
from interplay.train.run_settings import settings_of
from interplay.train.settings import TrainSettings


def load_policy(
    run: Path | str, greedy: bool = False, populations: Sequence[str] | None = None, trust: bool = False
) -> TrainedPolicy | PopulationPolicy:
    """Loads the policy of a run or of one of its checkpoints.

    Args:
        run: a run folder (its newest sound checkpoint) or a checkpoint's folder.
        greedy: take the likeliest action instead of sampling.
        populations: of a run with populations, those that play, e.g. ``["pop3"]``; None: all of them.
        trust: the run's settings may name programs of their own; needed once, for a run from elsewhere.

    Raises:
        UserError: if there is no sound checkpoint, a population's file is missing or damaged, or the run names programs and
            is not trusted.
    """
    path = find_checkpoint(run)
    settings = settings_of(path, trust)
    if population_names(path):
        names, tensors = read_populations(path, populations)
        name = f"{settings.world.id} {read_manifest(path)['agent_steps']:,}"
        opponents = {} if populations is not None else settings.opponents
        others = {population: find_opponent(settings, population) for population in opponents}
        return PopulationPolicy(settings, names, tensors, greedy, name, others)
    if populations is not None:
        raise UserError(f"{path}: this run has one set of weights; leave out populations")
    checkpoint = read_checkpoint(path)
    weights = check_weights(path, checkpoint.arrays.get("policy", {}))
    return TrainedPolicy(settings, weights, greedy, f"{settings.world.id} {checkpoint.agent_steps:,}")


def load_population(run: Path | str, population: str, greedy: bool = False, trust: bool = False) -> Policy:
    """Loads who played one population of a run: the weights that were trained for it, or its opponent.

    Args:
        run: a run folder (its newest sound checkpoint) or a checkpoint's folder.
        population: its name; a run with one set of weights has these for everybody.
        greedy: take the likeliest action instead of sampling.
        trust: as in `load_policy`.

    Raises:
        UserError: if there is no sound checkpoint, no such population, or the run is not trusted.
    """
    path = find_checkpoint(run)
    names, settings = population_names(path), settings_of(path, trust)
    if population not in names and population in settings.opponents:
        return find_opponent(settings, population)
    return load_policy(path, greedy, [population] if names else None, trust)


def find_opponent(settings: TrainSettings, population: str) -> Policy:
    """Who plays a population in the place of a run's networks, by ``opponents``.

    Another run among them is opened as any run: that this one is trusted says nothing of that one.

    Args:
        settings: of the run.
        population: one that ``opponents`` names; of a run with populations, that of the same name is taken.

    Raises:
        UserError: if there is no such policy or run, or the run has no such population.
    """
    who = settings.opponents[population]
    try:
        if Path(who).is_dir():
            path = find_checkpoint(who)
            return load_policy(path, populations=[population] if population_names(path) else None)
        if "/" in who and ":" not in who:
            raise UserError(f"{who}: no such run folder; name a run, a checkpoint or a scripted policy")
        from interplay.registry import make_policy

        return make_policy(settings.world.id, who)
    except UserError as error:
        kind = Untrusted if isinstance(error, Untrusted) else UserError
        raise kind(f"opponents.{population}: {error}") from None


class TrainedPolicy(Policy):
    """Acts with trained networks.

    Args:
        settings: of the run.
        tensors: ``kind/tensor`` -> array.
        greedy: take the likeliest action instead of sampling.
        name: what tables call it.
    """

    no_memory = (*Policy.no_memory, "_tensors", "_brains", "_vectors")  # the checkpoint's

    def __init__(
        self, settings: TrainSettings, tensors: dict[str, np.ndarray], greedy: bool, name: str
    ) -> None:
        self.settings, self.greedy, self.name = settings, greedy, name
        self._tensors = tensors

    def start(self, world: World, seed: int = 0) -> None:
        """Prepares for playing `world`.

        Raises:
            UserError: if the networks were trained for other spaces.
        """
        super().start(world, seed)
        key = jax.random.key(0)  # of weights that are replaced at once
        self._brains = {kind.name: Brain(kind, self.settings, key) for kind in world.kinds}
        for name in self._brains:
            if not any(tensor.startswith(f"{name}/") for tensor in self._tensors):
                raise UserError(f"{world.id}: the policy was not trained for agents of kind {name}")
        self._vectors = read_policy(self._brains, self._tensors)

    def probabilities(
        self,
        observation: Mapping[str, np.ndarray],
        mask: np.ndarray | None = None,
        population: np.ndarray | None = None,
        kind: str = "agent",
    ) -> np.ndarray:
        """How likely every choice is, the heads of the action one after another.

        Args:
            observation: key -> (N, ...).
            mask: (N, choices) bool, legal ones; None: all.
            population: not read; one network plays every population.
            kind: of agent.

        Returns:
            (N, choices) float32.
        """
        brain = self._brains[kind]
        count = len(next(iter(observation.values())))
        rows = np.zeros((-(-count // AT_ONCE) * AT_ONCE, brain.rows.width), np.float32)
        brain.rows.write(observation, rows[:count])
        legal = None if mask is None else pad_rows(np.asarray(mask, bool), len(rows))
        parts = [
            np.asarray(
                brain.chances(
                    self._vectors[kind],
                    rows[start : start + AT_ONCE],
                    None if legal is None else legal[start : start + AT_ONCE],
                )
            )
            for start in range(0, len(rows), AT_ONCE)
        ]
        return np.concatenate(parts)[:count]

    def act(self, timestep: TimeStep) -> Any:
        """Actions for every slot."""
        observations = self.world.by_kind(timestep.observation)
        masks = self.world.by_kind(timestep.action_mask)
        key = jax.random.key(int(self.rng.integers(2**32)))
        actions = {}
        for number, (name, brain) in enumerate(self._brains.items()):
            shape = (self.world.num_worlds, len(brain.kind.slots))
            rows = np.empty((*shape, brain.rows.width), np.float32)
            brain.rows.write(observations[name], rows)
            mask = brain.distribution.flat_mask(masks[name], shape)
            flat = brain.choose(
                self._vectors[name],
                rows.reshape(shape[0] * shape[1], -1),
                None if mask is None else mask.reshape(shape[0] * shape[1], -1),
                jax.random.fold_in(key, number),
                greedy=self.greedy,
            )
            actions[name] = brain.distribution.to_world(np.asarray(flat).reshape(*shape, -1))
        return actions if len(actions) > 1 else next(iter(actions.values()))

"""Parameters of utilities and mixers, their target copies, and the gradient step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import Kind, World
from interplay.train.algorithms.value_factorisation import ValueFactorisation
from interplay.train.factored.replay import Frames
from interplay.train.factored.teams import TeamGroup, find_marks, find_state, find_team_groups
from interplay.train.factored.utilities import NUM_SUMS, Differences, UtilityNetwork
from interplay.train.learner import Learner
from interplay.train.networks import MonotonicMixer, SumMixer
from interplay.train.populations import Populations
from interplay.train.run.restoring import restore
from interplay.train.settings import QmixGroup, TrainSettings, VdnGroup


class TeamLearner(Learner):
    """Networks and mixers of all kinds of agents and populations, their target copies and optimisers.

    Args:
        world: of the run, reset.

    Attributes:
        team_groups: groups of teams that share a network.
        state: input of the mixers; None where they have none.
        targets: kind name -> (Q, P) float32, parameters of the target networks.
        epsilon: share of random choices in play.
    """

    networks: dict[str, UtilityNetwork]  # type: ignore[assignment]
    algorithm: ValueFactorisation

    def __init__(self, world: World, settings: TrainSettings, populations: Populations) -> None:
        self.team_groups = find_team_groups(settings, world, populations)
        self.state = find_state(settings, world, self.team_groups)
        self._marks = find_marks(settings, world, populations)
        self.epsilon = 0.0
        super().__init__(world.kinds, settings, populations)
        self.targets = {name: np.asarray(vectors) for name, vectors in self.vectors.items()}
        self.steps = np.zeros(len(self.team_groups), np.int64)
        self._step = jax.jit(self._stepped)

    def _make_networks(  # type: ignore[override]
        self, kinds: Sequence[Kind], settings: TrainSettings, key: jax.Array
    ) -> dict[str, UtilityNetwork]:
        group = settings.factored
        assert group is not None, "teams learn by value factorisation"
        self.algorithm = ValueFactorisation(group)
        return {
            kind.name: UtilityNetwork(
                kind,
                settings,
                jax.random.fold_in(key, i),
                self.populations,
                group,
                partial(self._make_mixer, kind.name, group),
                self._marks.get(kind.name),
            )
            for i, kind in enumerate(kinds)
        }

    def _make_mixer(self, kind: str, group: VdnGroup, key: jax.Array) -> SumMixer | MonotonicMixer:
        members = max(
            (team_group.teams.shape[1] for team_group in self.team_groups if team_group.kind == kind),
            default=1,
        )
        if self.state is None or not isinstance(group, QmixGroup):
            return SumMixer()
        return MonotonicMixer(members, self.state.size, group.mixing, group.hyper, key=key)

    def inference_parameters(self) -> dict[str, Any]:
        """Kind name -> inference parameters and epsilon of each network; 0 for past selves and non-learners."""
        none = np.zeros(len(self.populations.names) + self.pool.places, np.float32)
        share = none.copy()
        share[: len(self.populations.names)][self.learns] = self.epsilon
        return {
            name: (arrays, share if name in self.kinds_that_learn else none)
            for name, arrays in super().inference_parameters().items()
        }

    def set_epsilon(self, agent_steps: int) -> None:
        """Sets epsilon for the number of agent-steps so far."""
        self.epsilon = self.algorithm.epsilon(agent_steps)

    def sums(self, number: int, frames: Frames) -> np.ndarray:
        """(P + 5,) float32, summed gradient and `Differences` over some stretches of a team group."""
        kind, at, _ = self.team_groups[number]
        return np.asarray(self.networks[kind].sums(self.vectors[kind][at], self.targets[kind][at], frames))

    def step(self, number: int, total: np.ndarray, update: int) -> float:
        """Takes a gradient step of a team group's population, given sums over all shards; returns the gradient's norm before scaling."""
        team_group = self.team_groups[number]
        if not np.isfinite(total).all():
            self._refuse(team_group, total, update)
        rate = self._rates["learning_rate"][team_group.population]
        kind, at = team_group.kind, team_group.population
        self.vectors[kind], self._moments[kind], norm = self._step(
            self.vectors[kind], self._moments[kind], total, rate, at
        )
        self.steps[number] += 1
        if self.steps[number] % self.algorithm.settings.target_every == 0:
            self._copy(team_group)
        return float(norm)

    def _copy(self, team_group: TeamGroup) -> None:
        target = self.targets[team_group.kind].copy()
        target[team_group.population] = np.asarray(self.vectors[team_group.kind][team_group.population])
        self.targets[team_group.kind] = target

    def _stepped(
        self, vectors: Any, moments: Any, total: jax.Array, rate: jax.Array, at: jax.Array
    ) -> tuple[Any, Any, jax.Array]:
        gradient = total[:-NUM_SUMS] / total[-1]
        own = jax.tree.map(lambda leaf: leaf[at], moments)
        direction, moved = self._optimiser.update(gradient, own, vectors[at])
        vectors = vectors.at[at].add(-rate * direction)
        moments = jax.tree.map(lambda leaf, new: leaf.at[at].set(new), moments, moved)
        return vectors, moments, jnp.sqrt(jnp.square(gradient).sum())

    def _refuse(self, team_group: TeamGroup, total: np.ndarray, update: int) -> None:
        network, at = self.networks[team_group.kind], int(np.argmin(np.isfinite(total)))
        of = (
            f"gradient of {network.tensor_at(at)}"
            if at < network.size
            else f"sum of {Differences._fields[at - network.size]}"
        )
        raise UserError(f"update {update}: {of} is not finite; lower the learning rate or scale the rewards")

    def begin_with(self, vectors: Mapping[str, Any]) -> None:
        """Sets the initial parameters, also of the targets."""
        super().begin_with(vectors)
        self.targets = {name: np.asarray(own) for name, own in self.vectors.items()}

    def save(self) -> dict[str, dict[str, np.ndarray]]:
        """Arrays for a checkpoint, with targets and counts of gradient steps in a file of their own."""
        return super().save() | {"targets": {"steps": self.steps, **self.targets}}

    def load(self, arrays: Mapping[str, Mapping[str, np.ndarray]]) -> None:
        """Restores the arrays of `save`."""
        super().load(arrays)
        mine = {name: np.empty_like(target) for name, target in self.targets.items()}
        counts = {"steps": self.steps}
        restore({**counts, **mine}, arrays.get("targets", {}), "checkpoint: targets", {"steps": (0, 2**53)})
        self.targets = mine

"""The parameters of all populations, and how summed gradients change them: each population by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.world import Kind
from interplay.train.brain import NUM_TERMS
from interplay.train.losses import Terms
from interplay.train.pool import Pool
from interplay.train.populations import Populations
from interplay.train.ppo import ADAM_EPSILON, read_moments, read_policy
from interplay.train.settings import TrainSettings
from interplay.train.stacked import StackedBrain

TORCH_EPSILON = 1e-8  # torch's Adam as it is, and with it the paper's code


class StackedLearner:
    """Networks of all kinds of agents and populations, their parameters and optimisers.

    Every worker has one and feeds it the same summed gradients, so all hold the same bits.

    Args:
        kinds: of the world.
        settings: of the run.
        populations: of the run.

    Attributes:
        brains: kind name -> `StackedBrain`.
        vectors: kind name -> (Q, P) float32, the parameters.
        populations: of the run.
        pool: past selves.
        learns: (Q,) bool, the populations that learn; the rows of the others are not kept.

    Raises:
        UserError: if ``train.learners`` names neither a kind nor a population of the run's own.
    """

    def __init__(self, kinds: Sequence[Kind], settings: TrainSettings, populations: Populations) -> None:
        key = jax.random.key(settings.seed)
        self.populations = populations
        self._at = np.flatnonzero(populations.played)  # rows of the stacks that are the run's own
        self.brains = {
            kind.name: StackedBrain(kind, settings, jax.random.fold_in(key, i), populations)
            for i, kind in enumerate(kinds)
        }
        self._learns, self.learns = _who_learns(
            [kind.name for kind in kinds], populations, settings.train.learners
        )
        self.pool = Pool(settings.pool, populations, {name: b.size for name, b in self.brains.items()})
        optimiser = _optimiser(settings)
        self.vectors: dict[str, Any] = {name: jnp.asarray(b.stack) for name, b in self.brains.items()}
        self._moments = {name: jax.vmap(optimiser.init)(vector) for name, vector in self.vectors.items()}
        self._move = jax.jit(partial(_move, optimiser), donate_argnums=(0, 1))

    @property
    def size(self) -> int:
        """Length of the vectors that shards add up: every kind's and population's gradient and terms."""
        return sum(b.stack.shape[0] * (b.size + NUM_TERMS) for b in self.brains.values())

    def forms(self) -> dict[str, Any]:
        """Kind name -> the fast form of its networks, past selves after the others, for as long as the parameters stay."""
        if not self.pool.places:
            return {name: brain.unfold(self.vectors[name]) for name, brain in self.brains.items()}
        return {
            name: brain.unfold(jnp.concatenate([self.vectors[name], self.pool.stacks[name]]))
            for name, brain in self.brains.items()
        }

    def nothing(self, name: str) -> jax.Array:
        """Where a kind's sums begin: (Q, P + 8) zeros."""
        brain = self.brains[name]
        return jnp.zeros((len(brain.stack), brain.size + NUM_TERMS), jnp.float32)

    def terms(self, total: np.ndarray) -> np.ndarray:
        """The loss terms inside a summed vector, over all kinds: (Q, 8) float64."""
        return np.sum(
            [part[:, -NUM_TERMS:].astype(np.float64) for part in self._parts(total).values()], axis=0
        )

    def apply(self, total: np.ndarray) -> None:
        """Takes one step of every population that has rows, along the mean of its rows; the others stay as they are.

        Args:
            total: (size,) float32, sums over every shard's rows, checked.
        """
        parts = self._parts(total)
        for name in self._learns:
            self.vectors[name], self._moments[name] = self._move(
                self.vectors[name], self._moments[name], parts[name]
            )

    def check(self, total: np.ndarray, update: int) -> None:
        """Refuses a sum that would spoil the parameters.

        Raises:
            UserError: if a gradient is not finite, naming its tensor and population.
        """
        if np.isfinite(total.sum()):
            return
        for name, part in self._parts(total).items():
            bad = np.argwhere(~np.isfinite(part))
            if not bad.size:
                continue
            brain, (population, at) = self.brains[name], (int(i) for i in bad[0])
            of = (
                f"gradient of {brain.tensor_at(at)}"
                if at < brain.size
                else f"loss term {Terms._fields[at - brain.size]}"
            )
            raise UserError(
                f"update {update}: {of} ({name}, {self.populations.names[population]}) is not finite; "
                "lower the learning rate or scale the rewards"
            )

    def save(self) -> dict[str, dict[str, np.ndarray]]:
        """Arrays for a checkpoint: file stem -> name -> array; two files for each population."""
        files: dict[str, dict[str, np.ndarray]] = {}
        for population in self.populations.own:
            index = self.populations.names.index(population)
            policy: dict[str, np.ndarray] = {}
            moments: dict[str, np.ndarray] = {}
            for name, brain in self.brains.items():
                tensors = brain.split(np.asarray(self.vectors[name][index]))
                policy |= {f"{name}/{tensor}": array for tensor, array in tensors.items()}
                leaves = jax.tree.leaves(self._moments[name])
                moments |= {f"{name}/{i}": np.asarray(leaf[index]) for i, leaf in enumerate(leaves)}
            files |= {policy_stem(population): policy, f"optimiser-{population}": moments}
        return files | {"pool": self.pool.save()} if self.pool.places else files

    def describe(self) -> dict[str, Any]:
        """What a checkpoint's record says of the learner beside its arrays: the order of the populations."""
        return {"populations": list(self.populations.own)}

    def begin_with(self, vectors: Mapping[str, Any]) -> None:
        """Puts other weights, kind name -> (populations of its own, P) float32, in the place of those drawn; for a run that begins."""
        for name, stack in vectors.items():
            self.vectors[name] = self.vectors[name].at[self._at].set(jnp.asarray(stack))

    def load(self, arrays: Mapping[str, Mapping[str, np.ndarray]]) -> None:
        """Restores what `save` gave.

        Raises:
            UserError: if the checkpoint belongs to another network or to other populations.
        """
        own = self.populations.own
        self.begin_with(read_stacks(self.brains, [arrays.get(policy_stem(p), {}) for p in own]))
        for name, moments in self._moments.items():
            one = jax.tree.map(lambda leaf: leaf[0], moments)
            each = [read_moments(name, one, arrays.get(f"optimiser-{p}", {})) for p in own]
            stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *each)
            self._moments[name] = jax.tree.map(lambda leaf, new: leaf.at[self._at].set(new), moments, stacked)
        if self.pool.places:
            self.pool.load(arrays.get("pool", {}))

    def _parts(self, total: np.ndarray) -> dict[str, np.ndarray]:
        parts, at = {}, 0
        for name, brain in self.brains.items():
            shape = (len(brain.stack), brain.size + NUM_TERMS)
            parts[name] = total[at : at + shape[0] * shape[1]].reshape(shape)
            at += shape[0] * shape[1]
        return parts


def _who_learns(
    kinds: Sequence[str], populations: Populations, wanted: Sequence[str]
) -> tuple[list[str], np.ndarray]:
    """The kinds that learn, and the (Q,) bool mask of the populations that do; who is not restricted learns."""
    known = list(dict.fromkeys((*kinds, *populations.names)))
    for name in wanted:
        if name not in known:
            near = did_you_mean(name, known, f"there are {', '.join(known)}")
            raise UserError(f"train.learners: no kind or population {name!r}; {near}")
        if name in populations.opponents:
            raise UserError(f"train.learners: {name} is played by somebody else; take it out of opponents")
    some = set(wanted) & set(populations.names)
    learns = np.array([name in (some or populations.own) for name in populations.names])
    return [name for name in kinds if name in wanted or not set(wanted) & set(kinds)], learns


def policy_stem(population: str) -> str:
    """The file of a population's weights in a checkpoint, without its ending."""
    return f"policy-{population}"


def read_stacks(
    brains: Mapping[str, StackedBrain], tensors: Sequence[Mapping[str, np.ndarray]]
) -> dict[str, Any]:
    """Stacked parameters, kind name -> (Q, P), from the named tensors of Q populations.

    Raises:
        UserError: if names or shapes do not fit these networks.
    """
    each = [read_policy(brains, one) for one in tensors]
    return {name: jnp.stack([vectors[name] for vectors in each]) for name in brains}


def _optimiser(settings: TrainSettings) -> optax.GradientTransformation:
    """For one population; its state is stacked, so that a population's own count of steps corrects its moments."""
    if settings.algorithm == "ppo":
        ppo = settings.ppo
        return optax.chain(
            optax.clip_by_global_norm(ppo.max_grad_norm), optax.adam(ppo.learning_rate, eps=ADAM_EPSILON)
        )
    own = settings.policy_gradient
    return optax.chain(
        optax.clip(own.clip_element),
        optax.add_decayed_weights(own.weight_decay),
        optax.adam(own.learning_rate, eps=TORCH_EPSILON),
    )


def _move(optimiser: optax.GradientTransformation, vectors: Any, moments: Any, parts: Any) -> tuple[Any, Any]:
    """One step of every population with rows; `parts` (Q, P + 8) are summed gradients followed by the terms."""
    rows = parts[:, -NUM_TERMS:][:, Terms._fields.index("rows")]

    def one(vector: Any, moment: Any, part: Any, number: Any) -> tuple[Any, Any]:
        gradient = part[:-NUM_TERMS] / jnp.maximum(number, 1.0)
        change, moved = optimiser.update(gradient, moment, vector)
        return jax.tree.map(
            partial(jnp.where, number > 0), (optax.apply_updates(vector, change), moved), (vector, moment)
        )

    moved: tuple[Any, Any] = jax.vmap(one)(vectors, moments, parts, rows)
    return moved

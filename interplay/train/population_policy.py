"""Trained populations for play: every agent is moved by the weights of its population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import TimeStep, World
from interplay.train.checkpoint import read_part
from interplay.train.leaves import Leaves
from interplay.train.manifest import damaged, read_manifest
from interplay.train.opponents import Opponents
from interplay.train.populations import Populations, cut_blocks, find_populations, sort_rows
from interplay.train.restoring import check_weights
from interplay.train.settings import TrainSettings
from interplay.train.stacked import Rows, StackedBrain
from interplay.train.stacked_learner import policy_stem, read_stacks

AT_ONCE = 8_192  # rows that are computed in one call; fewer are filled up, so that XLA compiles one shape


class PopulationPolicy(Policy):
    """Acts with the networks of several populations.

    Where world or settings name the populations, an agent is moved by the population of its name. Else, and where there is
    none, an agent of the world's population p is moved by population ``p mod Q`` of these Q, so in a world that is shared
    by several policies, each with its own range of Q numbers, everyone is moved by the weights that are meant.

    Args:
        settings: of the run.
        names: of the Q populations.
        tensors: of each, ``kind/tensor`` -> array.
        greedy: take the likeliest action instead of sampling.
        name: what tables call it.
        others: population -> who plays it where none of the Q has its name: those whom the run was trained against.
    """

    # The checkpoint's, and the others, who are asked themselves.
    no_memory = (*Policy.no_memory, "_tensors", "_brains", "_forms", "_rows", "_others", "_opponents")

    def __init__(
        self,
        settings: TrainSettings,
        names: Sequence[str],
        tensors: Sequence[Mapping[str, np.ndarray]],
        greedy: bool,
        name: str,
        others: Mapping[str, Policy] | None = None,
    ) -> None:
        self.settings, self.greedy, self.name = settings, greedy, name
        self.names = tuple(names)
        self._tensors = list(tensors)
        self._others = dict(others or {})

    def start(self, world: World, seed: int = 0) -> None:
        """Prepares for playing `world`.

        Raises:
            UserError: if the networks were trained for other spaces.
        """
        super().start(world, seed)
        key = jax.random.key(0)  # of weights that are replaced at once
        own = Populations(self.names, None)
        self._populations = find_populations(self.settings.population, world)
        self._moved_by = self._match(world)
        theirs = {
            n: p for n, p in self._others.items() if n in self._populations.names and n not in self.names
        }
        self._opponents = Opponents(world, self._populations, theirs, (seed, 0, 0))
        self._ours = np.array([name not in theirs for name in self._populations.names])
        self._brains = {kind.name: StackedBrain(kind, self.settings, key, own) for kind in world.kinds}
        for name in self._brains:
            if not any(tensor.startswith(f"{name}/") for tensor in self._tensors[0]):
                raise UserError(f"{world.id}: the policy was not trained for agents of kind {name}")
        vectors = read_stacks(self._brains, self._tensors)
        self._forms = {name: brain.unfold(vectors[name]) for name, brain in self._brains.items()}
        self._rows: dict[tuple[str, int, bool], Rows] = {}

    def forget(self, which: np.ndarray) -> None:
        self._opponents.forget(which)

    def save(self) -> dict[str, np.ndarray]:
        """The stream of draws, and what the others remember."""
        return super().save() | {f"others/{name}": array for name, array in self._opponents.save().items()}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        theirs = {k.removeprefix("others/"): a for k, a in arrays.items() if k.startswith("others/")}
        super().load({name: array for name, array in arrays.items() if not name.startswith("others/")})
        self._opponents.load(theirs)

    def act(self, timestep: TimeStep) -> Any:
        """Actions for every slot."""
        observations = self.world.by_kind(timestep.observation)
        masks = self.world.by_kind(timestep.action_mask)
        population = self._populations.of(self.world)
        acting = timestep.acting & self._ours[population]
        key = jax.random.key(int(self.rng.integers(2**32)))
        actions = {}
        for number, (name, brain) in enumerate(self._brains.items()):
            slots = list(brain.kind.slots)
            shape = (self.world.num_worlds, len(slots))
            mask = brain.distribution.flat_mask(masks[name], shape)
            leaves = {
                k: np.asarray(leaf).reshape(-1, *np.shape(leaf)[2:]) for k, leaf in observations[name].items()
            }
            index = np.flatnonzero(acting[:, slots])
            said = self._ask(
                name,
                leaves,
                index,
                self._moved_by[population[:, slots].reshape(-1)[index]],
                None if mask is None else mask.reshape(shape[0] * shape[1], -1),
                jax.random.fold_in(key, number),
            )
            flat = np.zeros((shape[0] * shape[1], brain.distribution.columns), np.float32)
            flat[index] = said[:, :-2]
            actions[name] = brain.distribution.to_world(flat.reshape(*shape, -1))
        ours = actions if len(actions) > 1 else next(iter(actions.values()))
        return self._opponents.act(ours, timestep, population)

    def values(
        self, observation: Mapping[str, np.ndarray], population: np.ndarray, kind: str = "agent"
    ) -> np.ndarray:
        """What populations think of observations: the value of each row.

        Args:
            observation: key -> (N, ...).
            population: (N,) integers.
            kind: of agent.

        Returns:
            (N,) float32.
        """
        every = np.arange(len(population))
        return self._ask(kind, observation, every, np.asarray(population), None, jax.random.key(0))[:, -1]

    @property
    def guesses(self) -> bool:
        """Whether its networks guess who is who, so that `beliefs` can be asked."""
        return bool(self.settings.belief.about)

    def beliefs(
        self, observation: Mapping[str, np.ndarray], population: np.ndarray, kind: str = "agent"
    ) -> np.ndarray:
        """How likely every seat is of the population that the run was told to guess (``belief.about``).

        Args:
            observation: key -> (N, ...).
            population: (N,) of the world's populations.
            kind: of agent.

        Returns:
            (N, n) float32.

        Raises:
            UserError: if the run learnt no guess.
        """
        if not self.guesses:
            raise UserError(f"{self.name}: this run guesses nothing; train one with belief.about=werewolf")
        brain, out = (
            self._brains[kind],
            np.zeros((len(population), len(self._brains[kind].kind.slots)), np.float32),
        )
        for number, picked, rows in self._pieces(observation, population, kind):
            said = brain.beliefs_of(self._forms[kind], np.int32(number), rows)
            out[picked] = np.asarray(said)[: len(picked)]
        return out

    def probabilities(
        self,
        observation: Mapping[str, np.ndarray],
        mask: np.ndarray | None,
        population: np.ndarray,
        kind: str = "agent",
    ) -> np.ndarray:
        """How likely every choice is, the heads of the action one after another.

        Args:
            observation: key -> (N, ...).
            mask: (N, choices) bool, legal ones; None: all.
            population: (N,) of the world's populations.
            kind: of agent.

        Returns:
            (N, choices) float32.
        """
        brain = self._brains[kind]
        out = np.zeros((len(population), brain.distribution.choices), np.float32)
        for number, picked, rows in self._pieces(observation, population, kind):
            legal = None if mask is None else pad_rows(np.asarray(mask, bool)[picked], AT_ONCE)
            said = brain.chances_of(self._forms[kind], np.int32(number), rows, legal)
            out[picked] = np.asarray(said)[: len(picked)]
        return out

    def _pieces(
        self, observation: Mapping[str, np.ndarray], population: np.ndarray, kind: str
    ) -> Iterator[tuple[int, np.ndarray, Leaves]]:
        """Rows by who moves them: its number, where they stand, and their leaves, filled up so that XLA compiles one shape."""
        brain, own = self._brains[kind], self._moved_by[np.asarray(population)]
        rows = brain.leaves.allocate(AT_ONCE)
        given = {key: np.asarray(leaf)[None] for key, leaf in observation.items()}
        for number in np.unique(own):
            index = np.flatnonzero(own == number)
            for start in range(0, len(index), AT_ONCE):
                picked = index[start : start + AT_ONCE]
                brain.leaves.take(given, picked, rows)
                yield int(number), picked, rows

    def _match(self, world: World) -> np.ndarray:
        """(N,) number among the Q of who moves the world's population n."""
        theirs = self._populations.names
        named = world.population_names is not None or self.settings.population.by == "name"
        return np.array(
            [
                self.names.index(name) if named and name in self.names else number % len(self.names)
                for number, name in enumerate(theirs)
            ]
        )

    def _ask(
        self,
        name: str,
        leaves: Mapping[str, np.ndarray],
        index: np.ndarray,
        population: np.ndarray,
        mask: np.ndarray | None,
        key: jax.Array,
    ) -> np.ndarray:
        """(n, columns + 2) for the rows `index` of the leaves."""
        brain = self._brains[name]
        out = np.zeros((len(index), brain.distribution.columns + 2), np.float32)
        own = population % len(brain.stack)
        most = min(AT_ONCE, next(iter(leaves.values())).shape[0])
        rows = self._space(name, most, mask is not None)
        for number, start in enumerate(range(0, len(index), most)):
            part = slice(start, start + most)
            order, counts = sort_rows(own[part], len(brain.stack))
            picked = index[part][order]
            brain.leaves.take({key: leaf[None] for key, leaf in leaves.items()}, picked, rows.leaves)
            if mask is not None and rows.mask is not None:
                rows.mask[: len(picked)] = mask[picked]
            blocks = cut_blocks(counts, brain.block, brain.most_blocks(most))
            said = brain.act_blocks(
                self._forms[name], rows.leaves, rows.mask, blocks, key, np.uint32(number), greedy=self.greedy
            )
            out[start + order] = np.asarray(said)[: len(picked)]
        return out

    def _space(self, name: str, rows: int, masked: bool) -> Rows:
        return self._rows.setdefault((name, rows, masked), self._brains[name].allocate(rows, masked))


def pad_rows(mask: np.ndarray, rows: int) -> np.ndarray:
    """A (N, choices) mask with so many rows; in those that were added everything is legal."""
    padded = np.ones((rows, mask.shape[1]), bool)
    padded[: len(mask)] = mask
    return padded


def population_names(checkpoint: Path) -> list[str]:
    """The populations whose weights a checkpoint's manifest names, in file order; empty for a run without populations."""
    prefix, ending = policy_stem(""), ".safetensors"
    return [
        name.removeprefix(prefix).removesuffix(ending)
        for name in read_manifest(checkpoint)["files"]
        if name.startswith(prefix)
    ]


def read_populations(
    checkpoint: Path, wanted: Sequence[str] | None
) -> tuple[list[str], list[dict[str, np.ndarray]]]:
    """The weights of some populations of a checkpoint, or of all; other files are not looked at.

    Raises:
        UserError: if there is no such population, or its file is missing or damaged.
    """
    there = population_names(checkpoint)
    odd = [name for name in wanted or () if name not in there]
    if odd:
        raise UserError(f"{checkpoint}: no population {odd[0]}; there are {', '.join(there)}")
    record, _ = read_part(checkpoint, [])
    told = record.get("populations", there)
    if not isinstance(told, list) or sorted(map(str, told)) != sorted(there):
        raise damaged(checkpoint / "record.json", "populations are not those that have files")
    names = list(wanted) if wanted is not None else list(told)
    tensors = read_part(checkpoint, [policy_stem(name) for name in names])[1]
    return names, [
        check_weights(f"{checkpoint}: {name}", one) for name, one in zip(names, tensors, strict=True)
    ]

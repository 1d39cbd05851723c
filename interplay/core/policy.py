"""A policy acts for the agents of a world: scripted players, checkpoints and people alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.core import seeding
from interplay.core.memory import check_memory, recall, remember
from interplay.core.ranges import Range
from interplay.core.spaces import sample_actions
from interplay.core.world import TimeStep, World


class Policy(ABC):
    """Chooses actions from time steps.

    `start` is called once, before play, with the world that will be played; `act` before every step; `forget`
    when worlds were restarted. Where play may stop and go on in another process (an opponent in training), `save` and
    `load` carry over what a policy remembers. They read arrays, numbers and random generators off its attributes
    (`interplay.core.memory`); a policy that remembers in another form writes its own.
    """

    name: str = "policy"
    actions: str = (
        ""  # the rule of play of a trained policy, "sampled" or "greedy"; scripted policies have none
    )
    no_memory: tuple[str, ...] = ("world", "name")  # attributes that `save` leaves out

    def start(self, world: World, seed: int = 0) -> None:
        """Prepares for playing `world`; `seed` names the policy's own random stream."""
        self.world = world
        self.rng = seeding.generator(seed, 0x9001)

    def forget(self, which: np.ndarray) -> None:  # noqa: B027 - most policies remember nothing
        """Forgets the memory of the worlds in the (W,) bool mask `which`, which were restarted."""

    def save(self) -> dict[str, np.ndarray]:
        """Copies what was remembered since `start`, random streams included: name -> array."""
        return remember(self, self.no_memory)

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores the result of `save`, after a `start` with the same world; from then on it acts the same, bit for bit."""
        check_memory(self, self.save(), arrays, self.memory_ranges())
        recall(self, arrays, self.no_memory)

    def memory_ranges(self) -> Mapping[str, Range]:
        """Ranges of the arrays that kernels read: path in `save` -> range; read after `start`."""
        return {}

    @abstractmethod
    def act(self, timestep: TimeStep) -> Any:
        """Actions for every slot, in the form of `World.step`; rows of agents that do not act are ignored.

        Matches and training pass read-only arrays, which are valid until the next step.
        """


def by_name(*policies: type[Policy]) -> dict[str, Callable[[], Policy]]:
    """Policies by their names, as the mapping of a world's scripted players."""
    return {policy.name: policy for policy in policies}


class RandomPolicy(Policy):
    """Draws uniformly from each agent's legal actions."""

    name = "random"

    def act(self, timestep: TimeStep) -> Any:
        world = self.world
        masks = world.by_kind(timestep.action_mask)
        actions = {}
        for kind in world.kinds:
            shape = (world.num_worlds, len(kind.slots))
            if masks[kind.name] is None:
                actions[kind.name] = sample_actions(kind.action_space, self.rng, shape)
            else:
                actions[kind.name] = sample_legal(kind.action_space, masks[kind.name], self.rng, shape)
        return actions if len(world.kinds) > 1 else actions[world.kinds[0].name]


def sample_legal(
    space: Any, mask: Any, rng: np.random.Generator, shape: tuple[int, ...], key: str = "action"
) -> Any:
    """Uniform draws among the legal choices of each head.

    Args:
        space: of one agent; Dict spaces are sampled key by key.
        mask: mapping as in `TimeStep.action_mask`; keys that are absent are unmasked.
        key: the mask's key of this (sub)space.
    """
    from gymnasium import spaces

    from interplay.core.spaces import action_choices

    if isinstance(space, spaces.Dict):
        return {name: sample_legal(part, mask, rng, shape, name) for name, part in space.spaces.items()}
    if key not in mask:
        return sample_actions(space, rng, shape)
    heads, start = [], 0
    for count in action_choices(space):
        legal = mask[key][..., start : start + count]
        score = np.where(legal, rng.random(legal.shape), -1.0)
        heads.append(score.argmax(axis=-1))
        start += count
    stacked = np.stack(heads, axis=-1) + np.asarray(getattr(space, "start", 0)).reshape(-1)
    return stacked.reshape(*shape, *space.shape).astype(space.dtype)

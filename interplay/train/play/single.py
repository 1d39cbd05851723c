"""Trained networks for one agent at a time, for scripts that step a simulation themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.world import Kind
from interplay.train.play.trained_policy import without_critic
from interplay.train.policy_network import PolicyNetwork, step_keys
from interplay.train.populations import Populations
from interplay.train.run.checkpoint import read_checkpoint
from interplay.train.run.settings_file import settings_of
from interplay.train.run.warm_start import present_player, read_stacks, weights_of


class SingleActor:
    """The networks of a checkpoint.

    Args:
        checkpoint: its folder, inside the run's.
        trust: the run's settings may name user-defined programs; needed once, for a run from elsewhere.

    Raises:
        UserError: for networks with memory or ``agent_id``, a damaged checkpoint or one of other kinds, or untrusted programs.
    """

    def __init__(self, checkpoint: Path, kinds: Sequence[Kind], seed: int = 0, trust: bool = False) -> None:
        settings = settings_of(checkpoint, trust)
        if settings.network.remembers:
            raise UserError(
                f"{checkpoint}: its networks have memory (network.{settings.network.remembers}), which is not supported here; "
                "play the run with load_policy, or train it with network.memory=none and network.stack=1"
            )
        if settings.factored is not None and settings.factored.agent_id:
            raise UserError(
                f"{checkpoint}: its networks need the agent ({settings.algorithm}.agent_id), which is not supported here; "
                "play the run with load_policy, or train it with agent_id=false"
            )
        found = read_checkpoint(checkpoint)
        learners = tuple(settings.league.learners)
        player = present_player(found.arrays["pool"], learners, learners[0]) if learners else None
        tensors = weights_of(found, player)
        key, alone = jax.random.key(0), Populations(("pop0",), None)  # of weights that are replaced
        self._networks = {
            kind.name: PolicyNetwork(kind, settings, key, alone, weights=without_critic(tensors, settings))
            for kind in kinds
        }
        vectors = read_stacks(self._networks, [without_critic(tensors, settings)])
        self._inference = {
            name: network.precompute(vectors[name]) for name, network in self._networks.items()
        }
        self._key = np.asarray(jax.random.key_data(jax.random.key(seed)))[None]
        self._drawn = 0

    def act(
        self, kind: str, observation: Mapping[str, np.ndarray], mask: Any = None, explore: bool = False
    ) -> Any:
        """An action of one agent.

        Args:
            kind: name of the network.
            observation: leaf name -> array.
            mask: of legal choices, as `TimeStep.action_mask` without its first two axes; None: all legal.
            explore: sample the action instead of taking the likeliest.

        Returns:
            A point of the kind's action space.
        """
        network = self._networks[kind]
        rows = network.layout.allocate(1)
        network.layout.write({key: np.asarray(value)[None] for key, value in observation.items()}, None, rows)
        lifted = None if mask is None else {key: np.asarray(row)[None] for key, row in mask.items()}
        legal = network.distribution.flat_mask(lifted, (1,))
        self._drawn += 1
        outputs = network.act(
            self._inference[kind],
            {dtype: array[None] for dtype, array in rows.items()},
            None if legal is None else legal[None],
            None,
            step_keys(self._key, np.full(1, self._drawn % 2**32, np.uint32), 1)[0],
            block=1,
            greedy=not explore,
        )
        return _point(
            network.kind.action_space, network.distribution.to_world(np.asarray(outputs)[0, 0, :-2])
        )


def _point(space: spaces.Space, value: Any) -> Any:
    """Numbers of Discrete spaces as plain ints."""
    if isinstance(space, spaces.Dict):
        return {key: _point(part, value[key]) for key, part in space.spaces.items()}
    return int(value) if isinstance(space, spaces.Discrete) else value

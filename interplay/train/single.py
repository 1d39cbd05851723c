"""Trained networks that act for one agent at a time, for scripts that step a simulation themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from gymnasium import spaces

from interplay.core.world import Kind
from interplay.train.brain import Brain
from interplay.train.checkpoint import read_checkpoint
from interplay.train.ppo import read_policy
from interplay.train.run_settings import settings_of
from interplay.train.warm_start import weights_of


class SingleActor:
    """The networks of a checkpoint.

    Args:
        checkpoint: its folder, inside the run's.
        kinds: that were trained.
        seed: of the actions that are drawn.
        trust: the run's settings may name programs of their own; needed once, for a run from elsewhere.

    Raises:
        UserError: if the checkpoint is damaged or of other kinds, or the run names programs and is not trusted.
    """

    def __init__(self, checkpoint: Path, kinds: Sequence[Kind], seed: int = 0, trust: bool = False) -> None:
        settings = settings_of(checkpoint, trust)
        tensors = weights_of(read_checkpoint(checkpoint), None)
        weights = jax.random.key(0)  # replaced at once
        self._brains = {kind.name: Brain(kind, settings, weights) for kind in kinds}
        self._vectors = read_policy(self._brains, tensors)
        self._key = jax.random.key(seed)
        self._drawn = 0

    def act(
        self, kind: str, observation: Mapping[str, np.ndarray], mask: Any = None, explore: bool = False
    ) -> Any:
        """An action of one agent.

        Args:
            kind: name of the network.
            observation: leaf name -> array.
            mask: of legal choices, as `TimeStep.action_mask` without its first two axes; None: all are.
            explore: draw the action instead of taking the likeliest.

        Returns:
            A point of the kind's action space.
        """
        brain = self._brains[kind]
        rows = np.empty((1, 1, brain.rows.width), np.float32)
        brain.rows.write({key: np.asarray(value)[None, None] for key, value in observation.items()}, rows)
        lifted = None if mask is None else {key: np.asarray(row)[None, None] for key, row in mask.items()}
        legal = brain.distribution.flat_mask(lifted, (1, 1))
        self._drawn += 1
        flat = brain.choose(
            self._vectors[kind],
            rows[0],
            None if legal is None else legal[0],
            jax.random.fold_in(self._key, self._drawn),
            greedy=not explore,
        )
        return _point(brain.kind.action_space, brain.distribution.to_world(np.asarray(flat)[0]))


def _point(space: spaces.Space, value: Any) -> Any:
    """Numbers of Discrete spaces as plain ints."""
    if isinstance(space, spaces.Dict):
        return {key: _point(part, value[key]) for key, part in space.spaces.items()}
    return int(value) if isinstance(space, spaces.Discrete) else value

"""Worlds with illegal choices for RLlib's masking modules: a vector beside a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv

from interplay.connect.rllib.actions import mask_row, mask_space
from interplay.connect.rllib.worlds import Members, WorldMultiAgentEnv
from interplay.core.masks import as_gymnasium

SEEN, LEGAL = (
    "observations",
    "action_mask",
)  # as ray.rllib.examples.rl_modules.classes.action_masking_rlm names them


class MaskedMultiAgentEnv(WorldMultiAgentEnv):
    """A PettingZoo parallel environment with observations ``{"observations": (n,), "action_mask": (choices,)}``, float32.

    The vector is that of `gymnasium.spaces.flatten`; the mask, the choices of all heads one after another, comes from infos, all
    ones without one. RLlib's ``ActionMaskingTorchRLModule`` adds its logarithm to the logits.

    Args:
        env: the environment, as `interplay.make` or `interplay.connect.werewolf.make_role_named` gives it.

    Example:
        >>> from interplay.connect.werewolf import make_role_named
        >>> env = MaskedMultiAgentEnv(make_role_named("werewolf/6"))
        >>> observations, _ = env.reset(seed=1)
        >>> {name: int(row["action_mask"].sum()) for name, row in observations.items()}
        {'werewolf_0': 4, 'werewolf_1': 4}
    """

    def __init__(self, env: ParallelEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self._plain = self.observation_spaces
        self.observation_spaces = {
            name: spaces.Dict(
                {
                    SEEN: _vector(plain),
                    LEGAL: mask_space(self._given[name]),
                }
            )
            for name, plain in self._plain.items()
        }
        self.observation_space = spaces.Dict(self.observation_spaces)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Members, Members]:
        """As `WorldMultiAgentEnv.reset`."""
        observations, infos = super().reset(seed=seed, options=options)
        return self._masked(observations, infos), infos

    def step(self, action_dict: Members) -> tuple[Members, Members, Members, Members, Members]:
        """As `WorldMultiAgentEnv.step`."""
        observations, rewards, terminated, truncated, infos = super().step(action_dict)
        return self._masked(observations, infos), rewards, terminated, truncated, infos

    def _masked(self, observations: Members, infos: Members) -> Members:
        seen = {}
        for name, row in observations.items():
            flat = np.asarray(spaces.flatten(self._plain[name], row), np.float32)
            space, mask = self._given[name], infos.get(name, {}).get(LEGAL)
            if isinstance(mask, np.ndarray):
                mask = as_gymnasium(space, mask)
            seen[name] = {SEEN: flat, LEGAL: mask_row(space, mask)}
        return seen


def _vector(space: spaces.Space[Any]) -> spaces.Box:
    """The flat space in float32."""
    flat: Any = spaces.flatten_space(space)
    return spaces.Box(flat.low.astype(np.float32), flat.high.astype(np.float32), dtype=np.float32)

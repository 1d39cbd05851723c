"""The common part of SMAC's three interfaces: getters, pictures, replays (specification 5.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.connect.pictures import HUMAN, PIXELS, WorldPictures
from interplay.connect.smac.side import LearningSide, Turn
from interplay.core.errors import UserError
from interplay.worlds.battle.state import RED


class SmacFace(LearningSide, WorldPictures):
    """One battle with the getters of SMAC's environment; see `LearningSide` for its arguments."""

    def get_obs(self) -> list[np.ndarray]:
        """The agents' observations, float32 rows of `get_obs_size`; zeros for the dead."""
        return list(self._rows())

    def get_obs_agent(self, agent_id: int) -> np.ndarray:
        return self._rows()[self._agent(agent_id)]

    def get_obs_size(self) -> Any:
        return len(self._columns)

    def get_state(self) -> np.ndarray:
        """The side's state, a float32 row of `get_state_size`."""
        if self.settings.obs_instead_of_state:
            return self._rows().ravel()
        self._now()
        return self.world.side_state(RED)[0, self._state_columns]

    def get_state_size(self) -> Any:
        return self._state_size()

    def get_avail_actions(self) -> list[list[int]]:
        """A row for each agent: 1 for each legal action, 0 for others.

        Each row has a 1, after the last step too.
        """
        legal: list[list[int]] = self._legal().astype(np.int64).tolist()
        return legal

    def get_avail_agent_actions(self, agent_id: int) -> list[int]:
        return self.get_avail_actions()[self._agent(agent_id)]

    def get_total_actions(self) -> int:
        return self.n_actions

    def get_env_info(self) -> dict[str, Any]:
        """Sizes of observations, state and actions, and the names of a unit's features."""
        ally = ["health", "energy/cooldown", "rel_x", "rel_y"]
        look = ["fov_x", "fov_y"] if self.world.settings.look_directions else []
        return {
            "state_shape": self.get_state_size(),
            "obs_shape": self.get_obs_size(),
            "n_actions": self.get_total_actions(),
            "n_agents": self.n_agents,
            "episode_limit": self.episode_limit,
            "agent_features": self._features(ally, "red_shields", look),
            "enemy_features": self._features(["health", "rel_x", "rel_y"], "blue_shields", []),
        }

    def get_stats(self) -> dict[str, float]:
        """Counts since the environment was made; draws are battles cut by the limit."""
        return {
            "battles_won": self.battles_won,
            "battles_game": self.battles_game,
            "battles_draw": self.timeouts,
            "win_rate": self.battles_won / self.battles_game if self.battles_game else 0.0,
            "timeouts": self.timeouts,
            "restarts": 0,
        }

    def render(self, mode: str = PIXELS) -> np.ndarray | None:
        """A (512, 512, 3) uint8 picture; with ``"human"`` a window shows it."""
        if mode not in (PIXELS, HUMAN):
            raise UserError(f'{self.world.id}: mode = {mode!r}; choose "{PIXELS}" or "{HUMAN}"')
        self._now()
        return self._picture(mode)

    def save_replay(self) -> str:
        """Writes a video of the latest battle into `replay_dir` and gives its path."""
        self._now()
        assert self._replay is not None
        prefix = self.settings.replay_prefix or self.world.id.rpartition("/")[2]
        number = self.battles_game + (not self.world.timestep.over[0])
        path = self._replay.write(self.world, self.settings.replay_dir or ".", f"{prefix}_{number:06d}")
        return str(path)

    def _info(self, turn: Turn) -> dict[str, Any]:
        """Numbers alone: learners add them up."""
        dead = self._dead()
        info = {
            "battle_won": turn.won,
            "dead_allies": int(dead[: self.n_agents].sum()),
            "dead_enemies": int(dead[self.n_agents :].sum()),
        }
        return info | self._limit_info(turn)

    def _limit_info(self, turn: Turn) -> dict[str, Any]:
        """``episode_limit`` for learners with episodes that continue past the limit, and only for them."""
        return {"episode_limit": True} if turn.cut and self.settings.continuing_episode else {}

    def _state_size(self) -> int:
        if self.settings.obs_instead_of_state:
            return self.n_agents * len(self._columns)
        return len(self._state_columns)

    def _agent(self, agent_id: int) -> int:
        if agent_id not in range(self.n_agents):
            raise UserError(f"{self.world.id}: no agent {agent_id}; there are 0 to {self.n_agents - 1}")
        return int(agent_id)

    def _features(self, names: list[str], shields: str, look: list[str]) -> list[str]:
        rules = self.world.table[0]
        shield = ["shield"] * int(rules[shields])
        return [*names, *shield, *look, *(f"type_{number}" for number in range(int(rules["kinds"])))]

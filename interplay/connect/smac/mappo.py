"""A battle in the form of the on-policy MAPPO code."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.connect.smac.face import SmacFace
from interplay.connect.smac.layout import joined
from interplay.connect.smac.side import Turn
from interplay.core.errors import UserError
from interplay.core.policy import Policy

Inputs = tuple[np.ndarray, np.ndarray, np.ndarray]
# Switches of that code's parser -> the value that is honoured.
_SWITCHES = {
    "add_local_obs": False,
    "add_move_state": False,
    "add_visible_state": False,
    "add_distance_state": False,
    "add_xy_state": False,
    "add_enemy_action_state": False,
    "add_agent_id": False,
    "use_state_agent": False,
    "add_center_xy": True,
    "use_stacked_frames": False,
}

_COUNTS = ("battles_won", "battles_game", "battles_draw", "restarts")  # of `get_stats`, in infos


class MAPPOEnv(SmacFace):
    """One battle for on-policy MAPPO: its `StarCraft2Env`.

    Observations are in the order in which that code cuts them: allies, enemies, moves, the unit itself. The state is SMAC's, the
    same in every row; that code's per-agent states are not offered.

    Args:
        map_name: a scenario, see `LearningSide`; or that code's parsed arguments, of which `map_name` and
            `use_obs_instead_of_state` are read. Switches that would add to the state are refused.
        seed, enemy, **keywords: see `LearningSide`.

    Attributes:
        observation_space, share_observation_space: for each agent ``[total, [rows, width], ...]``.
        action_space: for each agent a Discrete.

    Example:
        >>> env = MAPPOEnv("3m", seed=1)
        >>> observations, states, legal = env.reset()
        >>> observations.shape, states.shape, legal.shape, env.observation_space[0]
        ((3, 30), (3, 48), (3, 9), [30, [2, 5], [3, 5], [1, 4], [1, 1]])
        >>> observations, states, rewards, dones, infos, legal = env.step(np.array([[4], [4], [4]]))
        >>> rewards, dones.tolist(), infos[0]["bad_transition"]
        ([[0.0], [0.0], [0.0]], [False, False, False], False)
    """

    def __init__(
        self,
        map_name: Any = "8m",
        seed: int | None = None,
        enemy: Policy | str = "attack_move",
        **keywords: Any,
    ) -> None:
        if not isinstance(map_name, str) and hasattr(map_name, "map_name"):
            map_name, keywords = map_name.map_name, _read_arguments(map_name, keywords)
        super().__init__(map_name, seed, enemy, **keywords)
        self.action_space: list[spaces.Discrete] = [
            spaces.Discrete(self.n_actions) for _ in range(self.n_agents)
        ]
        self.observation_space = [self.get_obs_size() for _ in range(self.n_agents)]
        self.share_observation_space = [self.get_state_size() for _ in range(self.n_agents)]

    def reset(self) -> Inputs:
        """Begins a battle: observations (n, numbers), states (n, numbers), legal actions (n, n_actions)."""
        self._begin()
        return self._inputs()

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, list[list[float]], np.ndarray, list[dict[str, Any]], np.ndarray]:
        """Observations, states, rewards (n, 1), dones (n,) bool, infos and legal actions.

        The dead are done; all are at the end.

        Args:
            actions: (n,) or (n, 1) numbers; of the dead 0.

        Raises:
            AssertionError: for an illegal action; nothing has happened then.
            UserError: before the first reset, or when the battle is over.
        """
        turn = self._advance(actions)
        observations, states, legal = self._inputs()
        rewards = [[turn.reward] for _ in range(self.n_agents)]
        dones = ~self.world.state.unit["alive"][0, : self.n_agents] | turn.over
        infos = [self._counted(turn) for _ in range(self.n_agents)]
        return observations, states, rewards, dones, infos, legal

    def get_obs_size(self) -> list[Any]:
        """Numbers of an observation, then rows and width of its parts."""
        seen = self._seen
        parts = [list(part.shape) for part in (seen.allies, seen.enemies, seen.move, seen.own)]
        return [len(self._columns), *parts]

    def get_state_size(self) -> list[Any]:
        """Numbers of the state, then rows and width of its parts (last actions with time)."""
        if self.settings.obs_instead_of_state:
            return [self._state_size(), [self.n_agents, len(self._columns)]]
        known = self._known
        rest = known.last.size + known.time.size
        return [self._state_size(), list(known.allies.shape), list(known.enemies.shape), [1, rest]]

    def _ordered(self) -> np.ndarray:
        seen = self._seen
        return joined(seen.allies, seen.enemies, seen.move, seen.own)

    def _inputs(self) -> Inputs:
        states = np.repeat(self.get_state()[np.newaxis], self.n_agents, axis=0)
        return self._rows(), states, self._legal().astype(np.int64)

    def _counted(self, turn: Turn) -> dict[str, Any]:
        """Counts since the environment was made; the runner subtracts."""
        stats = self.get_stats()
        info = {name: stats[name] for name in _COUNTS} | {"bad_transition": turn.cut, "won": turn.won}
        return info | self._limit_info(turn)


def _read_arguments(given: Any, keywords: dict[str, Any]) -> dict[str, Any]:
    """Keywords and the parser's arguments together; switches for another state are refused."""
    for name, honoured in _SWITCHES.items():
        value = getattr(given, name, honoured)
        if value != honoured:
            raise UserError(f"{given.map_name}: {name} = {value!r} needs another state; set it to {honoured}")
    state = {"obs_instead_of_state": bool(getattr(given, "use_obs_instead_of_state", False))}
    return {**state, **keywords}

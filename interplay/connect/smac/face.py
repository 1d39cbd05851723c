"""What SMAC's three faces have in common: a battle in which red learns and a policy plays blue, and the getters (specification 5.5)."""

from __future__ import annotations

import operator
import secrets
from typing import Any, NamedTuple

import numpy as np

from interplay.connect.pictures import PIXELS
from interplay.connect.smac.keywords import read_keywords
from interplay.connect.smac.layout import actions_of, joined, known_columns, seen_columns
from interplay.connect.smac.replay import Replay
from interplay.core.copying import CopiedWhole
from interplay.core.errors import Refused, UserError
from interplay.core.policy import Policy
from interplay.core.world import TimeStep
from interplay.registry import make_policy, make_world
from interplay.worlds.battle.config import FULL_REWARD, KILL_POINTS, WIN_POINTS
from interplay.worlds.battle.state import RED
from interplay.worlds.battle.world import BattleWorld

HUMAN = "human"


class Turn(NamedTuple):
    """What a decision brought."""

    reward: float
    over: bool
    cut: bool  # by the limit
    won: bool


class SmacFace(CopiedWhole):
    """One battle: red's units are played from outside, the enemy by a policy.

    Args:
        map_name: a scenario of `battle/...`, in small or capital letters, or the id of a world of battles.
        seed: names the stream of battles; None draws one.
        enemy: who plays blue: a scripted policy's name, a run folder, or a policy.
        **keywords: of SMAC's constructor, and settings of the world (`exact_smac`, `red`, `randomize`, ...).

    Attributes:
        world: the batch of one.
        n_agents, n_enemies, n_actions, episode_limit: of the scenario.
        battles_won, battles_game, timeouts: so far.

    Raises:
        UserError: for an unknown scenario or enemy, or a keyword that is not honoured.
    """

    def __init__(
        self,
        map_name: str = "8m",
        seed: int | None = None,
        enemy: Policy | str = "attack_move",
        **keywords: Any,
    ) -> None:
        world_id, self.settings, options = read_keywords(map_name, keywords)
        self._seed = secrets.randbits(63) if seed is None else _whole(world_id, seed)
        self.world = _battle(world_id, self._seed, options)
        self.enemy = make_policy(world_id, enemy) if isinstance(enemy, str) else enemy
        if not isinstance(self.enemy, Policy):
            raise UserError(
                f"{world_id}: enemy = {enemy!r} is no policy; give one, a run folder, or the name of a scripted one"
            )
        rules = self.world.table[0]
        self.n_agents, self.n_enemies = (len(team) for team in self.world.teams or ())
        self.episode_limit = self.world.settings.limit
        self._actions = actions_of(rules)
        self.n_actions = len(self._actions)
        every = self.settings.obs_all_health
        self._seen = seen_columns(rules, every, every or self.settings.obs_own_health)
        self._known = known_columns(rules)
        self._columns, self._state_columns = self._ordered(), joined(*self._known)
        self._blue = np.arange(self.n_agents + self.n_enemies) >= self.n_agents
        self.battles_won = self.battles_game = self.timeouts = 0
        self._named: int | None = self._seed  # by which the next battle is named
        self._replay: Replay | None = None
        self._first_army = 0.0  # points of a clean win in the first battle
        self._scale = 1.0  # of the world's rewards
        self._window: Any = None

    # -- what every face answers -------------------------------------------------------------------

    def get_obs(self) -> list[np.ndarray]:
        """What each agent sees, float32 rows of `get_obs_size`; zeros of the dead."""
        return list(self._rows())

    def get_obs_agent(self, agent_id: int) -> np.ndarray:
        """What one agent sees."""
        return self._rows()[self._agent(agent_id)]

    def get_obs_size(self) -> Any:
        """Numbers of an observation."""
        return len(self._columns)

    def get_state(self) -> np.ndarray:
        """The side's state, a float32 row of `get_state_size`.

        Raises:
            UserError: before the first reset.
        """
        if self.settings.obs_instead_of_state:
            return self._rows().ravel()
        self._now()
        return self.world.side_state(RED)[0, self._state_columns]

    def get_state_size(self) -> Any:
        """Numbers of the state."""
        return self._state_size()

    def get_avail_actions(self) -> list[list[int]]:
        """For each agent a row of 1 for the actions that are legal now and 0 for others; each row has a 1, after the last step too."""
        legal: list[list[int]] = self._legal().astype(np.int64).tolist()
        return legal

    def get_avail_agent_actions(self, agent_id: int) -> list[int]:
        """The row of one agent."""
        return self.get_avail_actions()[self._agent(agent_id)]

    def get_total_actions(self) -> int:
        """How many actions there are."""
        return self.n_actions

    def get_env_info(self) -> dict[str, Any]:
        """Sizes of what agents see and do, and names of what a state tells of a unit."""
        return {
            "state_shape": self.get_state_size(),
            "obs_shape": self.get_obs_size(),
            "n_actions": self.get_total_actions(),
            "n_agents": self.n_agents,
            "episode_limit": self.episode_limit,
            "agent_features": self._features(["health", "energy/cooldown", "rel_x", "rel_y"], "red_shields"),
            "enemy_features": self._features(["health", "rel_x", "rel_y"], "blue_shields"),
        }

    def get_stats(self) -> dict[str, float]:
        """Counts since the environment was made; draws are SMAC's, battles that the limit cut."""
        return {
            "battles_won": self.battles_won,
            "battles_game": self.battles_game,
            "battles_draw": self.timeouts,
            "win_rate": self.battles_won / self.battles_game if self.battles_game else 0.0,
            "timeouts": self.timeouts,
            "restarts": 0,
        }

    def seed(self, seed: int | None = None) -> int:
        """The seed; with a number the next `reset` begins the stream of that name.

        Args:
            seed: None asks.
        """
        if seed is not None:
            self._seed = self._named = _whole(self.world.id, seed)
        return self._seed

    def render(self, mode: str = PIXELS) -> np.ndarray | None:
        """A (512, 512, 3) uint8 picture; with ``"human"`` a window shows it.

        Raises:
            UserError: for another mode, before the first reset, or if a package or a display is missing.
        """
        from interplay.view.picture import render_world

        if mode not in (PIXELS, HUMAN):
            raise UserError(f'{self.world.id}: mode = {mode!r}; choose "{PIXELS}" or "{HUMAN}"')
        self._now()
        picture = render_world(self.world, 0)
        if mode == PIXELS:
            return picture
        if self._window is None:
            from interplay.view.window import Window

            self._window = Window(self.world.id, picture.shape[1], picture.shape[0])
        self._window.show(picture)
        return None

    def save_replay(self) -> str:
        """Writes a video of the latest battle into `replay_dir` and gives its path.

        Raises:
            UserError: before the first reset, without the folder, or if a package is missing.
        """
        self._now()
        assert self._replay is not None
        prefix = self.settings.replay_prefix or self.world.id.rpartition("/")[2]
        number = self.battles_game + (not self.world.timestep.over[0])
        path = self._replay.write(self.world, self.settings.replay_dir or ".", f"{prefix}_{number:06d}")
        return str(path)

    def close(self) -> None:
        """Closes the world, and the window where there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None
        self.world.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_window": None}  # a copy opens its own

    # -- parts of a battle -------------------------------------------------------------------------

    def _begin(self, seed: int | None = None) -> None:
        """Begins a battle; a seed names it, None goes on with the streams of the world and of the enemy."""
        if seed is not None:
            self.seed(seed)
        self.world.reset(seeds=self._named)
        if self._named is None:
            self.enemy.forget(np.ones(1, bool))
        else:
            self.enemy.start(self.world, self._named)
        self._named = None
        self._replay = Replay(self.world)
        self._scale = self._measured()

    def _advance(self, actions: Any) -> Turn:
        """One decision: the agents', and the enemy's.

        Raises:
            UserError: before the first reset, or when the battle is over.
            Refused: an `AssertionError`, for actions that are illegal now, or are no actions; nothing has happened then.
        """
        now = self._now()
        if now.over[0]:
            raise UserError(f"{self.world.id}: the battle is over; call reset()")
        playing = getattr(self.enemy, "world", self.world)
        if isinstance(playing, BattleWorld) and playing is not self.world:
            raise UserError(
                f"{self.world.id}: enemy {self.enemy.name} plays in another environment by now; give each a policy of its own"
            )
        own = self._chosen(actions)
        action = np.array(self.enemy.act(now._replace(acting=now.acting & self._blue)), np.int64)
        action[0, : self.n_agents] = own
        now = self.world.step(action)
        assert self._replay is not None
        self._replay.actions.append(action)
        # The first slot of a side is never empty.
        over, cut = bool(now.over[0]), bool(now.truncated[0, 0])
        won = over and bool(self.world.state.room["outcome"][0] > 0)
        self.battles_game += over
        self.battles_won += won
        self.timeouts += cut
        return Turn(float(now.reward[0, 0]) * self._scale, over, cut, won)

    def _info(self, turn: Turn) -> dict[str, Any]:
        """Numbers alone: learners add them up."""
        dead = self._dead()
        told = {
            "battle_won": turn.won,
            "dead_allies": int(dead[: self.n_agents].sum()),
            "dead_enemies": int(dead[self.n_agents :].sum()),
        }
        return told | ({"episode_limit": True} if turn.cut and self.settings.continuing_episode else {})

    def _now(self) -> TimeStep:
        if self._replay is None:
            raise UserError(f"{self.world.id}: no battle has begun; call reset() first")
        return self.world.timestep

    def _rows(self) -> np.ndarray:
        """(n_agents, n) float32, the receiver's own."""
        rows = self._now().observation["units"][0, : self.n_agents]
        return np.take(rows, self._columns, axis=1)

    def _legal(self) -> np.ndarray:
        """(n_agents, n_actions) bool."""
        mask = self._now().action_mask
        assert mask is not None
        return np.take(mask["action"][0, : self.n_agents], self._actions, axis=1)

    def _dead(self) -> np.ndarray:
        """(A,) bool, who has fallen; slots that no unit has are not dead."""
        unit = self.world.state.unit[0]
        return unit["present"] & ~unit["alive"]

    def _chosen(self, actions: Any) -> np.ndarray:
        """(n_agents,) the world's numbers of the actions that were given."""
        given = np.asarray(actions)
        if given.shape not in ((self.n_agents,), (self.n_agents, 1)):
            raise Refused(
                f"{self.world.id}: actions of shape {given.shape}; pass one number for each of {self.n_agents} agents"
            )
        given = given.reshape(-1)
        if not _are_whole(given):
            raise Refused(f"{self.world.id}: actions = {given.tolist()}; pass whole numbers")
        numbers = given.astype(np.int64)
        outside = (numbers < 0) | (numbers >= self.n_actions)
        if outside.any():
            agent = int(outside.argmax())
            raise Refused(
                f"{self.world.id}: agent {agent} chose action {numbers[agent]}, n_actions = {self.n_actions} here; "
                "read get_env_info() of this scenario"
            )
        legal = self._legal()
        wrong = ~legal[np.arange(self.n_agents), numbers]
        if wrong.any():
            agent = int(wrong.argmax())
            raise Refused(
                f"{self.world.id}: agent {agent} chose action {numbers[agent]}, legal are {np.flatnonzero(legal[agent]).tolist()} now; "
                f"choose by get_avail_agent_actions({agent})"
            )
        return self._actions[numbers]

    def _agent(self, agent_id: int) -> int:
        if not 0 <= agent_id < self.n_agents:
            raise UserError(f"{self.world.id}: no agent {agent_id}; there are 0 to {self.n_agents - 1}")
        return agent_id

    def _ordered(self) -> np.ndarray:
        """Columns of an observation in SMAC's order."""
        return joined(*self._seen)

    def _state_size(self) -> int:
        if self.settings.obs_instead_of_state:
            return self.n_agents * len(self._columns)
        return len(self._state_columns)

    def _worth(self) -> float:
        """Points of a clean win over the army of this battle (specification 5.4)."""
        body, present = self.world.body[self.n_agents :], self.world.state.unit["present"][0, self.n_agents :]
        return float(WIN_POINTS + ((KILL_POINTS + body["health"] + body["shield"]) * present).sum())

    def _measured(self) -> float:
        """What a reward of this battle is multiplied by: the world has divided it by the army of the battle."""
        if not self.world.table[0]["scaled"]:
            return 1.0
        army = self._worth()
        if not self.settings.reward_scale:
            return army / FULL_REWARD
        self._first_army = self._first_army or army
        # SMAC divides by the first battle's army for ever.
        share = army / self._first_army if self.world.settings.exact_smac else 1.0
        return share * self.settings.reward_scale_rate / FULL_REWARD

    def _features(self, names: list[str], shields: str) -> list[str]:
        rules = self.world.table[0]
        shield = ["shield"] * int(rules[shields])
        return [*names, *shield, *(f"type_{number}" for number in range(int(rules["kinds"])))]


def _battle(world_id: str, seed: int, options: dict[str, Any]) -> BattleWorld:
    world = make_world(world_id, num_worlds=1, seed=seed, **options)
    if not isinstance(world, BattleWorld):
        raise UserError(f'{world_id}: no battle; name one of battle/..., such as "3m"')
    return world


def _are_whole(numbers: np.ndarray) -> bool:
    if numbers.dtype.kind == "f":
        return bool((np.isfinite(numbers) & (numbers == np.trunc(numbers))).all())
    return numbers.dtype.kind in "iu"


def _whole(world_id: str, seed: Any) -> int:
    try:
        return operator.index(seed)
    except TypeError:
        raise UserError(f"{world_id}: seed = {seed!r}; pass a whole number, or None") from None

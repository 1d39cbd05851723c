"""A battle with red's units as agents and a policy for blue's."""

from __future__ import annotations

import operator
import secrets
from typing import Any, NamedTuple

import numpy as np

from interplay.connect.smac.actions import read_actions
from interplay.connect.smac.keywords import read_keywords
from interplay.connect.smac.layout import actions_of, joined, known_columns, place_columns, seen_columns
from interplay.connect.smac.replay import Replay
from interplay.connect.smac.rewards import Rewards
from interplay.core.copying import CopiedWhole
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import TimeStep
from interplay.registry import make_policy, make_world
from interplay.worlds.battle.world import BattleWorld


class Turn(NamedTuple):
    """The result of a decision."""

    reward: float
    over: bool
    cut: bool  # by the limit
    won: bool


class LearningSide(CopiedWhole):
    """One battle: the agents are red's units, a policy plays the enemy.

    Args:
        map_name: a scenario of `battle/...`, in small or capital letters, or the id of a world of battles.
        seed: names the stream of battles; None draws one.
        enemy: blue's policy: the name of a scripted one, a run folder, or a policy.
        **keywords: of SMAC's constructor, and settings of the world (`exact_smac`, `red`, `randomize`, ...).

    Attributes:
        world: the batch of one.
        n_agents, n_enemies, n_actions, episode_limit: of the scenario.
        battles_won, battles_game, timeouts: so far.
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
        self._place = np.flatnonzero(np.isin(self._columns, place_columns(rules)))
        self._blue = np.arange(self.n_agents + self.n_enemies) >= self.n_agents
        self.battles_won = self.battles_game = self.timeouts = 0
        self._named: int | None = self._seed  # by which the next battle is named
        self._replay: Replay | None = None
        self._rewards = Rewards(self.settings)

    def seed(self, seed: int | None = None) -> int:
        """Returns the seed; a number first sets it for the next `reset`."""
        if seed is not None:
            self._seed = self._named = _whole(self.world.id, seed)
        return self._seed

    def _begin(self, seed: int | None = None) -> None:
        """Begins a battle; None continues the streams of the world and the enemy."""
        if seed is not None:
            self.seed(seed)
        self.world.reset(seeds=self._named)
        if self._named is None:
            self.enemy.forget(np.ones(1, bool))
        else:
            self.enemy.start(self.world, self._named)
        self._named = None
        self._replay = Replay(self.world)
        self._rewards.begin(self.world)

    def _advance(self, actions: Any) -> Turn:
        """One decision: the agents' actions, and the enemy's.

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
        own = self._actions[read_actions(self.world.id, actions, self._legal())]
        action = np.array(self.enemy.act(now.read_only()._replace(acting=now.acting & self._blue)), np.int64)
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
        timeout = self.world.settings.timeout if cut else 0.0
        return Turn(self._rewards.of(float(now.reward[0, 0]), timeout), over, cut, won)

    def _now(self) -> TimeStep:
        if self._replay is None:
            raise UserError(f"{self.world.id}: no battle has begun; call reset() first")
        return self.world.timestep

    def _rows(self) -> np.ndarray:
        """(n_agents, n) float32, the receiver's own."""
        rows = self._now().observation["units"][0, : self.n_agents]
        seen = np.take(rows, self._columns, axis=1)
        if len(self._place):  # SMACv2 measures from the field's corner, the world from its middle
            alive = self.world.state.unit["alive"][0, : self.n_agents]
            seen[np.ix_(alive, self._place)] += 0.5
        return seen

    def _legal(self) -> np.ndarray:
        """(n_agents, n_actions) bool."""
        mask = self._now().action_mask
        assert mask is not None
        return np.take(mask["action"][0, : self.n_agents], self._actions, axis=1)

    def _dead(self) -> np.ndarray:
        """(A,) bool, the fallen units; empty slots are not dead."""
        unit = self.world.state.unit[0]
        return unit["present"] & ~unit["alive"]

    def _ordered(self) -> np.ndarray:
        """Columns of an observation in SMAC's order."""
        return joined(*self._seen)


def _battle(world_id: str, seed: int, options: dict[str, Any]) -> BattleWorld:
    world = make_world(world_id, num_worlds=1, seed=seed, **options)
    if not isinstance(world, BattleWorld):
        raise UserError(f'{world_id}: no battle; name one of battle/..., such as "3m"')
    return world


def _whole(world_id: str, seed: Any) -> int:
    try:
        return operator.index(seed)
    except TypeError:
        raise UserError(f"{world_id}: seed = {seed!r}; pass a whole number, or None") from None

"""A match: a Gymnasium environment with spaces, observations and rewards as tuples of one entry per slot.

`match` makes one of an interplay world, a PettingZoo parallel environment, or a Gymnasium environment (specification interfaces 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from interplay.core import masks
from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World
from interplay.interfaces.legal import map_mask, settled
from interplay.interfaces.naming import (
    as_mapping,
    from_mapping,
    mask_as_mapping,
    mask_from_mapping,
    named_space,
)
from interplay.interfaces.nests import Nest, map_nest, one_of

MatchStart = tuple[Any, dict[str, Any]]  # observations and infos, of `reset`
MatchStep = tuple[tuple[Any, ...], tuple[Any, ...], bool, bool, dict[str, Any]]
MASK, OUTCOME, ALIVE, MEMBERS = "action_mask", "outcome", "alive", "member_rewards"  # keys of infos


def match(env: Any, score: str | None = None) -> gymnasium.Env[Any, Any]:
    """Any environment as a match.

    ``info["alive"]`` has for each slot whether it is alive. ``info["outcome"]`` is in every last step, also of an episode that a limit
    ends: for each slot a number in [-1, 1], the share of other sides that did worse minus the share that
    did better, unless the environment reports its own. A match of one slot has the outcome None.

    Args:
        env: an interplay world of one copy; a PettingZoo parallel environment; a Gymnasium environment with tuple spaces, or of one
            player (its entries become tuples of one); or a match.
        score: for an interplay world, the ranking: ``"return"``, or a metric with a value per agent. None: the world's own ``outcome``, or the
            return where it has none.
    """
    if isinstance(env, World):
        return WorldMatch(env, score)
    if isinstance(env, gymnasium.Env):
        _refuse_merged(env)
        return env if _is_match(env) else GymnasiumMatch(env)
    if hasattr(env, "agent_iter"):
        raise UserError(
            f"{env}: its agents take turns; make a parallel environment of it first (pettingzoo.utils.aec_to_parallel)"
        )
    if hasattr(env, "possible_agents") and callable(getattr(env, "observation_space", None)):
        return ParallelMatch(env)
    raise UserError(
        f"{env!r}: no match can be made of it; give a world of one copy, a PettingZoo parallel environment or a Gymnasium environment"
    )


def outcomes(
    scores: Sequence[float] | np.ndarray, teams: Sequence[Sequence[int]] | None = None
) -> tuple[float, ...] | None:
    """Outcome of each slot from scores: +1 for the best, -1 for the last, 0 for a draw, placements in between.

    Args:
        scores: of each slot; higher is better.
        teams: slots that win together, with added scores; None: each slot alone.

    Returns:
        A number for each slot; None with one side only, or where a score is NaN.

    Example:
        >>> outcomes([3.0, 1.0, 1.0])
        (1.0, -0.5, -0.5)
    """
    sides = [[slot] for slot in range(len(scores))] if teams is None else [list(team) for team in teams]
    total = np.array([sum(scores[slot] for slot in side) for side in sides])
    if len(sides) < 2 or np.isnan(total).any():
        return None
    ahead = np.sign(total[:, None] - total[None]).sum(axis=1) / (len(sides) - 1)
    found = {slot: float(ahead[k]) for k, side in enumerate(sides) for slot in side}
    return tuple(found[slot] for slot in range(len(scores)))


class Match(gymnasium.Env[Any, Any]):
    """Base of the matches below: sums returns and reports the outcome in the last step.

    Attributes:
        teams: slots that win together; None: each slot alone.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - gymnasium's own form
    teams: Sequence[Sequence[int]] | None = None

    def _start(self) -> None:
        self._returns = np.zeros(len(self.action_space.spaces))  # type: ignore[attr-defined]

    @property
    def sides(self) -> tuple[Any, ...]:
        """A label for each slot, equal for slots that win together."""
        slots = range(len(self._returns))
        owner = {slot: k for k, team in enumerate(self.teams or [(slot,) for slot in slots]) for slot in team}
        return tuple(owner[slot] for slot in slots)

    def outcome_so_far(self) -> tuple[float, ...] | None:
        """The outcome if the match ended now: by returns; None for vectors of rewards."""
        return outcomes(self._returns.tolist(), self.teams)

    def _finish(self, values: MatchStep) -> MatchStep:
        """Adds the rewards to the returns, and to the infos of a last step the outcome."""
        _, rewards, terminated, truncated, info = values
        self._returns += [float(reward) if np.ndim(reward) == 0 else np.nan for reward in rewards]
        if (terminated or truncated) and OUTCOME not in info:
            info[OUTCOME] = self.outcome_so_far()
        return values


class WorldMatch(Match):
    """One copy of an interplay world. Observations are copies; rows of slots that do not act are ignored.

    Further infos: ``acting``, the slots with an action that the next step reads; ``action_mask`` if the world has masks, which leave one action to
    slots that do not act.
    """

    def __init__(self, world: World, score: str | None = None) -> None:
        if world.num_worlds != 1:
            raise UserError(f"{world.id}: num_worlds = {world.num_worlds}; a match is one world")
        self.world, self.score, self.teams = world, score, world.teams
        self._homes = {slot: (kind, k) for kind in world.kinds for k, slot in enumerate(kind.slots)}
        kinds = [self._homes[slot][0] for slot in range(len(world.agents))]
        self.observation_space = spaces.Tuple([kind.observation_space for kind in kinds])
        self.action_space = spaces.Tuple([kind.action_space for kind in kinds])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> MatchStart:
        """Begins an episode; a seed names it."""
        super().reset(seed=seed)
        self._start()
        step = self.world.reset(seeds=seed)
        self._alive = step.acting[0] | (not self.world.respawns)  # a slot that waits for its turn lives
        return self._seen(step), self._info(step)

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        by_kind = {
            kind.name: _together(kind.action_space, [action[slot] for slot in kind.slots])
            for kind in self.world.kinds
        }
        step = self.world.step(by_kind if len(by_kind) > 1 else next(iter(by_kind.values())))
        ended = step.terminated[0] | step.truncated[0]
        self._alive = (self._alive & ~ended) | step.acting[0]
        over, cut = bool(step.over[0]), bool(step.truncated[0].any())
        rewards = tuple(step.reward[0].tolist())
        values = (self._seen(step), rewards, over and not cut, over and cut, self._info(step))
        return self._finish(values)

    def outcome_so_far(self) -> tuple[float, ...] | None:
        """By the score; a draw where a world with an outcome of its own is not over."""
        if self.score == "return":
            return super().outcome_so_far()
        metric: Any = self.world.metrics.get(self.score or OUTCOME)
        if np.ndim(metric) != 2:
            if self.score is None:
                return super().outcome_so_far()
            raise UserError(f"{self.world.id}: no score {self.score!r}; it is return, or a metric per agent")
        scores = metric[0].astype(float).tolist()
        if self.score is not None:
            return outcomes(scores, self.teams)
        if not self.world.timestep.over[0]:
            return (0.0,) * len(scores)
        return None if np.isnan(scores).any() else tuple(scores)

    def close(self) -> None:
        self.world.close()

    def _seen(self, step: TimeStep) -> tuple[Nest, ...]:
        trees = self.world.by_kind(step.observation)
        return tuple(
            map_nest(
                lambda leaf, array, k=k: one_of(leaf, array[0, k]), kind.observation_space, trees[kind.name]
            )
            for kind, k in (self._homes[slot] for slot in range(len(self.world.agents)))
        )

    def _info(self, step: TimeStep) -> dict[str, Any]:
        acting = step.acting[0].tolist()
        info: dict[str, Any] = {ALIVE: tuple(self._alive.tolist()), "acting": tuple(acting)}
        if step.action_mask is not None:
            info[MASK] = tuple(self._legal(step, slot, acts) for slot, acts in enumerate(acting))
        return info

    def _legal(self, step: TimeStep, slot: int, acts: bool) -> Nest:
        kind, k = self._homes[slot]
        space = kind.action_space
        if not acts:
            return map_nest(_only_first, space)
        own = {
            name: part[0, k] for name, part in (self.world.by_kind(step.action_mask)[kind.name] or {}).items()
        }
        rows = mask_from_mapping(space, own)
        return None if rows is None else map_mask(masks.to_gymnasium, space, rows)


class ParallelMatch(Match):
    """A PettingZoo parallel environment. An agent that has left keeps its last observation, earns 0, and its actions are ignored."""

    def __init__(self, env: Any) -> None:
        self.env, self.names = env, list(env.possible_agents)
        self.observation_space = spaces.Tuple([env.observation_space(name) for name in self.names])
        self.action_space = spaces.Tuple([env.action_space(name) for name in self.names])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> MatchStart:
        super().reset(seed=seed)
        self._start()
        found, infos = self.env.reset(seed=seed, options=without_ours(options))
        if late := [name for name in self.names if name not in found]:
            raise UserError(
                f"{self.env}: {late[0]} is absent after a reset; a match has all its agents from the start"
            )
        self._last = {name: found[name] for name in self.names}
        return tuple(found[name] for name in self.names), self._info(infos)

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        actions = dict(zip(self.names, action, strict=True))
        living = {name: actions[name] for name in self.env.agents}
        found, rewards, _, cut, infos = self.env.step(living)
        self._last |= found
        over, limited = not self.env.agents, any(cut.values())
        info = self._info(infos)
        reported = [infos.get(name, {}).get(OUTCOME) for name in self.names]
        if over and all(value is not None for value in reported):
            info[OUTCOME] = tuple(float(value) for value in reported)
        earned = tuple(rewards.get(name, 0.0) for name in self.names)
        seen = tuple(self._last[name] for name in self.names)
        return self._finish((seen, earned, over and not limited, over and limited, info))

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()

    def _info(self, infos: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        info: dict[str, Any] = {
            ALIVE: tuple(name in self.env.agents for name in self.names),
            "infos": dict(infos),
        }
        if any(MASK in one for one in infos.values()):
            info[MASK] = tuple(
                infos[name].get(MASK)
                if name in self.env.agents and name in infos
                else map_nest(_only_first, space)
                for name, space in zip(self.names, self.action_space.spaces, strict=True)  # type: ignore[attr-defined]
            )
        return info


class GymnasiumMatch(gymnasium.Wrapper[Any, Any, Any, Any], Match):
    """A Gymnasium environment; that of one player becomes tuples of one."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self._alone = not isinstance(env.action_space, spaces.Tuple)
        if self._alone:
            self.observation_space = spaces.Tuple([env.observation_space])
            self.action_space = spaces.Tuple([env.action_space])
        seen, done = slots_of(self)
        if len(seen) != len(done):
            raise UserError(f"{env}: {len(seen)} observations and {len(done)} actions; a slot has one each")
        self._returns, self._over = np.zeros(len(done)), False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> MatchStart:
        self._returns[:], self._over = 0, False
        seen, info = self.env.reset(seed=seed, options=without_ours(options))
        return ((seen,) if self._alone else tuple(seen)), self._info(info)

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        reward: Any
        seen, reward, terminated, truncated, info = self.env.step(action[0] if self._alone else action)
        if self._over and resets_itself(self.env):  # the actions were ignored; Autoreset returns 0
            self._returns[:] = 0
            reward = 0.0 if self._alone else (0.0,) * len(self._returns)
        self._over = bool(terminated or truncated)
        rewards = (reward,) if self._alone else as_rewards(reward, len(self._returns))
        seen = (seen,) if self._alone else tuple(seen)
        return self._finish((seen, rewards, bool(terminated), bool(truncated), self._info(info)))

    def _info(self, info: Mapping[str, Any]) -> dict[str, Any]:
        alone = {MASK: (info[MASK],)} if self._alone and MASK in info else {}
        return {ALIVE: (True,) * len(self._returns), **info, **alone}


def with_outcome(env: gymnasium.Env[Any, Any], over: bool, info: dict[str, Any]) -> dict[str, Any]:
    """The infos of a step of a match; those of a last one get an outcome, which a limit of Gymnasium's wrappers leaves out."""
    if not over or OUTCOME in info:
        return info
    return {**info, OUTCOME: env.get_wrapper_attr("outcome_so_far")()}


def slots_of(env: gymnasium.Env[Any, Any]) -> tuple[tuple[spaces.Space, ...], tuple[spaces.Space, ...]]:
    """The observation and the action space of each slot of a match."""
    for name, space in (("observations", env.observation_space), ("actions", env.action_space)):
        if not isinstance(space, spaces.Tuple):
            raise UserError(f"{env}: its {name} are no tuple over slots but {space}; wrap earlier")
    return env.observation_space.spaces, env.action_space.spaces  # type: ignore[attr-defined]


def wrappers_of(env: Any) -> Iterator[gymnasium.Wrapper[Any, Any, Any, Any]]:
    """The wrappers of an environment, the outermost first."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env


def resets_itself(env: Any) -> bool:
    """Whether Gymnasium's Autoreset is among its wrappers: the step after an episode's last begins the next one."""
    from gymnasium.wrappers import Autoreset

    return any(isinstance(one, Autoreset) for one in wrappers_of(env))


def as_rewards(rewards: Any, slots: int) -> tuple[Any, ...]:
    """Rewards as a tuple with an entry for each slot; wrappers of Gymnasium make arrays of them."""
    if np.ndim(rewards) == 0 or len(rewards) != slots:
        raise UserError(f"rewards {rewards!r}: a match of {slots} slots has a tuple of {slots}")
    return tuple(one.item() if np.ndim(one) == 0 and hasattr(one, "item") else one for one in rewards)


def flags(values: Sequence[Any]) -> np.ndarray:
    """A bool for each slot; for a team whether any member's is True."""
    return np.array([bool(np.any(one)) for one in values])


def without_members(info: Mapping[str, Any]) -> dict[str, Any]:
    """Infos without the rewards of teams' members, which changed rewards of the teams do not fit."""
    return {name: value for name, value in info.items() if name != MEMBERS}


def without_ours(options: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Options of a reset without those of interfaces, which environments need not accept."""
    if options is None:
        return None
    return {name: value for name, value in options.items() if name != "itf"} or None


def read_mask(space: spaces.Space, mask: Nest) -> Nest:
    """A slot's mask, in Gymnasium's form or ours, as bools in the places of the leaves; None if everything is legal."""

    def rows(leaf: spaces.Space, part: Any) -> Any:
        if isinstance(leaf, spaces.Box):
            return None
        if isinstance(leaf, spaces.MultiBinary) and np.size(part) == 2 * int(np.prod(leaf.shape)):
            return np.asarray(part, bool)
        try:
            return masks.from_gymnasium(leaf, part)
        except ValueError as error:
            raise UserError(f"action mask: {error}") from None

    return map_mask(rows, space, mask)


def legal_action(space: spaces.Space, action: Nest, mask: Nest) -> Nest:
    """A slot's action with each choice that its mask forbids replaced by the first legal one of its head."""
    rows = read_mask(space, mask)
    if rows is None:
        return action
    legal = mask_as_mapping(space, map_mask(lambda _, own: own[None, None], space, rows))
    named = named_space(space)
    given = map_nest(lambda _, one: np.asarray(one)[None, None], named, as_mapping(space, action))
    found = settled(named, given, legal, ignored=False)
    return from_mapping(space, map_nest(lambda _, one: one[0, 0], named, found))


def to_gymnasium_mask(space: spaces.Space, mask: Nest) -> Nest:
    """The inverse of `read_mask`: Gymnasium's form, as ``space.sample(mask)`` takes it."""
    return map_mask(lambda leaf, rows: masks.to_gymnasium(leaf, np.asarray(rows)), space, mask)


def _is_match(env: Any) -> bool:
    return isinstance(env.unwrapped, Match) or any(isinstance(one, Match) for one in wrappers_of(env))


def _refuse_merged(env: Any) -> None:
    from gymnasium.wrappers import FlattenObservation

    for one in wrappers_of(env):
        if isinstance(one, FlattenObservation) and isinstance(one.env.observation_space, spaces.Tuple):
            raise UserError(
                f"{one}: FlattenObservation merges all slots into one vector; leave it out and give slots the interface ConcatVec"
            )


def _together(space: spaces.Space, actions: list[Any]) -> Nest:
    """Single actions as (1, A, ...)."""
    return map_nest(
        lambda leaf, *parts: np.stack([np.asarray(part) for part in parts])[None], space, *actions
    )


def _only_first(leaf: spaces.Space) -> Any:
    """Gymnasium's mask that leaves the first choice of every head."""
    if isinstance(leaf, spaces.Box):
        return None
    row = np.concatenate([np.arange(count) == 0 for count in masks.action_choices(leaf)])
    return masks.to_gymnasium(leaf, row)

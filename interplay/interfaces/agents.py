"""Agents with interfaces: an agent trained behind one plays in the raw environment (specification interfaces 4 and 5)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.masks import drawable
from interplay.core.policy import Policy
from interplay.core.world import Array, Kind, TimeStep, World
from interplay.interfaces.environment import legal_outside
from interplay.interfaces.interface import Interface
from interplay.interfaces.legal import map_mask
from interplay.interfaces.match import (
    MASK,
    OUTCOME,
    flags,
    legal_action,
    match,
    read_mask,
    slots_of,
    with_outcome,
)
from interplay.interfaces.naming import as_mapping, from_mapping, mask_as_mapping, named_space
from interplay.interfaces.nests import map_nest

_NO_WORLD = "a seat is no world that can be played or saved; the match is"


class Agent:
    """Plays one slot of a match; subclasses write `step`.

    Attributes:
        observation_space, action_space: of its slot, after `setup`.
        episodes: how many it began.
        steps: how many actions it gave in this one.
        acting: whether the environment reads its next action; `play` sets it before each step.
    """

    observation_space: spaces.Space
    action_space: spaces.Space
    episodes = 0
    steps = 0
    acting = True

    def setup(
        self, obs_space: spaces.Space, act_space: spaces.Space, slot: int | str = 0, seed: int = 0
    ) -> None:
        """Prepares for a slot with these spaces; `seed` and `slot` name what it draws."""
        self.observation_space, self.action_space, self.slot, self.seed = obs_space, act_space, slot, seed

    def reset(self, obs: Any, info: Mapping[str, Any] | None = None) -> None:
        """An episode begins with this observation, which the next `step` is given, too."""
        self.episodes += 1
        self.steps, self.acting = 0, True

    def step(self, obs: Any, mask: Any = None) -> Any:
        """The action for an observation; `mask` has the legal choices in Gymnasium's form, None = all."""
        raise NotImplementedError

    def _generator(self) -> np.random.Generator:
        """Of its draws, other ones in each slot."""
        return seeding.generator(self.seed, 0xA6E7, *str(self.slot).encode())


class RandomAgent(Agent):
    """Draws from what is legal."""

    def setup(
        self, obs_space: spaces.Space, act_space: spaces.Space, slot: int | str = 0, seed: int = 0
    ) -> None:
        super().setup(obs_space, copy.deepcopy(act_space), slot, seed)  # drawing moves a space's generator
        self._rng = self._generator()

    def step(self, obs: Any, mask: Any = None) -> Any:
        self.steps += 1
        space = self.action_space
        space.seed(int(self._rng.integers(2**31)))
        return space.sample(mask=drawable(space, mask))


class AgtItfWrapper(Agent):
    """An agent, or a team of agents, behind an interface: it plays the raw slot.

    Args:
        agent: one agent, or for a team a list with one for each entry of the interface's output.
        itf: the stack; None changes nothing.
        step_mul: the agent decides in every so many calls, and its action is held in between; held choices that have become illegal are
            played as the first legal one of their head.
    """

    def __init__(
        self, agent: Agent | Sequence[Agent], itf: Interface | None = None, step_mul: int = 1
    ) -> None:
        if step_mul < 1:
            raise UserError(f"AgtItfWrapper: step_mul = {step_mul}; it is at least 1")
        if itf is not None and itf.bound:
            raise UserError(f"{itf!r}: it is bound already; each agent has its own, clone() makes one")
        self.team = None if isinstance(agent, Agent) else tuple(agent)
        self.members: tuple[Agent, ...] = (agent,) if isinstance(agent, Agent) else tuple(agent)
        if not self.members or not all(isinstance(one, Agent) for one in self.members):
            raise UserError(
                f"AgtItfWrapper: {agent!r} is no agent and no list of agents; see interplay.interfaces.agents.Agent"
            )
        _refuse_twice(self.members)
        self.itf, self.step_mul = Interface() if itf is None else itf, int(step_mul)
        self._was_set_up, self._below = False, 0  # below: wrappers around this one, nearer the environment

    def setup(
        self, obs_space: spaces.Space, act_space: spaces.Space, slot: int | str = 0, seed: int = 0
    ) -> None:
        super().setup(obs_space, act_space, slot, seed)
        if self._was_set_up:
            self.itf = self.itf.clone()  # another match: what was remembered of the last one is past
        self.itf.setup(
            obs_space, act_space, slot=f"{slot}{'+' * self._below}" if self._below else slot, seed=seed
        )
        self._was_set_up = True
        if self.team is None:
            if isinstance(self.members[0], AgtItfWrapper):
                self.members[0]._below = self._below + 1
            self.members[0].setup(self.itf.observation_space, self.itf.action_space, slot, seed)
            return
        for name, space in (("observations", self.itf.observation_space), ("actions", self.itf.action_space)):
            count = len(space.spaces) if isinstance(space, spaces.Tuple) else None
            if count != len(self.team):
                raise UserError(
                    f"AgtItfWrapper: a team of {len(self.team)} needs a tuple of as many {name}, the interface has {space}"
                )
        pairs = zip(self.itf.observation_space, self.itf.action_space, strict=True)  # type: ignore[call-overload]
        for k, (member, (obs, act)) in enumerate(zip(self.members, pairs, strict=True)):
            member.setup(obs, act, f"{slot}/{k}", seed)

    def reset(self, obs: Any, info: Mapping[str, Any] | None = None) -> None:
        """An episode begins; ``info["itf"]`` are options of the interfaces, ``info["seed"]`` names anew what they draw."""
        super().reset(obs, info)
        seed = (info or {}).get("seed")
        own = (info or {}).get("itf")
        self.itf.reset(obs, own, seeds=None if seed is None else seeding.world_seeds(seed, 1))
        self.itf.obs_trans(obs)
        self._shown, self._unread = True, False
        for member, part in zip(self.members, self._dealt(self.itf.look(obs)), strict=True):
            member.reset(part, info)

    def step(self, obs: Any, mask: Any = None) -> Any:
        """One observation pass, one action pass; the first observation has passed already."""
        shown = self.itf.look(obs) if self._shown else self.itf.obs_trans(obs)
        self._shown = False
        due = self.steps % self.step_mul == 0
        self.steps += 1
        legal = legal_outside(self.itf, mask)
        for member in self.members:
            member.acting = self.acting
        if due:
            legals = self._dealt(legal) if legal is not None else (None,) * len(self.members)
            inputs = zip(self.members, self._dealt(shown), legals, strict=True)
            actions = tuple(member.step(part, own) for member, part, own in inputs)
            self._action = actions[0] if self.team is None else actions
        action = self._action if due else legal_action(self.itf.action_space, self._action, legal)
        self._unread |= due  # a decision counts in the first step that reads it
        decided, self._unread = self._unread and self.acting, self._unread and not self.acting
        return self.itf.act_trans(action, decided)

    def _dealt(self, value: Any) -> tuple[Any, ...]:
        return (value,) if self.team is None else tuple(value)


AgtIntWrapper = AgtItfWrapper  # as published code calls it


class PolicyAgent(Agent):
    """A policy of worlds (`interplay.core.policy.Policy`) in a slot.

    The policy is given a world of one copy and one agent that has the slot's spaces; observations that are no mapping of arrays become
    one (`naming`). So it may read time steps and spaces, and nothing else of a world.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def setup(
        self, obs_space: spaces.Space, act_space: spaces.Space, slot: int | str = 0, seed: int = 0
    ) -> None:
        super().setup(obs_space, act_space, slot, seed)
        self.world = Seat(obs_space, act_space)
        self.policy.start(self.world, int(self._generator().integers(2**63)))

    def reset(self, obs: Any, info: Mapping[str, Any] | None = None) -> None:
        super().reset(obs, info)
        self.policy.forget(np.ones(1, bool))

    def step(self, obs: Any, mask: Any = None) -> Any:
        self.steps += 1
        action = self.policy.act(self.world.timestep_of(obs, mask))
        return from_mapping(
            self.action_space, map_nest(lambda _, array: array[0, 0], self.world.action_space, action)
        )


class Seat(World):
    """A world of one copy and one agent that is never stepped: the spaces of the slot that a policy plays."""

    def __init__(self, obs_space: spaces.Space, act_space: spaces.Space) -> None:
        self._seen, self._done = obs_space, act_space
        shown: Any = named_space(obs_space, "observation")
        done = named_space(act_space)
        super().__init__(1, ("agent",), (Kind("agent", (0,), shown, done),))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{name}: a policy in a slot has its spaces and time steps, and this one reads more of its world"
        )

    def timestep_of(self, obs: Any, mask: Any) -> TimeStep:
        """The slot's observation and Gymnasium's mask as a time step."""
        seen = as_mapping(self._seen, obs, "observation")
        flag = np.zeros((1, 1), bool)
        legal = read_mask(self._done, mask)
        rows = None if legal is None else map_mask(lambda _, own: own[None, None], self._done, legal)
        self._last = TimeStep(
            map_nest(
                lambda leaf, array: np.asarray(array, leaf.dtype)[None, None], self.observation_space, seen
            ),
            np.zeros((1, 1), np.float32),
            ~flag,
            flag,
            flag.copy(),
            np.zeros(1, bool),
            None if rows is None else mask_as_mapping(self._done, rows),
        )
        return self._last

    def _reset(self, which: Array, seeds: Array | None) -> TimeStep:
        raise UserError(_NO_WORLD)

    def _step(self, action: Any) -> TimeStep:
        raise UserError(_NO_WORLD)

    def save(self) -> dict[str, Array]:
        raise UserError(_NO_WORLD)

    def load(self, snapshot: Mapping[str, Array]) -> TimeStep:
        raise UserError(_NO_WORLD)


def play(env: Any, agents: Sequence[Agent], seed: int = 0, episodes: int = 1) -> list[dict[str, Any]]:
    """Plays a match with agents.

    Args:
        seed: of the first episode and of the agents' draws; later episodes continue from there.

    Returns:
        For each episode ``outcome``, ``returns`` (of each slot) and ``steps``.
    """
    game = match(env)
    seen, done = slots_of(game)
    if len(agents) != len(seen):
        raise UserError(f"play: {len(agents)} agents for {len(seen)} slots; give one for each")
    _refuse_twice(agents)
    for slot, (agent, obs_space, act_space) in enumerate(zip(agents, seen, done, strict=True)):
        agent.setup(obs_space, act_space, slot, seed)
    return [_episode(game, agents, seed if number == 0 else None) for number in range(episodes)]


def _refuse_twice(agents: Sequence[Agent]) -> None:
    """Refuses an agent, or a policy of agents, that stands in two places: it would mix their memories."""
    found: list[Any] = list(agents)
    for one in found:  # grows on the way
        found += [*getattr(one, "members", ()), *([one.policy] if isinstance(one, PolicyAgent) else ())]
    twice = [one for k, one in enumerate(found) if any(one is other for other in found[:k])]
    if twice:
        raise UserError(f"{twice[0]!r} stands in two places; make an agent, with its own policy, for each")


def _episode(game: Any, agents: Sequence[Agent], seed: int | None) -> dict[str, Any]:
    obs, info = game.reset(seed=seed)
    for agent, part in zip(agents, obs, strict=True):
        agent.reset(part, None if seed is None else {"seed": seed})
    returns, steps, over = np.zeros(len(agents)), 0, False
    while not over:
        legal = info.get(MASK, (None,) * len(agents))
        acting = flags(info.get("acting", (True,) * len(agents))).tolist()
        for agent, acts in zip(agents, acting, strict=True):
            agent.acting = acts
        action = tuple(agent.step(part, mask) for agent, part, mask in zip(agents, obs, legal, strict=True))
        obs, rewards, terminated, truncated, info = game.step(action)
        returns, steps, over = (
            returns + [float(np.sum(one)) for one in rewards],
            steps + 1,
            terminated or truncated,
        )
    info = with_outcome(game, over, info)
    return {"outcome": info[OUTCOME], "returns": tuple(returns.tolist()), "steps": steps}

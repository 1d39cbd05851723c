"""Environments with numbers in their infos: scripted by the episode's seed, and recorded."""

from __future__ import annotations

import numpy as np
from gymnasium import Env, spaces
from pettingzoo import AECEnv, ParallelEnv

from interplay.sim import Agent, AgentBasedSimulation
from interplay.sim.managers import AllStepManager, TurnBasedManager

PLAYED: list[dict] = []  # of each episode that ended, by agent: the infos of its steps, the reset's first


class Told(ParallelEnv):
    """Two agents for as many steps as there are rows in a script: step -> agent -> info."""

    metadata = {"name": "told"}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, script=(), declared=None):
        self.possible_agents, self.script = ["a", "b"], script
        if declared is not None:
            self.metadata = {"name": "told", "metrics": declared}

    def observation_space(self, agent):
        return spaces.Box(0, 1, (1,), np.float32)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def _seen(self):
        return {agent: np.zeros(1, np.float32) for agent in self.possible_agents}

    def begin(self, seed):
        """The infos of the reset, and the number of steps."""
        return self.script[0], len(self.script) - 1

    def reset(self, seed=None, options=None):
        self.seed, self.t, self.agents = seed, 0, list(self.possible_agents)
        first, self.steps = self.begin(seed)
        self.infos = {agent: [first.get(agent, {})] for agent in self.agents}
        return self._seen(), {agent: self.infos[agent][0] for agent in self.agents}

    def tell(self, agent):
        return self.script[self.t].get(agent, {})

    def step(self, actions):
        self.t += 1
        names, over = self.agents, self.t == self.steps
        told = {agent: self.tell(agent) for agent in names}
        for agent in names:
            self.infos[agent].append(told[agent])
        if over:
            self.agents = []
            PLAYED.append(self.infos)
        return (
            self._seen(),
            dict.fromkeys(names, 1.0),
            dict.fromkeys(names, over),
            dict.fromkeys(names, False),
            told,
        )


class Seeded(Told):
    """Episodes of 2 to 6 steps; ``late`` comes with episodes of 5 and more, ``won`` at the end, ``speed`` in every step, ``b`` has no load."""

    def begin(self, seed):
        return {}, 2 + seed % 5

    def tell(self, agent):
        rng = np.random.default_rng([self.seed, self.t, agent == "a"])
        info = {"speed": rng.normal(), "note": "text", "parts": {"fuel": float(rng.integers(9))}}
        info |= {"load": np.float32(rng.normal())} if agent == "a" else {}
        info |= {"late": int(rng.integers(9))} if self.t == 5 else {}
        return info | ({"won": bool(rng.integers(2))} if self.t == self.steps else {})


class Declared(Seeded):
    """The same with rules."""

    metadata = {  # noqa: RUF012
        "name": "declared",
        "metrics": {"speed": "mean", "parts.fuel": "sum", "won": "last", "late": "last"},
    }


class InTurns(AECEnv):
    """Two agents take three turns each; an info stands until its agent acts again."""

    metadata = {"name": "in_turns", "metrics": {"gain": "sum", "ratio": "mean"}}  # noqa: RUF012

    def __init__(self):
        super().__init__()
        self.possible_agents = ["a", "b"]

    def observation_space(self, agent):
        return spaces.Box(0, 1, (1,), np.float32)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def observe(self, agent):
        return np.zeros(1, np.float32)

    def reset(self, seed=None, options=None):
        self.agents, self.turns = list(self.possible_agents), 0
        self.agent_selection = "a"
        for name, value in (
            ("rewards", 0.0),
            ("_cumulative_rewards", 0.0),
            ("terminations", False),
            ("truncations", False),
        ):
            setattr(self, name, dict.fromkeys(self.agents, value))
        self.infos = {agent: {} for agent in self.agents}

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.turns += 1
        self.infos[agent] = {"gain": float(self.turns), "ratio": float(self.turns)}
        if self.turns == 6:
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = "b" if agent == "a" else "a"


class Alone(Env):
    """One agent, four steps; the last info holds success."""

    observation_space, action_space = spaces.Box(0, 1, (1,), np.float32), spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.t = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.t += 1
        return np.zeros(1, np.float32), 1.0, self.t == 4, False, {"success": True} if self.t == 4 else {}


class Simulation(AgentBasedSimulation):
    """Four steps of two agents; ``way`` is drawn anew in every step."""

    def __init__(self):
        self.agents = {
            name: Agent(id=name, observation_space=spaces.Discrete(2), action_space=spaces.Discrete(2))
            for name in "ab"
        }
        self.finalize()

    def reset(self, **kwargs):
        self.t, self.way = 0, 0.0

    def step(self, action_dict, **kwargs):
        self.t += 1
        self.way = float(self.rng.normal())

    def get_obs(self, agent_id, **kwargs):
        return 0

    def get_reward(self, agent_id, **kwargs):
        return self.way

    def get_done(self, agent_id, **kwargs):
        return self.t == 4

    def get_all_done(self, **kwargs):
        return self.t == 4

    def get_info(self, agent_id, **kwargs):
        return {"way": self.way, **({"won": agent_id == "a"} if self.t == 4 else {})}

    def render(self, **kwargs):
        return ""


def seeded() -> ParallelEnv:
    return Seeded()


def with_rules() -> ParallelEnv:
    return Declared()


def together() -> AllStepManager:
    return AllStepManager(Simulation())


def by_turns() -> TurnBasedManager:
    return TurnBasedManager(Simulation())


class Sized(Simulation):
    """An episode lasts ``size`` steps; `wide` observations have other spaces."""

    def __init__(self, size=3, wide=False):
        super().__init__()
        self.size = size
        for agent in self.agents.values():
            agent.observation_space = spaces.Discrete(3 if wide else 2)

    def get_done(self, agent_id, **kwargs):
        return self.t == self.size

    def get_all_done(self, **kwargs):
        return self.t == self.size

    def get_info(self, agent_id, **kwargs):
        return {"share": 1 / self.size}


def sized(size: int = 3, wide: bool = False) -> AllStepManager:
    return AllStepManager(Sized(size, wide))


class Growing(Sized):
    """``late`` comes with some of the steps."""

    def get_info(self, agent_id, **kwargs):
        late = {"late": self.t} if self.way > 1.0 else {}
        return {**super().get_info(agent_id), "way": self.way, **late}


def growing(size: int = 3) -> AllStepManager:
    return AllStepManager(Growing(size))

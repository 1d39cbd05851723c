"""Trivial simulations to test managers, wrappers and connectors (specification 9.7)."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Dict, Discrete, MultiBinary, MultiDiscrete, Tuple

from interplay.gridworld.simulation import GridWorldSimulation
from interplay.gridworld.states import PositionState
from interplay.sim import ActingAgent, Agent, AgentBasedSimulation, Box, ObservingAgent, PrincipleAgent


class ConstantSim(AgentBasedSimulation):
    """Base of three classes, which set the constants: observations, rewards, and steps after which agents are done.

    Attributes:
        OBSERVATIONS: id -> the agent's observation; getters return copies.
        REWARDS: id -> its reward at every call.
        LAST: id -> steps after which the agent is done; the simulation is over when the last one is.
        action: id -> the last action received.
    """

    OBSERVATIONS: ClassVar[dict[str, Any]] = {}
    REWARDS: ClassVar[dict[str, float]] = {}
    LAST: ClassVar[dict[str, int]] = {}

    def __init__(self, agents: list[Any]) -> None:
        self.agents = {agent.id: agent for agent in agents}
        self.clock = 0
        self.action: dict[str, Any] = {}
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        self.clock, self.action = 0, {}

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        self.clock += 1
        self.action = {**action}

    def render(self, **kwargs: Any) -> str:
        """The number of the step."""
        return str(self.clock)

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        return copy.deepcopy(self.OBSERVATIONS[agent_id])

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        return self.REWARDS[agent_id]

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Whether the agent is done."""
        return self.clock >= self.LAST[agent_id]

    def get_all_done(self, **kwargs: Any) -> bool:
        """Whether all agents are done."""
        return self.clock >= max(self.LAST.values())

    def get_info(self, agent_id: str, **kwargs: Any) -> Any:
        """The agent's last action, or None."""
        return self.action.get(agent_id)


class MultiAgentGymSpacesSim(ConstantSim):
    """Integers in every type of space, nested in dicts and tuples; a passive agent, one that only observes, one that only acts."""

    OBSERVATIONS: ClassVar[dict[str, Any]] = {
        "agent0": [0, 1, 1, 0],
        "agent1": 2,
        "agent2": (1, [4, -3]),
        "agent3": {"bits": [1, 0], "place": {"cell": [1, 2, 0], "near": 0}},
        "watcher": 1,
    }
    REWARDS: ClassVar[dict[str, float]] = {"agent0": 2, "agent1": 3, "agent2": 5, "agent3": 7, "watcher": 1}
    LAST: ClassVar[dict[str, int]] = {"agent0": 30, "agent1": 20, "agent2": 10, "agent3": 40, "watcher": 5}

    def __init__(self) -> None:
        place = Dict({"cell": MultiDiscrete([2, 4, 3]), "near": Discrete(2)})
        learning: list[tuple[Any, Any]] = [
            (MultiBinary(4), (Dict({"speed": Discrete(4), "shift": Box(-1, 3, (2,), int)}), MultiBinary(3))),
            (Discrete(3), {"turn": MultiDiscrete([3, 2]), "shout": Discrete(5, start=-2)}),
            (Tuple([Discrete(2), Box(-5, 5, (2,), int)]), MultiDiscrete([4, 6, 2])),
            ({"bits": MultiBinary(2), "place": place}, Box(-1, 12, (1,), int)),
        ]
        others = [
            ObservingAgent(id="watcher", observation_space=Discrete(2)),
            ActingAgent(id="lever", action_space=Discrete(2)),
            PrincipleAgent(id="stone"),
        ]
        super().__init__([*_learners(learning), *others])


class MultiAgentContinuousGymSpaceSim(ConstantSim):
    """Floats, alone and mixed with integers; agents that stop one after another, and a passive one."""

    OBSERVATIONS: ClassVar[dict[str, Any]] = {
        "agent0": np.array([0.25, -0.75], np.float32),
        "agent1": {"aim": np.array([[0.5], [1.5]], np.float32), "ready": 1},
        "agent2": (np.array([0.125], np.float32), 2),
    }
    REWARDS: ClassVar[dict[str, float]] = {"agent0": 0.5, "agent1": -0.25, "agent2": 1.5}
    LAST: ClassVar[dict[str, int]] = {"agent0": 4, "agent1": 8, "agent2": 12}

    def __init__(self) -> None:
        unit = Box(-1.0, 1.0, (2,), np.float32)
        learning: list[tuple[Any, Any]] = [
            (unit, unit),
            (
                {"aim": Box(0.0, 2.0, (2, 1), np.float32), "ready": Discrete(2)},
                {"push": unit, "fire": Discrete(2)},
            ),
            ((Box(0.0, 1.0, (1,), np.float32), Discrete(3)), Box(-3.0, 5.0, (3,), np.float32)),
        ]
        super().__init__([*_learners(learning), PrincipleAgent(id="stone")])


class MultiAgentSameSpacesSim(ConstantSim):
    """Two agents with equal spaces, one with others."""

    OBSERVATIONS: ClassVar[dict[str, Any]] = {"agent0": 1, "agent1": 3, "agent2": [1, 0]}
    REWARDS: ClassVar[dict[str, float]] = {"agent0": 1, "agent1": 2, "agent2": 4}
    LAST: ClassVar[dict[str, int]] = {"agent0": 6, "agent1": 9, "agent2": 3}

    def __init__(self) -> None:
        learning: list[tuple[Any, Any]] = [
            (Discrete(4), MultiDiscrete([3, 2])),
            (Discrete(4), MultiDiscrete([3, 2])),
            (MultiBinary(2), Discrete(3)),
        ]
        super().__init__(_learners(learning))


def _learners(learning: list[tuple[Any, Any]]) -> list[Agent]:
    """Agents with these spaces of observations and actions."""
    return [
        Agent(id=f"agent{i}", observation_space=sees, action_space=acts)
        for i, (sees, acts) in enumerate(learning)
    ]


class EmptyABS(AgentBasedSimulation):
    """All methods do nothing.

    Args:
        agents: id -> agent; None for none.
    """

    def __init__(self, agents: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__({} if agents is None else agents)
        self.finalize()

    def reset(self, **kwargs: Any) -> None: ...

    def step(self, action: dict[str, Any], **kwargs: Any) -> None: ...

    def render(self, **kwargs: Any) -> None: ...

    def get_obs(self, agent_id: str, **kwargs: Any) -> None: ...

    def get_reward(self, agent_id: str, **kwargs: Any) -> None: ...

    def get_done(self, agent_id: str, **kwargs: Any) -> None: ...

    def get_all_done(self, **kwargs: Any) -> None: ...

    def get_info(self, agent_id: str, **kwargs: Any) -> None: ...


class MultiAgentSim(AgentBasedSimulation):
    """Returns texts such as ``"obs of agent0"``, which are in no space: whatever passes them on must not change them (C5).

    Args:
        num_agents: learning agents, ``agent0`` and on.
        num_principle_agent: passive ones, ``principle_agent0`` and on.

    Example:
        >>> MultiAgentSim().get_reward("agent1")
        'reward of agent1'
    """

    def __init__(self, num_agents: int = 3, num_principle_agent: int = 2) -> None:
        learning = [
            Agent(id=f"agent{i}", observation_space=Discrete(2), action_space=Discrete(2))
            for i in range(num_agents)
        ]
        passive = [PrincipleAgent(id=f"principle_agent{i}") for i in range(num_principle_agent)]
        self.agents = {agent.id: agent for agent in [*learning, *passive]}
        self.action: dict[str, Any] = {}
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        self.action = {}

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        self.action = {**action}

    def render(self, **kwargs: Any) -> None: ...

    def get_obs(self, agent_id: str, **kwargs: Any) -> str:
        return f"obs of {agent_id}"

    def get_reward(self, agent_id: str, **kwargs: Any) -> str:
        return f"reward of {agent_id}"

    def get_done(self, agent_id: str, **kwargs: Any) -> str:
        """A text, which is truthy."""
        return f"done of {agent_id}"

    def get_all_done(self, **kwargs: Any) -> str:
        return "all done"

    def get_info(self, agent_id: str, **kwargs: Any) -> Any:
        """The agent's last action, or None."""
        return self.action.get(agent_id)


class MultiAgentGridSim(GridWorldSimulation):
    """Has only positions: agents neither act, see nor earn anything, and it is never over.

    Args:
        **kwargs: from a builder, and of `PositionState`.

    Attributes:
        position_state: places of the agents.

    Example:
        >>> import numpy as np
        >>> from interplay.gridworld.agents import GridWorldAgent
        >>> sim = MultiAgentGridSim.build_sim_from_array(
        ...     np.array([["A", "."], [".", "A"]]), {"A": lambda n: GridWorldAgent(id=f"agent{n}", encoding=1)}
        ... )
        >>> sim.reset()
        >>> sim.agents["agent1"].position.tolist()
        [1, 1]
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.position_state = PositionState(**{**kwargs, "agents": self.agents, "grid": self.grid})
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        """Places all agents."""
        self.position_state.reset(**kwargs)

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Nothing happens."""

    def get_obs(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {}

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        return 0.0

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return False

    def get_all_done(self, **kwargs: Any) -> bool:
        return False

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {}

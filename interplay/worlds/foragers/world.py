"""The simulations under a manager, as worlds."""

from __future__ import annotations

from interplay.gridworld.agents import GridWorldAgent
from interplay.sim.managers import AllStepManager
from interplay.worlds.foragers.agents import ForagerAgent, HunterAgent, ResourceAgent
from interplay.worlds.foragers.config import ForagersSettings
from interplay.worlds.foragers.simulation import ForagingSim, HunterForagerSim

_SIGHT = {
    "encoding": "PositionCenteredEncodingObserver",
    "stacked": "StackedPositionCenteredEncodingObserver",
}


def manager(settings: ForagersSettings) -> AllStepManager:
    """A new map under a new manager, which shuffles the order of actions."""
    members: list[GridWorldAgent] = [ResourceAgent(id=f"resource{i}") for i in range(settings.resources)]
    members += [ForagerAgent(id=f"forager{i}") for i in range(settings.foragers)]
    members += [HunterAgent(id=f"hunter{i}") for i in range(settings.hunters)]
    rules = HunterForagerSim if settings.hunters else ForagingSim
    sim = rules.build_sim(
        settings.rows,
        settings.cols,
        agents={agent.id: agent for agent in members},
        observers=[_SIGHT[settings.sight]],
    )
    return AllStepManager(sim, time_limit=settings.time_limit, randomize_action_input=True)

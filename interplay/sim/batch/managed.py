"""A simulation under a manager, in the form of a PettingZoo parallel environment.

So simulations of `interplay.sim` use the same stepping, checks and training as other libraries' environments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from interplay.core.errors import UserError
from interplay.sim.agents import is_agent
from interplay.sim.managers import SimulationManager


class ManagedSimulation:
    """Lists every acting agent from reset until the manager reports it done.

    An idle agent stays listed with its last observation and ``{"acting": False}`` in its info; its action is ignored.
    Agents are truncated by the manager's time limit, or where the simulation's ``get_truncated`` is True; others are terminated.

    Args:
        manager: of the simulation; its agents keep their order.

    Raises:
        UserError: if no agent of the simulation observes and acts.
    """

    def __init__(self, manager: SimulationManager) -> None:
        self.manager = manager
        own = getattr(manager.sim.unwrapped, "metadata", {})
        self.metadata = {**own, "name": type(manager.sim.unwrapped).__name__}
        self.possible_agents = [name for name, agent in manager.agents.items() if is_agent(agent)]
        if not self.possible_agents:
            raise UserError(
                f"{self.metadata['name']}: no agent both observes and acts, so no agent can play; add an Agent"
            )
        self.agents: list[str] = []
        self.infos_stand = True
        self._queried: set[str] = set()
        self._seen: dict[str, Any] = {}

    def observation_space(self, agent: str) -> Any:
        return self.manager.agents[agent].observation_space

    def action_space(self, agent: str) -> Any:
        return self.manager.agents[agent].action_space

    def kind_of(self, agent: str) -> str:
        """The agent's attribute ``kind``: agents of different kinds never share a network."""
        return str(getattr(self.manager.agents[agent], "kind", ""))

    def action_mask(self, agent: str) -> Any:
        """The simulation's mask for the agent in gymnasium's form; None: all legal.

        It exists for idle agents, too; infos hold it only for acting ones.
        """
        return self.manager.sim.get_action_mask(agent)

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode: observations and infos of all."""
        first = self.manager.reset(seed=seed)
        self.agents = list(self.possible_agents)
        self._queried = set(first)
        waiting = {name: self.manager.sim.get_obs(name) for name in self.agents if name not in first}
        self._seen = {**first, **waiting}
        return {name: self._seen[name] for name in self.agents}, self._infos({})

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Steps with the actions of the acting agents."""
        given = {name: action for name, action in actions.items() if name in self._queried}
        observations, rewards, dones, infos = self.manager.step(given)
        before = self.agents
        self._seen |= observations
        finished, stopped = ends_of(self.manager, dones, before)
        self.agents = [name for name in before if not finished[name] and not stopped[name]]
        self._queried = set(observations) & set(self.agents)
        found = self._infos(infos, before)
        return (
            {name: self._seen[name] for name in before},
            {name: rewards.get(name, 0.0) for name in before},
            finished,
            stopped,
            found,
        )

    def render(self) -> Any:
        return self.manager.render()

    def close(self) -> None:
        self.manager.close()

    def _infos(self, infos: Mapping[str, Any], names: list[str] | None = None) -> dict[str, Any]:
        found = {}
        for name in self.agents if names is None else names:
            own = infos.get(name)
            found[name] = {**(own if isinstance(own, dict) else {}), "acting": name in self._queried}
            mask = self.action_mask(name) if name in self._queried else None
            if mask is not None:
                found[name]["action_mask"] = mask
        return found


def ends_of(
    manager: SimulationManager, dones: Mapping[str, Any], names: Iterable[str]
) -> tuple[dict[str, bool], dict[str, bool]]:
    """Which agents terminated and which were truncated, by the dones of a manager's step."""
    over, cut = bool(dones["__all__"]), manager.truncated
    finished = {name: bool(dones.get(name, False)) or (over and not cut) for name in names}
    stopped = {name: over and not ended for name, ended in finished.items()}
    for name, ended in finished.items():
        if ended and manager.sim.get_truncated(name):
            finished[name], stopped[name] = False, True
    return finished, stopped


def as_environment(made: Any) -> Any:
    """Wraps a manager as an environment; others stay as they are."""
    return ManagedSimulation(made) if isinstance(made, SimulationManager) else made


def as_simulation(made: Any) -> ManagedSimulation:
    """Wraps a manager as an environment.

    Raises:
        UserError: if it is no manager.
    """
    if not isinstance(made, SimulationManager):
        raise UserError(
            f"a {type(made).__name__} is no manager of a simulation; return one, for example AllStepManager(sim)"
        )
    return ManagedSimulation(made)

"""What every simulation of ours promises its managers: a reset forgets everything, looking changes nothing, earnings wait to be asked for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from interplay.core.scene import Canvas
from interplay.sim.agents import is_agent
from interplay.sim.managers import AllStepManager, TurnBasedManager
from interplay.sim.simulation import AgentBasedSimulation

STEPS = 8
# Where it is made, of which settings.
SIMULATIONS = {
    "corridor": ("corridor.simulation", "manager", "CorridorSettings"),
    "battle": ("team_battle.world", "manager", "TeamBattleSettings"),
    "maze": ("maze_navigation.simulation", "manager", "MazeSettings"),
    "mazes": ("maze_navigation.simulation", "manager", "MultiMazeSettings"),
    "foragers": ("foragers.simulation", "manager", "ForagersSettings"),
    "pacman": ("pacman.simulation", "manager", "PacmanSettings"),
    "traffic": ("traffic_corridor.simulation", "manager", "TrafficCorridorSettings"),
    "target": ("reach_the_target.simulation", "manager", "ReachTheTargetSettings"),
    "broadcast": ("broadcast.simulation", "manager", "BroadcastSettings"),
    "proxy": ("navigation.proxy_simulation", "proxy_manager", "ProxySettings"),
    "town": ("navigation.simulation", "town_manager", "TownSettings"),
}
EXACT = ("maze", "mazes")  # the target's reward takes the place of what the step held, so it does not add up


def made(name: str) -> AgentBasedSimulation:
    place, function, settings = SIMULATIONS[name]
    module = import_module(f"interplay.worlds.{place}")  # which has the class of its settings
    asked = {"town": {"reward": "penalties"}, "proxy": {"configuration": "position"}}.get(name, {})
    simulation: AgentBasedSimulation = getattr(module, function)(getattr(module, settings)(**asked)).sim
    return simulation


def learners(sim: AgentBasedSimulation) -> list[str]:
    return [name for name, agent in sim.agents.items() if is_agent(agent)]


def plain(value: Any) -> Any:
    """Comparable with ==."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value


def told(sim: AgentBasedSimulation, rewards: bool = True) -> Any:
    """Everything that a simulation says now."""
    getters = [sim.get_obs, sim.get_done, sim.get_info, sim.get_action_mask, *[sim.get_reward] * rewards]
    by_agent = {name: [plain(getter(name)) for getter in getters] for name in learners(sim)}
    canvas = Canvas()
    sim.draw(canvas)  # type: ignore[attr-defined]
    layers = [(layer.name, plain(dict(layer.columns)), layer.text) for layer in canvas.scene().layers]
    return by_agent, bool(sim.get_all_done()), layers


def steps(sim: AgentBasedSimulation, number: int = STEPS) -> Iterator[int]:
    """Steps with draws of the spaces, for all present agents."""
    for t in range(number):
        if sim.get_all_done():
            return
        actions = {name: sim.agents[name].action_space.sample() for name in learners(sim)}
        sim.step({name: action for name, action in actions.items() if not sim.get_done(name)})
        yield t


def begin(sim: AgentBasedSimulation, seed: int) -> None:
    sim.reseed(seed)
    sim.reset()


def episode(sim: AgentBasedSimulation, seed: int) -> list[Any]:
    begin(sim, seed)
    return [told(sim), *(told(sim) for _ in steps(sim))]


@pytest.fixture
def opened() -> Iterator[Callable[[str], AgentBasedSimulation]]:
    """Makes simulations that are closed at the end."""
    sims: list[Any] = []

    def open_(name: str) -> AgentBasedSimulation:
        sims.append(made(name))
        return sims[-1]

    yield open_
    for sim in sims:
        sim.close()


@pytest.mark.parametrize("name", SIMULATIONS)
def test_a_reset_forgets_everything(name, opened):
    """Observations, rewards, infos, masks, pictures of an episode are those of its seed, whatever was played and left before."""
    sim, fresh = opened(name), opened(name)
    first = episode(fresh, 3)
    begin(sim, 4)
    for _ in steps(sim):
        pass  # nothing is asked for, so earnings and ends are left over
    assert episode(sim, 3) == first
    assert episode(sim, 5) != first


@pytest.mark.parametrize("name", SIMULATIONS)
def test_looking_changes_nothing(name, opened):
    sim, watched = opened(name), opened(name)
    begin(sim, 3)
    begin(watched, 3)
    for _ in zip(steps(sim), steps(watched), strict=True):
        seen = told(watched, rewards=False)
        assert told(watched, rewards=False) == seen
        assert told(sim, rewards=False) == seen
    assert told(sim) == told(watched)


@pytest.mark.parametrize("name", [name for name in SIMULATIONS if name not in EXACT])
def test_earnings_add_up_until_they_are_asked_for(name, opened):
    sim, patient = opened(name), opened(name)
    begin(sim, 3)
    begin(patient, 3)
    earned = dict.fromkeys(learners(sim), 0.0)
    number = 80 if name in ("proxy", "town") else STEPS
    for _ in zip(steps(sim, number), steps(patient, number), strict=True):
        for agent in earned:
            earned[agent] += sim.get_reward(agent)
    assert any(earned.values()), "who earns nothing proves nothing"
    assert {agent: patient.get_reward(agent) for agent in earned} == pytest.approx(earned)
    assert {patient.get_reward(agent) for agent in earned} == {0}


@pytest.mark.parametrize(
    "name", [name for name in SIMULATIONS if name != "town"]
)  # whose state is in a program
def test_a_copy_goes_on_as_the_original(name, opened):
    sim = opened(name)
    begin(sim, 3)
    for _ in steps(sim, 4):
        pass
    twin = copy.deepcopy(sim)
    rest = [told(sim) for _ in steps(sim)]
    assert [told(twin) for _ in steps(twin)] == rest


@pytest.mark.parametrize("order", [AllStepManager, TurnBasedManager])
@pytest.mark.parametrize("name", [name for name in SIMULATIONS if name != "town"])
def test_every_manager_plays_it_to_the_end(name, order, opened):
    """Specification 9: under every suitable manager; F3: getters take ids; F4: observations lie in their spaces."""
    manager = order(opened(name), time_limit=60)
    seen, over = manager.reset(seed=4), False
    while not over:
        for agent, view in seen.items():
            assert view in manager.agents[agent].observation_space
        waiting = [agent for agent in seen if agent not in manager.done_agents]
        actions = {agent: manager.agents[agent].action_space.sample() for agent in waiting}
        seen, _, dones, infos = manager.step(actions)
        assert infos.keys() == seen.keys()
        over = dones["__all__"]

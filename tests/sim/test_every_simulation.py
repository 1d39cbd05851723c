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
from interplay.sim.simulation import AgentBasedSimulation

STEPS = 8
# Where it is made, of which settings.
SIMULATIONS = {
    "corridor": ("corridor", "manager", "CorridorSettings"),
    "battle": ("team_battle", "manager", "TeamBattleSettings"),
    "maze": ("maze_navigation", "manager", "MazeSettings"),
    "mazes": ("maze_navigation", "manager", "MultiMazeSettings"),
    "foragers": ("foragers", "manager", "ForagersSettings"),
    "pacman": ("pacman", "manager", "PacmanSettings"),
    "traffic": ("traffic_corridor", "manager", "TrafficCorridorSettings"),
    "target": ("reach_the_target", "manager", "ReachTheTargetSettings"),
    "broadcast": ("broadcast", "manager", "BroadcastSettings"),
    "proxy": ("navigation", "proxy_manager", "ProxySettings"),
    "town": ("navigation", "town_manager", "TownSettings"),
}
EXACT = ("maze", "mazes")  # the target's reward takes the place of what the step held, so it does not add up


def made(name: str) -> AgentBasedSimulation:
    folder, function, settings = SIMULATIONS[name]
    place = f"interplay.worlds.{folder}"
    where = "settings" if folder == "navigation" else "config"
    asked = {"town": {"reward": "penalties"}, "proxy": {"configuration": "position"}}.get(name, {})
    given: Any = getattr(import_module(f"{place}.{where}"), settings)(**asked)
    simulation: AgentBasedSimulation = getattr(import_module(f"{place}.world"), function)(given).sim
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

"""Steps per second of grid worlds on one core: as objects through their manager, as batches, and the Abmarl release's beside them.

    python -m bench.gridworld
    python -m bench.gridworld --peer /path/to/venv/bin/python     # one with abmarl installed

The cases of the specification's table: TeamBattle on 8 x 8 with 24 agents, who die; a maze of 8 x 18 with one navigator that sees two
cells far; 50 x 50 with 200 agents of four teams who see three cells far, move and attack without hurting. Observations, rewards, dones
and infos of everybody who is live, resets included, actions drawn before. The process is pinned to one core; a figure is the median of
`RUNS` runs of `SECONDS` of processor time, with the spread of the runs. Runs of the peer alternate with ours. Batches step
different worlds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RUNS, SECONDS = 3, 2.0
MAZE = Path(__file__).resolve().parents[1] / "interplay" / "worlds" / "maze_navigation" / "maze.txt"
CASES = ("team-battle", "maze", "team-battle-50")
BATCHES = {"team-battle": 256, "maze": 256, "team-battle-50": 32}


def measure(manager: Any, agents: dict[str, Any]) -> dict[str, float]:
    """Steps a manager of either package: environment steps and agent steps per second of processor time."""
    drawn = 500 if len(agents) < 50 else 30
    pool = [{name: agent.action_space.sample() for name, agent in agents.items()} for _ in range(drawn)]
    waiting, steps, acted = list(manager.reset()), 0, 0
    began = time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        chosen = pool[steps % drawn]
        _, _, dones, _ = manager.step({name: chosen[name] for name in waiting})
        steps += 1
        acted += len(waiting)
        if dones["__all__"]:
            waiting = list(manager.reset())
        else:
            waiting = [name for name in dones if name != "__all__" and not dones[name]]
    return {"env_steps": steps / spent, "agent_steps": acted / spent}


def ours(case: str) -> dict[str, float]:
    """One run of a simulation object."""
    manager = _manager(case)
    learning = {name: agent for name, agent in manager.agents.items() if hasattr(agent, "action_space")}
    manager.reset(seed=0)
    manager.step({name: agent.action_space.sample() for name, agent in learning.items()})  # compiles
    return measure(manager, learning)


def batched(case: str) -> dict[str, float]:
    """One run of many copies as a world."""
    from interplay.core.spaces import sample_actions

    world = _manager(case).vectorize(BATCHES[case])
    rng = np.random.default_rng(1)
    shape = (world.num_worlds, len(world.agents))
    pool = [sample_actions(world.action_space, rng, shape) for _ in range(32)]
    timestep = world.reset()
    for actions in pool * 4:  # compiles, and lets the worlds drift apart
        timestep = world.reset(timestep.over) if timestep.over.any() else world.step(actions)
    steps, acted, at = 0, 0, 0
    began = time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        if timestep.over.any():
            timestep = world.reset(timestep.over)
        acted += int(timestep.acting.sum())
        timestep = world.step(pool[at % 32])
        steps += world.num_worlds
        at += 1
    return {"env_steps": steps / spent, "agent_steps": acted / spent}


def theirs(case: str) -> dict[str, float]:
    """One run of the release, in a Python that has it."""
    import abmarl.sim.gridworld.agent as kinds
    from abmarl.examples import BattleAgent, MazeNavigationAgent, MazeNavigationSim, TeamBattleSim
    from abmarl.managers import AllStepManager

    parts = {"states": {"PositionState", "HealthState"}, "observers": {"PositionCenteredEncodingObserver"}}
    if case == "maze":
        registry = {
            "N": lambda n: MazeNavigationAgent(id="navigator", encoding=1, view_range=2),
            "W": lambda n: kinds.GridWorldAgent(id=f"wall{n}", encoding=2, blocking=True),
            "T": lambda n: kinds.GridWorldAgent(id="target", encoding=3),
        }
        sim = MazeNavigationSim.build_sim_from_file(
            str(MAZE), registry, overlapping={1: {3}, 3: {1}}, **{**parts, "states": {"PositionState"}}
        )
        return measure(AllStepManager(sim), {"navigator": sim.agents["navigator"]})
    teams = range(1, 5)
    size, number = (8, 24) if case == "team-battle" else (50, 200)
    corners = [np.array(corner) for corner in ((1, 1), (1, 6), (6, 1), (6, 6))]
    agents = {}
    for i in range(number):
        place = corners[i % 4] if case == "team-battle" else None
        agents[f"agent{i}"] = BattleAgent(
            id=f"agent{i}", encoding=i % 4 + 1, initial_position=place, initial_health=1
        )
        if case == "team-battle-50":
            agents[f"agent{i}"].attack_strength = 0
    sim = TeamBattleSim.build_sim(
        size,
        size,
        agents=agents,
        overlapping={team: {team} for team in teams},
        attack_mapping={team: set(teams) - {team} for team in teams},
        dones={"OneTeamRemainingDone"},
        **parts,
    )
    return measure(AllStepManager(sim), agents)


def _manager(case: str) -> Any:
    """The simulation of a registered world under its manager, without a time limit."""
    if case == "maze":
        from interplay.worlds.maze_navigation.config import MazeSettings
        from interplay.worlds.maze_navigation.simulation import manager

        return manager(MazeSettings(time_limit=None))
    from interplay.worlds.team_battle.config import VARIANTS, TeamBattleSettings
    from interplay.worlds.team_battle.world import manager as battle

    strength = {"strength": 0.0} if case == "team-battle-50" else {}
    return battle(TeamBattleSettings(**VARIANTS[case], **strength, time_limit=None))


def _elsewhere(python: str, case: str) -> dict[str, float]:
    done = subprocess.run([python, __file__, "--one", case], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Prints one line per case and side."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", help="a Python with abmarl")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(theirs(options.one)))
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    sides: dict[str, Callable[[str], dict[str, float]]] = {"object": ours, "batch": batched}
    if options.peer:
        sides["abmarl"] = lambda case: _elsewhere(options.peer, case)
    print(
        f"Python {sys.version.split()[0]}, one core, median of {RUNS} runs of {SECONDS:g} s processor time (spread)"
    )
    for case in CASES:
        runs: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
        for _ in range(RUNS):
            for side, run in sides.items():
                runs[side].append(run(case))
        for side, found in runs.items():
            env, agent = (sorted(run[key] for run in found) for key in ("env_steps", "agent_steps"))
            spread = (env[-1] - env[0]) / statistics.median(env)
            name = f"{side} of {BATCHES[case]}" if side == "batch" else side
            print(
                f"{case:15} {name:13} {statistics.median(env):10,.0f} env steps/s "
                f"{statistics.median(agent):12,.0f} agent steps/s ({spread:.0%})",
                flush=True,
            )


if __name__ == "__main__":
    main()

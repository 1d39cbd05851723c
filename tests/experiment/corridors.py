"""Experiments on small corridors, for the tests."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from interplay.sim.managers import TurnBasedManager
from interplay.worlds.corridor.simulation import MultiCorridor


def corridor(config: Any = None) -> TurnBasedManager:
    return TurnBasedManager(MultiCorridor(**(config or {"end": 5, "num_agents": 3})))


def spaces() -> tuple[Any, Any]:
    agent = corridor().agents["agent0"]
    return agent.observation_space, agent.action_space


def by_number(agent_id: str) -> str:
    """agent0 and agent2 are even, agent1 is odd."""
    return "odd" if agent_id in ("agent1", "agent3") else "even"


def params(base: Path | str | None = None, **tune: Any) -> dict[str, Any]:
    """Two policies, a few hundred steps."""
    seen, acts = spaces()
    config = {
        "env": "corridor",
        "horizon": 30,
        "multiagent": {
            "policies": {name: (None, seen, acts, {}) for name in ("even", "odd")},
            "policy_mapping_fn": by_number,
        },
        "num_envs_per_worker": 4,
        "seed": 3,
        **tune.pop("config", {}),
    }
    return {
        "experiment": {"title": "Two", "sim_creator": corridor},
        "ray_tune": {
            "run_or_experiment": "PG",
            "stop": {"training_iteration": 3},
            "verbose": 0,
            "settings": {"network": {"hidden": [8]}, "ppo": {"rollout": 16}},
            **({"storage_path": str(base)} if base is not None else {}),
            "config": config,
            **tune,
        },
    }


def changed(given: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one key, named with dots, set."""
    made = copy.copy(given)
    at = made
    *groups, last = path.split(".")
    for group in groups:
        at[group] = copy.copy(at[group])
        at = at[group]
    at[last] = value
    return made


FILE = '''
"""An experiment of the tests."""
from tests.experiment.corridors import params as make

params = make(storage_path={base!r}, **{tune!r})
'''


def write_file(folder: Path, base: Path, **tune: Any) -> Path:
    """An experiment's file, with results below `base`."""
    path = folder / "two_policies.py"
    path.write_text(FILE.format(base=str(base), tune=tune))
    return path

"""An experiment: MultiCorridor, in which odd and even agents learn a policy each (`docs/experiments.md`).

From the repository root::

    interplay debug examples/multi_corridor_experiment.py -n 2 -s 20
    interplay train examples/multi_corridor_experiment.py
"""

from __future__ import annotations

from interplay.sim.managers import TurnBasedManager
from interplay.worlds.corridor.simulation import MultiCorridor


def make_sim(config=None):
    """The simulation under its manager."""
    return TurnBasedManager(MultiCorridor(**(config or {})))


agent = make_sim().agents["agent0"]  # all are alike
policies = {
    "even": (None, agent.observation_space, agent.action_space, {}),
    "odd": (None, agent.observation_space, agent.action_space, {}),
}


def policy_of(agent_id):
    """Which policy acts for an agent."""
    return "odd" if int(agent_id.removeprefix("agent")) % 2 else "even"


params = {
    "experiment": {"title": "MultiCorridor", "sim_creator": make_sim},
    "ray_tune": {
        "run_or_experiment": "A2C",
        "checkpoint_freq": 50,
        "checkpoint_at_end": True,
        "stop": {"episodes_total": 2000},
        "verbose": 2,
        "config": {
            "env": "MultiCorridor",
            "env_config": {"end": 10, "num_agents": 5},
            "horizon": 200,
            "multiagent": {
                "policies": policies,
                "policy_mapping_fn": policy_of,
                "policies_to_train": [*policies],
            },
            "num_workers": 2,
            "num_envs_per_worker": 8,
            "seed": 1,
        },
    },
}

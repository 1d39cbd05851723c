"""Maze navigation: find a path to a target, alone or with others (manual 6.2.2)."""

from interplay.core.spec import WorldSpec

# Arrivals are rare at first and bumps frequent: a high entropy keeps navigators from learning to stand still.
_PPO = {"learning_rate": 1e-3, "gamma": 0.98, "entropy_coefficient": 0.07, "target_kl": 0.03, "rollout": 64}
_NETWORK = {"kind": "mlp", "input_scale": True, "activation": "relu"}

SPECS = (
    WorldSpec(
        id="gridworld/maze",
        summary="find a path through a maze of 8 x 18 cells, seeing two cells far",
        make="interplay.worlds.maze_navigation.simulation:manager",
        settings="interplay.worlds.maze_navigation.config:MazeSettings",
        policies="interplay.worlds.maze_navigation.policies:POLICIES",
        training={"num_worlds": 32, "ppo": _PPO, "network": _NETWORK},
    ),
    WorldSpec(
        id="gridworld/multi-maze",
        summary="five navigators find paths to one target in mazes drawn for each episode",
        make="interplay.worlds.maze_navigation.simulation:manager",
        settings="interplay.worlds.maze_navigation.config:MultiMazeSettings",
        policies="interplay.worlds.maze_navigation.policies:MULTI_POLICIES",
        training={
            "num_worlds": 32,
            "ppo": {**_PPO, "entropy_coefficient": 0.03, "minibatch": 1024},
            "network": {**_NETWORK, "hidden": (128, 128)},
        },
    ),
)

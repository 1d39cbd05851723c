"""Worlds by their ids as Gymnasium environments."""

from __future__ import annotations

import secrets
from typing import Any

from interplay.connect.gymnasium.worlds import WorldGymEnv
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.registry import make_policy, make_world


def world_to_gym(
    world_id: str,
    *,
    agent: str | None = None,
    others: Policy | str = "random",
    seed: int | None = None,
    render_mode: str | None = None,
    flat: bool | str = False,
    **options: Any,
) -> WorldGymEnv:
    """Makes one world as a Gymnasium environment; ``gymnasium.make("interplay/...")`` calls it.

    Args:
        world_id: a registered id, or anything else that `interplay.make_world` takes.
        agent: the agent that the environment plays; by default the first.
        others: policy of the other agents, or the name of a scripted one.
        seed: names the stream of episodes for `reset` without a seed; None draws one, as Gymnasium does.
        render_mode: None or ``"rgb_array"``.
        flat: see `WorldGymEnv`.
        **options: the world's settings.

    Raises:
        UserError: for an unknown world, option, agent, policy or render mode.

    Example:
        >>> env = world_to_gym("simulation/multi-corridor", agent="agent1", seed=1)
        >>> observation, info = env.reset()
        >>> observation, reward, terminated, truncated, info = env.step(2)
    """
    player = make_policy(world_id, others) if isinstance(others, str) else others
    if not isinstance(player, Policy):
        raise UserError(
            f"{world_id}: others = {player!r} is no policy; give one, or the name of a scripted one"
        )
    named = secrets.randbits(63) if seed is None else seed
    world = make_world(world_id, num_worlds=1, seed=named, **options)
    return WorldGymEnv(world, agent, player, render_mode, named, flat)


# gymnasium.make looks here for what it can show: "human" by its own window, "rgb_array_list" by its own collection.
world_to_gym.metadata = WorldGymEnv.metadata  # type: ignore[attr-defined]

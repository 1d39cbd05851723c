"""Worlds by their ids as Gymnasium environments, for `gymnasium.make` too."""

from __future__ import annotations

import secrets
from typing import Any

import gymnasium
from gymnasium.envs.registration import ENV_ID_RE

from interplay.connect.gymnasium.worlds import WorldGymEnv
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.registry import list_worlds, make_policy, make_world

NAMESPACE = "interplay"


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


def gym_id(world_id: str) -> str:
    """A world's name for `gymnasium.make`; such names have one slash.

    Example:
        >>> gym_id("survival/1v1-heals-low")
        'interplay/survival.1v1-heals-low'
    """
    return f"{NAMESPACE}/{world_id.replace('/', '.')}"


def register_worlds() -> None:
    """Registers every world that Gymnasium does not have; call it again after `interplay.register`.

    An id that makes no valid Gymnasium name is left out: `world_to_gym` makes that world.
    """
    for spec in list_worlds():
        name = gym_id(spec.id)
        if name not in gymnasium.registry and ENV_ID_RE.fullmatch(name):
            gymnasium.register(name, entry_point=f"{__name__}:world_to_gym", kwargs={"world_id": spec.id})

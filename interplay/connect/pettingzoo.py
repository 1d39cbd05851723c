"""Worlds by their ids as PettingZoo environments: ``interplay.make("survival/1v1-heals-low")``."""

from __future__ import annotations

from typing import Any

from interplay.connect.world_env import WorldEnv
from interplay.core.errors import UserError
from interplay.registry import make_world

__all__ = ["WorldEnv", "make"]


def make(
    world_id: str,
    render_mode: str | None = None,
    *,
    seed: int = 0,
    remove_dead: bool = False,
    keep_dead: bool = False,
    mask_in_observation: bool = False,
    flat: bool | str = False,
    agents: Any = None,
    lives: int | None = None,
    **options: Any,
) -> WorldEnv:
    """Makes one world as a PettingZoo `ParallelEnv`, see `WorldEnv`.

    Args:
        world_id: a registered id, or ``"module:Class"`` of a `World` of your own.
        render_mode: None, ``"rgb_array"`` or ``"human"``.
        seed: names the stream of episodes for `reset` without a seed.
        remove_dead: an agent terminates when it stops acting (``on_death="remove"``).
        keep_dead: all agents stay until the world ends (``on_death="keep"``).
        mask_in_observation: see `WorldEnv`.
        flat: see `WorldEnv`.
        agents: ``"slots"``: an agent is a slot of the world, through all lives in it. Anything else is the world's own setting
            of that name.
        lives: of an episode, where agents are lives, see `WorldEnv`.
        **options: the world's settings.
    """
    if "num_worlds" in options:
        raise UserError(
            f"{world_id}: num_worlds is of batches, interplay.make makes one world; use make_world"
        )
    if agents is not None and not isinstance(agents, str):
        options["agents"], agents = agents, None
    if agents not in (None, "slots"):
        raise UserError(f'{world_id}: agents = {agents!r}; pass "slots", or leave it out')
    switches = {
        "remove_dead": remove_dead,
        "keep_dead": keep_dead,
        "mask_in_observation": mask_in_observation,
    }
    for name, switch in switches.items():
        if not isinstance(switch, bool):
            raise UserError(f"{world_id}: {name} = {switch!r} is not allowed; pass True or False")
    if remove_dead and keep_dead:
        raise UserError(f"{world_id}: remove_dead and keep_dead exclude each other; pass one of them")
    return WorldEnv(
        make_world(world_id, num_worlds=1, seed=seed, **options),
        render_mode,
        on_death="remove" if remove_dead else "keep" if keep_dead and not agents else None,
        slots=agents == "slots",
        lives=lives,
        mask_in_observation=mask_in_observation,
        flat=flat,
    )

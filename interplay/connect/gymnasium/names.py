"""Our worlds under names for `gymnasium.make`."""

from __future__ import annotations

import gymnasium
from gymnasium.envs.registration import ENV_ID_RE

from interplay.registry import list_worlds

NAMESPACE = "interplay"
MAKER = "interplay.connect.gymnasium.making:world_to_gym"


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
            gymnasium.register(name, entry_point=MAKER, kwargs={"world_id": spec.id})

"""Names of the agents and teams of a run's world, for tables whose columns are agents."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from interplay.core.errors import UserError
from interplay.core.reading import parse_json
from interplay.core.targets import GIVEN


class Names(NamedTuple):
    """Names of agents and of teams; empty where they are not known."""

    agents: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()


NO_NAMES = Names()


@lru_cache(maxsize=64)
def names_of(world: str, options: str) -> Names:
    """The names in a world of the registry; a program of the user's own is not run for its names.

    Args:
        world: id.
        options: as JSON.

    Example:
        >>> names_of("dilemma/fixed", "{}").agents
        ('agent_0', 'agent_1')
    """
    from interplay.registry import make_world

    if not world or ":" in world or world.startswith(GIVEN):
        return NO_NAMES
    try:
        made = make_world(world, num_worlds=1, **parse_json(options))
    except UserError:  # of a package that is not here
        return NO_NAMES
    made.close()
    count = len(made.teams or ())
    teams = made.team_names or tuple(f"team{number}" for number in range(count))
    return Names(tuple(made.agents), teams)

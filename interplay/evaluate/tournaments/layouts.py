"""Checks whether a policy trained in one world can read another: fields and shapes of observations, actions."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from interplay.core.world import World


def layout_problem(trained: World, wanted: World) -> str | None:
    """Why a policy of the world `trained` cannot play in `wanted`: a clause with field and shapes, or None."""
    known = {kind.name: kind for kind in trained.kinds}
    for kind in wanted.kinds:
        of = f" of {kind.name}" if len(wanted.kinds) > 1 else ""
        if kind.name not in known:
            return f"it knows no agents of kind {kind.name}, only {', '.join(known)}"
        ours, theirs = known[kind.name].observation_space.spaces, kind.observation_space.spaces
        for field in [*theirs, *ours]:
            a, b = shown(ours.get(field)), shown(theirs.get(field))
            if a != b:
                return f'observation "{field}"{of} was {a} in its training and is {b} here'
        a, b = shown(known[kind.name].action_space), shown(kind.action_space)
        if a != b:
            return f"the action{of} was {a} in its training and is {b} here"
    return None


def shown(space: Any) -> str:
    """A space's kind and shape in a few characters.

    Example:
        >>> shown(spaces.Box(0, 1, (3, 8))), shown(spaces.MultiDiscrete([5, 3])), shown(None)
        ('float32 (3, 8)', 'choices (5, 3)', 'absent')
    """
    if space is None:
        return "absent"
    if isinstance(space, spaces.Dict):
        return f"{{{', '.join(f'{name}: {shown(part)}' for name, part in space.spaces.items())}}}"
    if isinstance(space, spaces.MultiDiscrete):
        return f"choices {tuple(space.nvec.ravel().tolist())}"
    if isinstance(space, spaces.Discrete):
        return f"choices {int(space.n)}"
    return f"{space.dtype} {space.shape}"

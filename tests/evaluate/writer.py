"""A player that writes into whatever it is shown."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from interplay.core.policy import RandomPolicy
from interplay.core.world import TimeStep


def arrays_in(tree: Any) -> Iterator[Any]:
    if isinstance(tree, Mapping):
        for part in tree.values():
            yield from arrays_in(part)
    elif tree is not None:
        yield tree


class Writer(RandomPolicy):
    """Acts as `RandomPolicy`, and then spoils every array that lets it."""

    def act(self, timestep: TimeStep) -> Any:
        action = super().act(timestep)
        for part in timestep:
            for array in arrays_in(part):
                with contextlib.suppress(ValueError):
                    array[...] = 1
        return action


class Plain(RandomPolicy):
    """`RandomPolicy` under a name of this module."""

"""The registry's entry for a world: names only, so that a list of worlds imports none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class WorldSpec(NamedTuple):
    """One registered world; code is named as ``"module:attribute"`` and loaded on demand.

    Attributes:
        id: ``"world/variant"``, the name that `make_world` and the command line take.
        summary: one line for lists.
        make: ``"module:name"`` of a `World` class or a function with the signature
            ``make(settings, *, num_worlds, seed, threads, first_world) -> World`` (a class may do without `threads`), or of a
            function ``manager(settings) -> SimulationManager``, whose simulation is copied. `first_world` is the index of
            the batch's first world among all worlds of `seed`: pass it on to `World`, so that a batch of worlds 4..7 is the
            second half of a batch of 8.
        settings: ``"module:Class"`` of the pydantic model that checks options; empty if the world has none
            (`make` gets None then).
        options: the variant's own values of `settings`; a caller's options go on top.
        policies: ``"module:MAPPING"`` of name -> function without arguments that gives a `Policy`; may be empty.
        training: suggested settings for training on this world, in the groups of a settings file: the scale of its
            rewards, how many copies to step. A user's settings override them.
        missing: ``"module:function"`` for a world with an engine of others: called without arguments, it returns the line
            with the cure if the engine is not installed, else an empty string; empty if the world needs none.
    """

    id: str
    summary: str
    make: str
    settings: str = ""
    options: Mapping[str, Any] = {}
    policies: str = ""
    training: Mapping[str, Any] = {}
    missing: str = ""

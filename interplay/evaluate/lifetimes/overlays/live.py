"""An overlay of a world that goes on: one panel at a time, computed anew while somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from interplay.evaluate.lifetimes.overlays.layers import Layer
from interplay.evaluate.lifetimes.overlays.study import Study


@dataclass(frozen=True)
class Live:
    """How an overlay is shown while its world is played.

    Attributes:
        panel: makes one layer, a map or a window, of a study and the options by their names, in a thread of its own. The study's world is
            a copy that nobody steps, its recorders have seen every tick since somebody asked for the overlay first.
        needs: the recorders that it reads, of the overlay's `needs`.
        options: name -> what may be chosen; the first is taken where nothing is said.
        together: whether all populations can be looked at at once.
        by_agent: whether an option makes it one of the agent that is looked at.
        of_one: whether it is of one agent in any case: of one that acts where nobody is looked at.
        goes_on: whether its recorders go on from episode to episode; else they begin anew with each, which may be on another map.
        copies: whether the panel reads the world's state, so that it needs a copy of the world; without, the study has the world itself,
            which goes on.
    """

    panel: Callable[..., Layer]
    needs: tuple[str, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    together: bool = True
    by_agent: bool = False
    of_one: bool = False
    goes_on: bool = False
    copies: bool = True

    def show(self, study: Study, given: Mapping[str, str]) -> Layer:
        """The panel with what was chosen, the rest as it is by itself."""
        chosen: dict[str, Any] = {name: given.get(name, first) for name, (first, *_) in self.options.items()}
        return self.panel(study, **chosen)

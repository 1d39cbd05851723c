"""An overlay of a running world: one panel, recomputed while it is shown."""

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
        panel: computes one layer, a map or a window, from a study and the options, in its own thread. The study's world is a copy that
            is not stepped; its recorders have received every tick since the overlay was first requested.
        needs: names of the recorders it reads, among the overlay's `needs`.
        options: name -> choices; the first is the default.
        together: whether all populations can be shown at once.
        by_agent: whether an option restricts it to the selected agent.
        of_one: whether it always shows one agent; without a selection, one that acts.
        goes_on: whether its recorders continue across episodes; else they restart with each, which may be on another map.
        copies: whether the panel reads the world's state and so needs a copy; if not, the study has the running world itself.
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
        """The panel with the given options, others at their defaults."""
        chosen: dict[str, Any] = {name: given.get(name, first) for name, (first, *_) in self.options.items()}
        return self.panel(study, **chosen)

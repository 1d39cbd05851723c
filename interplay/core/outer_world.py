"""The base of a world around another one, with other observations, actions or groups of agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interplay.core.scene import Canvas
from interplay.core.transcript import Line
from interplay.core.world import Array, Kind, World

# Attributes of a world that do not depend on its agents' observations.
KEPT = (
    *("id", "version", "persistent", "respawns", "dead_stay", "ignores_illegal", "teams", "team_names"),
    *("num_populations", "population_names", "per_team", "scripted", "later_metrics"),
    *("frames_per_step", "tick_seconds", "state_space"),
)


class OuterWorld(World):
    """Hands on what does not depend on observations and actions.

    Args:
        inner: the other world.
        agents, kinds, seed, first_world: as of every world.
    """

    def __init__(
        self, inner: World, agents: Sequence[str], kinds: Sequence[Kind], seed: int = 0, first_world: int = 0
    ) -> None:
        super().__init__(inner.num_worlds, agents, kinds, seed, first_world)
        self._inner = inner
        for name in KEPT:
            setattr(self, name, getattr(inner, name))

    @property
    def privileged_view(self) -> bool | None:
        """The inner world's, which draws."""
        return self._inner.privileged_view

    @privileged_view.setter
    def privileged_view(self, shown: bool | None) -> None:
        self._inner.privileged_view = shown

    @property
    def metrics(self) -> Mapping[str, Array]:
        return self._inner.metrics

    def global_state(self) -> Array:
        return self._inner.global_state()

    def team_states(self) -> Array:
        return self._inner.team_states()

    def draw(self, canvas: Canvas, world: int) -> None:
        self._inner.draw(canvas, world)

    def phase(self, world: int) -> str | None:
        return self._inner.phase(world)

    def describe(self, world: int) -> list[Line]:
        return self._inner.describe(world)

    def close(self) -> None:
        self._inner.close()

"""The proxy as a declared grid world: the navigator moves from cell to cell of `proxy_map` (manual 4.2.4)."""

from __future__ import annotations

from typing import Any, Self

from interplay.gridworld.agents import GridObservingAgent, GridWorldAgent, MovingAgent
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.sim.checks import require
from interplay.sim.managers import AllStepManager
from interplay.worlds.navigation.config import ARRIVAL, FINE, NAVIGATOR
from interplay.worlds.navigation.proxy import START, TARGET, WALL, proxy_map
from interplay.worlds.navigation.settings import ProxySettings
from interplay.worlds.navigation.town import Town

TARGET_ID = "target"
# Encodings of the surroundings; the wall is furthest from 0, which is empty, as it matters most to a network.
NAVIGATOR_CODE, TARGET_CODE, WALL_CODE = 1, 2, 3

_SURROUNDINGS, _POSITION = "PositionCenteredEncodingObserver", "AbsolutePositionObserver"
# Manual 4.2.4, table 1: the observation, and whether invalid moves are fined.
CONFIGURATIONS = {
    "regional": (_SURROUNDINGS, True),
    "position": (_POSITION, True),
    "soft": (_POSITION, False),
}


class Navigator(GridObservingAgent, MovingAgent):
    """Sees and moves."""


class ProxyNavigationSim(SmartGridWorldSimulation):
    """One agent, ``navigator``, moves by at most one cell along each axis towards ``target``.

    A cell is 105 units of the town wide, about the length of a step there. As with every `MoveActor` only the destination of a
    move counts, so the navigator can pass between two walls that touch at a corner, unlike in the town.

    Args:
        configuration: a row of the manual's table 1. ``"regional"`` shows the cells around the navigator and fines invalid moves,
            ``"position"`` shows row and column and fines, ``"soft"`` shows row and column and pays only for the target.
        fine: for an invalid move, where there are fines.
        **kwargs: from the builder; components given here replace those of the configuration.

    Raises:
        AssertionError: for another configuration.

    Example:
        >>> sim = ProxyNavigationSim.build("soft")
        >>> sim.reset()
        >>> sim.get_obs("navigator")["position"].tolist()
        [17, 1]
    """

    def __init__(
        self,
        configuration: str = "regional",
        fine: float = FINE,
        **kwargs: Any,
    ) -> None:
        known = ", ".join(CONFIGURATIONS)
        require(configuration in CONFIGURATIONS, f"configuration {configuration!r} is not one of {known}")
        observer, fined = CONFIGURATIONS[configuration]
        mapping = {"target_mapping": {NAVIGATOR: TARGET_ID}}
        arrival = ("TargetReward", {**mapping, "amount": ARRIVAL})
        parts: dict[str, Any] = {
            "states": [("PositionState", {"no_overlap_at_reset": True})],
            "actors": ["MoveActor"],
            "observers": [observer],
            "dones": [("TargetAgentOverlapDone", mapping)],
            "rewards": [("MoveReward", {"failed": -fine}), arrival] if fined else [arrival],
        }
        super().__init__(**(parts | kwargs))
        self.configuration = configuration
        self.finalize()

    @classmethod
    def build(
        cls,
        configuration: str = "regional",
        view_range: int = 5,
        random_start: bool = False,
        fine: float = FINE,
        town: Town | None = None,
    ) -> Self:
        """Builds the proxy of a town.

        Args:
            configuration: see the class.
            view_range: in cells; walls hide what is behind them.
            fine: for an invalid move.
            random_start: episodes begin in any open cell but the target's.
            town: by default the one of `map.json`.
        """
        registry = {
            WALL: lambda n: GridWorldAgent(
                id=f"wall{n}", encoding=WALL_CODE, blocking=True, render_shape="s", render_color="#495057"
            ),
            START: lambda n: Navigator(
                id=NAVIGATOR,
                encoding=NAVIGATOR_CODE,
                view_range=view_range,
                move_range=1,
                render_color="#0072b2",
            ),
            TARGET: lambda n: GridWorldAgent(
                id=TARGET_ID, encoding=TARGET_CODE, render_shape="D", render_color="#2b8a3e"
            ),
        }
        overlapping = {NAVIGATOR_CODE: {TARGET_CODE}, TARGET_CODE: {NAVIGATOR_CODE}}
        sim = cls.build_sim_from_array(
            proxy_map(town),
            registry,
            overlapping=overlapping,
            configuration=configuration,
            fine=fine,
        )
        if random_start:
            sim.agents[NAVIGATOR].initial_position = None
        return sim


def proxy_manager(settings: ProxySettings) -> AllStepManager:
    """A new proxy under a new manager."""
    sim = ProxyNavigationSim.build(
        settings.configuration,
        settings.view_range,
        settings.random_start,
        settings.fine,
    )
    return AllStepManager(sim, time_limit=settings.time_limit)

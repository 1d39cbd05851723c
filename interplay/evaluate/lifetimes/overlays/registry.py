"""Overlays by name, their input, and how they are shown of a running world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.policy import Policy
from interplay.core.registry import Registry
from interplay.core.world import World
from interplay.evaluate.lifetimes.mmo.ghosts import Value
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.places import Expects
from interplay.evaluate.lifetimes.tick import Recorder, tick_reader, watch
from interplay.evaluate.progress import Progress, no_progress


@dataclass(frozen=True)
class Study:
    """A world played for some recorded ticks.

    Attributes:
        world: the batch, at the last tick; its worlds share one map.
        population: the selected one, or None for all.
        seed: of the measures.
        ticks: recorded, until the last world was over.
        recorders: name -> recorder.
        networks: values of a checkpoint, or None for a scripted policy.
        progress: called with (task, done, total).
        agent: the selected slot, or None.
        expects: values of observations of `agent` with its current memory; None as `networks`.
        burn_in: ticks played before recording.
    """

    world: Any
    population: int | None = None
    seed: int = 0
    ticks: int = 0
    recorders: Mapping[str, Recorder] = field(default_factory=dict)
    networks: Value | None = None
    progress: Progress = no_progress
    agent: int | None = None
    expects: Expects | None = None
    burn_in: int = 0

    def require_values(self) -> Value:
        """Values of the checkpoint's networks; UserError for a scripted policy."""
        if self.networks is None:
            raise UserError("a scripted policy has no values to show; name the run folder of a trained one")
        return self.networks

    def require_expects(self) -> Expects:
        """Values of the selected agent; UserError for a scripted policy."""
        self.require_values()
        assert self.expects is not None
        return self.expects

    @property
    def populations(self) -> tuple[int, ...]:
        """The shown populations, ascending."""
        return tuple(range(self.world.num_populations)) if self.population is None else (self.population,)

    @property
    def tiles(self) -> Any:
        """(T, T) uint8, of the first world."""
        return self.world.state.tiles[0]

    def seen(self, name: str) -> Any:
        """A recorder by name."""
        return self.recorders[name]


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


@dataclass(frozen=True)
class Overlay:
    """A named measure of a world and its agents.

    Attributes:
        name: lower case; typed by users.
        meaning: one line.
        compute: study -> data.
        needs: name -> factory of a recorder for a world; overlays share recorders of the same name.
        asks_values: needs a network; scripted policies are refused before play.
        compares: compares populations; a world of one is refused before play.
        one_map: sums the worlds of a batch cell by cell, so they must share one map.
        plays: False if no tick needs to be played.
        reader: world -> function that reads the recorders' input; refuses unsuitable worlds.
        live: how it is shown of a running world; None: not at all.

    Example:
        >>> from interplay.evaluate.lifetimes.overlays import Layer, OverlayData
        >>> def tiles(study):
        ...     layer = Layer("tiles", "tile ids", study.tiles, "map", "diverging", "id", "What lies there.", (0, 6))
        ...     return OverlayData("tiles", "The map", (layer,))
        >>> Overlay("tiles", "ids of the tiles", tiles).name
        'tiles'
    """

    name: str
    meaning: str
    compute: Callable[[Study], OverlayData]
    needs: Mapping[str, Callable[[World], Recorder]] = field(default_factory=dict)
    asks_values: bool = False
    compares: bool = False
    one_map: bool = False
    plays: bool = True
    reader: Callable[[World], Callable[[World], Any]] = tick_reader
    live: Live | None = None


_BUILT_IN = (
    "interplay.evaluate.lifetimes.mmo.overlays.ground:VALUES",
    "interplay.evaluate.lifetimes.mmo.overlays.ground:EXPLORATION",
    "interplay.evaluate.lifetimes.mmo.overlays.others:DEPENDENCE",
    "interplay.evaluate.lifetimes.mmo.overlays.others:COMBAT",
    "interplay.evaluate.lifetimes.mmo.overlays.ground:BLOWS",
    "interplay.evaluate.lifetimes.mmo.overlays.lives:NICHES",
    "interplay.evaluate.lifetimes.mmo.overlays.lives:LIVES",
    "interplay.evaluate.lifetimes.mmo.overlays.ground:COVERAGE",
    "interplay.evaluate.lifetimes.survival_world.overlays:STRIKES",
    "interplay.evaluate.lifetimes.survival_world.overlays:ITEMS",
    "interplay.evaluate.lifetimes.survival_world.overlays:DEATHS",
    "interplay.evaluate.lifetimes.survival_world.overlays:ZONE",
    "interplay.evaluate.lifetimes.overlays.places:PLACE_VALUES",
    "interplay.evaluate.lifetimes.overlays.places:VISITS",
)


def register_overlay(overlay: Overlay) -> None:
    """Adds an overlay in this process; UserError for a name in use."""
    _OVERLAYS.add(overlay.name, overlay)


def list_overlays(world: World | None = None) -> tuple[Overlay, ...]:
    """All overlays, built-in ones first; with a world, only those that can read it."""
    return tuple(overlay for overlay in _OVERLAYS.all().values() if world is None or _reads(overlay, world))


def _reads(overlay: Overlay, world: World) -> bool:
    try:
        overlay.reader(world)
    except UserError:
        return False
    return True


def find_overlay(name: str) -> Overlay:
    """The overlay of a name, or a user-defined one as ``module:attribute``."""
    if ":" in name:
        own = load(name, users=True)
        if not isinstance(own, Overlay):
            raise UserError(
                f"{name!r} is a {type(own).__name__}, no Overlay; see interplay.evaluate.lifetimes.overlays"
            )
        return own
    return _OVERLAYS.find(name)


def compute_overlays(
    overlays: Sequence[str | Overlay],
    world: Any,
    policy: Policy,
    ticks: int,
    *,
    value: Value | None = None,
    population: int | None = None,
    seed: int = 0,
    burn_in: int = 0,
    progress: Progress = no_progress,
) -> dict[str, OverlayData]:
    """Plays a world once and computes overlays: arrays, meaning and colour scale.

    Args:
        overlays: names or objects.
        world: a batch of worlds with one map; it is reset.
        policy: acts for every agent.
        ticks: to record.
        value: of a checkpoint's networks, see `interplay.evaluate.lifetimes.mmo.ghosts.Value`; None for scripted policies.
        population: the only one to show; None = all.
        seed: of the worlds, the policy and the measures.
        burn_in: ticks played before recording.
        progress: called with (task, done, total).

    Returns:
        Name -> data, in the order of `overlays`.
    """
    chosen = [find_overlay(one) if isinstance(one, str) else one for one in overlays]
    if population is not None and not 0 <= population < world.num_populations:
        raise UserError(
            f"population = {population}: {world.id} has the populations 0..{world.num_populations - 1}; choose one of them"
        )
    _check(world, chosen)
    recorders = {name: make(world) for overlay in chosen for name, make in overlay.needs.items()}
    study = Study(world, population, seed, 0, recorders, value, progress)
    if any(overlay.asks_values for overlay in chosen):
        study.require_values()  # before anything is played
    if any(overlay.plays for overlay in chosen):
        total = burn_in + ticks
        played = watch(
            world,
            policy,
            recorders.values(),
            ticks,
            seed,
            burn_in,
            lambda done: progress("ticks", done, total),
            chosen[0].reader,
        )
        study = replace(study, ticks=played, burn_in=burn_in)
    return {overlay.name: overlay.compute(study) for overlay in chosen}


def _check(world: Any, chosen: Sequence[Overlay]) -> None:
    """Refuses unsuitable worlds, comparisons of one population, and sums over several maps."""
    for overlay in chosen:
        overlay.reader(world)
        if overlay.reader is not chosen[0].reader:
            raise UserError(
                f"overlays {chosen[0].name!r} and {overlay.name!r} read different things of a world; ask for them one after the other"
            )
    comparing = [overlay.name for overlay in chosen if overlay.compares]
    if comparing and world.num_populations < 2:
        raise UserError(
            f"overlay {comparing[0]!r} compares populations, {world.id} has one here; give npop=2 or more, or leave it out"
        )
    adding = [overlay.name for overlay in chosen if overlay.one_map]
    if adding and world.num_worlds > 1 and world.settings.maps != 1:
        raise UserError(
            f"overlay {adding[0]!r} adds up {world.num_worlds} worlds cell by cell, maps = {world.settings.maps or 'off'} "
            "gives them several maps; give maps=1, or one world"
        )


def _installed() -> dict[str, Overlay]:
    return {overlay.name: overlay for overlay in map(load, _BUILT_IN)}


_OVERLAYS = Registry("overlay", _installed)

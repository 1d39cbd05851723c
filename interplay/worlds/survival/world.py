"""The survival world: spaces, reset, step, metrics (specification 6 to 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.controls import Controls
from interplay.core.fog import Visible
from interplay.core.guides import Guide
from interplay.core.jit import as_table, numbers_of
from interplay.core.ranges import Invariant, Range
from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, Outputs, TimeStep
from interplay.planar.bodies import Physics
from interplay.planar.phases import CLEAR_ROOM, LOOK_AROUND, MOVE_BODIES, SHUFFLE_CELLS
from interplay.planar.scratch import allocate_scratch
from interplay.planar.simulation import Group, Module, Simulation, lay_out
from interplay.worlds.survival import global_state
from interplay.worlds.survival.config import SurvivalSettings
from interplay.worlds.survival.guides import guides_of
from interplay.worlds.survival.modules import build_groups
from interplay.worlds.survival.observe import fields_of
from interplay.worlds.survival.ranges import laws_of, ranges_of
from interplay.worlds.survival.render import VIEWS, visible
from interplay.worlds.survival.rules import step as s
from interplay.worlds.survival.rules.fight import ATTACK, DROP, FORWARD, GIVE, LEFT, TURN, USE
from interplay.worlds.survival.state import Rules, SurvivalState, allocate_state, arrays_of

_ACTION_KEYS = {" ": "attack", "e": "use", "g": "give", "r": "drop"}
# The body table: solid bodies first, agents before boxes (specification 2.1).
TABLE = ("agents", "boxes", "heals", "box_items")

# Phases around the modules' callbacks.
FRAME = {
    "begin_reset": (CLEAR_ROOM, s.BEGIN_EPISODE, SHUFFLE_CELLS),
    "end_reset": (s.OBSERVE,),
    "begin_step": (s.QUEUE_ACTIONS,),
    "physics": (MOVE_BODIES,),
    "end_step": (s.OBSERVE, s.GIVE_REWARDS, s.DECIDE_END),
}


class SurvivalWorld(ArrayWorld):
    """W rooms in which agents outlive a shrinking safe zone and each other.

    Attributes:
        views: draw functions in painting order; append your own.

    Args:
        extra_modules: group name -> user-defined modules (`docs/new-mechanic.md`).
        extra_groups: user-defined groups of items.
        fused: False runs each phase over the whole batch by itself; the result is the same, bit for bit.
    """

    version = 1
    dead_stay = True
    per_team = ("team_kills",)
    instruments = MappingProxyType(
        {"moments": "interplay.evaluate.lifetimes.survival_world.moments:MomentReader"}
    )

    def __init__(
        self,
        settings: SurvivalSettings,
        num_worlds: int = 1,
        seed: int = 0,
        threads: int = 1,
        first_world: int = 0,
        extra_modules: Mapping[str, Sequence[Module]] | None = None,
        extra_groups: Sequence[Group] = (),
        fused: bool = True,
    ) -> None:
        self.settings = settings
        self.views = list(VIEWS)
        groups = build_groups(settings, extra_modules, extra_groups)
        num_bodies = lay_out(groups, TABLE)
        self._own = [
            (f"{group.name}.{type(module).__name__}", module) for group in groups for module in group.modules
        ]
        fields = fields_of(settings)
        self._extra_fields = {
            name: shape for _, module in self._own for name, shape in module.fields().items()
        }
        heads = action_heads(settings)
        self._heads = list(heads)  # columns of the state's action
        self._extra = {
            name: np.zeros((num_worlds, settings.agents, *shape), np.float32)
            for name, shape in self._extra_fields.items()
        }
        space = spaces.Dict(
            {name: _space(name, shape) for name, shape in {**fields, **self._extra_fields}.items()}
        )
        kind = Kind("agent", tuple(range(settings.agents)), space, spaces.MultiDiscrete(list(heads.values())))
        names = [f"agent_{a}" for a in range(settings.agents)]
        super().__init__(num_worlds, names, [kind], seed, first_world)
        self.action_names = action_names(settings)
        self.tick_seconds = settings.substeps * settings.substep_seconds
        if settings.teams:
            self.teams = tuple(
                tuple(agent for agent, side in enumerate(settings.sides) if side == team)
                for team in range(max(settings.sides) + 1)
            )
        length = sum(int(np.prod(shape)) for shape in fields.values())
        self.state: SurvivalState = allocate_state(
            settings, num_worlds, num_bodies, DROP + settings.drop_action, length
        )
        self.rules = rules_of(settings, num_bodies)
        self.state_space = global_state.space_of(self.state, self.rules)
        self._set_shapes()
        self.simulation = Simulation(
            self.state,
            self.rules,
            as_table(self.rules),
            allocate_scratch(max(threads, 1), self.rules.physics.num_solid),
            s.run_phases,
            groups,
            FRAME,
            s.NAMES,
            threads,
            fused,
        )
        agent = self.state.agent
        self.outputs = Outputs._make(
            [*(agent[name] for name in Outputs._fields[:-1]), self.state.room["over"]]
        )
        self._views = TimeStep({**_views(self.state.observation, fields), **self._extra}, *self.outputs)

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Per episode: length in steps, return and kills per agent, heals used, boxes placed.

        Kills of teams are recorded by side only: `team_kills` are those of an agent's whole team, for each member.
        """
        state = self.state
        counted = state.agent["kill_count"]  # by side
        kills = {"team_kills": counted[:, state.sides]} if self.settings.teams else {"kills": counted}
        return {
            "episode_length": state.room["steps"],
            "episode_return": state.agent["returns"],
            **kills,
            "heals_used": state.room["heals_used"],
            "boxes_placed": state.room["boxes_placed"],
        }

    def global_state(self) -> np.ndarray:
        """Bodies, inventories, zone and time (`global_state`); arrays of user-defined modules are not included."""
        return global_state.global_state(self.state, self.rules)

    def controls(self, slot: int) -> Controls:
        """W, S and the arrows up and down walk, A and D step aside, the other arrows turn, at full speed; without a key the agent rests."""
        names = cast("dict[str, tuple[str, ...]]", self.action_names)
        back, ahead = (names["forward"][end] for end in (0, -1))
        right, left = (names["sideways"][end] for end in (0, -1))
        motion = {key: {"forward": ahead} for key in ("ArrowUp", "w")}
        motion |= {key: {"forward": back} for key in ("ArrowDown", "s")}
        motion |= {"a": {"sideways": left}, "d": {"sideways": right}}
        motion |= {"ArrowLeft": {"turn": names["turn"][-1]}, "ArrowRight": {"turn": names["turn"][0]}}
        actions = {key: {head: head} for key, head in _ACTION_KEYS.items() if head in names}
        return Controls({**motion, **actions}, dict.fromkeys(("forward", "sideways", "turn"), "rest"))

    def observation_guides(self, world: int, slot: int) -> dict[str, Sequence[Guide]]:
        """Names of the numbers, and the rows an agent sees: masked rows hold hidden values, which networks must ignore."""
        fields = cast(spaces.Dict, self.kinds[0].observation_space).spaces
        masked = {
            name: (Guide("rows", hidden=f"{name}_mask"),) for name in fields if f"{name}_mask" in fields
        }
        found: dict[str, Sequence[Guide]] = {**masked, **guides_of(self.settings, slot)}
        for _, module in self._own:
            found |= module.guides(slot)
        return {
            name: guides
            for name, guides in found.items()
            if name in fields and all(not guide.hidden or guide.hidden in fields for guide in guides)
        }

    def stand_at(self, world: int, slot: int, x: float, y: float) -> bool:
        """Moves the agent; its speed, heading and items stay. Rays and fields of user-defined modules are not updated."""
        if not has_room(self.state, self.rules, world, slot, x, y):
            return False
        body = self.state.body[world, slot]
        body["x"], body["y"] = x, y
        if self.rules.cameras:
            self.simulation.run((LOOK_AROUND,), self.simulation.group("agents"))
        self.refresh()
        return True

    def visible(self, world: int, slot: int) -> Visible | None:
        """The part of the scene in the field of view; None if the world draws with user-defined views."""
        return visible(self.state, self.rules, world, slot) if tuple(self.views) == VIEWS else None

    def draw(self, canvas: Canvas, world: int) -> None:
        for view in self.views:
            view(canvas, self.state, self.rules, world)
        for _, module in self._own:
            module.draw(canvas, world)

    def close(self) -> None:
        self.simulation.close()

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        seeding.begin_episode(self.state.stream, which, seeds)
        self.simulation.reset(which)

    def _advance(self, action: np.ndarray) -> None:
        # Checked before: only the width may differ. Heads of modules that are off stay 0.
        if len(self._heads) == self.state.action.shape[-1]:
            np.copyto(self.state.action, action, casting="unsafe")
        else:
            self.state.action[..., self._heads] = action
        self.simulation.step(~self.outputs.over)

    def _forget(self) -> None:
        if self.outputs.over.any():  # the other outputs are rewritten entirely
            super()._forget()

    def _look_anew(self) -> None:
        self.simulation.run(FRAME["end_reset"])

    def _read(self) -> TimeStep:
        for _, module in self._own:
            if module.fields():
                module.observe(self._extra)
        return self._views

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = arrays_of(self.state)
        for owner, module in self._own:
            arrays |= {f"{owner}.{name}": array for name, array in module.arrays().items()}
        return arrays

    def state_ranges(self) -> Mapping[str, Range]:
        heads = action_heads(self.settings)
        choices = [heads.get(column, 1) for column in range(self.state.action.shape[-1])]
        ranges = ranges_of(self.state, self.rules, choices)
        for owner, module in self._own:
            ranges |= {f"{owner}.{name}": allowed for name, allowed in module.ranges().items()}
        return ranges

    def state_laws(self) -> Sequence[Invariant]:
        return laws_of(self.state)

    def _set_shapes(self) -> None:
        """Shapes, masses and array-valued settings that never change; boxes get their shapes in each episode."""
        bodies, settings, rules = self.state.bodies, self.settings, self.rules
        self.state.zone_radii[:-1] = settings.zone_radii
        if settings.zone_centres is not None:
            self.state.zone_fixed[...] = settings.zone_centres
        self.state.sides[:] = settings.sides
        self.state.full_health[: settings.agents] = settings.health
        self.state.full_health[settings.agents : rules.first_heal] = settings.box_health
        bodies.radius[:, : settings.agents] = settings.agent_radius
        bodies.radius[:, rules.first_heal :] = settings.item_radius
        mass = settings.density * np.pi * settings.agent_radius**2
        bodies.inverse_mass[:, : settings.agents] = 1.0 / mass
        bodies.inverse_inertia[:, : settings.agents] = 2.0 / (mass * settings.agent_radius**2)


def action_heads(settings: SurvivalSettings) -> dict[int, int]:
    """Column -> choices of each action head: forward, left, turn, attack, use, give, optionally drop (specification 7)."""
    binary = [ATTACK] if settings.melee != "off" else []
    binary += [USE, GIVE] if settings.inventory == "on" else []
    binary += [DROP] if settings.drop_action else []
    return dict.fromkeys((FORWARD, LEFT, TURN), settings.motion_levels) | dict.fromkeys(binary, 2)


def action_names(settings: SurvivalSettings) -> dict[str, tuple[str, ...]]:
    """Names of the choices; motion has levels on both sides of rest, in the agent's frame."""
    steps = range(1, settings.motion_levels // 2 + 1)
    words = {FORWARD: ("forward", "back", "ahead"), LEFT: ("sideways", "right", "left")}
    words |= {TURN: ("turn", "clockwise", "anticlockwise")}
    names = {}
    for head in action_heads(settings):
        if head in words:
            name, minus, plus = words[head]
            less, more = (
                [f"{word} {step}" if step > 1 else word for step in steps] for word in (minus, plus)
            )
            names[name] = (*reversed(less), "rest", *more)
        else:
            action_name = {ATTACK: "attack", USE: "use", GIVE: "give", DROP: "drop"}[head]
            names[action_name] = (f"no {action_name}", action_name)
    return names


def rules_of(settings: SurvivalSettings, num_bodies: int) -> Rules:
    """The kernels' numbers from the settings."""
    agents, boxes, heals = settings.agents, settings.boxes, settings.heals
    first_heal = agents + boxes
    rules: Rules = numbers_of(
        Rules,
        settings,
        physics=numbers_of(
            Physics,
            settings,
            num_solid=agents + boxes,
            h=settings.substep_seconds,
            pade=settings.damping_rule == "pade",
        ),
        first_box=agents,
        first_heal=first_heal,
        first_box_item=first_heal + heals,
        first_other=first_heal + heals + boxes,
        num_bodies=num_bodies,
        grid=settings.spawn_grid,
        box_width=settings.box_width[0],
        box_width_spread=settings.box_width[1],
        box_height=settings.box_height[0],
        box_height_spread=settings.box_height[1],
        health_cap=settings.health_cap or 0,
        teams=bool(settings.teams),
        num_sides=max(settings.sides) + 1,
        zone=settings.zone == "on",
        melee=settings.melee != "off",
        inventory=settings.inventory == "on",
        cameras=settings.cameras == "on",
        continuous=settings.melee == "continuous",
        scatter_disc=settings.death_scatter == "disc",
        view_cosine=float(np.cos(settings.view_angle / 2)),
        view_sine=float(np.sin(settings.view_angle / 2)),
        team_each=settings.team_reward == "each",
        last_alive=settings.end == "lastalive",
        max_steps=settings.max_steps or 0,
        **settings.quirks,
    )
    return rules


def has_room(state: SurvivalState, rules: Rules, w: int, slot: int, x: float, y: float) -> bool:
    """Whether a living agent at a place would touch neither the walls nor another solid body of world w."""
    rows = state.body[w, : rules.physics.num_solid]
    own = rows[slot]
    if not own["present"] or max(abs(x), abs(y)) + own["radius"] > rules.physics.wall:
        return False
    others = rows["present"].copy()
    others[slot] = False
    dx, dy = x - rows["x"], y - rows["y"]
    # In the body's frame: from a box to its nearest edge, from a disc to its centre.
    along = np.abs(dx * rows["cosine"] + dy * rows["sine"]) - rows["half_x"]
    across = np.abs(dy * rows["cosine"] - dx * rows["sine"]) - rows["half_y"]
    gap = np.hypot(np.maximum(along, 0.0), np.maximum(across, 0.0))
    return not (others & (gap < own["radius"] + rows["radius"])).any()


def _space(name: str, shape: tuple[int, ...]) -> spaces.Box:
    """Fields are unbounded; masks are 0 (visible) or 1 (hidden)."""
    if name.endswith("_mask"):
        return spaces.Box(0.0, 1.0, shape, np.float32)
    return spaces.Box(-np.inf, np.inf, shape, np.float32)


def _views(observation: Any, fields: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Name -> (W, A, *shape) views of the packed rows."""
    views, start = {}, 0
    for name, shape in fields.items():
        length = int(np.prod(shape))
        views[name] = observation[:, :, start : start + length].reshape(*observation.shape[:2], *shape)
        start += length
    return views

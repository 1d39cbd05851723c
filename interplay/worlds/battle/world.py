"""Battles as a world: spaces, reset, step, metrics (specification 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.controls import Controls, arrows
from interplay.core.errors import UserError
from interplay.core.fog import Visible
from interplay.core.guides import Guide
from interplay.core.kernel_world import KernelWorld, read_only
from interplay.core.ranges import Invariant, Range
from interplay.core.scene import Canvas
from interplay.core.world import Kind, TimeStep
from interplay.worlds.battle import observe
from interplay.worlds.battle.config import TICKS, TICKS_PER_SECOND, BattleSettings
from interplay.worlds.battle.guides import guides_of
from interplay.worlds.battle.ranges import laws_of, ranges_of
from interplay.worlds.battle.render import draw, units_in_sight, visible
from interplay.worlds.battle.rules import step
from interplay.worlds.battle.state import (
    BLUE,
    MOVES,
    RED,
    BattleState,
    allocate_scratch,
    allocate_state,
    bodies_of,
    rules_of,
)

CLICKED = 0.75  # units of length around an enemy's middle that still hit it


class BattleWorld(KernelWorld):
    """W battles of two sides; each unit is an agent, red's units come first.

    Units see and act as in SMAC, each on its own and from the left. A dead unit no longer acts but stays present: it gets its side's reward,
    and its life ends with the battle. Slots without a unit in this episode are empty.

    Attributes:
        state: the arrays (`state.BattleState`); after writing to them call `refresh`.
        body: (A,) units of the slots (`state.BODY`).
        table: the rules as numbers, a table of one record (`state.rules_of`).
    """

    version = 1
    frames_per_step = 4
    tick_seconds = TICKS / TICKS_PER_SECOND
    dead_stay = True
    per_team = ("fallen", "felled")

    def __init__(
        self,
        settings: BattleSettings,
        num_worlds: int = 1,
        seed: int = 0,
        threads: int = 1,
        first_world: int = 0,
    ) -> None:
        self.settings = settings
        self.table, self.body = rules_of(settings), bodies_of(settings)
        rules = self.table[0]
        red, blue = (len(side) for side in settings.sides)
        space = observe.observation_space(settings, rules)
        kind = Kind("agent", tuple(range(red + blue)), space, spaces.Discrete(int(rules["actions"])))
        names = [f"red_{number}" for number in range(red)] + [f"blue_{number}" for number in range(blue)]
        super().__init__(num_worlds, names, [kind], seed, first_world, threads)
        self.action_names = {"order": action_names(rules)}
        self.teams = tuple(range(red)), tuple(range(red, red + blue))
        self.team_names = "red", "blue"
        self.state: BattleState = allocate_state(settings, num_worlds)
        self.state_space = spaces.Box(-np.inf, np.inf, (observe.state_size(rules, RED),), np.float32)
        self._sight = observe.allocate_sight(settings, rules, num_worlds)
        self._scratch = allocate_scratch(settings, self._chunks.threads)
        self._action = np.zeros((num_worlds, red + blue), np.int64)
        seen = {"units": self._sight.rows}
        if settings.see_field:
            seen |= {"field": self._sight.field, "legal": read_only(self._sight.mask.view(np.int8))}
        self._views = TimeStep(seen, *self.outputs, {"action": self._sight.mask})

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Of the episode so far, per unit (W, A); the length in decisions is (W,).

        ``outcome`` of the unit's side once the battle is over: +1, -1, or 0 for a draw and at the limit; NaN before. ``fallen`` units of its
        side, ``felled`` enemies. Empty slots have the values of their side.
        """
        unit, over = self.state.unit, np.asarray(self.outputs.over)
        present, red = np.asarray(unit["present"]), len(self.teams[RED])  # type: ignore[index]
        sign = np.where(np.arange(len(self.agents)) < red, 1.0, -1.0)
        outcome = np.where(over[:, None], self.state.room["outcome"][:, None] * sign, np.nan)
        dead = present & ~unit["alive"]
        fallen = dead[:, :red].sum(axis=1), dead[:, red:].sum(axis=1)
        own = np.where(sign > 0, fallen[RED][:, None], fallen[BLUE][:, None])
        return {
            "episode_length": np.array(self.state.room["steps"]),
            "outcome": outcome + 0.0,  # no negative zeros
            "alive": np.array(unit["alive"]),
            "health": np.array(unit["health"]),
            "shield": np.array(unit["shield"]),
            "fallen": own,
            "felled": dead.sum(axis=1)[:, None] - own,
        }

    def global_state(self) -> np.ndarray:
        """Red's state, (W, n) float32 (`side_state`)."""
        return self.side_state(RED)

    def team_states(self) -> np.ndarray:
        """Red's state and blue's, (W, 2, m) float32; that of the smaller side ends in zeros."""
        states = [self.side_state(side) for side in (RED, BLUE)]
        found = np.zeros((self.num_worlds, 2, max(state.shape[1] for state in states)), np.float32)
        for side, state in enumerate(states):
            found[:, side, : state.shape[1]] = state
        return found

    def side_state(self, side: int) -> np.ndarray:
        """SMAC's state of a side, 0 for red or 1 for blue, in its own frame: (W, n) float32 (specification 5.3)."""
        _ = self.timestep  # raises before the first reset
        if side not in (RED, BLUE):
            raise UserError(f"{self.id}: side = {side!r}; give 0 for red or 1 for blue")
        return observe.state_of(self.state, self.body, self.table, side)

    def controls(self, slot: int) -> Controls:
        """Arrows move, digits attack the enemy of that number; without a key the unit stops."""
        ahead, back = ("ahead", "back") if slot in (self.teams or ((),))[RED] else ("back", "ahead")
        ways = {"ArrowUp": "north", "ArrowDown": "south", "ArrowRight": ahead, "ArrowLeft": back}
        enemies = range(min(int(self.table[0]["enemies"]), 10))
        attacks = {str(number): {"order": f"attack {number}"} for number in enemies}
        return Controls({**arrows("order", ways), **attacks})

    def click(self, world: int, slot: int, x: float, y: float) -> dict[str, str] | None:
        """A click on an enemy in sight attacks it; elsewhere the unit moves in that direction."""
        unit, red = self.state.unit[world], len(self.teams[RED])  # type: ignore[index]
        enemies = np.arange(red, len(unit)) if slot < red else np.arange(red)
        far = np.hypot(unit["x"][enemies] - x, unit["y"][enemies] - y)
        # Only units in sight count: otherwise a click would reveal whether a hidden one is there.
        far[~units_in_sight(self, world, slot)[enemies]] = np.inf
        nearest = int(far.argmin())
        if far[nearest] <= max(self.body["radius"][enemies[nearest]], CLICKED):
            return {"order": f"attack {nearest}"}
        dx, dy = x - float(unit["x"][slot]), y - float(unit["y"][slot])
        if abs(dy) > abs(dx):
            return {"order": "north" if dy > 0 else "south"}
        return {"order": "ahead" if (dx > 0) == (slot < red) else "back"}

    def observation_guides(self, world: int, slot: int) -> dict[str, tuple[Guide, ...]]:
        """The unit's vector in its parts, those of others as rows."""
        found = guides_of(self.table[0], action_names(self.table[0]), slot)
        return {name: parts for name, parts in found.items() if name in self._views.observation}

    def stand_at(self, world: int, slot: int, x: float, y: float) -> bool:
        """Places the unit anywhere on the field, overlaps allowed as at the start. Its noticed enemies stay."""
        unit, rules = self.state.unit[world, slot], self.table[0]
        if not unit["alive"] or abs(x) > rules["half_x"] or abs(y) > rules["half_y"]:
            return False
        unit["x"], unit["y"] = x, y
        self.refresh()
        return True

    def visible(self, world: int, slot: int) -> Visible:
        """The field, and the observed attributes of units in sight; with `see_field` of all units."""
        return visible(self, world, slot)

    def draw(self, canvas: Canvas, world: int) -> None:
        draw(canvas, self.state, self.body, self.settings, world)

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        seeding.begin_episode(self.state.stream, which, seeds)
        state, outputs, sight, body, table = self.state, self.outputs, self._sight, self.body, self.table
        self._run(step.begin_worlds, state, outputs, sight, body, table, self._scratch, which)

    def _refuse_illegal(self, action: Any) -> None:
        np.copyto(self._action, action, casting="unsafe")
        legal = np.take_along_axis(self._sight.mask, self._action[:, :, None], axis=2)[:, :, 0]
        wrong = np.argwhere(self.outputs.acting & ~legal)
        if len(wrong):
            w, a = (int(number) for number in wrong[0])
            raise UserError(
                f"{self.id}: {self.agents[a]} of world {w} chose action {self._action[w, a]}, which is not legal now; choose by the action mask"
            )

    def _advance(self, action: np.ndarray) -> None:
        state, outputs, sight, body, table = self.state, self.outputs, self._sight, self.body, self.table
        self._run(step.step_worlds, state, outputs, sight, body, table, self._scratch, self._action)

    def _look_anew(self) -> None:
        step.look_at_worlds(self.state, self._sight, self.body, self.table, 0, self.num_worlds)

    def _arrays(self) -> dict[str, np.ndarray]:
        return super()._arrays() | self.outputs._asdict()

    def state_ranges(self) -> Mapping[str, Range]:
        return ranges_of(self.settings, self.body)

    def state_laws(self) -> Sequence[Invariant]:
        return laws_of(self.settings, self.body)


def action_names(rules: Any) -> tuple[str, ...]:
    """Names of actions in a side's frame: ``ahead`` is towards the other side's start (see `rules.sides`)."""
    slants = ("north-ahead", "south-ahead", "south-back", "north-back")
    return (
        *("nothing (dead)", "stop", "north", "south", "ahead", "back"),
        *(f"attack {number}" for number in range(int(rules["enemies"]))),
        *(slants if int(rules["moves"]) > MOVES else ()),
        *(f"look {number}" for number in range(int(rules["look_directions"]))),
    )

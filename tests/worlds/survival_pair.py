"""Couples the compiled survival world with its slow twin: same start, same draws, same body motion, same actions."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from interplay.core.jit import kernel
from interplay.kernels import philox
from interplay.planar.bodies import allocate_bodies, view_bodies
from interplay.planar.contacts import step_bodies
from interplay.planar.scratch import allocate_scratch
from interplay.registry import make_world
from interplay.worlds.survival.state import EMPTY, NO_SIDE, arrays_of
from interplay.worlds.survival.world import action_heads
from tests.naive.survival import Rewards, Settings, SurvivalTwin
from tests.naive.survival.players import TEMPERS, act
from tests.naive.survival.things import Body

RENAMED = {"immunity": "immunity_steps"}
NEAR = 1e-9  # both sides round their own arithmetic, the body motion is shared


class Stream:
    """The draws of one world's episode, in order."""

    def __init__(self, seed: int, episode: int) -> None:
        self.key, self.made = (np.uint64(seed), np.uint64(episode)), 0

    def _next(self) -> np.uint64:
        self.made += 1
        return np.uint64(self.made - 1)

    def uniform(self) -> float:
        return philox.uniform(*self.key, self._next())

    def normal(self) -> float:
        return philox.normal(*self.key, self._next())

    def integer_below(self, bound: int) -> int:
        return philox.integer_below(*self.key, self._next(), bound)


@kernel
def move_bodies(bodies, physics, scratch):
    """One environment step of the only world of the table."""
    return step_bodies(bodies, physics, scratch, 0, 0)


class CompiledMotion:
    """The package's rigid bodies, one world at a time, for the twin's `physics`."""

    def __init__(self, physics: Any) -> None:
        self.physics = physics
        self.table = allocate_bodies(1, physics.num_solid)
        self.bodies = view_bodies(self.table)
        self.scratch = allocate_scratch(1, physics.num_solid)

    def __call__(self, bodies: list[Body]) -> None:
        table = self.bodies
        for i, body in enumerate(bodies):
            table.present[0, i] = body.present
            table.position[0, i] = body.x, body.y
            table.angle[0, i] = body.angle
            table.turn[0, i] = math.cos(body.angle), math.sin(body.angle)
            table.velocity[0, i] = body.vx, body.vy
            table.spin[0, i] = body.spin
            table.half[0, i] = body.half or (0.0, 0.0)
            table.radius[0, i] = body.radius
            table.inverse_mass[0, i] = body.inverse_mass
            table.inverse_inertia[0, i] = body.inverse_inertia
        assert move_bodies(self.table, self.physics, self.scratch) == 0
        for i, body in enumerate(bodies):
            body.x, body.y = (float(number) for number in table.position[0, i])
            body.angle, body.spin = float(table.angle[0, i]), float(table.spin[0, i])
            body.vx, body.vy = (float(number) for number in table.velocity[0, i])


def twin_settings(given: Any) -> Settings:
    """The twin's numbers for a `SurvivalSettings`."""
    fields = given.model_dump()
    rewards = Rewards(*(fields[f"reward_{name}"] for name in ("alive", "dead", "kill", "death")))
    fields["melee_cooldown"] = 0 if fields["melee"] == "continuous" else fields["melee_cooldown"]
    fields |= {name: fields[name] != "off" for name in ("zone", "melee", "inventory", "cameras")}
    named = {RENAMED.get(name, name): value for name, value in (fields | given.quirks).items()}
    known = {name: value for name, value in named.items() if name in Settings.__dataclass_fields__}
    return Settings(**(known | {"rewards": rewards}))


class Pair:
    """A batch of compiled worlds beside one twin for each.

    Args:
        world_id: a registry id.
        num_worlds: W.
        seed: of the batch and of the players.
        tempers: what the players may be after; each agent draws one per episode.
        **options: the world's settings.
    """

    def __init__(
        self,
        world_id: str,
        num_worlds: int,
        seed: int,
        tempers: Sequence[str] = TEMPERS,
        **options: Any,
    ) -> None:
        self.fast = make_world(world_id, num_worlds, seed, **options)
        self.rules = self.fast.rules
        self.arrays = SimpleNamespace(**arrays_of(self.fast.state), bodies=self.fast.state.bodies)
        self.settings = twin_settings(self.fast.settings)
        self.heads = list(action_heads(self.fast.settings))  # the twin's players always choose all
        self.players, self.known_tempers = random.Random(seed), tempers
        self.twins = [
            SurvivalTwin(self.settings, CompiledMotion(self.rules.physics), None) for _ in range(num_worlds)
        ]
        self.tempers: list[list[str]] = [[] for _ in range(num_worlds)]
        self.fast.reset()
        for w in range(num_worlds):
            self._restart(w)

    def _restart(self, w: int) -> None:
        seed, episode, _ = self.arrays.stream[w]
        twin = self.twins[w]
        twin.rng = Stream(seed, episode)
        twin.reset()
        self.tempers[w] = [self.players.choice(self.known_tempers) for _ in twin.agents]
        Comparison(self, w).check()

    def step(self) -> None:
        """One step of every world, compared; worlds that end begin their next episode."""
        actions = [
            [
                act(twin, agent, temper, self.players)
                for agent, temper in zip(twin.agents, tempers, strict=True)
            ]
            for twin, tempers in zip(self.twins, self.tempers, strict=True)
        ]
        self.fast.step(np.array(actions)[..., self.heads])
        for w, twin in enumerate(self.twins):
            twin.step(actions[w])
            comparison = Comparison(self, w)
            comparison.check()
            comparison.adopt_motion()
        ended = self.fast.timestep.over.copy()
        if ended.any():
            self.fast.reset(ended)
            for w in np.flatnonzero(ended):
                self._restart(w)

    @property
    def events(self) -> Counter[str]:
        """What happened so far, in all worlds and episodes."""
        return sum((twin.events for twin in self.twins), Counter())


class Comparison:
    """World `w` of the batch against its twin: every fact that the rules speak of."""

    def __init__(self, pair: Pair, w: int) -> None:
        self.pair, self.w, self.twin = pair, w, pair.twins[w]
        twin = self.twin
        self.bodies = [
            *twin.agents,
            *twin.boxes,
            *twin.heals,
            *twin.box_items,
        ]  # in the order of the table's rows
        self.facts: list[tuple[str, np.ndarray, np.ndarray]] = []  # (name, compiled, twin)

    def check(self) -> None:
        self._note_motion()
        self._note_agents()
        self._note_boxes()
        self._note_zone()
        self._note_account()
        self._require(NEAR)
        self._note_observation()
        self._require(1e-6)

    def _note(self, name: str, fast: Any, slow: Any) -> None:
        pair = np.asarray(fast, np.float64).ravel(), np.asarray(slow, np.float64).ravel()
        assert pair[0].shape == pair[1].shape, f"{self._where()}, {name}: compiled {fast}, twin {slow}"
        self.facts.append((name, *pair))

    def _require(self, tolerance: float) -> None:
        fast, slow = (np.concatenate([fact[side] for fact in self.facts]) for side in (1, 2))
        if not (np.abs(fast - slow) <= tolerance * (1.0 + np.abs(slow))).all():
            for name, *pair in self.facts:
                if not np.allclose(*pair, rtol=tolerance, atol=tolerance):
                    raise AssertionError(f"{self._where()}, {name}: compiled {pair[0]}, twin {pair[1]}")
        self.facts.clear()

    def _where(self) -> str:
        return f"world {self.w}, step {self.twin.time}"

    def _note_motion(self) -> None:
        table, w = self.pair.arrays.bodies, self.w
        present = table.present[w]
        self._note("bodies present", present, [body.present for body in self.bodies])
        here = [body for body in self.bodies if body.present]
        if int(present.sum()) == len(here):
            self._note("positions", table.position[w][present], [(body.x, body.y) for body in here])
            self._note("velocities", table.velocity[w][present], [(body.vx, body.vy) for body in here])
            self._note("angles", table.angle[w][present], [body.angle for body in here])
            self._note("spins", table.spin[w][present], [body.spin for body in here])

    def adopt_motion(self) -> None:
        """Lets rounding differences not grow: the twin goes on from the compiled world's bits."""
        table, w = self.pair.arrays.bodies, self.w
        parts = (table.position[w], table.velocity[w], table.angle[w], table.spin[w])
        for body, place, pace, angle, spin in zip(
            self.bodies, *(part.tolist() for part in parts), strict=True
        ):
            if body.present:
                (body.x, body.y), (body.vx, body.vy), body.angle, body.spin = place, pace, angle, spin

    def _note_agents(self) -> None:
        state, rules, w, agents = self.pair.arrays, self.pair.rules, self.w, self.twin.agents
        first = rules.first_heal, rules.first_box_item
        slots = state.inventory.shape[2]
        rows = [[first[item.box is not None] + item.row for item in agent.inventory] for agent in agents]
        self._note("inventories", state.inventory[w], [held + [EMPTY] * (slots - len(held)) for held in rows])
        living = [agent.id for agent in self.twin.living()]
        self._note("health", state.health[w, living], [agents[i].health for i in living])
        self._note("cooldown", state.cooldown[w, living], [agents[i].cooldown for i in living])

    def _note_boxes(self) -> None:
        state, w, boxes = self.pair.arrays, self.w, self.twin.boxes
        rows = slice(self.pair.rules.first_box, self.pair.rules.first_heal)
        self._note("box sides", state.bodies.half[w, rows], [box.half for box in boxes])
        self._note("boxes due", state.due[w, rows], [box.due for box in boxes])
        self._note("boxes broken", state.broken[w, rows], [box.broken_once for box in boxes])
        if self.twin.settings.ownership:
            owners = [box.owner if box.broken_once else NO_SIDE for box in boxes]
            self._note("owners", state.owner[w, rows], owners)
        standing = [box.present for box in boxes]
        self._note(
            "box health", state.health[w, rows][standing], [box.health for box in boxes if box.present]
        )

    def _note_zone(self) -> None:
        state, w, zone = self.pair.arrays, self.w, self.twin.zone
        if not self.twin.settings.zone:
            assert not state.zone_centres[w].any()
            assert not state.zone_r[w]
            return
        self._note("zone centres", state.zone_centres[w], [phase[:2] for phase in zone.phases])
        self._note("zone", [state.zone_x[w], state.zone_y[w], state.zone_r[w]], zone.now)

    def _note_account(self) -> None:
        fast, twin, w = self.pair.fast, self.twin, self.w
        step, state, metrics = fast.timestep, self.pair.arrays, fast.metrics
        ended = [twin.over and not twin.truncated] * len(twin.agents)
        self._note("reward", step.reward[w], np.float32(twin.reward))
        self._note("acting", step.acting[w], [agent.present and not twin.over for agent in twin.agents])
        self._note("over", step.over[w], twin.over)
        self._note("terminated", step.terminated[w], ended)
        self._note("truncated", step.truncated[w], [twin.truncated] * len(twin.agents))
        self._note("steps", metrics["episode_length"][w], twin.time)
        kills = metrics["team_kills" if fast.settings.teams else "kills"]
        self._note("kills", kills[w], [twin.kills[agent.badge] for agent in twin.agents])
        self._note(
            "returns", metrics["episode_return"][w], [twin.returns[agent.badge] for agent in twin.agents]
        )
        self._note("heals used", metrics["heals_used"][w], twin.heals_used)
        self._note("boxes placed", metrics["boxes_placed"][w], twin.boxes_placed)
        self._note("draws", state.stream[w, 2], twin.rng.made)

    def _note_observation(self) -> None:
        told = self.twin.observation()
        observation = self.pair.fast.timestep.observation
        assert set(observation) == set(told[0]), f"{self._where()}: keys {sorted(observation)}"
        for name, values in observation.items():
            self._note(name, values[self.w], np.array([agent[name] for agent in told], np.float32))

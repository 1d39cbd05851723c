"""The persistent world once more: one world, agents as objects, written from specification 2 to 9.

Slow and obvious. The kernels of `interplay.worlds.mmo` must equal it, number for number.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.tiles import FOREST, LAVA, PASSABLE, SCRUB, WATER

from .mmo_births import births, draw_cap
from .mmo_combat import Attack, resolve, resolve_together
from .mmo_sight import aims, mask, observe
from .mmo_tasks import progress
from .mmo_terrain import make_map
from .mmo_things import BOTH, CUT, HUNGER, LAVA_DEATH, STEPS, THIRST, Agent, Stream, Tally


@lru_cache(maxsize=64)
def terrain(settings: MmoSettings, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Tiles and reachable tiles, (T, T) each; remembered, so not to be written to."""
    rows, walked = make_map(settings, seed)
    reachable = np.zeros((settings.side, settings.side), bool)
    for place in walked:
        reachable[place] = True
    return np.array(rows, np.uint8), reachable


class MmoTwin:
    """One world of `settings`.

    Attributes:
        agents: by slot, None where nobody lives.
        tiles: (T, T) tile ids now.
        depleted: the scrub tiles in the order in which they are tested.
        reward, terminated, truncated: by slot, of the last tick.
        ended: slot -> the agent whose life ended in the last tick.
        seen, legal, aim: by slot, what the living see, may do and aim at.
    """

    def __init__(self, settings: MmoSettings, seed: int = 0) -> None:
        self.settings = settings
        self.stream = Stream(seed, episode=-1)

    # -- episodes -----------------------------------------------------------------------------------

    def reset(self, seed: int | None = None) -> None:
        """The next episode, or the first one of another seed."""
        s = self.settings
        self.stream = Stream(self.stream.seed, self.stream.episode + 1) if seed is None else Stream(seed)
        map_seed = self.stream.raw() if s.maps is None else s.map_seed + self.stream.below(s.maps)
        tiles, self.reachable = terrain(s, map_seed)
        self.tiles, self.map_seed = tiles.copy(), map_seed
        self.agents: list[Agent | None] = [None] * s.slots
        self.depleted: list[tuple[int, int]] = []
        self.visited: set[tuple[int, int, int]] = set()  # population, row, column
        self.ticks = self.next_life = 0
        self.over = False
        self.cap = draw_cap(self)
        births(self, s.prefill)
        self.clear()
        self.look()

    def clear(self) -> None:
        self.reward = np.zeros(self.settings.slots)
        self.terminated = np.zeros(self.settings.slots, bool)
        self.truncated = np.zeros(self.settings.slots, bool)
        self.ended: dict[int, Agent] = {}

    def look(self) -> None:
        """What everybody sees, may do and aims at from here on."""
        self.seen: dict[int, Any] = {agent.slot: observe(self, agent) for agent in self.living()}
        self.aim = {agent.slot: aims(self, agent) for agent in self.living()}
        self.legal = {agent.slot: mask(self, agent, self.aim[agent.slot]) for agent in self.living()}

    # -- questions ----------------------------------------------------------------------------------

    def living(self) -> list[Agent]:
        return [agent for agent in self.agents if agent is not None and agent.alive]

    def acting(self) -> np.ndarray:
        return np.array([agent is not None and not self.over for agent in self.agents])

    def tile(self, row: int, col: int) -> int:
        inside = 0 <= row < self.settings.side and 0 <= col < self.settings.side
        return int(self.tiles[row, col]) if inside else LAVA

    def heads(self, row: int, col: int) -> int:
        return sum((agent.row, agent.col) == (row, col) for agent in self.living())

    # -- one tick -----------------------------------------------------------------------------------

    def step(self, actions: Sequence[Sequence[int]]) -> None:
        """One tick; `actions` by slot, rows of slots where nobody lives are ignored."""
        self.clear()
        if self.over:
            return
        began = self.living()
        for agent in began:
            agent.tick, agent.damage, agent.came = Tally(), 0, progress(self, agent)
        if self.settings.resolution == "sequential":
            self.act_in_turn(began, actions)
        else:
            self.act_together(began, actions)
        self.regrow()
        for agent in began:
            if not agent.alive:
                self.agents[agent.slot] = None
        self.ticks += 1
        self.spawn()
        for agent in began:
            agent.survived += agent.alive
        self.look()  # tasks ask what is seen
        self.settle(began)

    def act_in_turn(self, began: list[Agent], actions: Sequence[Sequence[int]]) -> None:
        for agent in self.order(began):
            self.live(agent)
            self.move(agent, actions[agent.slot][0])
            attack = self.attack(agent, actions[agent.slot])
            if attack is not None and attack.victim.alive:
                resolve(self, attack)

    def act_together(self, began: list[Agent], actions: Sequence[Sequence[int]]) -> None:
        order = self.order(began)
        for agent in order:
            self.live(agent)
        for agent in order:
            self.move(agent, actions[agent.slot][0])
        attacks = [self.attack(agent, actions[agent.slot]) for agent in order]
        resolve_together(self, [attack for attack in attacks if attack is not None and attack.victim.alive])

    def order(self, began: list[Agent]) -> list[Agent]:
        rule, order = self.settings.order, list(began)
        if rule == "seniority":
            return sorted(order, key=lambda agent: agent.life_id)
        if rule == "rotate":
            first = self.stream.below(len(order)) if order else 0
            return order[first:] + order[:first]
        for i in range(len(order) - 1, 0, -1):
            j = self.stream.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def live(self, agent: Agent) -> None:
        """Steps a to e: thaw, eat and drink, regain, drain, age."""
        s = self.settings
        if not agent.alive:
            return
        agent.freeze = max(0, agent.freeze - 1)
        if s.lava == "next_update" and self.tile(agent.row, agent.col) == LAVA:
            self.die(agent, LAVA_DEATH)
            return
        self.eat_and_drink(agent)
        if s.regain and 2 * agent.food > s.food and 2 * agent.water > s.water:
            agent.health = min(s.health, agent.health + 1)
        agent.food, agent.water = max(0, agent.food - s.drain), max(0, agent.water - s.drain)
        hungry, thirsty = agent.food == 0, agent.water == 0
        agent.health -= s.starve * (hungry + thirsty)
        if agent.health <= 0:
            self.die(agent, BOTH if hungry and thirsty else HUNGER if hungry else THIRST)
            return
        agent.life += 1

    def eat_and_drink(self, agent: Agent) -> None:
        s = self.settings
        here = (agent.row, agent.col)
        if self.tile(*here) == FOREST:
            agent.tick.food = min(s.eat, s.food - agent.food)
            self.tiles[here] = SCRUB
            self.depleted.append(here)
        if any(self.tile(agent.row + down, agent.col + right) == WATER for down, right in STEPS[1:]):
            agent.tick.water = min(s.drink, s.water - agent.water)
        agent.food += agent.tick.food
        agent.water += agent.tick.water
        agent.eaten += agent.tick.food
        agent.drunk += agent.tick.water

    def move(self, agent: Agent, direction: int) -> None:
        if not agent.alive or direction == 0 or agent.freeze > 0:
            return
        row, col = agent.row + STEPS[direction][0], agent.col + STEPS[direction][1]
        if not PASSABLE[self.tile(row, col)] or (self.settings.one_per_tile and self.heads(row, col)):
            return
        agent.row, agent.col = row, col
        if self.settings.lava == "same_tick" and self.tile(row, col) == LAVA:
            self.die(agent, LAVA_DEATH)
        elif self.tile(row, col) != LAVA and (agent.population, row, col) not in self.visited:
            self.visited.add((agent.population, row, col))
            agent.tick.new_tiles += 1

    def attack(self, agent: Agent, action: Sequence[int]) -> Attack | None:
        """The attack that an agent's action asks for, its target as it was seen before the tick."""
        s = self.settings
        style = int(action[1]) - s.no_attack
        if not agent.alive or not s.combat or style < 0:
            return None
        choices = self.aim[agent.slot][style]
        choice = int(action[2 + style]) if s.targeting == "learned" else 0
        victim = choices[choice] if choice < len(choices) else None
        if victim is None or (s.retest_range and agent.distance(victim) > s.reach[style]):
            return None
        return Attack(agent, victim, style)

    def die(self, agent: Agent, cause: int) -> None:
        agent.alive, agent.cause = False, cause
        agent.health = max(0, agent.health)

    def regrow(self) -> None:
        place = 0
        while place < len(self.depleted):
            if self.stream.chance(self.settings.regrow):
                self.tiles[self.depleted[place]] = FOREST
                self.depleted[place] = self.depleted[-1]
                self.depleted.pop()
            else:
                place += 1

    def spawn(self) -> None:
        s = self.settings
        if self.ticks == s.max_ticks:
            return  # a newcomer would end before it acted
        if s.respawn == "flow":
            births(self, s.spawn_per_tick)
        elif s.respawn == "immediate":
            births(self, self.cap)

    # -- the end of the tick ------------------------------------------------------------------------

    def settle(self, began: list[Agent]) -> None:
        """Rewards, ends of lives, the end of the episode."""
        own = {agent.slot: self.earned(agent) for agent in began}
        spirit = self.settings.team_spirit
        for agent in began:
            team = [own[other.slot] for other in began if other.population == agent.population]
            self.reward[agent.slot] = (1 - spirit) * own[agent.slot] + spirit * sum(team) / len(team)
            self.terminated[agent.slot] = not agent.alive
        if self.ticks == self.settings.max_ticks:
            self.over = True
            for agent in began:
                self.truncated[agent.slot] = agent.alive
                agent.cause = CUT if agent.alive else agent.cause
        if self.settings.respawn == "none" and not self.living():
            self.over = True
        self.ended = {a.slot: a for a in began if self.terminated[a.slot] or self.truncated[a.slot]}

    def earned(self, agent: Agent) -> float:
        s, tick = self.settings, agent.tick
        parts = (
            s.reward_alive * agent.alive,
            s.reward_death * (not agent.alive),
            s.reward_kill * tick.kills,
            s.reward_food * tick.food,
            s.reward_water * tick.water,
            s.reward_new_tile * tick.new_tiles,
            s.reward_task * (progress(self, agent) - agent.came),
        )
        return sum(parts)

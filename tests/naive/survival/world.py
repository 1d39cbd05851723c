"""The rules of the survival world, one phase after the other, in the order of specification 3.

Readings where the specification leaves freedom (each marked with "freedom" below):

* spawn cells are numbered row by row from the corner (-room/2, -room/2), x running fastest;
* pick-up looks at heals before box items, each kind in the order of its rows;
* `items_block_rays` decides for melee rays as it does for sight;
* "within" a radius includes its rim, for gifts as for pick-ups; of equally near takers the lower id takes;
* the owner of a box is who last hit it before it broke; a heal above `health_cap` gives nothing;
* in the endgame everybody loses health, even at the very centre of the zone;
* a duplicated item (quirk) is one item in two inventories: it lies where it was put down last, and a box that
  stands already is not placed again;
* a drop (option) comes after the gifts; the item lies as far ahead as a box is placed;
* fixed zone centres leave the draws of random ones unused, so that all later draws stay the same;
* compacted rows stand in the order of the fixed rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

from . import observe
from .settings import NO_CAUSE, ZONE, Settings
from .sight import first_hit, sees
from .things import Agent, Body, Box, Item
from .zone import SafeZone

IDLE = (1, 1, 1, 0, 0, 0)
Physics = Callable[[list[Body]], None]


class SurvivalTwin:
    """One survival world.

    Args:
        settings: the rules' numbers.
        physics: moves the solid bodies (agents, then boxes; absent ones stay where they are) by one environment
            step; the impulses of the motors are already in their velocities.
        rng: an object with ``uniform()``, ``normal()`` and ``integer_below(n)``.
    """

    def __init__(self, settings: Settings, physics: Physics, rng) -> None:
        self.settings, self.physics, self.rng = settings, physics, rng
        self.events: Counter[str] = Counter()  # what happened in all episodes: tests ask whether enough did

    # -- reset ----------------------------------------------------------------------------------------

    def reset(self) -> None:
        s = self.settings
        cells = self._shuffled_cells()
        self.boxes = [self._new_box(row) for row in range(s.boxes)]
        self.heals = [Item(radius=s.item_radius, row=row) for row in range(s.heals)]
        self.box_items = [Item(radius=s.item_radius, row=box.row, box=box) for box in self.boxes]
        self.agents = [self._new_agent(i) for i in range(s.agents)]
        bodies = [*self.boxes, *self.heals, *self.agents]
        for body, (x, y) in zip(bodies, cells[: len(bodies)], strict=True):
            body.rest_at(x, y)
        self.looks()
        self.zone = SafeZone(s, self.rng)
        self.time = 0
        self.over = self.truncated = False
        parties = len(self.team_sizes()) or s.agents
        self.kills = [0] * parties  # this episode, per agent or team
        self.returns = [0.0] * parties
        self.reward = [0.0] * s.agents
        self.heals_used = self.boxes_placed = 0

    def _shuffled_cells(self) -> list[tuple[float, float]]:
        s = self.settings
        side = s.room / s.spawn_grid
        middle = [-s.room / 2 + (k + 0.5) * side for k in range(s.spawn_grid)]
        cells = [(x, y) for y in middle for x in middle]  # freedom: x fastest
        for i in range(len(cells) - 1, 0, -1):
            j = self.rng.integer_below(i + 1)
            cells[i], cells[j] = cells[j], cells[i]
        return cells

    def _new_box(self, row: int) -> Box:
        s = self.settings
        width, height = (
            max(0.1, mean + spread * self.rng.normal()) for mean, spread in (s.box_width, s.box_height)
        )
        box = Box(row=row, width=width, height=height, half=(width / 2, height / 2), health=s.box_health)
        if s.boxes_dynamic:
            mass = width * height
            box.inverse_mass = 1.0 / mass
            box.inverse_inertia = 12.0 / (mass * (width**2 + height**2))
        return box

    def _new_agent(self, i: int) -> Agent:
        s = self.settings
        mass = math.pi * s.agent_radius**2
        ranks = [team for team, size in enumerate(self.team_sizes()) for _ in range(size)]
        team = ranks[i] if s.teams else None
        return Agent(
            id=i,
            team=team,
            health=s.health,
            radius=s.agent_radius,
            inverse_mass=1.0 / mass,
            inverse_inertia=1.0 / (0.5 * mass * s.agent_radius**2),
        )

    def team_sizes(self) -> tuple[int, ...]:
        s = self.settings
        if isinstance(s.teams, tuple):
            return s.teams
        return (s.agents // 2, s.agents - s.agents // 2) if s.teams else ()

    # -- step: the contents page ----------------------------------------------------------------------

    def step(self, actions: Sequence[Sequence[int]]) -> None:
        """One environment step; the rows of dead agents are ignored."""
        s = self.settings
        self.time += 1
        acting = [(agent, tuple(actions[agent.id])) for agent in self.living()]
        self.drop_items_of_broken_boxes()
        for agent, action in acting:
            self.push(agent, action)
        for agent, action in acting:
            if action[4] and s.inventory:
                self.use_last(agent)
        for agent, action in acting:
            if action[5] and s.inventory:
                self.give_last(agent)
        for agent, action in acting:
            if s.drop_action and action[6]:
                self.drop_last(agent)
        for agent, action in acting:
            self.attack(agent, bool(action[3]) and s.melee)
        self.physics([*self.agents, *self.boxes])
        self.settle_boxes()
        self.looks()
        died, kills = self.bury_the_dead()
        self.pick_up()
        self.close_zone()
        self.pay(died, kills)
        self.end()

    def living(self) -> list[Agent]:
        return [agent for agent in self.agents if agent.present]

    def items_on_ground(self) -> list[Item]:
        """Freedom: heals, then box items."""
        return [item for item in (*self.heals, *self.box_items) if item.present]

    # -- before the physics -----------------------------------------------------------------------------

    def drop_items_of_broken_boxes(self) -> None:
        for box in self.boxes:
            if box.due:
                box.due = False
                self.box_items[box.row].rest_at(box.x, box.y)

    def push(self, agent: Agent, action: Sequence[int]) -> None:
        s = self.settings
        middle = s.motion_levels // 2
        ahead, left, turn = ((choice - middle) / middle for choice in action[:3])
        jx, jy = s.linear_impulse * ahead, s.linear_impulse * left
        c, sn = math.cos(agent.angle), math.sin(agent.angle)
        agent.vx += (c * jx - sn * jy) * agent.inverse_mass
        agent.vy += (sn * jx + c * jy) * agent.inverse_mass
        agent.spin += s.angular_impulse * turn * agent.inverse_inertia

    def use_last(self, agent: Agent) -> None:
        if not agent.inventory:
            return
        item = agent.inventory.pop()
        if item.box is None:
            self.heal(agent)
            self.heals_used += 1
            self.events["heal used"] += 1
        else:
            self.place(item.box, agent)

    def heal(self, agent: Agent) -> None:
        s = self.settings
        healed = agent.health + s.heal_amount
        if s.health_cap is not None:
            healed = max(agent.health, min(healed, s.health_cap))
        agent.health, agent.cause = healed, NO_CAUSE

    def place(self, box: Box, agent: Agent) -> None:
        if box.present:
            return  # quirk: a copy was placed already
        self.boxes_placed += 1
        self.events["box placed"] += 1
        distance = self.settings.place_distance
        box.rest_at(agent.x + distance * math.cos(agent.angle), agent.y + distance * math.sin(agent.angle))
        box.health, box.cause = None, NO_CAUSE

    def give_last(self, agent: Agent) -> None:
        if not agent.inventory:
            return
        taker = self.taker_of(agent)
        if taker is None:
            self.events["nobody to give to"] += 1
            return
        if len(taker.inventory) < self.settings.slots:
            taker.inventory.append(agent.inventory.pop())
            self.events["given"] += 1
        elif self.settings.gift_lost_when_full:
            agent.inventory.pop()
            self.events["gift lost"] += 1

    def taker_of(self, agent: Agent) -> Agent | None:
        s = self.settings
        others = [other for other in self.living() if other is not agent]
        if s.give_nearest_any_body:
            half = s.room / 2
            walls = [Body(True, x, y) for x, y in ((half, 0), (-half, 0), (0, half), (0, -half))]
            standing = [box for box in self.boxes if box.present]
            near: list[Body] = [*others, *standing, *self.items_on_ground(), *walls]
        else:
            near = [other for other in others if other.team == agent.team]
        near = [body for body in near if agent.distance(body) <= s.give_radius]
        taker = min(near, key=agent.distance, default=None)
        if taker is not None and not isinstance(taker, Agent):
            self.events["gift misdirected"] += 1
        return taker if isinstance(taker, Agent) and taker.team == agent.team else None

    def drop_last(self, agent: Agent) -> None:
        """Freedom: after the gifts, as far ahead as a box is placed, but inside the room."""
        if agent.inventory:
            item, distance = agent.inventory.pop(), self.settings.place_distance
            x, y = agent.x + distance * math.cos(agent.angle), agent.y + distance * math.sin(agent.angle)
            wall = self.settings.wall
            item.rest_at(min(max(x, -wall), wall), min(max(y, -wall), wall))
            self.events["dropped"] += 1

    def attack(self, agent: Agent, wanted: bool) -> None:
        s = self.settings
        if wanted and agent.cooldown == 0:
            reach_x = agent.x + s.melee_range * math.cos(agent.angle)
            reach_y = agent.y + s.melee_range * math.sin(agent.angle)
            in_the_way = [body for body in self.obstacles() if body is not agent]
            target = first_hit(agent.x, agent.y, reach_x, reach_y, in_the_way, s.wall)
            if isinstance(target, Agent):
                self.hurt_agent(target, agent)
            elif isinstance(target, Box):
                self.hurt_box(target, agent)
            if target is not None:
                agent.cooldown = s.melee_cooldown
        agent.cooldown = max(0, agent.cooldown - 1)

    def obstacles(self) -> list[Body]:
        """What stops a ray, in index order."""
        items = self.items_on_ground() if self.settings.items_block_rays else []
        return [*self.living(), *(box for box in self.boxes if box.present), *items]

    def hurt_agent(self, target: Agent, attacker: Agent) -> None:
        immune = target.team is not None and target.team == attacker.team
        if not immune and self.time > self.settings.immunity_steps:
            target.health -= self.settings.melee_damage
            target.cause = attacker.badge
            self.events["agent hit"] += 1
        elif immune:
            self.events["team-mate spared"] += 1

    def hurt_box(self, box: Box, attacker: Agent) -> None:
        if box.health is None:
            return  # placed in this step
        if self.settings.ownership and box.broken_once and box.owner != attacker.badge:
            self.events["box protected"] += 1
            return
        box.health -= self.settings.melee_damage
        box.cause = attacker.badge

    # -- after the physics ------------------------------------------------------------------------------

    def settle_boxes(self) -> None:
        for box in self.boxes:
            if box.present and box.health is None:
                box.health = self.settings.box_health
            if box.present and box.health <= 0:
                box.present, box.due = False, True
                self.events["box broken again" if box.broken_once else "box broken"] += 1
                if not box.broken_once:
                    box.broken_once, box.owner = True, box.cause

    def looks(self) -> None:
        """What each living agent sees: ``self.seen[agent id]`` holds the identities of bodies."""
        self.viewers = [agent.id for agent in self.living()]
        if not self.settings.cameras:
            self.seen = {}
            return
        standing = [box for box in self.boxes if box.present]
        targets = [*self.living(), *standing, *self.items_on_ground()]
        obstacles = self.obstacles()
        self.seen = {
            agent.id: {
                id(body)
                for body in targets
                if body is not agent and sees(agent, body, obstacles, self.settings)
            }
            for agent in self.living()
        }

    def bury_the_dead(self) -> tuple[list[Agent], list[object]]:
        """Returns who died and, for each kill, the agent or team that it counts for."""
        died = [agent for agent in self.living() if agent.health <= 0]
        kills = [agent.cause for agent in died if agent.cause not in (NO_CAUSE, ZONE)]
        for agent in died:
            self.scatter(agent)
            agent.present = False
        if self.settings.dead_killer_no_credit and not self.settings.teams:
            gone = {agent.id for agent in died}
            self.events["killer died too"] += sum(killer in gone for killer in kills)
            kills = [killer for killer in kills if killer not in gone]
        if self.settings.vision_row_shift and self.settings.cameras and died:
            old = self.viewers
            self.events["vision shifted"] += sum(
                agent.id != old[place] for place, agent in enumerate(self.living())
            )
            self.seen = {agent.id: self.seen[old[place]] for place, agent in enumerate(self.living())}
        self.events["death"] += len(died)
        self.events["kill"] += len(kills)
        return died, kills

    def scatter(self, agent: Agent) -> None:
        s = self.settings
        self.events["scattered"] += len(agent.inventory)
        for item in agent.inventory:
            angle = 2.0 * math.pi * self.rng.uniform()
            radius = s.drop_radius
            if s.death_scatter == "disc":
                radius *= math.sqrt(self.rng.uniform())
            item.rest_at(agent.x + radius * math.cos(angle), agent.y + radius * math.sin(angle))
        agent.inventory = []

    def pick_up(self) -> None:
        s = self.settings
        found = self.items_on_ground() if s.inventory else []
        for agent in self.living():
            for item in found:
                free = len(agent.inventory) < s.slots
                if not free or agent.distance(item) > s.pickup_radius:
                    continue
                if item.present or s.duplicate_pickup:
                    self.events["picked up" if item.present else "duplicated"] += 1
                    agent.inventory.append(item)
                    item.present = False

    def close_zone(self) -> None:
        for agent in self.living():
            if self.settings.zone and self.zone.outside(agent):
                agent.health -= self.settings.zone_damage
                agent.cause = ZONE
        self.zone.ticks += 1

    # -- the account --------------------------------------------------------------------------------------

    def pay(self, died: list[Agent], kills: list[object]) -> None:
        r = self.settings.rewards
        for killer in kills:
            self.kills[killer] += 1
        for party in range(len(self.kills)):
            members = [agent for agent in self.agents if agent.badge == party]
            alive = [agent.present for agent in members]
            share = sum(alive) / len(alive) if self.settings.team_reward == "each" else float(any(alive))
            deaths = sum(agent.badge == party for agent in died)
            reward = share * r.alive + (1.0 - share) * r.dead + kills.count(party) * r.kill + deaths * r.death
            self.returns[party] += reward
            for agent in members:
                self.reward[agent.id] = reward

    def end(self) -> None:
        s = self.settings
        parties = {agent.badge for agent in self.living()}
        alone = len(self.kills) == 1  # freedom: who never had a rival plays to the end
        self.over = len(parties) <= (0 if s.end == "alldead" or alone else 1)
        self.truncated = not self.over and s.max_steps is not None and self.time >= s.max_steps
        self.over = self.over or self.truncated

    def observation(self) -> list[dict[str, list]]:
        """Specification 6, one dict per agent."""
        return [observe.observe(self, agent) for agent in self.agents]

"""Agents named by role, for libraries that map policies by an agent's name (specification 2).

Names are for the library; no player sees one. Players refer to each other by public ids, dealt anew in every game.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv

from interplay.connect.agent_infos import Infos
from interplay.connect.pettingzoo import WorldEnv, make
from interplay.connect.werewolf.relabelling import Relabelling
from interplay.connect.werewolf.spaces import point_of
from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.masks import as_gymnasium
from interplay.worlds.werewolf.roles import NAMES
from interplay.worlds.werewolf.world import WerewolfWorld

_LABELS = 0x1ABE15  # of the stream that public ids are drawn from

ByAgent = dict[str, Any]


class RoleNamedEnv(ParallelEnv[str, Any, Any]):
    """A game with agents called ``werewolf_0``, ..., ``villager_3``, ...: wolves first, numbered through.

    Each game's deal maps agents to seats of the world. An agent's rows are its seat's; players in them are public ids. With
    ``relabel`` these are drawn anew for each game, as in the original: outputs go through the forward map (seat -> id), entries and
    rows of boards and lists alike, and actions through the inverse. Without it an id is a seat, which reveals as little.

    Args:
        env: the game, as `interplay.make` gives it.
        relabel: draw public ids anew in every game.

    Attributes:
        labels: seats to public ids in this game.
    """

    def __init__(self, env: WorldEnv, relabel: bool = True) -> None:
        if not isinstance(env.world, WerewolfWorld):
            raise UserError(f"{env.world.id}: no game of werewolf, its agents have no roles")
        if env.mask_in_observation or env.flat or env.slots or env.on_death == "keep":
            raise UserError(
                f"{env.world.id}: its rows are renamed field by field; leave flat, mask_in_observation, keep_dead and agents out"
            )
        self.env, self.world, self.relabel = env, env.world, relabel
        self.metadata, self.render_mode = env.metadata, env.render_mode
        crew = env.world.settings.crew
        order = sorted((role for role, count in enumerate(crew) for _ in range(count)), key=_wolves_first)
        self.possible_agents = [f"{NAMES[role]}_{i}" for i, role in enumerate(order)]
        self._order = np.array(order)
        self.agents: list[str] = []
        seat = env.possible_agents[0]
        self.observation_spaces = dict.fromkeys(self.possible_agents, env.observation_spaces[seat])
        self.action_spaces = dict.fromkeys(self.possible_agents, env.action_spaces[seat])
        self.labels = Relabelling(env.world.settings, np.arange(len(order)))
        self._seat_of: dict[str, str] = {}
        self._name_of: dict[str, str] = {}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ByAgent, Infos]:
        """Starts a game, as `WorldEnv.reset`."""
        observations, infos = self.env.reset(seed, options)
        self._deal()
        self.agents = list(self.possible_agents)
        return self._seen(observations), self._infos(infos)

    def step(self, actions: Mapping[str, Any]) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, Infos]:
        """Plays a phase, as `WorldEnv.step`."""
        given = {}
        for name, action in actions.items():
            if name not in self._seat_of:
                raise UserError(f"{self.world.id}: unknown agent {name!r}; there are {self.possible_agents}")
            row = point_of(self.action_spaces[name], action, f"{self.world.id}: action", name)
            given[self._seat_of[name]] = self.labels.action_in(row)
        for name in self.agents:
            seat = self._seat_of[name]
            if seat not in given and self.world.timestep.acting[0, self.env.possible_agents.index(seat)]:
                raise UserError(f"{self.world.id}: no action for {name}, which is acting; pass one")
        observations, rewards, terminated, truncated, infos = self.env.step(given)
        self.agents = [name for name in self.possible_agents if self._seat_of[name] in self.env.agents]
        return (
            self._seen(observations),
            self._renamed(rewards),
            self._renamed(terminated),
            self._renamed(truncated),
            self._infos(infos),
        )

    def render(self) -> Any:
        return self.env.render()

    def close(self) -> None:
        self.env.close()

    def _deal(self) -> None:
        """Assigns agents to the seats of their role, in order, and draws public ids."""
        role = self.world.state.role[0]
        seats = np.empty(len(role), np.int64)
        for number in np.unique(self._order):
            seats[self._order == number] = np.flatnonzero(role == number)
        taken = [self.env.possible_agents[seat] for seat in seats]
        self._seat_of = dict(zip(self.possible_agents, taken, strict=True))
        self._name_of = {seat: name for name, seat in self._seat_of.items()}
        ids = np.arange(len(role))
        if self.relabel:
            seed, episode = (int(part) for part in self.world.state.stream[0, :2])
            ids = seeding.generator(seed, episode, _LABELS).permutation(len(role))
        self.labels = Relabelling(self.world.settings, ids)

    def _renamed(self, by_seat: Mapping[str, Any]) -> ByAgent:
        return {name: by_seat[seat] for name, seat in self._seat_of.items() if seat in by_seat}

    def _seen(self, observations: Mapping[str, Any]) -> ByAgent:
        return {name: self.labels.seen(row) for name, row in self._renamed(observations).items()}

    def _infos(self, infos: Mapping[str, Any]) -> Infos:
        found: Infos = {}
        for name, info in self._renamed(infos).items():
            found[name] = dict(info)
            if "action_mask" in info:
                parts = as_gymnasium(self.action_spaces[name], info["action_mask"])
                found[name]["action_mask"] = np.concatenate(self.labels.mask(parts)).astype(bool)
        return found


def make_role_named(world_id: str, *, relabel: bool = True, **options: Any) -> RoleNamedEnv:
    """Makes a game with agents named by role.

    Args:
        world_id: of a werewolf variant.
        relabel: see `RoleNamedEnv`.
        **options: of `interplay.make`, the world's settings among them.

    Example:
        >>> make_role_named("werewolf/6").possible_agents[:3]
        ['werewolf_0', 'werewolf_1', 'villager_2']
    """
    return RoleNamedEnv(make(world_id, **options), relabel)


def _wolves_first(role: int) -> tuple[bool, int]:
    return NAMES[role] != "werewolf", role

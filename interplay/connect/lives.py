"""One world whose slots live more than once, as a PettingZoo `ParallelEnv`: ``interplay.make("mmo/forage")``.

In PettingZoo an agent that has ended never comes back. So an agent here is one life, not one slot (specification mmo 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from gymnasium import spaces

from interplay.connect.pettingzoo import Infos, Rows, WorldEnv
from interplay.connect.readers import KindReader
from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World

PREFIX = "life_"


class LivesEnv(WorldEnv):
    """A batch of one world with respawns, read as a PettingZoo environment.

    Agents are ``life_0``, ``life_1``, ...: lives by order of birth since `reset`, those of one step by slot. A life joins
    `agents` in the step of its birth (reward 0, no end) and leaves in the step of its end, with its last reward. Where a slot
    ends and is born again in one step, both lives are in that step's dictionaries.

    A terminated life is shown a blank observation: nothing comes after it, and its slot may show the next life already. A
    truncated one is shown its slot, unless that was born again. Infos hold what `WorldEnv` says and ``slot`` (int), where
    there are several, ``population`` (int), and where the world keeps of its lives what became of them, ``ended/NAME`` (float), 0
    until the end.

    There are no `possible_agents` (nor `observation_spaces` and `action_spaces`), as nobody knows how many there will be; PettingZoo
    provides for that. `observation_space(agent)` and `action_space(agent)` know every life that was born since `reset`, and where all
    agents are of one kind those to come.

    At times nobody may live while the world goes on; then `agents` is empty, `over` is False and ``step({})`` goes on.

    Args and errors: see `WorldEnv`.
    """

    one_life = False

    def __init__(
        self,
        world: World,
        render_mode: str | None = None,
        remove_dead: bool = False,
        mask_in_observation: bool = False,
        flat: bool | str = False,
    ) -> None:
        super().__init__(world, render_mode, remove_dead, mask_in_observation, flat)
        self._kind_of_slot = np.zeros(len(world.agents), np.uint8)
        for number, kind in enumerate(world.kinds):
            self._kind_of_slot[list(kind.slots)] = number
        self._slots = [list(kind.slots) for kind in world.kinds]

    def _name_agents(self) -> None:
        self._life: list[str] = [""] * len(self.world.agents)  # of each slot where `_listed`
        self._born = bytearray()  # number of its kind, for each life since `reset`

    # -- PettingZoo's methods ---------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the world has ended; it may go on though nobody lives."""
        return bool(self.world.timestep.over[0])

    @property
    def possible_agents(self) -> NoReturn:  # type: ignore[override]
        """Nobody knows them.

        Raises:
            AttributeError: always, as PettingZoo wants it where agents are born in play.
        """
        raise AttributeError(
            f"{self.world.id}: no possible_agents, as an agent is one life and lives come without end; read agents"
        )

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self._kind(agent).observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self._kind(agent).action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], Infos]:
        """Starts an episode, see `WorldEnv.reset`; lives are counted from 0 again."""
        timestep = self.world.reset(seeds=seed)
        self._listed = [False] * len(self._listed)
        self._born.clear()
        self._bear(timestep.acting[0].tolist())
        return self._told(timestep)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Steps the world: who was listed before and who was born, each once.

        Raises:
            UserError: for a missing or illegal action, or one of somebody who does not live, naming the agent.
        """
        if not self.agents and self.over:
            return {}, {}, {}, {}, {}
        try:
            timestep = self.world.step(self._batch(actions))
        except (KeyError, TypeError, ValueError) as error:
            raise self._explain(actions, error) from error
        return self._read(timestep)

    # -- parts of a step --------------------------------------------------------------------------

    def _batch(self, actions: Mapping[str, Any]) -> Any:
        if not actions.keys() <= set(self.agents):
            raise KeyError("an agent that does not live")
        return super()._batch(actions)

    def _explain(self, actions: Mapping[str, Any], error: Exception) -> Exception:
        living = {life: slot for slot, life in enumerate(self._life) if self._listed[slot]}
        for name in actions:
            if name not in living:
                return UserError(
                    f"{self.world.id}: {name!r} does not live now; act for those in env.agents ({len(living)} of them)"
                )
        for name, slot in living.items():
            if name not in actions:
                if self._acting(slot):
                    return UserError(f"{self.world.id}: no action for {name}, which is acting; pass one")
            elif not self.action_space(name).contains(actions[name]):
                shown = " ".join(repr(actions[name]).split())
                return UserError(
                    f"{self.world.id}: action {shown} of {name} is not in {self.action_space(name)}; mend the policy"
                )
        return error

    def _read(self, timestep: TimeStep) -> tuple[Any, ...]:
        over, acting = bool(timestep.over[0]), timestep.acting[0].tolist()
        terminated, truncated = timestep.terminated[0].tolist(), timestep.truncated[0].tolist()
        reward = timestep.reward[0].tolist()
        rewards: dict[str, float] = {}
        terminations: dict[str, bool] = {}
        truncations: dict[str, bool] = {}
        gone: dict[str, int] = {}
        for slot, life in enumerate(self._life):
            if self._listed[slot]:
                dead = terminated[slot] or (self.remove_dead and not over and not acting[slot])
                cut = truncated[slot] and not dead
                rewards[life], truncations[life] = reward[slot], cut
                terminations[life] = dead or (over and not cut)
                if terminations[life] or cut:
                    gone[life] = slot
        # Cut lives stay listed while their slots are read, unless somebody else lives there now.
        for life, slot in gone.items():
            self._listed[slot] = truncations[life] and not acting[slot]
        for life in self._bear(acting):
            rewards[life], terminations[life], truncations[life] = 0.0, False, False
        legal = self._legal(timestep)
        observation, infos = self._observations(timestep, legal), self._infos(timestep, legal)
        if gone:
            self._remove(gone, legal, observation, infos)
        return observation, rewards, terminations, truncations, infos

    def _bear(self, acting: list[bool]) -> list[str]:
        """Names those who act and are not listed; they are returned."""
        born = [slot for slot, acts in enumerate(acting) if acts and not self._listed[slot]]
        for slot in born:
            self._life[slot] = f"{PREFIX}{len(self._born)}"
            self._listed[slot] = True
            self._born.append(self._kind_of_slot[slot])
        if born:
            for kind, slots in zip(self._kinds, self._slots, strict=True):
                kind.members = [(slot, self._life[slot]) for slot in slots]
        self._list_agents()
        return [self._life[slot] for slot in born]

    def _list_agents(self) -> None:
        self.agents = [life for life, listed in zip(self._life, self._listed, strict=True) if listed]

    def _infos(self, timestep: TimeStep, legal: Rows) -> Infos:
        infos = super()._infos(timestep, legal)
        population = self.world.population[0] if self.world.num_populations > 1 else None
        for slot, life in enumerate(self._life):
            if self._listed[slot]:
                infos[life]["slot"] = slot
                if population is not None:
                    infos[life]["population"] = int(population[slot])
        return infos

    def _unknown_yet(self) -> dict[str, float]:
        ended: Mapping[str, np.ndarray] = getattr(self.world, "ended", {})
        return {**super()._unknown_yet(), **{f"ended/{name}": 0.0 for name in ended}}

    def _named(self, values: Any) -> dict[str, Any]:
        return {
            life: value
            for life, listed, value in zip(self._life, self._listed, values, strict=True)
            if listed
        }

    def _remove(  # type: ignore[override]
        self, gone: dict[str, int], legal: Rows, observation: dict[str, Any], infos: Infos
    ) -> None:
        """Takes those whose life ended off the list and gives them what is said at the end."""
        ended: Mapping[str, np.ndarray] = getattr(self.world, "ended", {})
        for life, slot in gone.items():
            number = self._kind_of_slot[slot]
            if self._listed[slot] and self._life[slot] == life:
                self._listed[slot] = False
            else:
                observation[life] = self._kinds[number].blank(self._last_mask(number))
                infos[life] = self._last_info(number, slot, legal[number] is not None)
            infos[life] |= self._metrics(slot)
            infos[life] |= {f"ended/{key}": float(values[0, slot]) for key, values in ended.items()}
            if ended and self.world.num_populations > 1:
                infos[life]["population"] = int(ended["population"][0, slot])
        self._list_agents()

    def _last_mask(self, number: int) -> np.ndarray | None:
        """(1, choices), of somebody who acts no more; None: all legal."""
        return self._kinds[number].only_idle()[np.newaxis] if self.one_choice else None

    def _last_info(self, number: int, slot: int, masked: bool) -> dict[str, Any]:
        """Of somebody who acts no more, before it is told how it ended."""
        info: dict[str, Any] = {"acting": False, **self._unknown}
        if masked:
            kind = self._kinds[number]
            info["action_mask"] = kind.only_idle() if self.one_choice else kind.all_legal()[0]
        info["slot"] = slot
        if self.world.num_populations > 1:
            info["population"] = int(self.world.population[0, slot])
        return info

    def blank_info(self, agent: str) -> dict[str, Any]:
        info = super().blank_info(agent) | {"slot": -1}
        return info | {"population": 0} if self.world.num_populations > 1 else info

    def _kind_of(self, agent: str) -> KindReader:
        return self._kind(agent)

    def _kind(self, agent: str) -> KindReader:
        number = agent.removeprefix(PREFIX)
        if agent.startswith(PREFIX) and number.isdecimal():
            if len(self._kinds) == 1:
                return self._kinds[0]
            if int(number) < len(self._born):
                return self._kinds[self._born[int(number)]]
        raise UserError(f"{self.world.id}: unknown agent {agent!r}; agents are lives, such as {PREFIX}0")

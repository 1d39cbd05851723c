"""One world whose agents are its slots, as a PettingZoo `ParallelEnv`: ``interplay.make("mmo/forage", agents="slots")``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.connect.pettingzoo import Infos, Rows, WorldEnv
from interplay.core.world import TimeStep


class SlotsEnv(WorldEnv):
    """A batch of one world, read as a PettingZoo environment whose agents are places, in which lives begin and end.

    Agents are the world's slots, all of them, from `reset` until the world is over. **Terminations and truncations are of the world**:
    they come to all at once, when it is over (truncated if a limit cut anybody in that step). A world that never ends (`World.persistent`)
    never terminates anybody; give it a limit (mmo: ``max_ticks``), or let the trainer cut.

    **Lives are told by infos**, the same keys in every step:

    - ``acting`` (bool): somebody lives here and is asked. Who is not asked has one legal action, the first choice of every head.
    - ``life_terminated``, ``life_truncated`` (bool): the life that was here ended in this step, by the rules or by a limit. The step's
      reward is still its own; the observation is the next life's already, where one began in the same step (``acting`` says so).
      A learner that adds up returns over lives does what the plain flags say; one that wants returns of lives cuts here.
    - ``population`` (int), where there are several: of whoever lives here, or lived here last.
    - ``metrics/NAME`` (float), 0 until the life, or the world, ends; and where the world keeps of its lives what became of
      them ``ended/NAME`` (float), 0 but in the step of an end.
    - ``action_mask``, as in `WorldEnv`, always there.

    Args and errors: see `WorldEnv`; ``remove_dead`` changes nothing here.
    """

    one_life = False
    one_choice = True

    def _read(self, timestep: TimeStep) -> tuple[Any, ...]:
        over, cut = bool(timestep.over[0]), bool(timestep.truncated[0].any())
        observation, infos = self._told(timestep)
        rewards = self._named(timestep.reward[0].tolist())
        terminations = dict.fromkeys(self.agents, over and not cut)
        truncations = dict.fromkeys(self.agents, over and cut)
        if over:
            self.agents, self._listed = [], [False] * len(self._listed)
        return observation, rewards, terminations, truncations, infos

    def _infos(self, timestep: TimeStep, legal: Rows) -> Infos:
        infos = super()._infos(timestep, legal)
        terminated, truncated = timestep.terminated[0].tolist(), timestep.truncated[0].tolist()
        population = self.world.population[0] if self.world.num_populations > 1 else None
        over = bool(timestep.over[0])
        ended: Mapping[str, np.ndarray] = getattr(self.world, "ended", {})
        for slot, name in enumerate(self.possible_agents):
            info = infos[name]
            info["life_terminated"], info["life_truncated"] = terminated[slot], truncated[slot]
            if population is not None:
                info["population"] = int(population[slot])
            if terminated[slot] or truncated[slot]:
                info |= {f"ended/{key}": float(values[0, slot]) for key, values in ended.items()}
            if terminated[slot] or truncated[slot] or over:
                info |= self._metrics(slot)
        return infos

    def _unknown_yet(self) -> dict[str, float]:
        ended: Mapping[str, np.ndarray] = getattr(self.world, "ended", {})
        return {**super()._unknown_yet(), **{f"ended/{name}": 0.0 for name in ended}}

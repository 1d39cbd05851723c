"""Many worlds stepped together, in the place of RLlib's vector of `MultiAgentEnv`s."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.vector.vector_multi_agent_env import VectorMultiAgentEnv

from interplay.connect.flat import FlatActions, flat_rows
from interplay.connect.readers import idle
from interplay.connect.resolved import resolve_world
from interplay.connect.rllib.masked import LEGAL, SEEN, MaskedMultiAgentEnv
from interplay.connect.rllib.worlds import WorldMultiAgentEnv
from interplay.connect.world_env import WorldEnv
from interplay.core.errors import UserError
from interplay.core.seeding import world_seeds
from interplay.core.world import Kind, TimeStep, World

Columns = Mapping[str, np.ndarray]


class WorldBatch(VectorMultiAgentEnv):
    """A batch of worlds like the one of an environment, read in rows; a slot's number is ``w * A + a``.

    Args:
        env: one environment, which is closed.
        num_envs: W, the worlds.
        fit: brings actions into a Box, as RLlib's `unsquash_action`; None: they are.

    Attributes:
        agents: the slots' names.
        single_observation_spaces, single_action_spaces: agent -> space, those of `env`.

    Raises:
        UserError: if an environment is not one whole world with flat spaces.
    """

    def __init__(self, env: Any, num_envs: int, fit: Callable[[Any, Any], Any] | None = None) -> None:
        one = _plain_world(env)
        make = resolve_world(one.world).make
        assert make is not None  # of a world itself
        self.world: World = make(num_worlds=num_envs)
        self.num_envs, self.agents = num_envs, self.world.agents
        self._masked = isinstance(env, MaskedMultiAgentEnv)
        kinds, single = self.world.kinds, one.flat == "discrete"
        flat = [FlatActions(one.world.id, kind.action_space, single) for kind in kinds]
        self._kinds = [KindRows(self.world, *pair) for pair in zip(kinds, flat, strict=True)]
        self._fit = fit
        self.single_observation_spaces = dict(env.observation_spaces)
        self.single_action_spaces = dict(env.action_spaces)
        # Connectors and modules read their spaces here.
        self.single_observation_space = self.observation_space = spaces.Dict(self.single_observation_spaces)
        self.single_action_space = self.action_space = spaces.Dict(self.single_action_spaces)
        env.close()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[TimeStep, dict[str, Any]]:
        """Restarts all worlds; world w begins as an environment that is reset with ``seed + w``.

        Args:
            seed: None draws one.
            options: ignored.
        """
        first = np.random.SeedSequence().generate_state(1)[0] if seed is None else seed
        seeds = [world_seeds(int(first) + w, 1)[0] for w in range(self.num_envs)]
        return self.world.reset(seeds=np.array(seeds, np.uint64)), {}

    def step(self, actions: Mapping[int, tuple[np.ndarray, np.ndarray]]) -> TimeStep:
        """Steps all worlds; they restart only by `restart`.

        Args:
            actions: module -> the slots that act by it, and their flat actions.
        """
        batch = {}
        for kind in self._kinds:
            rows = kind.idle.copy()
            for slots, chosen in actions.values():
                of_kind = kind.row[slots] >= 0
                if of_kind.any():
                    rows[kind.row[slots[of_kind]]] = chosen[of_kind].reshape(-1, rows.shape[1])
            batch[kind.name] = kind.to_world(rows if self._fit is None else self._fit(rows, kind.space))
        return self.world.step(batch if len(batch) > 1 else batch[self._kinds[0].name])

    def restart(self, which: np.ndarray) -> None:
        """Begins the next episode in the worlds of a mask (W,)."""
        self.world.reset(which.copy())

    def read(self, which: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The slots (n,) of a mask (W, A), kind by kind, and their observations (n, ...), by field or under ``""``."""
        timestep = self.world.timestep
        seen, legal = self.world.by_kind(timestep.observation), self.world.by_kind(timestep.action_mask)
        picked = [(kind, np.flatnonzero(which.reshape(-1)[kind.slots])) for kind in self._kinds]
        picked = [(kind, rows) for kind, rows in picked if len(rows)]
        slots = np.concatenate([kind.slots[rows] for kind, rows in picked])
        fields = np.concatenate([kind.observations(seen[kind.name], rows) for kind, rows in picked])
        if not self._masked:
            return slots, {"": fields}
        masks = [kind.masks(legal[kind.name], rows) for kind, rows in picked]
        return slots, {SEEN: fields, LEGAL: np.concatenate(masks)}

    def close_extras(self, **kwargs: Any) -> None:
        if hasattr(self, "world"):  # the base class calls it at the end of what was refused too
            self.world.close()


class KindRows:
    """The rows of one kind's slots: world by world, slot by slot.

    Attributes:
        slots: (rows,) number of each row's slot.
        row: (W A,) the row of each slot, -1 for other kinds' slots.
        space: of one agent's flat actions.
        idle: (rows, numbers) actions of agents that do not act.
    """

    def __init__(self, world: World, kind: Kind, actions: FlatActions) -> None:
        self.name, self.space, self._seen, self._actions = (
            kind.name,
            actions.space,
            kind.observation_space,
            actions,
        )
        worlds, size = world.num_worlds, len(world.agents)
        self._shape = (worlds, len(kind.slots))
        self.slots = (np.arange(worlds)[:, np.newaxis] * size + np.array(kind.slots)).reshape(-1)
        self.row = np.full(worlds * size, -1)
        self.row[self.slots] = np.arange(len(self.slots))
        self.idle = np.tile(np.reshape(idle(actions.space), (1, -1)), (len(self.slots), 1))

    def to_world(self, rows: np.ndarray) -> Any:
        """(rows, numbers) flat actions as the world's (W, A_kind, ...)."""
        given = self._actions.batch(rows)  # type: ignore[arg-type]
        if isinstance(given, dict):
            return {key: part.reshape(*self._shape, *part.shape[2:]) for key, part in given.items()}
        return given.reshape(*self._shape, *given.shape[2:])

    def observations(self, fields: Columns, picked: np.ndarray) -> np.ndarray:
        """(n, numbers) float32."""
        return flat_rows(self._seen, {key: self._one(field)[:, picked] for key, field in fields.items()})

    def masks(self, mask: Columns | None, picked: np.ndarray) -> np.ndarray:
        """(n, choices) float32, 1 where a choice is legal."""
        if mask is None:
            return np.ones((len(picked), self._actions.choices), np.float32)
        rows = {key: self._one(part)[:, picked] for key, part in mask.items()}
        return self._actions.masks(rows, len(picked)).astype(np.float32)

    def _one(self, field: np.ndarray) -> np.ndarray:
        """(W, A_kind, ...) as (1, rows, ...), a world of all rows."""
        return field.reshape(1, len(self.slots), *field.shape[2:])


def _plain_world(env: Any) -> WorldEnv:
    """The PettingZoo environment inside an RLlib one, if a batch of its world has the same agents and spaces."""
    one = getattr(env, "env", None)
    if type(env) not in (WorldMultiAgentEnv, MaskedMultiAgentEnv) or type(one) is not WorldEnv:
        raise UserError(
            f"BatchedEnvRunner steps worlds of interplay.make in a WorldMultiAgentEnv or MaskedMultiAgentEnv, not "
            f"{type(one or env).__name__}; leave env_runner_cls out"
        )
    if not one.flat or one.renames or one.slots or one.on_death or one.mask_in_observation:
        raise UserError(
            f"{one.world.id}: BatchedEnvRunner needs flat=True and slots that live once, and reads neither keep_dead, remove_dead "
            "nor mask_in_observation; make it so, or leave env_runner_cls out"
        )
    return one

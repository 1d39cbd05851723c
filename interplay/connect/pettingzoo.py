"""One world as a PettingZoo `ParallelEnv`: ``interplay.make("survival/1v1-heals-low")``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv

from interplay.core import masks
from interplay.core.copying import CopiedWhole
from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World
from interplay.registry import make_world

RENDER_MODES = ("rgb_array", "human")

Infos = dict[str, dict[str, Any]]
Members = list[tuple[int, str]]


class WorldEnv(CopiedWhole, ParallelEnv[str, Any, Any]):
    """A batch of one, read as a PettingZoo environment.

    Everybody stays in `agents` to the end of the world: an agent that died in a world where the dead go on
    earning keeps its rewards, its actions are ignored, and its info says ``{"acting": False}``. An agent leaves the list
    when its life ends (termination or truncation). Worlds whose slots live more than once are a `lives.LivesEnv`.

    Infos hold ``acting`` (bool), ``action_mask`` where the world has illegal actions (in the form that
    ``action_space(agent).sample(mask)`` takes), and in an agent's last step ``metrics``.

    Args:
        world: a world with ``num_worlds == 1``.
        render_mode: None, ``"rgb_array"`` or ``"human"``.
        remove_dead: an agent that stops acting terminates in that step. Meant for worlds in which all the
            living act in every step; it forfeits what the dead go on earning.
        mask_in_observation: observations get the key ``action_mask`` as well.

    Raises:
        UserError: for a batch of several worlds, a world with rebirths, an unknown render mode, or
            `mask_in_observation` where no single mask exists.
    """

    one_life = True  # a slot is one agent

    def __init__(
        self,
        world: World,
        render_mode: str | None = None,
        remove_dead: bool = False,
        mask_in_observation: bool = False,
    ) -> None:
        if world.num_worlds != 1:
            raise UserError(
                f"{world.id}: a PettingZoo environment is one world, this batch has {world.num_worlds}; pass num_worlds=1"
            )
        if self.one_life and world.rebirths:
            raise UserError(
                f"{world.id}: its slots live more than once, an agent here only once; make it with interplay.make, or a LivesEnv"
            )
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise UserError(
                f"{world.id}: render_mode = {render_mode!r}; choose one of {', '.join(RENDER_MODES)}, or None"
            )
        self.world = world
        self.render_mode = render_mode
        self.remove_dead = remove_dead
        self.mask_in_observation = mask_in_observation
        self.metadata = {
            "name": world.id,
            "render_modes": list(RENDER_MODES),
            "render_fps": 30,
            "is_parallelizable": True,
        }
        self.agents: list[str] = []
        self._kinds = [KindReader(world, index, mask_in_observation) for index in range(len(world.kinds))]
        self._listed = [False] * len(world.agents)
        self._window: Any = None
        self._name_agents()

    def _name_agents(self) -> None:
        self.possible_agents = list(self.world.agents)
        self.observation_spaces = {n: k.observation_space for k in self._kinds for _, n in k.members}
        self.action_spaces = {n: k.action_space for k in self._kinds for _, n in k.members}

    # -- PettingZoo's methods ---------------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], Infos]:
        """Starts an episode.

        Args:
            seed: names the episode; None goes on with the world's own stream, so that runs are reproducible
                even if nobody passes a seed. The same seed gives the same episode.
            options: ignored; worlds take their options when they are made.
        """
        timestep = self.world.reset(seeds=seed)
        self.agents = list(self.possible_agents)
        self._listed = [True] * len(self.agents)
        return self._observations(timestep), self._infos(timestep)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Steps the world; agents that are not acting need no entry in `actions`.

        Raises:
            UserError: for a missing, unknown or illegal action, naming the agent.
        """
        if not self.agents:
            return {}, {}, {}, {}, {}
        try:
            timestep = self.world.step(self._batch(actions))
        except (KeyError, TypeError, ValueError) as error:
            raise self._explain(actions, error) from error
        return self._read(timestep)

    def state(self) -> np.ndarray:
        """The observations of all slots, flattened: kind by kind, field by field, agent by agent; float32."""
        observation = self.world.by_kind(self.world.timestep.observation)
        parts = [field[0].ravel() for kind in self.world.kinds for field in observation[kind.name].values()]
        return np.concatenate(parts, dtype=np.float32)

    @property
    def state_space(self) -> spaces.Box:
        """The space of `state()`: unbounded."""
        return spaces.Box(-np.inf, np.inf, (sum(kind.size for kind in self._kinds),), np.float32)

    def render(self) -> Any:
        """A (512, 512, 3) uint8 picture for ``"rgb_array"``; for ``"human"`` a window shows it.

        Raises:
            UserError: if pictures need a package that is not installed, or there is no display.
        """
        if self.render_mode is None:
            raise UserError(f'{self.world.id}: no render_mode; make it with render_mode="rgb_array"')
        from interplay.view.picture import render_world

        picture = render_world(self.world, 0)
        if self.render_mode == "rgb_array":
            return picture
        if self._window is None:
            from interplay.view.window import Window

            self._window = Window(self.world.id, picture.shape[1], picture.shape[0])
        self._window.show(picture)
        return None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_window": None}  # a copy opens its own

    def close(self) -> None:
        if self._window is not None:
            self._window.close()
            self._window = None
        self.world.close()

    # -- actions ----------------------------------------------------------------------------------

    def _batch(self, actions: Mapping[str, Any]) -> Any:
        if len(actions) > len(self.agents) and not actions.keys() <= self.action_spaces.keys():
            raise KeyError("an agent that does not exist")
        if len(self._kinds) == 1:
            return self._kinds[0].batch(actions, self._acting)
        return {kind.name: kind.batch(actions, self._acting) for kind in self._kinds}

    def _acting(self, slot: int) -> bool:
        return bool(self.world.timestep.acting[0, slot])

    def _explain(self, actions: Mapping[str, Any], error: Exception) -> Exception:
        """The agent to blame, in one line; `error` itself where nobody is."""
        for name in actions:
            if name not in self.action_spaces:
                return UserError(
                    f"{self.world.id}: unknown agent {name!r}; agents are {', '.join(self.possible_agents)}"
                )
        for slot, name in enumerate(self.possible_agents):
            if name not in actions:
                if self._acting(slot):
                    return UserError(f"{self.world.id}: no action for {name}, which is acting; pass one")
            elif not self.action_spaces[name].contains(actions[name]):
                shown = " ".join(repr(actions[name]).split())
                return UserError(
                    f"{self.world.id}: action {shown} of {name} is not in {self.action_spaces[name]}; mend the policy"
                )
        return error

    # -- reading a time step: a few microseconds, as it runs in every step ---------------------------

    def _read(self, timestep: TimeStep) -> tuple[Any, ...]:
        over = bool(timestep.over[0])
        terminated, truncated = timestep.terminated[0].tolist(), timestep.truncated[0].tolist()
        acting = timestep.acting[0].tolist()
        listed = self._listed
        if self.remove_dead and not over:
            terminated = [t or (m and not a) for t, m, a in zip(terminated, listed, acting, strict=True)]
        if over:
            # Slots that stood empty end with the world.
            terminated = [t or not c for t, c in zip(terminated, truncated, strict=True)]
        observation, infos = self._observations(timestep), self._infos(timestep)
        rewards = self._named(timestep.reward[0].tolist())
        terminations, truncations = self._named(terminated), self._named(truncated)
        if True in terminated or True in truncated:
            self._remove(terminations, truncations, infos)
        return observation, rewards, terminations, truncations, infos

    def _named(self, values: Sequence[Any]) -> dict[str, Any]:
        """Slot values by the name of the agents that are listed now."""
        named = dict(zip(self.possible_agents, values, strict=True))
        if len(self.agents) < len(named):
            return {name: named[name] for name in self.agents}
        return named

    def _observations(self, timestep: TimeStep) -> dict[str, Any]:
        if len(self._kinds) == 1:
            return self._kinds[0].observe(timestep.observation, timestep.action_mask, self._listed)
        world = self.world
        fields, legal = world.by_kind(timestep.observation), world.by_kind(timestep.action_mask)
        found: dict[str, Any] = {}
        for kind in self._kinds:
            found |= kind.observe(fields[kind.name], legal[kind.name], self._listed)
        return found

    def _infos(self, timestep: TimeStep) -> Infos:
        infos = {n: {"acting": a} for n, a in self._named(timestep.acting[0].tolist()).items()}
        if timestep.action_mask is not None:
            legal = self.world.by_kind(timestep.action_mask)
            for kind in self._kinds:
                for name, mask in kind.masks(legal[kind.name], self._listed).items():
                    infos[name]["action_mask"] = mask
        return infos

    def _remove(self, terminations: dict[str, bool], truncations: dict[str, bool], infos: Infos) -> None:
        """Takes those whose life ended off the list and gives them their metrics."""
        metrics = self.world.metrics
        for slot, name in enumerate(self.possible_agents):
            if terminations.get(name) or truncations.get(name):
                self._listed[slot] = False
                infos[name]["metrics"] = {
                    key: (values[0, slot] if np.ndim(values) == 2 else values[0]).item()
                    for key, values in metrics.items()
                }
        self.agents = [n for n, m in zip(self.possible_agents, self._listed, strict=True) if m]


class KindReader:
    """Cuts the arrays of one kind into the agents' dictionaries, and puts their actions together."""

    def __init__(self, world: World, index: int, mask_in_observation: bool) -> None:
        kind = world.kinds[index]
        self.name = kind.name
        self.members: Members = [(slot, world.agents[slot]) for slot in kind.slots]
        self.action_space = kind.action_space
        self.plain_space = kind.observation_space  # without a mask in it
        self.observation_space: spaces.Dict = kind.observation_space
        self.size = len(kind.slots) * sum(
            int(np.prod(part.shape or (), dtype=np.int64)) for part in kind.observation_space.values()
        )
        self.mask_in_observation = mask_in_observation
        if mask_in_observation:
            if isinstance(self.action_space, spaces.Dict | spaces.Box):
                raise UserError(
                    f"{world.id}: {kind.name} has a {type(self.action_space).__name__} action space without a single mask; "
                    "leave mask_in_observation off and read info['action_mask']"
                )
            self.observation_space = spaces.Dict(
                {**kind.observation_space.spaces, "action_mask": masks.space_of(kind.action_space)}
            )
            self._all_legal = masks.all_legal(kind.action_space)
        self._idle = idle(kind.action_space)

    def batch(self, actions: Mapping[str, Any], acting: Any) -> Any:
        """(1, A_kind, ...) actions; who is not acting may be left out."""
        try:
            rows = [actions[name] for _, name in self.members]
        except KeyError:
            rows = [
                actions[name] if name in actions or acting(slot) else self._idle
                for slot, name in self.members
            ]
        return _stack(self.action_space, rows)

    def observe(self, fields: Any, mask: Any, listed: Sequence[bool]) -> dict[str, Any]:
        """Copies each field once for all agents, then hands out rows."""
        rows = [(key, field[0].copy()) for key, field in fields.items()]
        whole = {key for key, part in self.plain_space.items() if isinstance(part, spaces.Box)}
        found = {
            name: {key: row[column, ...] if key in whole else row[column] for key, row in rows}
            for column, (slot, name) in enumerate(self.members)
            if listed[slot]
        }
        if self.mask_in_observation:
            legal = self.masks(mask, listed)
            for name, observation in found.items():
                observation["action_mask"] = legal.get(name, self._all_legal)
        return found

    def masks(self, mask: Any, listed: Sequence[bool]) -> dict[str, Any]:
        """The legal actions of the listed agents, as gymnasium's ``sample(mask)`` takes them."""
        if mask is None:
            return {}
        return {
            name: masks.of_agent(self.action_space, mask, column)
            for column, (slot, name) in enumerate(self.members)
            if listed[slot]
        }


def make(
    world_id: str,
    render_mode: str | None = None,
    *,
    seed: int = 0,
    remove_dead: bool = False,
    mask_in_observation: bool = False,
    **options: Any,
) -> WorldEnv:
    """Makes one world as a PettingZoo `ParallelEnv`; where slots live more than once, each life is an agent (`lives.LivesEnv`).

    Args:
        world_id: a registered id, or ``"module:Class"`` of a `World` of your own.
        render_mode: None, ``"rgb_array"`` or ``"human"``.
        seed: names the stream of episodes that `reset` without a seed goes through.
        remove_dead: see `WorldEnv`.
        mask_in_observation: see `WorldEnv`.
        **options: the world's settings.

    Raises:
        UserError: for an unknown world, option or render mode, naming the near miss.
    """
    if "num_worlds" in options:
        raise UserError(
            f"{world_id}: num_worlds is of batches, interplay.make makes one world; use make_world"
        )
    world = make_world(world_id, num_worlds=1, seed=seed, **options)
    if not world.rebirths:
        return WorldEnv(world, render_mode, remove_dead, mask_in_observation)
    from interplay.connect.lives import LivesEnv  # which is a WorldEnv itself

    return LivesEnv(world, render_mode, remove_dead, mask_in_observation)


def _stack(space: spaces.Space[Any], rows: list[Any]) -> Any:
    if isinstance(space, spaces.Dict):
        return {key: _stack(part, [row[key] for row in rows]) for key, part in space.spaces.items()}
    return np.array(rows)[np.newaxis]


def idle(space: spaces.Space[Any]) -> Any:
    """Some point of the space: the action of agents whose action nobody reads, the sight of those who see nothing."""
    if isinstance(space, spaces.Dict):
        return {key: idle(part) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Box):
        return np.asarray(np.clip(np.zeros(space.shape, space.dtype), space.low, space.high))
    start = getattr(space, "start", 0)
    return np.broadcast_to(start, space.shape or ()).astype(space.dtype)

"""One world as a PettingZoo `ParallelEnv`: ``interplay.make("survival/1v1-heals-low")``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv

from interplay.connect.flat import FORMS
from interplay.connect.readers import FlatReader, KindReader
from interplay.core.copying import CopiedWhole
from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World
from interplay.registry import make_world

RENDER_MODES = ("rgb_array", "human")

Infos = dict[str, dict[str, Any]]
Rows = list[
    np.ndarray | None
]  # for each kind the masks of its agents, (A_kind, choices) bool; None: all legal


class WorldEnv(CopiedWhole, ParallelEnv[str, Any, Any]):
    """A batch of one, read as a PettingZoo environment.

    Everybody stays in `agents` to the end of the world: an agent that died in a world where the dead go on
    earning keeps its rewards, its actions are ignored, and its info says ``{"acting": False}``. An agent leaves the list
    when its life ends (termination or truncation). Worlds whose slots live more than once are a `lives.LivesEnv`.

    Infos hold plain numbers and one vector, the same keys in every step: ``acting`` (bool); ``action_mask`` where the world has
    illegal actions, (choices,) bool, the choices of all heads one after another, which ``action_space(agent).sample(mask)`` takes;
    and ``metrics/NAME`` (float), the world's metrics, 0 until the agent's last step.

    Args:
        world: a world with ``num_worlds == 1``.
        render_mode: None, ``"rgb_array"`` or ``"human"``.
        remove_dead: an agent that stops acting terminates in that step. Meant for worlds in which all the
            living act in every step; it forfeits what the dead go on earning.
        mask_in_observation: observations are ``{"observation": what is seen, "action_mask": (choices,) int8}``, all ones where
            nothing is forbidden.
        flat: True: what is seen is one float32 row, actions are a Discrete or MultiDiscrete from 0, or a flat float32 Box;
            ``"discrete"``: an action is one number for all its choices (`interplay.connect.flat`).

    Attributes:
        world: the batch of one.
        state_space: of `state`, a Box.
        one_choice: who does not act has one legal action, the first choice of every head, and infos always hold a mask.

    Raises:
        UserError: for a batch of several worlds, a world with respawns, an unknown render mode or `flat`, or spaces that cannot
            be flat.
    """

    one_life = True  # a slot is one agent
    one_choice = False

    def __init__(
        self,
        world: World,
        render_mode: str | None = None,
        remove_dead: bool = False,
        mask_in_observation: bool = False,
        flat: bool | str = False,
    ) -> None:
        if world.num_worlds != 1:
            raise UserError(
                f"{world.id}: a PettingZoo environment is one world, this batch has {world.num_worlds}; pass num_worlds=1"
            )
        if self.one_life and world.respawns:
            raise UserError(
                f"{world.id}: its slots live more than once, an agent here only once; make it with interplay.make, or a LivesEnv"
            )
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise UserError(
                f"{world.id}: render_mode = {render_mode!r}; choose one of {', '.join(RENDER_MODES)}, or None"
            )
        if not any(flat is form or (isinstance(flat, str) and flat == form) for form in FORMS):
            raise UserError(f'{world.id}: flat = {flat!r}; choose False, True or "discrete"')
        self.world = world
        self.render_mode = render_mode
        self.remove_dead = remove_dead
        self.mask_in_observation, self.flat = mask_in_observation, flat
        self.metadata = {
            "name": world.id,
            "render_modes": list(RENDER_MODES),
            "render_fps": 30,
            "is_parallelizable": True,
        }
        self.agents: list[str] = []
        self._kinds: list[KindReader] = [
            FlatReader(world, index, mask_in_observation, single=flat == "discrete")
            if flat
            else KindReader(world, index, mask_in_observation)
            for index in range(len(world.kinds))
        ]
        self._unknown: dict[str, float] = {}  # what infos hold of metrics until they are known
        self._listed = [False] * len(world.agents)
        self._window: Any = None
        self._offer_state()
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
        return self._told(timestep)

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
        """The world's global state, (n,) float32, in `state_space`.

        Where the world offers none: the observations of all slots, kind by kind, field by field, agent by agent.
        """
        if self.world.state_space is not None:
            return np.asarray(self.world.global_state()[0])
        observation = self.world.by_kind(self.world.timestep.observation)
        parts = [field[0].ravel() for kind in self.world.kinds for field in observation[kind.name].values()]
        return np.concatenate(parts, dtype=np.float32)

    def _offer_state(self) -> None:
        """Says the space of `state`; that of observations side by side is unbounded."""
        numbers = sum(
            len(kind.slots) * int(np.prod(part.shape or (), dtype=np.int64))
            for kind in self.world.kinds
            for part in kind.observation_space.spaces.values()
        )
        joint = spaces.Box(-np.inf, np.inf, (numbers,), np.float32)
        self.state_space = joint if self.world.state_space is None else self.world.state_space

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

    # -- what is shown of those who are not there: for `kept.KeptEnv` ------------------------------------

    def blank(self, agent: str) -> Any:
        """What an agent is shown that is not there: zeros, or what is nearest to them; with one legal action."""
        kind = self._kind_of(agent)
        return kind.blank(kind.only_idle()[np.newaxis])

    def blank_info(self, agent: str) -> dict[str, Any]:
        """The info of an agent that is not there."""
        return {"acting": False, **self._unknown, "action_mask": self.idle_mask(agent)}

    def idle_mask(self, agent: str) -> np.ndarray:
        """(choices,) bool: the first choice of every head."""
        return self._kind_of(agent).only_idle()

    def _kind_of(self, agent: str) -> KindReader:
        return next(kind for kind in self._kinds if any(name == agent for _, name in kind.members))

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
        observation, infos = self._told(timestep)
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

    def _told(self, timestep: TimeStep) -> tuple[dict[str, Any], Infos]:
        legal = self._legal(timestep)
        return self._observations(timestep, legal), self._infos(timestep, legal)

    def _legal(self, timestep: TimeStep) -> Rows:
        masks = self.world.by_kind(timestep.action_mask)
        found = [kind.legal(masks[kind.name]) for kind in self._kinds]
        if self.one_choice:
            for number, kind in enumerate(self._kinds):
                rows = found[number]
                rows = kind.all_legal() if rows is None else rows
                rows[~timestep.acting[0, [slot for slot, _ in kind.members]]] = kind.only_idle()
                found[number] = rows
        return found

    def _observations(self, timestep: TimeStep, legal: Rows) -> dict[str, Any]:
        if len(self._kinds) == 1:
            return self._kinds[0].observe(timestep.observation, legal[0], self._listed)
        fields = self.world.by_kind(timestep.observation)
        found: dict[str, Any] = {}
        for kind, rows in zip(self._kinds, legal, strict=True):
            found |= kind.observe(fields[kind.name], rows, self._listed)
        return found

    def _infos(self, timestep: TimeStep, legal: Rows) -> Infos:
        if not self._unknown:
            self._unknown = self._unknown_yet()
        infos: Infos = {
            n: {"acting": a, **self._unknown} for n, a in self._named(timestep.acting[0].tolist()).items()
        }
        for kind, rows in zip(self._kinds, legal, strict=True):
            for name, row in kind.named(rows, self._listed).items():
                infos[name]["action_mask"] = row
        return infos

    def _unknown_yet(self) -> dict[str, float]:
        return {f"metrics/{name}": 0.0 for name in self.world.metrics}

    def _metrics(self, slot: int) -> dict[str, float]:
        """What a slot's last info says of its episode."""
        return {
            f"metrics/{name}": float(values[0, slot] if np.ndim(values) == 2 else values[0])
            for name, values in self.world.metrics.items()
        }

    def _remove(self, terminations: dict[str, bool], truncations: dict[str, bool], infos: Infos) -> None:
        """Takes those whose life ended off the list and gives them their metrics."""
        for slot, name in enumerate(self.possible_agents):
            if terminations.get(name) or truncations.get(name):
                self._listed[slot] = False
                infos[name] |= self._metrics(slot)
        self.agents = [n for n, m in zip(self.possible_agents, self._listed, strict=True) if m]


def make(
    world_id: str,
    render_mode: str | None = None,
    *,
    seed: int = 0,
    remove_dead: bool = False,
    keep_dead: bool = False,
    mask_in_observation: bool = False,
    flat: bool | str = False,
    agents: Any = None,
    lives: int | None = None,
    **options: Any,
) -> ParallelEnv[str, Any, Any]:
    """Makes one world as a PettingZoo `ParallelEnv`; where slots live more than once, each life is an agent (`lives.LivesEnv`).

    Args:
        world_id: a registered id, or ``"module:Class"`` of a `World` of your own.
        render_mode: None, ``"rgb_array"`` or ``"human"``.
        seed: names the stream of episodes that `reset` without a seed goes through.
        remove_dead: see `WorldEnv`.
        keep_dead: nobody leaves before the world ends: see `kept.KeptEnv`.
        mask_in_observation: see `WorldEnv`.
        flat: see `WorldEnv`.
        agents: ``"slots"``: an agent is a place, whoever lives in it: see `slots.SlotsEnv`. Anything else is the world's own setting
            of that name.
        lives: of an episode, where slots live more than once; agents have names that are known beforehand: see
            `numbered_lives.NumberedLivesEnv`.
        **options: the world's settings.

    Raises:
        UserError: for an unknown world, option or render mode, naming the near miss, and for arguments that do not go together.
    """
    if "num_worlds" in options:
        raise UserError(
            f"{world_id}: num_worlds is of batches, interplay.make makes one world; use make_world"
        )
    if agents is not None and not isinstance(agents, str):
        options["agents"], agents = agents, None
    if agents not in (None, "slots"):
        raise UserError(
            f'{world_id}: agents = {agents!r}; "slots" is the only word for them, or leave it out'
        )
    switches = {
        "remove_dead": remove_dead,
        "keep_dead": keep_dead,
        "mask_in_observation": mask_in_observation,
    }
    for name, switch in switches.items():
        if not isinstance(switch, bool):
            raise UserError(f"{world_id}: {name} = {switch!r} is not allowed; pass True or False")
    if remove_dead and (keep_dead or agents):
        why = "keep_dead = True says the opposite" if keep_dead else 'agents = "slots" never leave'
        raise UserError(f"{world_id}: remove_dead = True, but {why}; leave one of them out")
    world = make_world(world_id, num_worlds=1, seed=seed, **options)
    if lives is not None and (agents or not world.respawns):
        why = 'agents = "slots" is another way' if agents else "each agent of this world lives once"
        raise UserError(f"{world_id}: lives = {lives}, but {why}; leave lives out")
    form = (world, render_mode, remove_dead, mask_in_observation, flat)
    env: Any
    if agents == "slots":
        from interplay.connect.slots import SlotsEnv  # which is a WorldEnv itself, as the next ones are

        return SlotsEnv(*form)
    if not world.respawns:
        env = WorldEnv(*form)
    elif lives is None:
        if keep_dead:
            raise UserError(
                f'{world_id}: keep_dead = True, but nobody knows beforehand who is born; pass lives=N or agents="slots"'
            )
        from interplay.connect.lives import LivesEnv

        env = LivesEnv(*form)
    else:
        from interplay.connect.numbered_lives import NumberedLivesEnv

        env = NumberedLivesEnv(*form, lives=lives)
    if not keep_dead:
        return env
    from interplay.connect.kept import KeptEnv

    return KeptEnv(env)

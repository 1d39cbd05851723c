"""One world as a PettingZoo `ParallelEnv`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv

from interplay.connect.agent_infos import AgentInfos, Infos
from interplay.connect.agent_names import PREFIX, AgentNames
from interplay.connect.pictures import HUMAN, PIXELS, WorldPictures
from interplay.connect.readers import readers_of
from interplay.core.copying import CopiedWhole
from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World

T = TypeVar("T")

RENDER_MODES = (PIXELS, HUMAN)
MAX_WAIT = 10_000  # steps without a living agent
MOST = 1_000_000  # lives; each has a name and two spaces before the first step

Step = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]
Rows = list[np.ndarray | None]  # for each kind the masks (A_kind, choices) bool; None: all legal


class WorldEnv(WorldPictures, CopiedWhole, ParallelEnv[str, Any, Any]):
    """A batch of one world as a PettingZoo environment.

    **Agents** are the world's slots. Where slots live more than once, an agent is one life, ``life_0``, ``life_1``, ... by order
    of birth since `reset` (`AgentNames`), as an agent of PettingZoo never comes back.

    An agent leaves `agents` when its life ends (termination or truncation). An agent that died where the dead go on earning
    stays: its rewards go on, its actions are ignored, and its info has ``{"acting": False}``. `on_death` and `slots` change that:

    ========================  =====================================================================================
    ``on_death="remove"``     An agent terminates when it stops acting, and forfeits later rewards.
    ``on_death="keep"``       All `possible_agents` stay until the world ends, and end together. An absent agent (left, or not
                              born yet) has a blank observation, reward 0 and its last info, with ``acting`` False.
    ``on_death="rename"``     The next life in a slot is a new agent: what worlds with respawns do anyway.
    ``slots=True``            An agent is a slot, through all lives in it, and ends with the world alone. Infos hold
                              ``life_terminated`` and ``life_truncated``: the life in it ended in this step. The reward is
                              still that life's; the observation is the next one's, if ``acting`` is true.
    ========================  =====================================================================================

    **Infos** hold plain numbers and one vector, with the same keys in every step:

    - ``acting`` (bool).
    - ``action_mask``, (choices,) bool, the choices of all heads one after another, for ``action_space(agent).sample(mask)``; where
      the world has illegal actions. With `slots` and ``on_death="keep"`` always: an idle agent then has one legal action, the first
      choice of every head.
    - ``metrics/NAME`` (float), the world's metrics, 0 until the agent's end (with `slots`, of each life).
    - Of lives ``slot`` (int). Of lives and slots ``population`` (int), where there are several, and ``ended/NAME`` (float), 0 until
      a life's end, where the world keeps such records.

    **Lives.** A life joins in the step of its birth (reward 0, no end). A slot that ends and is born again in one step has both
    lives in that step. A terminated life has a blank observation, a truncated one its slot's, unless that was born again. Without
    `lives` their number is open: then there are no `possible_agents`, `observation_spaces` and `action_spaces`. While no agent
    lives and the world goes on, `agents` is empty, `over` is False, and ``step({})`` goes on.

    Args:
        world: with ``num_worlds == 1``.
        render_mode: None, ``"rgb_array"`` or ``"human"``, which shows every reset and step.
        on_death: see above; None leaves it to the world.
        slots: see above.
        lives: of an episode, where agents are lives: `possible_agents` are ``life_0`` .. ``life_<lives - 1>``. The step in which
            one more would be born truncates the episode; steps without a living agent pass by themselves.
        mask_in_observation: observations are ``{"observation": ..., "action_mask": (choices,) int8}``, all ones where
            everything is legal.
        flat: True: an observation is one float32 row, actions are a Discrete or MultiDiscrete from 0, or a flat float32 Box;
            ``"discrete"``: an action is one number for all its choices (`interplay.connect.flat`).

    Attributes:
        state_space: of `state`, a Box.
        renames: whether agents are lives.

    Raises:
        UserError: for a batch of several worlds, unknown or conflicting arguments, or spaces that cannot be flat; from `reset`
            and `step`, if more than `lives` live at the beginning, or none is born for 10,000 steps.
    """

    def __init__(
        self,
        world: World,
        render_mode: str | None = None,
        *,
        on_death: str | None = None,
        slots: bool = False,
        lives: int | None = None,
        mask_in_observation: bool = False,
        flat: bool | str = False,
    ) -> None:
        self.renames = world.respawns and not slots
        if render_mode not in (None, *RENDER_MODES):
            raise UserError(f"{world.id}: render_mode = {render_mode!r}; choose {RENDER_MODES} or None")
        _check_agents(world, self.renames, on_death, slots, lives)
        self.world, self.render_mode = world, render_mode
        self.on_death, self.slots, self.lives = on_death, slots, lives
        self.mask_in_observation, self.flat = mask_in_observation, flat
        self.metadata = {
            "name": world.id,
            "render_modes": list(RENDER_MODES),
            "render_fps": 30,
            "is_parallelizable": True,
        }
        self._kinds = readers_of(world, flat, mask_in_observation)
        self._names = AgentNames(world, self._kinds, self.renames)
        self._infos = AgentInfos(world, self._names, slots)
        self._one_choice = slots or on_death == "keep"  # of idle agents
        self._present: list[str] = []
        self._cut = False  # by `lives`
        self._left: Infos = {}  # last infos of agents that are kept
        self.state_space = _state_space(world)
        if not self.renames or lives is not None:
            names = [f"{PREFIX}{n}" for n in range(lives or 0)] if self.renames else list(world.agents)
            self.possible_agents = names
            self.observation_spaces = {name: self.observation_space(name) for name in names}
            self.action_spaces = {name: self.action_space(name) for name in names}

    def __getattr__(self, name: str) -> Any:
        if name in ("possible_agents", "observation_spaces", "action_spaces"):
            raise AttributeError(f"no {name}: an agent is one life, and their number is open; read agents")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # -- PettingZoo's methods ---------------------------------------------------------------------

    @property
    def agents(self) -> list[str]:
        """The agents of the next step."""
        return list(self.possible_agents) if self._present and self.on_death == "keep" else self._present

    @property
    def over(self) -> bool:
        """Whether the episode has ended; it may go on while no agent lives."""
        return self._cut or bool(self.world.timestep.over[0])

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self._names.reader(agent).observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self._names.reader(agent).action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], Infos]:
        """Starts an episode.

        Args:
            seed: of the episode; None continues the world's own stream, so runs without seeds are reproducible too.
            options: ignored; worlds take their options when they are made.
        """
        timestep = self.world.reset(seeds=seed)
        self._names.begin(timestep.acting[0].tolist())
        self._present, self._cut, self._left = self._names.present(), False, {}
        observation, infos = self._report(timestep, self._legal(timestep))
        if self.lives is not None:
            if not self._present:
                observation, infos = self._wait()
            if self._names.births > self.lives:
                raise UserError(
                    f"{self.world.id}: {self._names.births} agents live at the beginning, lives = {self.lives}; raise lives"
                )
        if self.render_mode == HUMAN:
            self.render()
        return self._padded(observation, infos) if self.on_death == "keep" else (observation, infos)

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Steps the world; agents that are not acting need no entry in `actions`."""
        if not self._present and (not self.renames or self.over):
            return {}, {}, {}, {}, {}
        before = self._present
        if self.on_death == "keep":
            absent = set(self.possible_agents) - set(before)
            actions = {name: action for name, action in actions.items() if name not in absent}
        step = self._advance(actions)
        if self.lives is not None:
            step = self._limited(step, before)
        if self.render_mode == HUMAN:
            self.render()
        return self._kept(step) if self.on_death == "keep" else step

    def state(self) -> np.ndarray:
        """The world's global state, (n,) float32, in `state_space`.

        Where the world has none: the observations of all slots, kind by kind, field by field, agent by agent.
        """
        if self.world.state_space is not None:
            return np.asarray(self.world.global_state()[0])
        observation = self.world.by_kind(self.world.timestep.observation)
        parts = [field[0].ravel() for kind in self.world.kinds for field in observation[kind.name].values()]
        return np.concatenate(parts, dtype=np.float32)

    # -- actions ----------------------------------------------------------------------------------

    def _batch(self, actions: Mapping[str, Any]) -> Any:
        if self.renames or len(actions) > len(self._present):  # otherwise every agent is looked up anyway
            known = self._names.slots()
            if any(name not in known for name in actions):
                raise KeyError("an agent that does not exist")
        if len(self._kinds) == 1:
            return self._kinds[0].batch(actions, self._acting)
        return {kind.name: kind.batch(actions, self._acting) for kind in self._kinds}

    def _acting(self, slot: int) -> bool:
        return bool(self.world.timestep.acting[0, slot])

    def _explain(self, actions: Mapping[str, Any], error: Exception) -> Exception:
        """The error of the first wrong action, in one line; `error` itself where none is wrong."""
        slots = self._names.slots()
        for name in actions:
            if name not in slots:
                return UserError(f"{self.world.id}: unknown agent {name!r}; act for those in env.agents")
        for name, slot in slots.items():
            if name not in actions:
                if self._acting(slot):
                    return UserError(f"{self.world.id}: no action for {name}, which is acting; pass one")
            elif not self.action_space(name).contains(actions[name]):
                shown = " ".join(repr(actions[name]).split())
                return UserError(
                    f"{self.world.id}: action {shown} of {name} is not in {self.action_space(name)}; mend the policy"
                )
        return error

    # -- reading a time step: a few microseconds, as it runs in every step ---------------------------

    def _advance(self, actions: Mapping[str, Any]) -> Step:
        try:
            timestep = self.world.step(self._batch(actions))
        except (KeyError, TypeError, ValueError) as error:
            raise self._explain(actions, error) from error
        names, acting = self._names, timestep.acting[0].tolist()
        terminated, truncated = self._ends(timestep, acting)
        rewards = names.named(timestep.reward[0].tolist())
        terminations, truncations = names.named(terminated), names.named(truncated)
        gone = {}
        if True in terminated or True in truncated:
            gone = {
                slot: name
                for slot, name in enumerate(names.of_slot)
                if names.listed[slot] and (terminated[slot] or truncated[slot])
            }
        if self.renames:
            # A truncated life stays listed while its slot is read, unless the next one has begun there.
            for slot in gone:
                names.listed[slot] = truncated[slot] and not acting[slot]
            for name in names.bear(acting):
                rewards[name], terminations[name], truncations[name] = 0.0, False, False
        legal = self._legal(timestep)
        observation, infos = self._report(timestep, legal)
        if gone:
            self._remove(gone, legal, observation, infos)
        if gone or self.renames:
            self._present = names.present()
        return observation, rewards, terminations, truncations, infos

    def _ends(self, timestep: TimeStep, acting: list[bool]) -> tuple[list[bool], list[bool]]:
        """Whether the agent of each slot terminates, and whether it is truncated."""
        over = bool(timestep.over[0])
        terminated, truncated = timestep.terminated[0].tolist(), timestep.truncated[0].tolist()
        if self.slots:
            cut = True in truncated
            return [over and not cut] * len(acting), [over and cut] * len(acting)
        if over:  # slots that stood empty end with the world
            terminated = [t or not c for t, c in zip(terminated, truncated, strict=True)]
        elif self.on_death == "remove":
            rows = zip(terminated, truncated, acting, strict=True)
            terminated = [t or not (c or a) for t, c, a in rows]
        return terminated, truncated

    def _legal(self, timestep: TimeStep) -> Rows:
        masks = self.world.by_kind(timestep.action_mask)
        legal = [kind.legal(masks[kind.name]) for kind in self._kinds]
        if self._one_choice:
            for number, kind in enumerate(self._kinds):
                rows = legal[number]
                rows = kind.all_legal() if rows is None else rows
                rows[~timestep.acting[0, [slot for slot, _ in kind.members]]] = kind.only_idle()
                legal[number] = rows
        return legal

    def _report(self, timestep: TimeStep, legal: Rows) -> tuple[dict[str, Any], Infos]:
        """Observations and infos of the listed agents."""
        listed, infos = self._names.listed, self._infos.of_step(timestep)
        if len(self._kinds) == 1 and legal[0] is None:
            return self._kinds[0].observe(timestep.observation, None, listed), infos
        fields = self.world.by_kind(timestep.observation)
        observation: dict[str, Any] = {}
        for kind, rows in zip(self._kinds, legal, strict=True):
            observation |= kind.observe(fields[kind.name], rows, listed)
            for name, row in kind.named(rows, listed).items():
                infos[name]["action_mask"] = row
        return observation, infos

    def _remove(
        self, gone: Mapping[int, str], legal: Rows, observation: dict[str, Any], infos: Infos
    ) -> None:
        """Takes agents, by slot, off the list and completes their last infos."""
        names = self._names
        for slot, name in gone.items():
            if names.listed[slot] and names.of_slot[slot] == name:
                names.listed[slot] = False
            else:  # a life without an observation after its end
                masked = legal[self._kinds.index(names.reader(name))] is not None
                observation[name], infos[name] = self._absent(name, slot, masked)
            if not self.slots:
                self._infos.end(infos[name], slot)

    def _absent(self, name: str, slot: int = -1, masked: bool = True) -> tuple[Any, dict[str, Any]]:
        """A blank observation and an info, with a mask of one legal action or of all."""
        kind, info = self._names.reader(name), self._infos.absent(slot)
        row = kind.only_idle() if self._one_choice else kind.all_legal()[0]
        if masked:
            info["action_mask"] = row
        return kind.blank(row[np.newaxis]), info

    # -- on_death="keep" --------------------------------------------------------------------------

    def _kept(self, step: Step) -> Step:
        """A step with all `possible_agents`."""
        observation, rewards, terminated, truncated, infos = step
        over, cut = not self._present, True in truncated.values()
        for name, info in infos.items():
            if terminated[name] or truncated[name]:
                self._left[name] = {**info, "acting": False}
        observation, infos = self._padded(observation, infos)
        return (
            observation,
            {name: rewards.get(name, 0.0) for name in infos},
            dict.fromkeys(infos, over and not cut),
            dict.fromkeys(infos, over and cut),
            infos,
        )

    def _padded(self, observation: Mapping[str, Any], infos: Infos) -> tuple[dict[str, Any], Infos]:
        """Observations and infos with those of absent agents."""
        seen, new = {}, {}
        for name in self.possible_agents:
            if name in infos:
                seen[name], new[name] = observation[name], infos[name]
            else:
                seen[name], info = self._absent(name)
                new[name] = {**self._left.get(name, info), "action_mask": info["action_mask"]}
        return seen, new

    # -- a number of lives ------------------------------------------------------------------------

    def _limited(self, step: Step, before: list[str]) -> Step:
        """Skips steps without an agent, and truncates the episode at the birth of one life too many.

        Args:
            step: of the world.
            before: the agents that acted in it.
        """
        assert self.lives is not None
        observation, rewards, terminated, truncated, infos = step
        if not self._present and not self.over:
            seen, new = self._wait()
            observation, infos = observation | seen, infos | new
            rewards |= dict.fromkeys(self._present, 0.0)
            terminated |= dict.fromkeys(self._present, False)
            truncated |= dict.fromkeys(self._present, False)
        if self._names.births > self.lives:
            self._cut, self._present = True, []
            observation, infos = _only(before, observation), _only(before, infos)
            rewards, terminated = _only(before, rewards), _only(before, terminated)
            truncated = {name: not terminated[name] for name in before}
        return observation, rewards, terminated, truncated, infos

    def _wait(self) -> tuple[dict[str, Any], Infos]:
        """Steps until a life begins or the world is over; its observations and infos."""
        for _ in range(MAX_WAIT):
            observation, _, _, _, infos = self._advance({})
            if self._present:
                return observation, infos
            if self.over:
                return {}, {}
        raise UserError(f"{self.world.id}: no life began in {MAX_WAIT:,} steps; see its settings")


def _only(names: list[str], part: dict[str, T]) -> dict[str, T]:
    return {name: part[name] for name in names}


def _check_agents(world: World, renames: bool, on_death: str | None, slots: bool, lives: int | None) -> None:
    if on_death not in (None, "remove", "keep", "rename"):
        raise UserError(f'{world.id}: on_death = {on_death!r}; choose "remove", "keep", "rename" or None')
    if lives is not None and (type(lives) is not int or not 1 <= lives <= MOST):
        raise UserError(f"{world.id}: lives = {lives!r}; pass a whole number from 1 to {MOST:,}")
    conflicts = (
        (slots and on_death == "remove", "slots never leave; leave out slots or the removal of the dead"),
        (slots and lives is not None, f"lives = {lives}, but agents are slots; leave one of them out"),
        (not renames and lives is not None, f"lives = {lives}, but its agents live once; leave lives out"),
        (not renames and on_death == "rename", 'on_death = "rename", but its agents live once; leave it out'),
        (
            len(world.kinds) > 1 and lives is not None,
            f"lives = {lives}, but lives are of {len(world.kinds)} kinds; leave lives out",
        ),
        (
            renames and on_death == "keep" and lives is None,
            "the number of lives is open, so the dead cannot be kept; pass lives=N, or make slots the agents",
        ),
    )
    for wrong, why in conflicts:
        if wrong:
            raise UserError(f"{world.id}: {why}")


def _state_space(world: World) -> spaces.Space[Any]:
    """The world's; of observations side by side an unbounded Box."""
    if world.state_space is not None:
        return world.state_space
    numbers = sum(
        len(kind.slots) * int(np.prod(part.shape or (), dtype=np.int64))
        for kind in world.kinds
        for part in kind.observation_space.spaces.values()
    )
    return spaces.Box(-np.inf, np.inf, (numbers,), np.float32)

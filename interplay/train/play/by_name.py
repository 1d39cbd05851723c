"""A trained policy asked by the names of agents, as a PettingZoo environment tells of them, or about one observation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.masks import from_gymnasium
from interplay.core.world import Kind, TimeStep
from interplay.train.distributions import Distribution
from interplay.train.policy_network import MARK, PolicyNetwork

if TYPE_CHECKING:
    from interplay.train.play.trained_policy import TrainedPolicy

MASK, WHOLE = "action_mask", "observation"
ONE = 8  # rows are filled up to a multiple, so that XLA compiles few shapes


class Look(NamedTuple):
    """What a network makes of one observation; of N observations every array has a first axis of N.

    Attributes:
        logits: (choices,) float32, the heads of the action one after another, -1e9 where a choice is not legal; empty for a Box.
        probabilities: (choices,) float32.
        mean, deviation: (n,) float32, of the numbers of a Box; empty for choices.
        action: the likeliest, in the action space.
        value: what the network expects; None where a central critic was trained, which an observation alone does not tell.
        attention: (heads, queries, keys) float32, each row sums to 1; None for networks without.
        attended: names of its keys.
        memory: (size,) float32 after the step, to be handed to the next `look`; None where nothing is remembered.
    """

    logits: np.ndarray
    probabilities: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    action: Any
    value: np.ndarray | None
    attention: np.ndarray | None
    attended: tuple[str, ...]
    memory: np.ndarray | None


class ByName:
    """Agents by name for a policy that plays a batch of one.

    Args:
        policy: that was started.

    Raises:
        UserError: if it plays a batch of several, or a name does not say which weights move an agent.
    """

    def __init__(self, policy: TrainedPolicy) -> None:
        world = policy.world
        if world.num_worlds != 1:
            raise UserError(
                f"{policy.name}: it plays a batch of {world.num_worlds} worlds and was asked by names, which are those of one; "
                "load the policy once more"
            )
        if world.respawns:
            raise UserError(
                f"{policy.name}: slots of {world.id} live more than once, so a name is no agent; play it with evaluate or a batch"
            )
        policy.mover(0)  # who moves an agent is known by its name
        self._policy, self._world = policy, world
        self._place = {
            str(world.agents[slot]): (kind, column, slot)
            for kind in world.kinds
            for column, slot in enumerate(kind.slots)
        }
        self._were: set[str] = set()
        self._masked = {kind.name for kind in world.kinds if policy.is_masked(kind)}

    def act(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any] | None = None) -> dict[Any, Any]:
        """Actions of those who are asked.

        Args:
            observations: agent -> what it sees.
            infos: agent -> its info; ``action_mask`` and ``acting`` are read, and masks count where the run had none, too.

        Raises:
            UserError: for an unknown agent, an observation of another form, or a mask that is missing.
        """
        world, here = self._world, {str(agent) for agent in observations}
        leaves = {key.partition(".")[0] for kind in world.kinds for key in kind.observation_space.spaces}
        if here and not here & self._place.keys() and here <= {*leaves, MASK, WHOLE}:
            raise UserError(
                f"{self._policy.name}: this is the observation of one agent; hand over those of all by the agents' names, "
                f"policy.act({{{world.agents[0]!r}: observation}}), or ask policy.look(observation)"
            )
        ended = np.zeros((1, len(world.agents)), bool)
        for agent in self._were - here:
            ended[0, self._place[agent][2]] = True
        timestep = self._timestep(observations, infos or {}, ended)
        self._were = here
        actions = world.by_kind(self._policy.act(timestep))
        found = {}
        for agent in observations:
            kind, column, slot = self._find(agent)
            if timestep.acting[0, slot]:
                found[agent] = point_of(kind.action_space, actions[kind.name], (0, column))
        return found

    def _timestep(
        self, observations: Mapping[Any, Any], infos: Mapping[Any, Any], ended: np.ndarray
    ) -> TimeStep:
        """What a batch of one world would say to those who are asked; `ended` (1, A) bool, whose lives have ended."""
        kinds = self._world.kinds
        seen = {
            kind.name: {
                key: np.zeros((1, len(kind.slots), *(part.shape or ())), part.dtype)
                for key, part in kind.observation_space.spaces.items()
            }
            for kind in kinds
        }
        heads = {kind.name: Distribution(kind.action_space) for kind in kinds}
        legal = {kind.name: np.ones((1, len(kind.slots), heads[kind.name].choices), bool) for kind in kinds}
        acting, masked = np.zeros(ended.shape, bool), set(self._masked)
        for agent, given in observations.items():
            kind, column, slot = self._find(agent)
            info = infos.get(agent) or {}
            for key, part in kind.observation_space.spaces.items():
                seen[kind.name][key][0, column] = leaf_of(given, key, part, f"{self._policy.name}: {agent}")
            mask = self._mask(agent, kind, given, info)
            if mask is not None:
                legal[kind.name][0, column] = mask
                masked.add(kind.name)
            acting[0, slot] = info.get("acting", True)
        masks = {name: parted(heads[name], rows) for name, rows in legal.items() if name in masked}
        several, only = len(kinds) > 1, kinds[0].name
        return TimeStep(
            observation=seen if several else seen[only],
            reward=np.zeros(ended.shape, np.float32),
            acting=acting,
            terminated=ended,
            truncated=np.zeros(ended.shape, bool),
            over=np.zeros(1, bool),
            action_mask=({name: masks.get(name) for name in seen} if several else masks[only])
            if masks
            else None,
        )

    def _find(self, agent: Any) -> tuple[Kind, int, int]:
        if str(agent) not in self._place:
            raise UserError(
                f"{self._policy.name}: unknown agent {agent!r}; it was trained for {', '.join(list(self._place)[:8])}"
            )
        return self._place[str(agent)]

    def _mask(self, agent: Any, kind: Kind, given: Any, info: Mapping[str, Any]) -> np.ndarray | None:
        """What is legal for an agent; None: everything."""
        mask = mask_in(given, kind, kind.name in self._masked)
        mask = info.get(MASK) if mask is None else mask
        if mask is not None:
            return legal_of(kind.action_space, mask, f"{self._policy.name}: {agent}")
        if kind.name in self._masked and info.get("acting", True):
            raise UserError(
                f"{self._policy.name}: {agent} has illegal actions, and no mask says which; hand over the infos too, "
                "policy.act(observations, infos)"
            )
        return None


def look(
    policy: TrainedPolicy,
    observation: Any,
    mask: Any = None,
    memory: np.ndarray | None = None,
    agent: str | None = None,
    population: int | None = None,
) -> Look:
    """What the network of an agent makes of one observation, or of N; arguments as for `TrainedPolicy.look`."""
    kind, mover = whose(policy, agent, population)
    network: PolicyNetwork = policy.networks[kind.name]
    parts = kind.observation_space.spaces
    key, part = next(iter(parts.items()))
    lead = np.ndim(_walk(observation, key)) - len(part.shape or ())
    owner = f"{policy.name}: the observation"
    rows = {key: np.asarray(leaf_of(observation, key, part, owner, lead)) for key, part in parts.items()}
    count = len(rows[key]) if lead else 1
    if (mark := mark_of(policy, kind, agent)) is not None:
        rows[MARK] = np.tile(mark, (count, 1))
    whole = -(-count // ONE) * ONE
    flat = network.layout.allocate(whole)
    network.layout.write(rows, None, {dtype: array[:count] for dtype, array in flat.items()})
    mask = mask_in(observation, kind, policy.is_masked(kind)) if mask is None else mask
    legal = None
    if mask is not None:
        legal = np.ones((whole, network.distribution.choices), bool)
        legal[:count] = legal_of(kind.action_space, mask, owner, count if lead else None)
    kept = None
    if network.memory:
        kept = np.zeros((whole, network.memory), np.float32)
        if memory is not None:
            kept[:count] = memory
    elif memory is not None:
        raise UserError(f"{policy.name}: its networks remember nothing; leave memory out")
    said = network.answers(policy.inference[kind.name], np.int32(mover), flat, legal, kept)
    told = {name: np.asarray(array)[:count] if lead else np.asarray(array)[0] for name, array in said.items()}
    nothing = np.zeros((count, 0) if lead else 0, np.float32)
    return Look(
        told.get("logits", nothing),
        told.get("probabilities", nothing),
        told.get("mean", nothing),
        told.get("deviation", nothing),
        point_of(kind.action_space, network.distribution.to_world(told["action"]), ()),
        told.get("value"),
        told.get("attention"),
        network.attended,
        told.get("memory"),
    )


def leaf_of(given: Any, key: str, part: spaces.Space[Any], owner: str, lead: int = 0) -> Any:
    """A leaf of what somebody sees, by the world's name for it.

    Args:
        given: nested mappings and tuples, or the leaf itself.
        key: the world's name, with dots where spaces are nested.
        part: its space.
        owner: is named in errors.
        lead: how many axes stand before the leaf's own.

    Raises:
        UserError: if it is not there, has another shape, or is not of finite numbers.
    """
    leaf, shape = _walk(given, key), tuple(part.shape or ())
    if leaf is None:
        raise UserError(f"{owner} sees no {key!r}; hand over observations of the form that it was trained on")
    own = np.shape(leaf)[lead:]
    if own != shape and (own, shape) != ((), (1,)):
        raise UserError(
            f"{owner} sees {key!r} of shape {own}, it was trained on {shape}; hand over such observations"
        )
    numbers = np.asarray(leaf)
    if numbers.dtype.kind not in "biuf" or not np.isfinite(numbers).all():
        raise UserError(f"{owner} sees {key!r} with what is no finite number; hand over finite numbers")
    return leaf


def mask_in(given: Any, kind: Kind, masked: bool) -> Any:
    """The mask beside an observation; None where there is none, or a leaf has that name and the world has no masks."""
    if not isinstance(given, Mapping) or (MASK in kind.observation_space.spaces and not masked):
        return None
    return given.get(MASK)


def legal_of(space: spaces.Space[Any], mask: Any, owner: str, rows: int | None = None) -> np.ndarray:
    """A mask as bools, the choices of all heads one after another.

    Args:
        space: of the action.
        mask: of one agent in any of its forms; or (rows, choices), or one array like that for each head.
        owner: is named in errors.
        rows: N observations that it is for; None: a single one.

    Returns:
        (choices,), or (rows, choices) for as many.

    Raises:
        UserError: for a mask of another form.
    """
    try:
        if rows is None:
            return row_of(space, mask)
        legal = np.asarray(np.concatenate(mask, axis=-1) if isinstance(mask, tuple) else mask)
        choices = Distribution(space).choices
        if legal.dtype.kind in "biuf" and legal.shape in ((choices,), (rows, choices)):
            return legal.astype(bool)
        form = f"a mask of shape ({rows}, {choices}) or ({choices},)"
        told = f"shape {legal.shape}" if legal.dtype.kind in "biuf" else f"type {type(mask).__name__}"
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        form, told = "a mask as the environment gives it", str(error).partition("\n")[0]
    raise UserError(f"{owner} has a mask that does not fit ({told}); hand over {form}")


def _walk(given: Any, key: str) -> Any:
    """The leaf under a name with dots; None where there is none."""
    if isinstance(given, Mapping) and key not in given and isinstance(given.get(WHOLE), Mapping):
        given = given[WHOLE]  # beside a mask
    if not isinstance(given, Mapping | tuple):
        return given if key == WHOLE else None
    if isinstance(given, Mapping) and key in given:
        return given[key]
    first, _, rest = key.partition(".")
    keys: tuple[Any, ...] = (first, int(first)) if first.isdecimal() else (first,)
    for own in keys:
        try:
            return _walk(given[own], rest) if rest else given[own]
        except (KeyError, IndexError, TypeError):
            continue
    return None


def row_of(space: spaces.Space[Any], mask: Any) -> np.ndarray:
    """A mask in any of its forms as a row of bools, the choices of all heads one after another."""
    if isinstance(mask, Mapping) and isinstance(space, spaces.Dict):
        rows = []
        for key, part in space.spaces.items():
            if isinstance(part, spaces.Box):
                continue
            own = mask
            for step in (key,) if key in mask else key.split("."):
                own = own.get(step) if isinstance(own, Mapping) else None  # type: ignore[assignment]
            rows.append(
                np.ones(Distribution(part).choices, bool) if own is None else from_gymnasium(part, own)
            )
        return np.concatenate(rows)
    if isinstance(mask, np.ndarray | list) and np.ndim(mask) == 1:
        row = np.asarray(mask, bool)
        if len(row) == Distribution(space).choices:
            return row
    return from_gymnasium(space, mask)


def parted(distribution: Distribution, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Rows of legal choices (..., choices) in the form of `TimeStep.action_mask`."""
    found, at = {}, 0
    for part in distribution.parts:
        width = sum(part.choices)
        if width:
            found[part.key] = rows[..., at : at + width]
        at += width
    return found


def point_of(space: spaces.Space[Any], value: Any, at: tuple[int, ...]) -> Any:
    """One agent's action, nested as names with dots say; numbers of Discrete spaces as plain ints."""
    if isinstance(space, spaces.Dict):
        point: dict[str, Any] = {}
        for key, part in space.spaces.items():
            *path, last = key.split(".")
            inner = point
            for step in path:
                inner = inner.setdefault(step, {})
            inner[last] = point_of(part, value[key], at)
        return point
    own = value[at]
    return int(own) if isinstance(space, spaces.Discrete) and np.ndim(own) == 0 else np.array(own)


def mark_of(policy: TrainedPolicy, kind: Kind, agent: str | None) -> np.ndarray | None:
    """What the network of an agent is told beside its observation, (M,) float32; None where that is nothing.

    Raises:
        UserError: if it has to be said who is meant.
    """
    marks = policy.networks[kind.name].marks
    if marks is None:
        return None
    if agent is None:
        raise UserError(
            f"{policy.name}: its networks are told who asks ({policy.settings.algorithm}.agent_id); "
            f"say whose observation it is, e.g. agent={policy.world.agents[0]!r}"
        )
    mark: np.ndarray = marks[kind.slots.index(policy.world.agents.index(agent))]
    return mark


def whose(policy: TrainedPolicy, agent: str | None, population: int | None = None) -> tuple[Kind, int]:
    """The kind of an agent, and the number of who moves it while it is of that population (`TrainedPolicy.mover`).

    Raises:
        UserError: if there is no such agent, or it has to be said who is meant.
    """
    world = policy.world
    if agent is None:
        if len(world.kinds) > 1:
            raise UserError(
                f"{policy.name}: {world.id} has agents of several kinds; say whose observation it is, e.g. agent={world.agents[0]!r}"
            )
        if len(policy.names) > 1:
            raise UserError(
                f"{policy.name}: it has {len(policy.names)} networks; say whose is asked, e.g. agent={world.agents[0]!r}"
            )
        return world.kinds[0], 0
    if agent not in world.agents:
        raise UserError(f"{policy.name}: unknown agent {agent!r}; there are {', '.join(world.agents[:8])}")
    slot = world.agents.index(agent)
    kind = next(kind for kind in world.kinds if slot in kind.slots)
    return kind, policy.mover(slot, population)

"""Kinds and arrays of a batch, from the spaces of an environment or simulation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.spaces import action_choices
from interplay.core.world import Kind
from interplay.sim.batch.answers import of_reset, require_seed
from interplay.sim.batch.info_numbers import MOST, declared
from interplay.sim.batch.managed import ManagedSimulation
from interplay.sim.batch.mask_rows import MASK, MaskRows, misspelt, ones

MOST_CHOICES = 1024  # of one number: a Box with more of them stays a Box
OBSERVATION = "observation"

Buffers = dict[str, np.ndarray]


class Leaf(NamedTuple):
    """One array of a nested space.

    Attributes:
        name: its path with dots; what was no Dict is called ``"observation"``.
        path: the keys and indices that lead to it.
        space: Box, Discrete, MultiDiscrete or MultiBinary.
    """

    name: str
    path: tuple[str | int, ...]
    space: spaces.Space[Any]


class KindLayout(NamedTuple):
    """Agents with the same spaces, and the names of their buffers.

    Attributes:
        kind: as the world declares it.
        acts: an agent's own action space.
        observation: leaves of the observation.
        action: leaves of the action; one with an empty path where the space is no Dict.
        masks: leaves of the action that have masks, in info or in the observation.
        mask_in_observation: the observation has the key ``"action_mask"``.
    """

    kind: Kind
    acts: spaces.Space[Any]
    observation: tuple[Leaf, ...]
    action: tuple[Leaf, ...]
    masks: tuple[Leaf, ...]
    mask_in_observation: bool

    def key(self, part: str, leaf: Leaf | None = None) -> str:
        """The name of a buffer of this kind: part is ``"observation"``, ``"action"`` or ``"mask"``."""
        return f"{self.kind.name}/{part}" + (f"/{leaf.name}" if leaf is not None else "")


class Layout(NamedTuple):
    """The batch's view of an environment.

    Attributes:
        metrics: declared numbers of infos, see `interplay.sim.batch.info_numbers`; None: none.
    """

    name: str
    agents: tuple[str, ...]
    kinds: tuple[KindLayout, ...]
    metrics: Mapping[str, str] | None = None


def read_layout(env: Any) -> Layout:
    """Reads an environment's agents, spaces and, by a reset, its action masks.

    Masks come from infos; a simulation under a manager is read directly, as a turn-based one's infos hold only the first agent's.

    Raises:
        UserError: if it is no parallel environment, or a space cannot become arrays.
    """
    name = str(getattr(env, "metadata", {}).get("name", type(env).__name__))
    agents = tuple(getattr(env, "possible_agents", ()))
    if not agents or not hasattr(env, "observation_space"):
        raise UserError(
            f"{name}: a {type(env).__name__} has no possible_agents; pass a function that makes a PettingZoo ParallelEnv with "
            "possible_agents (a world goes by its id)"
        )
    if hasattr(env, "agent_iter"):
        raise UserError(
            f"{name}: agents of this environment take turns, and it is no AECEnv; make it a subclass of PettingZoo's AECEnv"
        )
    require_seed("a PettingZoo ParallelEnv", env.reset)
    infos = of_reset(env.reset(seed=0))[1]
    kind_of = getattr(env, "kind_of", lambda agent: "")
    groups: list[tuple[Any, Any, str, list[int]]] = []
    for slot, agent in enumerate(agents):
        alike = env.observation_space(agent), env.action_space(agent), kind_of(agent)
        for *known, slots in groups:
            if tuple(known) == alike:
                slots.append(slot)
                break
        else:
            groups.append((*alike, [slot]))
    names = _kind_names([[str(agents[slot]) for slot in slots] for *_, slots in groups])
    kinds = []
    for kind_name, (seen, acts, _, slots) in zip(names, groups, strict=True):
        masks = ((agents[slot], _first_mask(env, agents[slot], infos)) for slot in slots)
        mask = next(((agent, mask) for agent, mask in masks if mask is not None), None)
        kinds.append(_kind_layout(f"{name} {kind_name}", kind_name, tuple(slots), seen, acts, mask))
    return Layout(name, agents, tuple(kinds), declared(name, getattr(env, "metadata", None)))


def _first_mask(env: Any, agent: Any, infos: Mapping[Any, Any]) -> Any:
    info = infos.get(agent) or {}
    if (mask := info.get(MASK)) is not None:
        return mask
    if isinstance(env, ManagedSimulation):
        return env.action_mask(agent)
    refuse_misspelt(info, f"info of {agent}")
    return None


def refuse_misspelt(keys: Iterable[Any], owner: str) -> None:
    """Refuses a key that is a misspelt ``action_mask``."""
    if name := misspelt(keys):
        raise UserError(f"{owner} has {name!r}, which is not read; call it {MASK!r}, or something else")


def shapes_of(layout: Layout, num_worlds: int, num_workers: int) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shape and dtype of every array that the world and its workers share.

    Besides the fields of a time step: ``which`` (W,), the worlds to reset or step; ``seed`` (W,), of their resets; ``at`` (workers,),
    each worker's current world.
    """
    grid = (num_worlds, len(layout.agents))
    shapes: dict[str, tuple[tuple[int, ...], Any]] = {
        "which": ((num_worlds,), bool),
        "seed": ((num_worlds,), np.int64),
        "at": ((num_workers,), np.int64),
        "over": ((num_worlds,), bool),
        "reward": (grid, np.float32),
        "acting": (grid, bool),
        "terminated": (grid, bool),
        "truncated": (grid, bool),
        "numbers": ((MOST if layout.metrics is None else len(layout.metrics), *grid), np.float64),
    }
    for kind in layout.kinds:
        lead = (num_worlds, len(kind.kind.slots))
        for part, leaves in (("observation", kind.observation), ("action", kind.action)):
            for leaf in leaves:
                shapes[kind.key(part, leaf)] = ((*lead, *(leaf.space.shape or ())), leaf.space.dtype)
        for leaf in kind.masks:
            shapes[kind.key("mask", leaf)] = ((*lead, sum(action_choices(_choices(leaf.space)))), bool)
    return shapes


def size_of(shapes: dict[str, tuple[tuple[int, ...], Any]]) -> int:
    """Bytes that `place` needs."""
    return sum(_padded(shape, dtype) for shape, dtype in shapes.values())


def place(shapes: dict[str, tuple[tuple[int, ...], Any]], memory: Any) -> Buffers:
    """Arrays one after another in `memory`, aligned to cache lines."""
    buffers, offset = {}, 0
    for name, (shape, dtype) in shapes.items():
        count = int(np.prod(shape, dtype=np.int64))
        buffers[name] = np.frombuffer(memory, dtype, count, offset).reshape(shape)
        offset += _padded(shape, dtype)
    return buffers


def _padded(shape: tuple[int, ...], dtype: Any) -> int:
    used = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    return -(-max(used, 1) // 64) * 64


def _kind_layout(
    owner: str, name: str, slots: tuple[int, ...], seen: Any, acts: Any, mask: tuple[Any, Any] | None
) -> KindLayout:
    in_observation = isinstance(seen, spaces.Dict) and MASK in seen.spaces
    if isinstance(seen, spaces.Dict) and mask is None:
        refuse_misspelt(seen.spaces, f"{owner}: the observation space")
    observation = _distinct(owner, _leaves(owner, "observation", seen, skip=in_observation))
    if not observation:
        raise UserError(f"{owner}: the observation space {seen} has no arrays; give agents something to see")
    space = spaces.Dict({leaf.name: leaf.space for leaf in observation})
    if isinstance(acts, spaces.Tuple):
        raise UserError(f"{owner}: a Tuple action space is not supported; use a Dict, or flatten or ravel it")
    action = _distinct(owner, _leaves(owner, "action", acts))
    if in_observation:
        mask = "the observation", ones(seen.spaces[MASK])
    masks = () if mask is None else _masked(owner, acts, action, *mask)
    return KindLayout(
        Kind(name, slots, space, choices(acts, action)), acts, observation, action, masks, in_observation
    )


def _masked(owner: str, acts: Any, action: tuple[Leaf, ...], where: Any, mask: Any) -> tuple[Leaf, ...]:
    """Leaves of the action that a mask is about."""
    try:
        named = {path for path, _ in mask_rows(acts, action).read(mask)}
    except ValueError as error:
        raise UserError(f"{owner}: action mask of {where}: {error}") from None
    return tuple(leaf for leaf in action if leaf.path in named)


def mask_rows(acts: spaces.Space[Any], action: tuple[Leaf, ...]) -> MaskRows:
    """Reads masks of an action space."""
    return MaskRows(acts, {leaf.path: (leaf.space, _choices(leaf.space)) for leaf in action})


def mask_of(leaf: Leaf, mask: Any) -> Any:
    """A leaf's part of gymnasium's mask of the whole action; None: all legal."""
    for key in leaf.path:
        mask = mask.get(key) if isinstance(mask, Mapping) else None
    return mask


def choices(space: spaces.Space[Any], leaves: tuple[Leaf, ...]) -> spaces.Space[Any]:
    """The batch's form of an action space: nested ones flat, bounded integer Boxes as choices.

    The values of actions stay the same.
    """
    if isinstance(space, spaces.Dict):
        return spaces.Dict({leaf.name: _choices(leaf.space) for leaf in leaves})
    return _choices(space)


def _choices(space: spaces.Space[Any]) -> spaces.Space[Any]:
    if (
        not isinstance(space, spaces.Box)
        or np.dtype(space.dtype).kind not in "iu"
        or not space.is_bounded("both")
    ):
        return space
    low = space.low.astype(np.int64)
    numbers = space.high.astype(np.int64) - low + 1
    if numbers.max(initial=1) > MOST_CHOICES:
        return space
    return spaces.MultiDiscrete(numbers, start=low)


def _leaves(
    owner: str, part: str, space: spaces.Space[Any], path: tuple[str | int, ...] = (), skip: bool = False
) -> Iterator[Leaf]:
    """The arrays of a nested space; `skip` leaves out the mask, which is no observation."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        items: Any = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        for key, inner in items:
            if not (skip and key == MASK):
                yield from _leaves(owner, part, inner, (*path, key))
    elif isinstance(space, spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        yield Leaf(".".join(map(str, path)) or part, path, space)
    else:
        raise UserError(
            f"{owner}: {type(space).__name__} in the {part} space has no fixed array form; use Box, Discrete, "
            "MultiDiscrete, MultiBinary, or Dict and Tuple of those"
        )


def _distinct(owner: str, leaves: Iterator[Leaf]) -> tuple[Leaf, ...]:
    """The leaves, checked for distinct names."""
    found: dict[str, Leaf] = {}
    for leaf in leaves:
        if leaf.name in found:
            raise UserError(
                f"{owner}: the keys {found[leaf.name].path} and {leaf.path} are both called {leaf.name!r}, with dots; rename one"
            )
        found[leaf.name] = leaf
    return tuple(found.values())


def _kind_names(groups: list[list[str]]) -> list[str]:
    """The common part of the agents' names of each group: adversary_0, adversary_1 -> adversary."""
    if len(groups) == 1:
        return ["agent"]
    names = []
    for agents in groups:
        stems = {agent.rstrip("0123456789").rstrip("_- ") for agent in agents}
        names.append((stems.pop() if len(stems) == 1 else "") or "kind")
    return [name if names.count(name) == 1 else f"{name}_{i}" for i, name in enumerate(names)]

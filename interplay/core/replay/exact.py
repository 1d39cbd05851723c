"""States and actions in a recording: arrays in the form of safetensors, which is data and runs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.world import Array, ArrayWorld, World

_STATE, _HASH, _STEPPED = "state/", "hash", "stepped"


def write_snapshot(world: World, index: int) -> bytes:
    """The whole state of one world of a batch, and its hash.

    Raises:
        CannotSave: if the world promises no snapshots.
    """
    row = slice(index, index + 1)
    arrays = {f"{_STATE}{name}": array[row] for name, array in world.save().items()}
    return _write({**arrays, _HASH: world.hash()[row]})


def load_snapshot(world: World, data: bytes) -> None:
    """Loads a recorded state into a batch of one."""
    arrays = _read(data)
    world.load(
        {name.removeprefix(_STATE): array for name, array in arrays.items() if name.startswith(_STATE)}
    )
    check_hash(world, data)


def check_fields(world: World, data: bytes) -> None:
    """Checks the names and shapes of a state against those of a world that need not have begun."""
    if isinstance(world, ArrayWorld):
        arrays = _read(data)
        world.check_fields(
            {name.removeprefix(_STATE): array for name, array in arrays.items() if name.startswith(_STATE)}
        )


def check_hash(world: World, data: bytes) -> None:
    """Checks a world against the hash of a snapshot."""
    expected = _read(data).get(_HASH)
    if expected is None or expected.tolist() != world.hash().tolist():
        raise UserError(f"{world.id} is in another state than the recorded one")


def write_actions(actions: Sequence[Any]) -> bytes:
    """Actions of successive ticks as bytes, (1, A, ...) each, or mappings of those; None for a reset."""
    stepped = [flatten(action) for action in actions if action is not None]
    names = stepped[0] if stepped else {}
    arrays = {f"action/{name}": np.concatenate([one[name] for one in stepped]) for name in names}
    return _write({**arrays, _STEPPED: np.array([action is not None for action in actions])})


def read_actions(world: World, data: bytes, ticks: int | None = None) -> list[Any]:
    """Reads the bytes of `write_actions` as actions for `World.step`; another number of `ticks` is refused unread."""
    arrays = _read(data)
    stepped = arrays.get(_STEPPED)
    if stepped is None or stepped.dtype != bool or stepped.ndim != 1 or ticks not in (None, len(stepped)):
        raise UserError(f"these are no actions of {world.id}")
    whole = {kind.name: _gather(kind.action_space, f"/{kind.name}", arrays) for kind in world.kinds}
    tree = whole if len(world.kinds) > 1 else _gather(world.kinds[0].action_space, "", arrays)
    steps = iter(range(int(stepped.sum())))
    return [_row(tree, next(steps)) if is_step else None for is_step in stepped.tolist()]


def flatten(tree: Any, path: str = "") -> dict[str, Array]:
    """An action's arrays by the path of their keys."""
    if not isinstance(tree, Mapping):
        return {path: np.asarray(tree)}
    return {
        name: array for key, part in tree.items() for name, array in flatten(part, f"{path}/{key}").items()
    }


def one_of(tree: Any, index: int) -> Any:
    """A copy of one world's part of a batch's actions, (1, A, ...)."""
    if isinstance(tree, Mapping):
        return {key: one_of(part, index) for key, part in tree.items()}
    return np.asarray(tree)[index : index + 1].copy()


def _gather(space: spaces.Space, path: str, arrays: Mapping[str, Array]) -> Any:
    if isinstance(space, spaces.Dict):
        return {key: _gather(part, f"{path}/{key}", arrays) for key, part in space.spaces.items()}
    array = arrays.get(f"action/{path}")
    return np.zeros(0) if array is None else array  # refused by the world's own check


def _row(tree: Any, number: int) -> Any:
    if isinstance(tree, Mapping):
        return {key: _row(part, number) for key, part in tree.items()}
    return tree[number : number + 1]


def _write(arrays: Mapping[str, Array]) -> bytes:
    data: bytes = safetensors.numpy.save({name: np.asarray(a, order="C") for name, a in arrays.items()})
    return data


def _read(data: bytes) -> dict[str, Array]:
    try:
        arrays = safetensors.numpy.load(data)
    except (safetensors.SafetensorError, LookupError, TypeError, ValueError, MemoryError) as error:
        raise UserError(f"it holds no arrays ({' '.join(str(error).split())[:120]})") from None
    for name, array in arrays.items():
        if array.dtype == bool and array.size and array.view(np.uint8).max() > 1:
            raise UserError(f"{name!r} holds what is neither true nor false")
    return {name: array if array.flags.writeable else array.copy() for name, array in arrays.items()}

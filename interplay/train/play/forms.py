"""Converts observations, masks and actions of single agents from and to their environment's form."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.masks import from_gymnasium, heads
from interplay.core.world import Kind
from interplay.train.distributions import Distribution

MASK, WHOLE = "action_mask", "observation"


class InputRows:
    """Input rows of agents of one kind, as in a batch of one world.

    Args:
        masked: parts of the action that need a mask from every acting agent.

    Attributes:
        seen: leaf -> (1, rows, ...).
        legal: (1, rows, choices) bool.
        acting: (1, rows) bool.
        masked: whether there are such parts, or a mask was given.
    """

    def __init__(self, kind: Kind, rows: int, masked: Collection[str]) -> None:
        self.kind, self._needs, self.masked = kind, masked, bool(masked)
        self._distribution = Distribution(kind.action_space)
        self.seen = {
            key: np.zeros((1, rows, *(part.shape or ())), part.dtype)
            for key, part in kind.observation_space.spaces.items()
        }
        self.legal = np.ones((1, rows, self._distribution.choices), bool)
        self.acting = np.zeros((1, rows), bool)

    @property
    def mask(self) -> dict[str, np.ndarray] | None:
        """As `TimeStep.action_mask`; None where everything is legal."""
        return parted(self._distribution, self.legal) if self.masked else None

    def put(self, row: int, owner: str, given: Any, info: Mapping[str, Any]) -> None:
        """Fills a row with an agent's observation, its mask and whether it acts."""
        for key, part in self.kind.observation_space.spaces.items():
            self.seen[key][0, row] = leaf_of(given, key, part, owner)
        self.acting[0, row] = info.get("acting", True)
        mask = mask_in(given, self.kind, bool(self._needs))
        mask = info.get(MASK) if mask is None else mask
        if mask is not None:
            legal = self.legal[0, row] = legal_of(self.kind.action_space, mask, owner, needs=self._needs)
            if self.acting[0, row]:
                refuse_stuck(self._distribution, legal, owner)
            self.masked = True
        elif self._needs and self.acting[0, row]:
            raise UserError(
                f"{owner} has illegal actions but no mask; pass the infos too, policy.act(observations, infos)"
            )


def leaf_of(given: Any, key: str, part: spaces.Space[Any], owner: str, lead: int = 0) -> Any:
    """A leaf of an observation.

    Args:
        given: nested mappings and tuples, or the leaf itself.
        key: the world's name of the leaf, with dots where spaces are nested.
        lead: number of axes before the leaf's own.
    """
    leaf, shape = _walk(given, key), tuple(part.shape or ())
    if leaf is None:
        raise UserError(f"{owner} has no {key!r}; pass observations as in training")
    own = np.shape(leaf)[lead:]
    if own != shape and (own, shape) != ((), (1,)):
        raise UserError(f"{owner} has {key!r} of shape {own}, in training it was {shape}")
    numbers = np.asarray(leaf)
    if numbers.dtype.kind not in "biuf" or not np.isfinite(numbers).all():
        raise UserError(f"{owner} has {key!r} with values other than finite numbers")
    if not _fits(numbers, np.dtype(part.dtype)):
        raise UserError(
            f"{owner} has {key!r} with {numbers.dtype} numbers that its {part} cannot hold; pass {part.dtype} numbers"
        )
    return leaf


def _fits(numbers: np.ndarray, dtype: np.dtype[Any]) -> bool:
    """Whether a cast to the dtype keeps the numbers, up to the precision of floats."""
    if numbers.dtype == dtype:
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        cast = numbers.astype(dtype)
    return bool(np.isfinite(cast).all() if dtype.kind == "f" else np.array_equal(cast, numbers))


def mask_in(given: Any, kind: Kind, masked: bool) -> Any:
    """The mask in an observation's dict; None without, or where it is a leaf of a world without masks."""
    if not isinstance(given, Mapping) or (MASK in kind.observation_space.spaces and not masked):
        return None
    return given.get(MASK)


def legal_of(
    space: spaces.Space[Any],
    mask: Any,
    owner: str,
    rows: int | None = None,
    needs: Collection[str] = (),
) -> np.ndarray:
    """A mask as bools, the choices of all heads concatenated.

    Args:
        mask: of one agent in any supported form; or (rows, choices), or one such array per head.
        rows: number of observations; None: a single one.
        needs: parts of a Dict that the mask must contain.

    Returns:
        (choices,), or (rows, choices).
    """
    try:
        if rows is None:
            return row_of(space, mask, needs)
        legal = np.asarray(np.concatenate(mask, axis=-1) if isinstance(mask, tuple) else mask)
        choices = Distribution(space).choices
        if legal.dtype.kind in "biuf" and legal.shape in ((choices,), (rows, choices)):
            return _flags(legal)
        form = f"a mask of shape ({rows}, {choices}) or ({choices},)"
        what = f"shape {legal.shape}" if legal.dtype.kind in "biuf" else f"type {type(mask).__name__}"
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        form, what = "a mask as the environment gives it", str(error).partition("\n")[0]
    raise UserError(f"{owner} has a mask that does not fit ({what}); pass {form}")


def refuse_stuck(distribution: Distribution, legal: np.ndarray, owner: str) -> None:
    """Refuses masks (..., choices) without a legal choice for a head."""
    at = 0
    for part in distribution.parts:
        for count in part.choices:
            if not legal[..., at : at + count].any(axis=-1).all():
                raise UserError(f"{owner} has a mask that allows no {part.key or 'action'}; allow a choice")
            at += count


def leading_axes(given: Any, key: str, part: spaces.Space[Any]) -> int:
    """The number of axes before a leaf's own: 1 for N observations, 0 for one."""
    return np.ndim(_walk(given, key)) - len(part.shape or ())


def _walk(given: Any, key: str) -> Any:
    """The leaf of a dotted name, also of an observation beside a mask; None if missing."""
    found = _below(given, key)
    if found is None and isinstance(given, Mapping):
        return _below(given.get(WHOLE), key)
    return given if found is None and key == WHOLE else found


def _below(given: Any, key: str) -> Any:
    """The leaf of a dotted name; keys may contain dots."""
    if not isinstance(given, Mapping | tuple | list):
        return None
    parts = key.split(".")
    for end in range(len(parts), 0, -1):
        first, rest = ".".join(parts[:end]), ".".join(parts[end:])
        keys: tuple[Any, ...] = (first, int(first)) if first.isdecimal() else (first,)
        for own in keys:
            try:
                inner = given[own]
            except (KeyError, IndexError, TypeError):
                continue
            found = _below(inner, rest) if rest else inner
            if found is not None:
                return found
    return None


def row_of(space: spaces.Space[Any], mask: Any, needs: Collection[str] = ()) -> np.ndarray:
    """A mask in any supported form as a row of bools, the choices of all heads concatenated.

    Raises:
        ValueError: for another form, an unknown name, or without one of `needs`.
    """
    if isinstance(space, spaces.Dict):
        return _row_of_parts(space, mask, needs)
    if isinstance(mask, np.ndarray | list) and np.ndim(mask) == 1:
        row = np.asarray(mask)
        if len(row) == Distribution(space).choices:
            return _flags(row)
    most = 2 if isinstance(space, spaces.MultiBinary) else 1
    _flags(np.concatenate(heads(mask)), most)
    return from_gymnasium(space, mask)


def _row_of_parts(space: spaces.Dict, mask: Any, needs: Collection[str]) -> np.ndarray:
    if not isinstance(mask, Mapping):
        row, choices = np.asarray(mask).reshape(-1), Distribution(space).choices
        if len(row) != choices:
            raise ValueError(f"it has {len(row)} entries, the action has {choices} choices")
        return _flags(row)
    given = dict(_parts_of(mask, space.spaces))
    rows = []
    for key, part in space.spaces.items():
        own = given.pop(key, None)
        if isinstance(part, spaces.Box):
            continue
        if own is None and key in needs:
            raise ValueError(f"it has no {key!r}")
        rows.append(np.ones(Distribution(part).choices, bool) if own is None else row_of(part, own))
    if given:
        raise ValueError(f"it names {next(iter(given))!r}, which is no part of the action")
    return np.concatenate(rows)


def _parts_of(mask: Mapping[Any, Any], known: Collection[str], above: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted name and mask of each part of a nested mask."""
    for key, part in mask.items():
        name = f"{above}{key}"
        if isinstance(part, Mapping) and name not in known:
            yield from _parts_of(part, known, f"{name}.")
        else:
            yield name, part


def _flags(mask: np.ndarray, most: int = 1) -> np.ndarray:
    """Zeros and ones as bools; refuses others, such as logits, where 0 would mean legal."""
    odd = mask[~np.isin(mask, np.arange(most + 1))]
    if odd.size:
        raise ValueError(f"it holds {odd[0]}; give 1 for legal and 0 for illegal choices")
    return mask.astype(bool)


def parted(distribution: Distribution, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Rows of legal choices (..., choices) as `TimeStep.action_mask`."""
    found, at = {}, 0
    for part in distribution.parts:
        width = sum(part.choices)
        if width:
            found[part.key] = rows[..., at : at + width]
        at += width
    return found


def point_of(space: spaces.Space[Any], value: Any, at: tuple[int, ...]) -> Any:
    """One agent's action, nested by its dotted names; Discrete ones as ints."""
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

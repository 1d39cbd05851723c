"""Tasks: conditions on a life and their progress; the reward is its change (specification 8).

A task is a text, e.g. ``survive(100) and (eat(20) or defeat(2))``. Its progress p is a number in 0..1 of each agent and each state,

    p(a and b) = min(p(a), p(b))        p(a or b) = max(p(a), p(b))        p(not a) = 1 - p(a)

so a life's task rewards sum to p at its end less p at its birth. Progress is a function of the state alone.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.worlds.mmo import tiles

if TYPE_CHECKING:
    from interplay.worlds.mmo.state import MmoState, Sight

COUNTED = (
    "survive",
    "defeat",
    "harm",
    "eat",
    "drink",
)  # counts of a life, kept after its end
HELD = ("health", "food", "water")
TILES = {"lava": tiles.LAVA, "water": tiles.WATER, "grass": tiles.GRASS, "scrub": tiles.SCRUB, "forest": tiles.FOREST, "stone": tiles.STONE}  # fmt: skip
# Condition -> its argument.
CONDITIONS = {
    **dict.fromkeys((*COUNTED, *HELD, "company", "apart"), "a whole number above 0"),
    **dict.fromkeys(("stand", "see"), f"one of {', '.join(TILES)}"),
    "centre": "nothing",
}
_ROW_OFFSET, _COL_OFFSET, _KIN = 6, 7, 9  # columns of an entity row


class Task(NamedTuple):
    """A condition, or several combined.

    Attributes:
        name: of the condition, or ``and``, ``or``, ``not``.
        given: its number, or that of its tile; 0 without argument.
        parts: of a combination.
    """

    name: str
    given: int = 0
    parts: tuple[Task, ...] = ()


class Lives(NamedTuple):
    """The arrays that conditions read, (W, N) each.

    Attributes:
        counted: name of `COUNTED` -> whole numbers of the life.
        agent: records of those alive.
        sight: their views; None for ended lives, of which only counts remain.
    """

    counted: Mapping[str, np.ndarray]
    agent: Any
    sight: Sight | None


def parse_task(text: str, most: Mapping[str, int]) -> Task:
    """Reads a task.

    Args:
        text: conditions, ``and``, ``or``, ``not`` and brackets.
        most: condition -> the largest number that can be reached.

    Raises:
        ValueError: naming an unknown condition, or one out of reach.

    Example:
        >>> parse_task("eat(20) or stand(forest)", {})
        Task(name='or', given=0, parts=(Task(name='eat', given=20, parts=()), Task(name='stand', given=4, parts=())))
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(
            f'task = "{text}" cannot be read; write e.g. "survive(100) and (eat(20) or defeat(2))"'
        ) from None
    return _read(tree, text, most)


def _read(node: ast.expr, text: str, most: Mapping[str, int]) -> Task:
    if isinstance(node, ast.BoolOp):
        parts = tuple(_read(part, text, most) for part in node.values)
        return Task("and" if isinstance(node.op, ast.And) else "or", parts=parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return Task("not", parts=(_read(node.operand, text, most),))
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)) or node.keywords:
        source = ast.get_source_segment(text.strip(), node) or text
        raise ValueError(f'task: "{source}" is no condition; write e.g. eat(20), joined by and, or, not')
    name = node.func.id
    if name not in CONDITIONS:
        raise ValueError(f"task: {name} is no condition; give one of {', '.join(CONDITIONS)}")
    given = _argument(node.args, name)
    if given is None:
        raise ValueError(f"task: {name} needs {CONDITIONS[name]} as argument; write e.g. {_EXAMPLES[name]}")
    if given > most.get(name, given):
        raise ValueError(f"task: {name}({given}) is above the maximum of {most[name]}; lower it")
    return Task(name, given)


_EXAMPLES = {name: f"{name}(5)" for name in CONDITIONS} | {
    "stand": "stand(forest)",
    "see": "see(water)",
    "centre": "centre()",
}


def _argument(given: list[ast.expr], name: str) -> int | None:
    """The number or the tile in a condition's brackets; None if invalid."""
    if name == "centre":
        return None if given else 0
    if len(given) != 1:
        return None
    if isinstance(given[0], ast.Name) and name in ("stand", "see"):
        return TILES.get(given[0].id)
    number = given[0].value if isinstance(given[0], ast.Constant) else None
    fits = type(number) is int and 0 < number < 2**31 and name not in ("stand", "see")
    return number if fits else None  # type: ignore[return-value]


def progress(task: Task, lives: Lives, side: int, border: int) -> np.ndarray:
    """Progress of each life, (W, N) float64 in 0..1; meaningless in empty slots.

    Args:
        side: T of the map.
        border: width of the lava around the ground.
    """
    name, given, parts = task
    if parts:
        each = [progress(part, lives, side, border) for part in parts]
        return (
            1.0 - each[0]
            if name == "not"
            else np.minimum.reduce(each)
            if name == "and"
            else np.maximum.reduce(each)
        )
    if name in COUNTED:
        return np.minimum(lives.counted[name] / given, 1.0)
    agent, sight = lives.agent, lives.sight
    if sight is None:
        return np.zeros(agent.shape)
    if name in HELD:
        return np.minimum(agent[name] / given, 1.0)
    if name == "centre":
        middle = (side - 1) / 2
        away = np.maximum(abs(agent["row"] - middle), abs(agent["col"] - middle))
        return np.clip(1.0 - away / (middle - border), 0.0, 1.0)
    if name == "see":
        return (sight.tiles == given).any(axis=(2, 3)).astype(float)
    if name == "stand":
        own = sight.tiles.shape[2] // 2
        return (sight.tiles[:, :, own, own] == given).astype(float)
    return _among_others(name, given, sight)


def _among_others(name: str, given: int, sight: Sight) -> np.ndarray:
    """Own kind in view, or the distance of the nearest, among the entity rows; row 0 is the observer."""
    others = sight.entities[:, :, 1:]
    there = np.arange(1, others.shape[2] + 1) < sight.filled[:, :, None]
    if name == "company":
        return np.minimum((there & (others[..., _KIN] > 0)).sum(axis=2) / given, 1.0)
    away = np.maximum(abs(others[..., _ROW_OFFSET]), abs(others[..., _COL_OFFSET])).astype(float)
    return np.where(there, away, np.inf).min(axis=2, initial=given) / given


def living(state: MmoState, sight: Sight) -> Lives:
    """The lives of the living."""
    agent = state.agent
    counted = {
        "survive": state.room["tick"][:, None] - agent["birth"],
        "defeat": agent["kills"],
        "harm": agent["harm"],
        "eat": agent["eaten"],
        "drink": agent["drunk"],
    }
    return Lives(counted, agent, sight)


def ended(state: MmoState) -> Lives:
    """Each slot's last life that ended."""
    tally = state.tally
    names = {"survive": "life", "defeat": "kills", "harm": "harm", "eat": "food", "drink": "water"}
    return Lives({name: tally[f"ended_{kept}"] for name, kept in names.items()}, state.agent, None)


def share_among(
    change: np.ndarray, population: np.ndarray, took_part: np.ndarray, spirit: float
) -> np.ndarray:
    """(W, N) each agent's change, mixed by `spirit` with the mean of its population's participants."""
    if spirit == 0.0:
        return change
    kinds = int(population.max(initial=0)) + 1
    key = (np.arange(len(change))[:, None] * kinds + population)[took_part]
    number = len(change) * kinds
    total = np.bincount(key, change[took_part], number) / np.maximum(np.bincount(key, minlength=number), 1)
    shared = np.zeros(change.shape)
    shared[took_part] = (1.0 - spirit) * change[took_part] + spirit * total[key]
    return shared

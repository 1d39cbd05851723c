"""Describes a world: kinds of agents, observations, actions, options and scripted policies."""

from __future__ import annotations

import ast
import inspect
import io
import textwrap
import tokenize
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.loading import load
from interplay.core.masks import masked_heads
from interplay.core.settings import Settings
from interplay.core.settings_text import allowed, show
from interplay.core.spaces import action_choices
from interplay.core.spec import WorldSpec
from interplay.core.world import World
from interplay.registry import find_world, list_policies, make_world
from interplay.sim.batch.world import EnvironmentBatch


@dataclass(frozen=True)
class Leaf:
    """An array of an observation or an action.

    Attributes:
        name: its key, ``a.b`` for nested mappings; empty for a single array.
        shape: of one agent.
        says: its range of values, in words.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    says: str


@dataclass(frozen=True)
class KindFacts:
    """One kind of agents with its observation and action."""

    name: str
    agents: tuple[str, ...]
    observation: tuple[Leaf, ...]
    action: tuple[Leaf, ...]


@dataclass(frozen=True)
class Option:
    """A setting of a world: its default in this variant, allowed values, and description."""

    name: str
    default: str
    allowed: str
    says: str


@dataclass(frozen=True)
class Facts:
    """Description of a world.

    Attributes:
        teams: names of the agents of each team.
        populations: names, if there are several.
        traits: sentences on its rules.
        state: length of the central critic's state vector, or None.
        policies: names of its scripted policies.
    """

    id: str
    summary: str
    kinds: tuple[KindFacts, ...]
    teams: tuple[tuple[str, ...], ...]
    populations: tuple[str, ...]
    traits: tuple[str, ...]
    state: int | None
    metrics: tuple[str, ...]
    policies: tuple[str, ...]
    options: tuple[Option, ...]


def facts_of(world_id: str) -> Facts:
    """Describes a registered world or ``"module:name"``; the world is made, but not reset."""
    named = load(world_id, users=True) if ":" in world_id else find_world(world_id)
    spec = named if isinstance(named, WorldSpec) else None
    world = make_world(world_id, num_worlds=1)
    try:
        kinds = tuple(
            KindFacts(
                kind.name,
                tuple(world.agents[slot] for slot in kind.slots),
                _leaves(kind.observation_space),
                _leaves(kind.action_space, acts=True),
            )
            for kind in world.kinds
        )
        teams = tuple(tuple(world.agents[slot] for slot in team) for team in world.teams or ())
        traits = _traits(world)
        names = tuple(world.population_names or ()) if world.num_populations > 1 else ()
        state = None if world.state_space is None else int(np.prod(world.state_space.shape or ()))
        metrics = tuple(world.metrics)
    finally:
        world.close()
    summary = spec.summary if spec else (named.__doc__ or "").strip().partition("\n")[0]
    options = _options(load(spec.settings), dict(spec.options)) if spec and spec.settings else ()
    return Facts(
        world_id,
        summary,
        kinds,
        teams,
        names,
        traits,
        state,
        metrics,
        list_policies(world_id),
        options,
    )


def _traits(world: World) -> tuple[str, ...]:
    """Sentences on a world's rules."""
    traits = (
        (world.persistent, "it never ends: episodes have no end"),
        (world.respawns, "a slot is used by one agent after another"),
        (world.dead_stay, "a dead agent keeps its slot and gets rewards until the episode ends"),
        (world.ignores_illegal, "illegal actions do nothing"),
        (
            world.privileged_view is not None,
            "it has hidden information, which spectators may see (`--reveal`)",
        ),
    )
    masks = (masked_heads(world, world.shown),) if isinstance(world, EnvironmentBatch) else ()
    return (*(text for holds, text in traits if holds), *masks)


def _leaves(space: spaces.Space, name: str = "", acts: bool = False) -> tuple[Leaf, ...]:
    if isinstance(space, spaces.Dict):
        return tuple(
            leaf
            for key, part in space.spaces.items()
            for leaf in _leaves(part, f"{name}.{key}" if name else key, acts)
        )
    return (Leaf(name, tuple(space.shape or ()), str(space.dtype), _says(space, acts)),)


def _says(space: Any, acts: bool) -> str:
    if isinstance(space, spaces.Box):
        return f"numbers {_range(space)}"
    first = np.ravel(getattr(space, "start", 0))
    if acts:
        choices = action_choices(space)
        if len(choices) == 1:
            return f"one of {int(first[0])} to {int(first[0]) + choices[0] - 1}"
        counts = list(dict.fromkeys(choices))
        if len(counts) == 1:
            return f"{len(choices)} choices, each one of 0 to {counts[0] - 1}"
        return f"{len(choices)} choices among {', '.join(map(str, choices))}"
    if isinstance(space, spaces.MultiBinary):
        return "0 or 1"
    if isinstance(space, spaces.Discrete):
        return f"{int(first[0])} to {int(first[0]) + int(space.n) - 1}"
    return f"whole numbers below {int(np.max(space.nvec))}"


def _range(box: spaces.Box) -> str:
    low, high = float(np.min(box.low)), float(np.max(box.high))
    if np.isinf(low) and np.isinf(high):
        return "without bounds"
    if np.isinf(high):
        return f"at least {low:g}"
    if np.isinf(low):
        return f"at most {high:g}"
    each = "" if np.ptp(box.low) == 0 and np.ptp(box.high) == 0 else ", each entry with bounds of its own"
    return f"{low:g} to {high:g}{each}"


def _options(model: type[Settings], given: dict[str, Any]) -> tuple[Option, ...]:
    comments = _comments(model)
    made = model(**given)
    return tuple(
        Option(name, show(getattr(made, name)), allowed(field), field.description or comments.get(name, ""))
        for name, field in model.model_fields.items()
    )


def _comments(model: type) -> dict[str, str]:
    """Field -> comment behind or above it in the source: built-in worlds describe their settings there."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if not (isinstance(one, type) and issubclass(one, Settings)) or one is Settings:
            continue
        try:
            source = textwrap.dedent(inspect.getsource(one))
        except (OSError, TypeError):  # made at run time, or without source
            continue
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        comments = {token.start[0]: token for token in tokens if token.type == tokenize.COMMENT}
        body: Any = ast.parse(source).body[0]
        for node in body.body:
            if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
                continue
            first = node.lineno
            while _is_note(comments.get(first - 1)):
                first -= 1
            lines = range(first, (node.end_lineno or node.lineno) + 1)
            text = " ".join(_text(comments[line]) for line in lines if line in comments)
            if text and not text.startswith("type:"):
                found[node.target.id] = text
    return found


def _text(comment: tokenize.TokenInfo) -> str:
    return comment.string.lstrip("# ").rstrip()


def _is_note(comment: tokenize.TokenInfo | None) -> bool:
    """Whether a comment has its line alone and is no rule between sections."""
    return (
        comment is not None and comment.line.lstrip().startswith("#") and not _text(comment).startswith("--")
    )

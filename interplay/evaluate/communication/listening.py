"""Positive listening by board edits: dependence of a policy on one seat's words (specification 17).

For viewer j and the visible row of seat i: E KL[pi_j(. | board) || mean over s' of pi_j(. | board with row i := s')], with s' drawn
from the distribution of spoken words. Rows that the viewer does not observe are not edited; their result is exactly 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from interplay.core.errors import UserError
from interplay.core.spaces import action_choices
from interplay.core.world import World
from interplay.evaluate.communication.table import Array
from interplay.evaluate.policy_map import population_names
from interplay.evaluate.statistics import Estimate, estimate

# Field of words in the observation -> the field of earlier boards that repeats it in its first entry, if any.
BLOCKS = {"public_signals": "past_signals", "pack_signals": "", "signal": ""}

Probabilities = Callable[[Mapping[str, Array]], Array]  # name -> (N, ...), to probabilities (N, choices)
FIELD = "public_signals"
MOST_VIEWERS = 2_000  # evaluated, each with every word and every row


class Marginal(NamedTuple):
    """The distribution of spoken words.

    Attributes:
        words: (M, L).
        share: (M,) probabilities, sum 1.
    """

    words: Array
    share: Array


def speaker_marginal(words: Array, most: int = 32) -> Marginal:
    """The distribution of recorded words.

    Args:
        words: (U, L), of utterances; rows with -1 are left out.
        most: limit of distinct words; above it, this many are drawn in proportion to their counts.
    """
    spoken = words[(words >= 0).all(axis=1)] if words.shape[1] else words[:0]
    if not len(spoken):
        raise UserError("board edits: no words; record games of a world with signal_length of 1 or more")
    different, counts = np.unique(spoken, axis=0, return_counts=True)
    if len(different) <= most:
        return Marginal(different, counts / counts.sum())
    kept = np.random.default_rng(0).choice(len(different), most, p=counts / counts.sum())
    different, again = np.unique(different[kept], axis=0, return_counts=True)
    return Marginal(different, again / again.sum())


def editable(observation: Mapping[str, Array], field: str = "public_signals") -> Array:
    """(N, n) bool: rows of a board with a word visible to the viewer."""
    if field not in observation:
        there = [name for name in BLOCKS if name in observation]
        raise UserError(
            f"board edits: no field {field}; the observation has {', '.join(there) or 'no words'}"
        )
    return np.asarray((np.asarray(observation[field]) >= 0).all(axis=2))


def edited(observation: Mapping[str, Array], field: str, row: Array, word: Array) -> dict[str, Array]:
    """Observations with another word in one row of the board.

    Args:
        observation: name -> (N, ...).
        field: of the board's words, (N, n, L).
        row: (N,) seat of the replaced word.
        word: (N, L).

    Returns:
        New arrays for changed fields, including the board's copy among earlier boards.
    """
    changed = dict(observation)
    at = np.arange(len(row))
    board = np.array(observation[field])
    before = board.copy()
    board[at, row] = word
    changed[field] = board
    copy = BLOCKS.get(field, "")
    if copy in observation and np.shape(observation[copy])[1]:
        past = np.array(observation[copy])
        same = (past[:, 0] == before).all(axis=(1, 2))
        past[at[same], 0, row[same]] = word[same]
        changed[copy] = past
    return changed


def board_influence(
    probabilities: Probabilities,
    observation: Mapping[str, Array],
    marginal: Marginal,
    heads: Sequence[int],
    field: str = "public_signals",
) -> Array:
    """KL of a policy's action distribution from its mean with other words of one seat.

    Args:
        probabilities: the policy, with the same hidden state for every edit.
        observation: of N viewers, name -> (N, ...).
        marginal: replacement words.
        heads: choices of each action head, in the order of the probabilities.
        field: of the edited words.

    Returns:
        (N, n, heads) nats; exactly 0 for rows invisible to the viewer.
    """
    shown = editable(observation, field)
    viewer, row = np.nonzero(shown)
    influence = np.zeros((*shown.shape, len(heads)))
    if not len(viewer):
        return influence
    real = _heads(probabilities(observation), heads)
    mixed = [np.zeros((len(viewer), count)) for count in heads]
    seen = {name: np.asarray(leaf)[viewer] for name, leaf in observation.items()}
    for word, share in zip(marginal.words, marginal.share, strict=True):
        words = np.broadcast_to(word, (len(viewer), len(word)))
        answers = _heads(probabilities(edited(seen, field, row, words)), heads)
        for mix, answer, own in zip(mixed, answers, real, strict=True):
            # Summed as differences, so that an unaffected policy gets exactly its own probabilities.
            mix += share * (answer - own[viewer])
    for h, (mix, own) in enumerate(zip(mixed, real, strict=True)):
        influence[viewer, row, h] = divergence(own[viewer], own[viewer] + mix)
    return influence


def divergence(p: Array, q: Array) -> Array:
    """KL[p || q] along the last axis in nats; 0 log 0 = 0.

    Example:
        >>> divergence(np.array([0.5, 0.5]), np.array([0.25, 0.75])).round(4).item()
        0.1438
    """
    ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)
    return np.maximum((p * np.log(ratio)).sum(axis=-1), 0.0)


def _heads(probabilities: Array, heads: Sequence[int]) -> list[Array]:
    p = np.asarray(probabilities, np.float64)
    if p.shape[1] != sum(heads):
        raise UserError(
            f"board edits: {p.shape[1]} probabilities, the heads have {sum(heads)}; give those of this world"
        )
    return np.split(p, np.cumsum(heads)[:-1], axis=1)


class HasProbabilities(Protocol):
    """A policy with action probabilities."""

    def probabilities(self, observation: Mapping[str, Array], mask: Array | None, population: Array) -> Array:
        """(N, choices), concatenated over action heads."""


class Influence(NamedTuple):
    """Influence of other seats' words on a policy.

    Attributes:
        phase: of the action.
        population: name of the acting population.
        viewers: evaluated observations.
        days: the first and the last one.
        edits: pairs of a viewer and a visible row of another seat.
        name: KL of its first name, nats: mean over viewers of the mean over rows; the standard error is over viewers.
        word: the same for its symbols, summed.
        invisible: largest KL of invisible rows; must be 0.
    """

    phase: str
    population: str
    viewers: int
    days: tuple[int, int]
    edits: int
    name: Estimate
    word: Estimate
    invisible: float


class Views:
    """A uniform sample of the observations of acting seats in a play; `add` is a hook of `evaluate.play`.

    Every observation draws a rank; the `most` lowest ranks are kept.
    """

    def __init__(self, most: int = MOST_VIEWERS, seed: int = 0) -> None:
        self._most, self._rng, self._highest = most, np.random.default_rng(seed), 1.0
        self._kept: dict[str, Array] = {}

    def add(self, world: Any, _episode: Array) -> None:
        """Samples observations of seats that act next and see a word."""
        step = world.timestep
        if FIELD not in step.observation:
            return
        seen = step.observation
        shown = np.all(np.asarray(seen[FIELD]) >= 0, axis=3)
        w, a = np.nonzero(step.acting & np.any(shown, axis=2))
        rank = self._rng.random(len(w))
        low = rank < self._highest
        w, a, rank = w[low], a[low], rank[low]
        rows = {name: np.asarray(leaf)[w, a] for name, leaf in seen.items()}
        rows |= {"action_mask": np.asarray(step.action_mask["action"])[w, a], "rank": rank}
        rows["population"] = np.asarray(world.population)[w, a]
        if self._kept:
            rows = {name: np.concatenate([self._kept[name], leaf]) for name, leaf in rows.items()}
        best = np.sort(np.argsort(rows["rank"])[: self._most])
        self._kept = {name: leaf[best] for name, leaf in rows.items()}
        if len(best) == self._most:
            self._highest = self._kept["rank"].max()

    def observations(self) -> dict[str, Array]:
        """name -> (N, ...), with ``action_mask``, ``population`` and ``rank``; empty if nothing was kept."""
        return self._kept if self._kept and len(self._kept["rank"]) else {}


def measure_influence(
    policy: HasProbabilities,
    world: World,
    seen: Mapping[str, Array],
    marginal: Marginal,
    phases: Sequence[str],
) -> list[Influence]:
    """Board-edit influence by phase and population.

    Args:
        policy: started on `world`.
    """
    heads = action_choices(world.kinds[0].action_space)
    names = population_names(world)

    def probabilities(observation: Mapping[str, Array]) -> Array:
        return policy.probabilities(observation, observation["action_mask"], observation["population"])

    length = np.shape(seen[FIELD])[2]  # a structured claim is another field, which is not edited
    influence = board_influence(
        probabilities, seen, marginal._replace(words=marginal.words[:, :length]), heads, FIELD
    )
    others = np.arange(len(seen[FIELD][0])) != np.asarray(seen["own_id"])[:, None]
    shown = editable(seen, FIELD)
    name_heads = sum(count == others.shape[1] + 1 for count in heads[: max(len(heads) - length, 1)])
    spoken = influence[:, :, max(name_heads, 1) :].sum(axis=2)
    counted = shown & others
    found = []
    for phase in np.unique(seen["phase"]):
        for number, name in enumerate(names):
            rows = (seen["phase"] == phase) & (seen["population"] == number)
            if rows.any():
                per = np.maximum(counted[rows].sum(axis=1), 1)
                found.append(
                    Influence(
                        phases[phase],
                        name,
                        int(rows.sum()),
                        (int(seen["day"][rows].min()), int(seen["day"][rows].max())),
                        int(counted[rows].sum()),
                        estimate(np.where(counted, influence[:, :, 0], 0)[rows].sum(axis=1) / per),
                        estimate(np.where(counted, spoken, 0)[rows].sum(axis=1) / per),
                        float(np.where(shown[rows], 0.0, influence[rows].sum(axis=2)).max(initial=0.0)),
                    )
                )
    return found

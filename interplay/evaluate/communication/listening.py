"""Board edits in play: the influence of one seat's words on a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from interplay.core.spaces import action_choices
from interplay.core.world import World
from interplay.evaluate.communication.edits import Marginal, board_influence, editable
from interplay.evaluate.communication.table import Array
from interplay.evaluate.policy_map import population_names
from interplay.evaluate.statistics import Estimate, estimate

FIELD = "public_signals"
MOST_VIEWERS = 2_000  # evaluated, each with every word and every row


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
        edits: pairs of a viewer and a visible row of another seat.
        name: KL of its first name, nats: mean over viewers of the mean over rows; the standard error is over viewers.
        word: the same for its symbols, summed.
        invisible: largest KL of invisible rows; must be 0.
    """

    phase: str
    population: str
    viewers: int
    edits: int
    name: Estimate
    word: Estimate
    invisible: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**self._asdict(), "name": self.name._asdict(), "word": self.word._asdict()}


class Views:
    """Collects observations of acting seats while a world is played; `add` is a hook of `evaluate.play`.

    Args:
        every: interval in steps.
    """

    def __init__(self, every: int = 3, most: int = MOST_VIEWERS) -> None:
        self._every, self._most, self._steps = every, most, 0
        self._kept: list[dict[str, Array]] = []
        self.count = 0

    def add(self, world: Any, _episode: Array) -> None:
        """Keeps observations of seats that act next and see a word."""
        self._steps += 1
        step = world.timestep
        if self._steps % self._every or self.count >= self._most or FIELD not in step.observation:
            return
        seen = step.observation
        shown = np.all(np.asarray(seen[FIELD]) >= 0, axis=3)
        w, a = np.nonzero(step.acting & np.any(shown, axis=2))
        rows = {name: np.array(leaf[w, a]) for name, leaf in seen.items()}
        rows["action_mask"] = np.array(step.action_mask["action"][w, a])
        rows["population"] = np.array(world.population[w, a])
        self._kept.append(rows)
        self.count += len(w)

    def observations(self) -> dict[str, Array]:
        """name -> (N, ...), with ``action_mask`` and ``population``; empty if nothing was kept."""
        if not self.count:
            return {}
        return {
            name: np.concatenate([rows[name] for rows in self._kept])[: self._most] for name in self._kept[0]
        }


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
                        int(counted[rows].sum()),
                        estimate(np.where(counted, influence[:, :, 0], 0)[rows].sum(axis=1) / per),
                        estimate(np.where(counted, spoken, 0)[rows].sum(axis=1) / per),
                        float(np.where(shown[rows], 0.0, influence[rows].sum(axis=2)).max(initial=0.0)),
                    )
                )
    return found

"""The stage of a run's curriculum, decided after every update by the first worker; and the mean that decides."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.settings_text import show
from interplay.core.trust import add_trusted, admit_bytes
from interplay.core.world import NAMED_BEFOREHAND, World
from interplay.evaluate.last import counted_by
from interplay.registry import lay_options
from interplay.train.settings import CurriculumGroup, TrainSettings
from interplay.train.settings.run import CONDITION


class Curriculum:
    """The present stage of a curriculum, and the condition that ends it.

    A metric of episodes counts by its mean over the stage's newest updates that hold ``episodes`` episodes, any other by its
    newest value.

    Attributes:
        stage: index of the next update's stage, from 0.
        given: options from `on_update`, which override those of the stage.
        played: stage and options that the present worlds were made with.
    """

    def __init__(self, settings: CurriculumGroup) -> None:
        self._settings = settings
        self.stage, self.given = 0, dict[str, Any]()
        self._over_episodes = EpisodeMean(settings.episodes)  # of the stage
        self.begin()

    @property
    def options(self) -> dict[str, Any]:
        """World options of the next update, which override those of the settings."""
        stages = self._settings.stages
        return {**(stages[self.stage].options if stages else {}), **self.given}

    @property
    def is_due(self) -> bool:
        """Whether the worlds have to be made anew for the present stage and options."""
        return self.played != (self.stage, self.options)

    def begin(self) -> None:
        """Marks the worlds as made for the present stage and options."""
        self.played = (self.stage, self.options)

    @property
    def metric(self) -> str:
        """The metric that ends the present stage; "" if none does."""
        until = self._settings.stages[self.stage].until if self._settings.stages else None
        found = CONDITION.fullmatch(until) if isinstance(until, str) else None
        return found["metric"] if found else ""

    def add(self, numbers: Mapping[str, Any], known: Sequence[str], share: float, agent_steps: int) -> bool:
        """Counts one update; returns whether the next stage begins.

        Args:
            numbers: of the update.
            known: metrics that later updates may have.
            share: of the run so far, 0 to 1.

        Raises:
            UserError: if the run does not have the metric that ends the stage.
        """
        until = self._settings.stages[self.stage].until if self._settings.stages else None
        if until is None or not self._is_over(until, numbers, known, share, agent_steps):
            return False
        self.stage += 1
        self._over_episodes.clear()
        self.add({}, known, share, agent_steps)  # the next stage may be over by its share of the run, too
        return True

    def _is_over(
        self,
        until: float | str,
        numbers: Mapping[str, Any],
        known: Sequence[str],
        share: float,
        agent_steps: int,
    ) -> bool:
        if not isinstance(until, str):
            return (share if until <= 1 else agent_steps) >= until
        found = CONDITION.fullmatch(until)
        assert found is not None, "settings have checked it"
        metric, bound = found["metric"], float(found["value"])
        if metric not in numbers and numbers and metric not in known:
            near = did_you_mean(metric, known, NAMED_BEFOREHAND)
            raise UserError(f"curriculum.stages: until = {show(until)}: there is no metric {metric}; {near}")
        mean = self._mean(metric, numbers)
        return mean > bound if found["sign"] == ">" else mean < bound

    def _mean(self, metric: str, numbers: Mapping[str, Any]) -> float:
        """The metric's mean in this stage; NaN, which ends no stage, before there are enough episodes."""
        value, mean = numbers.get(metric, math.nan), self._over_episodes
        if metric in numbers.get("of_episodes", ()):
            mean.add(value, episodes_of(metric, numbers))
        elif not mean.count:
            return float(value)
        return mean.value if mean.is_full else math.nan

    def logged(self) -> dict[str, Any]:
        """Stage and options for the log; empty without stages and given options."""
        if not self._settings.stages and not self.given:
            return {}
        stage, options = self.played
        return {"stage": stage + 1, "options": options}

    def in_words(self) -> str:
        """The stage in a line.

        Example:
            >>> Curriculum(CurriculumGroup(stages=({"options": {"size": 5}, "until": 0.5}, {}))).in_words()
            'stage 1 of 2: size = 5'
        """
        options = ", ".join(f"{name} = {show(value)}" for name, value in self.options.items())
        stages = len(self._settings.stages)
        return f"stage {self.stage + 1} of {max(stages, 1)}: {options or 'the options of the settings'}"

    def describe(self) -> dict[str, Any]:
        """The state for a checkpoint's record."""
        if not self.logged():
            return {}
        saved = {"stage": self.stage, "given": self.given, "played": list(self.played)}
        return {"curriculum": saved | {"spans": self._over_episodes.save()}}

    def load(self, record: Mapping[str, Any]) -> None:
        """Restores `describe`; a run saved without stages begins with the first."""
        saved = record.get("curriculum")
        if saved is None:
            return
        self.stage = min(int(saved["stage"]), max(len(self._settings.stages) - 1, 0))
        self.given = dict(saved["given"])
        self._over_episodes.load(saved["spans"])
        self.played = (int(saved["played"][0]), dict(saved["played"][1]))


def episodes_of(metric: str, numbers: Mapping[str, Any]) -> int:
    """The number of episodes behind an episode metric of an update."""
    return int(numbers[str(counted_by(metric, numbers, (metric,), (), numbers.get("of_others", ())))])


def played_stage(record: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """A checkpoint's stage, from 1 (0 without stages), and its world options."""
    stage, options = record.get("curriculum", {}).get("played", (-1, {}))
    return stage + 1, dict(options)


def trust_options(settings: TrainSettings, record: Mapping[str, Any], run: Path) -> None:
    """Trusts the options that `on_update` gave to a user-defined world."""
    add_trusted(run, _further_options(settings, record))


def admit_options(settings: TrainSettings, record: Mapping[str, Any], run: Path, trust: bool) -> None:
    """Refuses a checkpoint that calls a user-defined world with untrusted options.

    Raises:
        Untrusted: for options that are neither in the settings nor signed by this user's training.
    """
    if found := _further_options(settings, record):
        admit_bytes(
            f"a checkpoint calls {settings.world.id} with other options than the settings", run, found, trust
        )


def _further_options(settings: TrainSettings, record: Mapping[str, Any]) -> bytes:
    """A user-defined world and the options of the checkpoint; empty if the settings, admitted by themselves, have them all."""
    saved = record.get("curriculum")
    if saved is None or ":" not in settings.world.id:
        return b""
    stages, (stage, played) = settings.curriculum.stages, saved["played"]
    own = stages[stage].options if stage < len(stages) else {}
    if not saved["given"] and json.dumps(played, sort_keys=True) == json.dumps(own, sort_keys=True):
        return b""
    return json.dumps([settings.world.id, saved["given"], played], sort_keys=True).encode()


def in_stage(settings: TrainSettings, record: Mapping[str, Any]) -> TrainSettings:
    """The settings with the world options of a checkpoint's stage."""
    _, options = played_stage(record)
    if not options:
        return settings
    world = settings.world
    laid = lay_options(world.id, world.options, options)
    return settings.model_copy(update={"world": world.model_copy(update={"options": laid})})


def check_stages(settings: TrainSettings, make: Callable[..., World], first: World) -> None:
    """Makes a world of every stage and checks that agents and spaces are those of the first."""
    for number, stage in enumerate(settings.curriculum.stages, 1):
        world = partial(make, **stage.options)(num_worlds=1, seed=settings.seed, first_world=0)
        try:
            check_same_form(first, world, f"curriculum.stages: stage {number}")
        finally:
            world.close()


def check_same_form(one: World, other: World, owner: str) -> None:
    """Checks that two worlds have the same agents, kinds, teams, populations and state space."""
    for name in ("agents", "kinds", "teams", "num_populations", "state_space"):
        if getattr(one, name) != getattr(other, name):
            raise UserError(
                f"{owner}: its options change the {name.replace('_', ' ')} of {one.id}, which the networks are made for; choose options that keep them"
            )


class EpisodeMean:
    """The mean over the newest updates that together hold at least `episodes` episodes.

    Example:
        >>> mean = EpisodeMean(10)
        >>> for value, count in ((0.0, 8), (0.5, 6), (1.0, 6)):
        ...     mean.add(value, count)
        >>> mean.value, mean.count
        (0.75, 12)
    """

    def __init__(self, episodes: int) -> None:
        self._least = episodes
        self._spans: deque[tuple[int, float]] = deque()  # of each update: episodes, and the sum of the metric

    @property
    def count(self) -> int:
        """Episodes in the mean."""
        return sum(count for count, _ in self._spans)

    @property
    def value(self) -> float:
        """The mean; NaN without episodes."""
        return sum(total for _, total in self._spans) / self.count if self._spans else math.nan

    @property
    def is_full(self) -> bool:
        """Whether there are enough episodes."""
        return self.count >= self._least

    def add(self, value: float, episodes: int) -> None:
        """Adds an update's mean over its episodes; one that is not finite counts no episode."""
        if episodes and math.isfinite(value):
            self._spans.append((episodes, float(value) * episodes))
        while self._spans and self.count - self._spans[0][0] >= self._least:
            self._spans.popleft()

    def clear(self) -> None:
        """Drops all episodes."""
        self._spans.clear()

    def save(self) -> list[list[float]]:
        """The state for a checkpoint's record."""
        return [list(span) for span in self._spans]

    def load(self, saved: Iterable[tuple[int, float]]) -> None:
        """Restores `save`."""
        self._spans = deque((int(count), float(total)) for count, total in saved)

"""The stage of a run's curriculum: decided after every update by the first worker, the same for all worlds."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.settings import changed
from interplay.core.settings_text import show
from interplay.core.trust import add_trusted, admit_bytes
from interplay.core.world import NAMED_BEFOREHAND, World
from interplay.train.settings import CurriculumGroup, TrainSettings
from interplay.train.settings.curriculum import CONDITION


class Curriculum:
    """Where a run stands in its curriculum.

    A metric that is a mean over episodes counts by its mean over the newest updates of the stage that hold ``episodes`` episodes;
    any other by its newest value.

    Args:
        settings: the stages.

    Attributes:
        stage: number of the one that the next update is played in, from 0.
        given: options that `on_update` gave; they go over those of the stage.
        played: stage and options of the worlds as they are; others are wanted where a stage ended with the run.
    """

    def __init__(self, settings: CurriculumGroup) -> None:
        self._settings = settings
        self.stage, self.given = 0, dict[str, Any]()
        # Of each update of the stage: episodes, and the sum of the metric.
        self._spans: deque[tuple[int, float]] = deque()
        self.begin()

    @property
    def options(self) -> dict[str, Any]:
        """Options of the world for the next update, over those of the settings."""
        stages = self._settings.stages
        return {**(stages[self.stage].options if stages else {}), **self.given}

    @property
    def is_due(self) -> bool:
        """Whether the worlds are of an earlier stage, or have other options."""
        return self.played != (self.stage, self.options)

    def begin(self) -> None:
        """Worlds are made as they are wanted."""
        self.played = (self.stage, self.options)

    @property
    def metric(self) -> str:
        """The metric that ends the present stage; "" where none does."""
        until = self._settings.stages[self.stage].until if self._settings.stages else None
        found = CONDITION.fullmatch(until) if isinstance(until, str) else None
        return found["metric"] if found else ""

    def add(self, numbers: Mapping[str, Any], known: Sequence[str], share: float, agent_steps: int) -> bool:
        """Counts one update; whether the next stage begins.

        Args:
            numbers: of the update.
            known: metrics that later updates may have.
            share: of the run that is done.
            agent_steps: done so far.

        Raises:
            UserError: if the stage ends by a metric that the run does not have.
        """
        until = self._settings.stages[self.stage].until if self._settings.stages else None
        if until is None or not self._is_over(until, numbers, known, share, agent_steps):
            return False
        self.stage += 1
        self._spans.clear()
        self.add({}, known, share, agent_steps)  # of shares of the run several may be over
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
        """Of the stage so far; NaN, which ends nothing, before there are enough episodes."""
        value = numbers.get(metric, math.nan)
        if metric not in numbers.get("of_episodes", ()):
            return float(value) if not self._spans else self._mean_over_spans()
        if math.isfinite(value):
            self._spans.append((int(numbers["episodes"]), float(value) * int(numbers["episodes"])))
        while self._episodes() - (self._spans[0][0] if self._spans else 0) >= self._settings.episodes:
            self._spans.popleft()
        return self._mean_over_spans()

    def _mean_over_spans(self) -> float:
        episodes = self._episodes()
        if episodes < self._settings.episodes:
            return math.nan
        return sum(total for _, total in self._spans) / episodes

    def _episodes(self) -> int:
        return sum(count for count, _ in self._spans)

    def logged(self) -> dict[str, Any]:
        """Stage and options for a line of the log; nothing in runs without stages and given options."""
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
        """For the checkpoint's record."""
        if not self.logged():
            return {}
        spans = [list(span) for span in self._spans]
        saved = {"stage": self.stage, "given": self.given, "played": list(self.played), "spans": spans}
        return {"curriculum": saved}

    def load(self, record: Mapping[str, Any]) -> None:
        """Restores what `describe` gave; a run without stages so far begins with the first."""
        saved = record.get("curriculum")
        if saved is None:
            return
        self.stage = min(int(saved["stage"]), max(len(self._settings.stages) - 1, 0))
        self.given = dict(saved["given"])
        self._spans = deque((int(count), float(total)) for count, total in saved["spans"])
        self.played = (int(saved["played"][0]), dict(saved["played"][1]))


def played_stage(record: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Number, from 1, and options of the world in the stage of a checkpoint; 0 for a run without stages."""
    stage, options = record.get("curriculum", {}).get("played", (-1, {}))
    return stage + 1, dict(options)


def trust_options(settings: TrainSettings, record: Mapping[str, Any], run: Path) -> None:
    """Trusts the options that `on_update` gave to a user-defined world."""
    add_trusted(run, _further_options(settings, record))


def admit_options(settings: TrainSettings, record: Mapping[str, Any], run: Path, trust: bool) -> None:
    """Refuses a checkpoint that calls a user-defined world with untrusted options.

    Raises:
        Untrusted: for options that neither the settings have nor this user's training gave.
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
    """The settings with the options of the world in the stage of a checkpoint."""
    _, options = played_stage(record)
    if not options:
        return settings
    return changed(settings, {"world": {"options": {**settings.world.options, **options}}}, "curriculum")


def check_stages(settings: TrainSettings, make: Callable[..., World], first: World) -> None:
    """Makes a world of every stage, and refuses one that the networks of the first do not fit.

    Raises:
        UserError: naming the stage, or as the world does.
    """
    for number, stage in enumerate(settings.curriculum.stages, 1):
        world = partial(make, **stage.options)(num_worlds=1, seed=settings.seed, first_world=0)
        try:
            check_same_form(first, world, f"curriculum.stages: stage {number}")
        finally:
            world.close()


def check_same_form(one: World, other: World, owner: str) -> None:
    """Refuses a world with other agents or spaces.

    Raises:
        UserError: naming what differs.
    """
    for name in ("agents", "kinds", "teams", "num_populations", "state_space"):
        if getattr(one, name) != getattr(other, name):
            raise UserError(
                f"{owner}: its options change the {name.replace('_', ' ')} of {one.id}, which the networks are made for; choose options that keep them"
            )

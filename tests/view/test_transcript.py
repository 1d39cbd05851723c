"""Transcripts in a terminal: world, step, episode, colours; all outputs show the same world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.scene import Scene
from interplay.core.transcript import Line, Span, line, plain
from interplay.view import picture, video
from interplay.view.palette import POPULATIONS
from interplay.view.stepping import stands
from interplay.view.transcript import as_text, print_lines, transcript
from tests.view.scenes import WalkWorld

WORLDS = 3


class Chatty(WalkWorld):
    """World w is over after w + 2 steps, and says so in two lines, in one, or in none."""

    id = "chatty"

    def _step(self, action: Any) -> Any:
        super()._step(action)
        live = self.state.steps > 0
        self.state.over[:] = live & (self.state.steps >= np.arange(self.num_worlds) + 2)
        return self._read(self.state.over)

    def describe(self, world: int) -> list[Line]:
        step = int(self.state.steps[world])
        where = line(Span(f"world {world} of {self.state.x[world, 0]:.3f}", colour=8), f" at {step}")
        return [where, line("  more")][: 2 - (step == 1)] if step != 3 else []


@pytest.mark.parametrize("index", range(WORLDS))
def test_each_step_is_told_of_the_world_that_was_asked_for(index):
    told = [plain(words) for words in transcript(Chatty(WORLDS), RandomPolicy(), 2, seed=5, index=index)]
    world, expected = Chatty(WORLDS), []
    for stand in stands(world, RandomPolicy(), 2, seed=5, index=index):
        if stand.step == 0:
            expected.append(f"chatty, seed 5, episode {stand.episode + 1} of 2")
        for number, words in enumerate(world.describe(index)):
            expected.append((f"{stand.step:>3}  " if number == 0 else "     ") + plain(words))
    assert told == expected
    assert f"world {index} of" in told[1]
    assert len([words for words in told if "more" in words]) == 2 * (2 + index - (index > 0))


def test_a_single_episode_is_not_numbered_and_is_left_at_the_limit():
    told = [plain(words) for words in transcript(Chatty(1), RandomPolicy(), max_steps=1, seed=2)]
    assert told[0] == "chatty, seed 2"
    assert [words[:3] for words in told[1:]] == ["  0", "   ", "  1"]


def scenes(index: int) -> dict[str, Iterator[Scene]]:
    """The view of each output, step by step."""
    one, two = Chatty(WORLDS), Chatty(WORLDS)
    return {
        "stands": (picture.scene_of(one, index) for _ in stands(one, RandomPolicy(), seed=5, index=index)),
        "play": (scene for scene, *_ in video.play(two, RandomPolicy(), seed=5, index=index)),
    }


def test_all_who_look_on_see_the_same_world():
    first = {}
    for index in range(WORLDS):
        seen = {name: [_places(scene) for scene in some] for name, some in scenes(index).items()}
        assert seen["play"] == seen["stands"]
        assert len(seen["play"]) == 1 + 2 + index
        first[index] = seen["play"][0]
    assert len({str(places) for places in first.values()}) == WORLDS


def _places(scene: Scene) -> list[list[float]]:
    return [scene.layer("agents").columns[name].tolist() for name in ("x", "y")]


@pytest.mark.parametrize("index", [-1, WORLDS, WORLDS + 1])
def test_worlds_that_are_not_there_are_refused(index):
    for look in (transcript, video.play):
        with pytest.raises(UserError, match=f"world {index} of a batch of {WORLDS}"):
            next(iter(look(Chatty(WORLDS), RandomPolicy(), index=index)))


def test_colours_and_stresses_are_those_of_the_words(capsys):
    told = line(
        "plain ",
        Span("loud ", strong=True),
        Span("quiet ", faint=True),
        Span("ours ", colour=8),
        Span("end  "),
    )
    text = as_text(told)
    assert text.plain == "plain loud quiet ours end"
    styles = {text.plain[span.start : span.end].strip(): str(span.style) for span in text.spans}
    assert {words: style for words, style in styles.items() if style} == {
        "loud": "bold",
        "quiet": "dim",
        "ours": POPULATIONS[1],
    }
    print_lines(iter([told, line("[bold]no markup[/]"), line("w" * 200)]), Console(width=40))
    assert capsys.readouterr().out.splitlines() == [
        "plain loud quiet ours end",
        "[bold]no markup[/]",
        "w" * 200,
    ]

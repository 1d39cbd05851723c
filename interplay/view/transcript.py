"""Prints a world's own description of its steps, coloured in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from interplay.core.policy import Policy
from interplay.core.transcript import Line, Span, line
from interplay.core.world import World
from interplay.view.palette import POPULATIONS
from interplay.view.stepping import check_play, stands

MARGIN = 5  # characters left of the words, for the step


def transcript(
    world: World,
    policy: Policy,
    episodes: int = 1,
    max_steps: int | None = None,
    seed: int = 0,
    index: int = 0,
) -> Iterator[Line]:
    """Plays episodes and yields lines that describe each step (`World.describe`), numbered by step.

    Args:
        world: is reset with `seed`.
        max_steps: of an episode, which is then left; needed for worlds that never end.
        seed: as for `interplay.view.video.record`, which shows the same episodes.
        index: of the world in the batch.
    """
    check_play(world, episodes, max_steps, index=index)
    for stand in stands(world, policy, episodes, max_steps, seed, index):
        if stand.step == 0:
            yield line(Span(_head(world, seed, stand.episode, episodes), strong=True))
        yield from _numbered(stand.step, world.describe(index))


def print_lines(lines: Iterator[Line], console: Console | None = None) -> None:
    """Prints lines as they are yielded."""
    console = console or Console(highlight=False)
    for words in lines:
        console.print(as_text(words), soft_wrap=True, markup=False, highlight=False)


def as_text(words: Line) -> Text:
    """A line with its colours."""
    text = Text()
    for span in words:
        style = " ".join(word for word, given in (("bold", span.strong), ("dim", span.faint)) if given)
        if span.colour is not None:
            style += f" {POPULATIONS[span.colour % len(POPULATIONS)]}"
        text.append(span.text, style.strip())
    text.rstrip()
    return text


def _head(world: World, seed: int, episode: int, episodes: int) -> str:
    which = f", episode {episode + 1} of {episodes}" if episodes > 1 else ""
    return f"{world.id}, seed {seed}{which}"


def _numbered(step: int, lines: list[Line]) -> Iterator[Line]:
    for number, parts in enumerate(lines):
        before = f"{step:>{MARGIN - 2}}  " if number == 0 else " " * MARGIN
        yield (Span(before, faint=True), *parts)

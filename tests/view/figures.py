"""Reads the drawn numbers back from figures of matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np


def held(monkeypatch: Any, module: Any) -> list[Any]:
    """The figures that a module's functions would save, in their order."""
    figures: list[Any] = []

    def keep(figure: Any, path: Any) -> Any:
        figures.append(figure)
        return path

    monkeypatch.setattr(module, "save_figure", keep)
    return figures


def titled(figure: Any, words: str) -> Any:
    """The panel with these words in its title or y label."""
    (found,) = [
        axes
        for part in (figure, *_parts(figure))
        for axes in part.axes
        if words in axes.get_title() or words in axes.get_ylabel()
    ][:1]
    return found


def titled_by_x(figure: Any, words: str) -> Any:
    """The panel with these words in its x label."""
    (found,) = [
        axes for part in (figure, *_parts(figure)) for axes in part.axes if words in axes.get_xlabel()
    ][:1]
    return found


def _parts(figure: Any) -> list[Any]:
    return [inner for part in figure.subfigs for inner in (part, *_parts(part))]


def written(axes: Any) -> dict[tuple[int, int], str]:
    """Row and column -> what is written there."""
    return {
        (round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in axes.texts
    }


def lines(axes: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """x and y of every line."""
    return [tuple(np.asarray(part, float) for part in line.get_data()) for line in axes.lines]  # type: ignore[misc]


def ticks(axes: Any, which: str) -> list[str]:
    """What stands at an axis."""
    return [label.get_text() for label in getattr(axes, f"get_{which}ticklabels")()]

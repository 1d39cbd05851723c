"""Strict models of the messages of a page (docs/specs/viewer.md 6.1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pydantic

from interplay.core.reading import parse_json
from interplay.view.server.config import MESSAGE_BYTES, NESTING, SPEEDS, STEPS

Slot = Annotated[int, pydantic.Field(ge=0, lt=2**31)]
Tick = Annotated[int, pydantic.Field(ge=0, lt=2**32)]
Number = Annotated[float, pydantic.Field(allow_inf_nan=False)]
Word = Annotated[str, pydantic.Field(max_length=100)]
Choice = Annotated[int, pydantic.Field(ge=-(2**31), lt=2**31)]
Chosen = Choice | Annotated[list[Number], pydantic.Field(max_length=4_096)]


class Message(pydantic.BaseModel):
    """Base class: no conversions, no unknown keys."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)


class Shown(Message):
    """A frame was drawn."""

    type: Literal["shown"]
    tick: Tick


class Run(Message):
    """Starts or stops time."""

    type: Literal["run"]
    on: bool


class Step(Message):
    """Runs `n` ticks, then stops time."""

    type: Literal["step"]
    n: int = pydantic.Field(ge=1, le=STEPS)


class Speed(Message):
    """Sets the speed; 0: as fast as possible."""

    type: Literal["speed"]
    ticks_per_second: Number

    @pydantic.field_validator("ticks_per_second")
    @classmethod
    def _in_range(cls, value: float) -> float:
        if value != 0 and not SPEEDS[0] <= value <= SPEEDS[1]:
            raise ValueError(f"0, or {SPEEDS[0]:g} to {SPEEDS[1]:g}")
        return value


class Select(Message):
    """Selects the agent to send details of."""

    type: Literal["select"]
    slot: Slot | None


class Key(Message):
    """Requests a key frame."""

    type: Literal["key"]


class Reset(Message):
    """Begins the next episode, or that of a seed."""

    type: Literal["reset"]
    seed: Annotated[int, pydantic.Field(ge=0, lt=2**63)] | None


class Take(Message):
    """Takes a slot over."""

    type: Literal["take"]
    slot: Slot


class Give(Message):
    """Gives a slot back to its policy."""

    type: Literal["give"]
    slot: Slot


class Wait(Message):
    """Sets whether a world of simultaneous actions waits for people."""

    type: Literal["wait"]
    on: bool


class Click(Message):
    """A click on a place, in units of the world."""

    type: Literal["click"]
    slot: Slot
    tick: Tick
    x: Number
    y: Number


class Act(Message):
    """A person's action in a slot.

    Attributes:
        tick: that was in view.
        action: head -> number of the choice, or the numbers of a Box.
    """

    type: Literal["act"]
    slot: Slot
    tick: Tick
    action: Annotated[
        dict[Annotated[str, pydantic.Field(max_length=200)], Chosen], pydantic.Field(max_length=1_024)
    ]


class Overlay(Message):
    """Requests an overlay.

    Attributes:
        name: None: no overlay.
        population: None: all, or the first one for overlays of a single one.
        agent: the selected slot.
    """

    type: Literal["overlay"]
    name: Word | None
    population: Slot | None = None
    agent: Slot | None = None
    options: Annotated[dict[Word, Word], pydantic.Field(max_length=16)] = {}


AnyMessage = Shown | Run | Step | Speed | Select | Key | Reset | Take | Give | Wait | Click | Act | Overlay
_ADAPTER: pydantic.TypeAdapter[AnyMessage] = pydantic.TypeAdapter(
    Annotated[AnyMessage, pydantic.Field(discriminator="type")]
)


def read_message(text: str) -> AnyMessage:
    """Parses a message of the page; a `ValueError` is raised for text that fits none of the models.

    Example:
        >>> read_message('{"type": "run", "on": true}').on
        True
    """
    if len(text) > MESSAGE_BYTES:
        raise ValueError(f"longer than {MESSAGE_BYTES} letters")
    value = parse_json(text)
    _check_nesting(value)
    return _ADAPTER.validate_python(value)


def _check_nesting(value: Any) -> None:
    level = [value]
    for _ in range(NESTING + 1):
        level = [
            part
            for one in level
            if isinstance(one, dict | list)
            for part in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise ValueError(f"nested deeper than {NESTING} levels")

"""What a page may say: strict models, and nothing else (docs/specs/viewer.md 6.1)."""

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
    """What all messages share: no conversions, no unknown keys."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)


class Shown(Message):
    """A frame was drawn."""

    type: Literal["shown"]
    tick: Tick


class Run(Message):
    """Time goes on, or stands still."""

    type: Literal["run"]
    on: bool


class Step(Message):
    """So many ticks, and then time stands still."""

    type: Literal["step"]
    n: int = pydantic.Field(ge=1, le=STEPS)


class Speed(Message):
    """How fast time goes; 0: as fast as possible."""

    type: Literal["speed"]
    ticks_per_second: Number

    @pydantic.field_validator("ticks_per_second")
    @classmethod
    def _in_range(cls, value: float) -> float:
        if value != 0 and not SPEEDS[0] <= value <= SPEEDS[1]:
            raise ValueError(f"0, or {SPEEDS[0]:g} to {SPEEDS[1]:g}")
        return value


class Select(Message):
    """Which agent is looked at."""

    type: Literal["select"]
    slot: Slot | None


class Key(Message):
    """A frame that needs no other one."""

    type: Literal["key"]


class Reset(Message):
    """A new episode: the next one, or that of a seed."""

    type: Literal["reset"]
    seed: Annotated[int, pydantic.Field(ge=0, lt=2**63)] | None


class Take(Message):
    """A person plays a slot from now on."""

    type: Literal["take"]
    slot: Slot


class Give(Message):
    """The policy plays the slot again."""

    type: Literal["give"]
    slot: Slot


class Wait(Message):
    """Whether worlds in which all act at once wait for people, too."""

    type: Literal["wait"]
    on: bool


class Click(Message):
    """A person points at a place of the world, in its own units."""

    type: Literal["click"]
    slot: Slot
    tick: Tick
    x: Number
    y: Number


class Act(Message):
    """What a person does in a slot.

    Attributes:
        tick: that the person saw.
        action: head -> number of the choice, or the numbers of a Box.
    """

    type: Literal["act"]
    slot: Slot
    tick: Tick
    action: Annotated[
        dict[Annotated[str, pydantic.Field(max_length=200)], Chosen], pydantic.Field(max_length=1_024)
    ]


class Overlay(Message):
    """What is drawn over the world from now on.

    Attributes:
        name: of the overlay; None: nothing is.
        population: that it is of; None: of all, or where that makes no sense of the first.
        agent: the slot that is looked at.
        options: of the overlay.
    """

    type: Literal["overlay"]
    name: Word | None
    population: Slot | None = None
    agent: Slot | None = None
    options: Annotated[dict[Word, Word], pydantic.Field(max_length=16)] = {}


Said = Shown | Run | Step | Speed | Select | Key | Reset | Take | Give | Wait | Click | Act | Overlay
_ADAPTER: pydantic.TypeAdapter[Said] = pydantic.TypeAdapter(
    Annotated[Said, pydantic.Field(discriminator="type")]
)


def read_message(text: str) -> Said:
    """A message of the page.

    Raises:
        ValueError: for anything but one of the models, whatever it is.

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

"""Settings of the network.

*Preset* is the column of specification survival 10 that follows the code of Fanti (2022).
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, field_validator, model_validator

from interplay.core.settings import Settings

CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
# Kind -> settings that it reads besides those of every kind.
_OF_ARRAYS = ("activation", "discrete", "normalise")
READS = {
    "attention": (*_OF_ARRAYS, "width", "heads", "tail", "attention_mask_additive", "separate_value"),
    "mlp": (*_OF_ARRAYS, "hidden", "stack"),
    "pictures": (*_OF_ARRAYS, "hidden", "channels"),
    "seats": ("activation", "width", "heads", "layers", "tail"),
    "tiles": ("activation", "width", "separate_heads"),
    "tiles_attention": ("activation", "width", "heads", "tail"),
}
_MOST_UNITS = 1_000_000  # of one layer; memory is checked by `run.room`


class NetworkGroup(Settings):
    """The policy and value network; defaults are the preset."""

    kind: str = Field(
        "attention",
        description="attention, mlp, pictures, seats, tiles, tiles_attention, or your own as package.module:Class.",
    )
    width: int = Field(32, ge=1, le=_MOST_UNITS, description="Units per embedded entity.")
    heads: int = Field(4, ge=1, description="Attention heads; they share the width evenly.")
    layers: int = Field(2, ge=0, le=8, description="seats: rounds of message passing between seats.")
    tail: int = Field(64, ge=1, le=_MOST_UNITS, description="Units of the layers after the attention.")
    activation: Literal["tanh", "relu", "none"] = Field("tanh", description="Of every hidden layer.")
    attention_mask_additive: bool = Field(
        False,
        description="The mask of the author's code, which hides nothing: +1 on the logits of hidden entities.",
    )
    separate_value: bool = Field(False, description="A second network for the value, as in the paper's text.")
    separate_heads: bool = Field(False, description="tiles: one trunk per action head and one for the value.")
    hidden: tuple[int, ...] = Field((64, 64), description="Units per hidden layer of mlp and pictures.")
    channels: tuple[int, int, int] = Field(
        (16, 32, 32), description="pictures: filters of the three convolutions."
    )
    memory: Literal["none", "gru", "lstm", "own"] = Field(
        "none",
        description="Recurrent cell before the heads; own: your own network keeps its memory itself.",
    )
    stack: int = Field(
        1,
        ge=1,
        le=1024,
        description="Number of an agent's last observations in the input; mlp or your own network.",
    )
    critic: Literal["own", "team", "world"] = Field(
        "own", description="Input of the value: the agent's observation, its team's, or the world's state."
    )
    critic_hidden: tuple[int, ...] = Field(
        (64, 64), description="Units per hidden layer of a team or world critic."
    )
    memory_size: int = Field(64, ge=1, le=65_536, description="Units of the recurrent cell.")
    input_scale: bool = Field(False, description="Scale observations by the bounds of their space.")
    normalise: bool = Field(
        False,
        description="attention, mlp, pictures: normalise observations by their running mean and deviation; not entity tables.",
    )
    discrete: Literal["auto", "one_hot", "embedding", "number"] = Field(
        "auto",
        description="Encoding of Discrete observations in attention, mlp and pictures; auto: one-hot up to 256 numbers in all, else embedding.",
    )
    scale_pictures: bool = Field(
        True, description="Scale byte pictures to -1..1 unless the network reads bytes."
    )
    action_masks: bool = Field(
        True,
        description="Never choose an illegal action; false: the world handles illegal ones.",
    )
    probability_floor: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Added to the probability of every legal choice before normalisation.",
    )

    @property
    def remembers(self) -> str:
        """The setting that gives the networks memory, e.g. ``memory = gru``; empty: none."""
        if self.memory != "none":
            return f"memory = {self.memory}"
        return f"stack = {self.stack}" if self.stack > 1 else ""

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
        if kind in READS or CLASS.fullmatch(kind):
            return kind
        raise ValueError(
            f'"{kind}" is no network; give {", ".join(READS)} or your own as package.module:Class'
        )

    @field_validator("hidden", "critic_hidden", "channels")
    @classmethod
    def _positive_layers(cls, hidden: tuple[int, ...]) -> tuple[int, ...]:
        if all(1 <= units <= _MOST_UNITS for units in hidden):
            return hidden
        raise ValueError(f"{list(hidden)}: every layer has 1 to {_MOST_UNITS:,} units; give such numbers")

    @model_validator(mode="after")
    def _fits(self) -> NetworkGroup:
        if self.stack > 1 and self.memory != "none":
            raise ValueError(f"stack = {self.stack} beside memory = {self.memory}; leave one of them out")
        if self.stack > 1 and self.kind in READS and self.kind != "mlp":
            raise ValueError(
                f"stack = {self.stack}: {self.kind} reads one observation; use kind = mlp, or memory = gru"
            )
        if self.normalise and self.stack > 1:
            raise ValueError(
                f"normalise = true beside stack = {self.stack}; leave one out, or use memory = gru"
            )
        if "heads" in READS.get(self.kind, ()) and self.width % self.heads:
            raise ValueError(
                f"width = {self.width} cannot be shared by heads = {self.heads}; use a multiple of {self.heads}"
            )
        return self

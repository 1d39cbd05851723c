"""The settings as numbers for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.jit import table_of
from interplay.worlds.mmo.config import STYLES, MmoSettings
from interplay.worlds.mmo.state import BUCKET, choices

# Choices of settings, in the order of `config`.
SHUFFLE, ROTATE, SENIORITY = range(3)
RING, SCATTER = range(2)
FLOW, IMMEDIATE, NEVER = range(3)
FULL, HEALTH_ONLY, ELDERS, OFF = range(4)
LOWEST_HEALTH, NEAREST, LEARNED = range(3)
MULTIPLE, UNIFORM, FIXED = range(3)


def rules_of(s: MmoSettings) -> np.ndarray:
    """The rules as a table of one record (`jit.table_of`)."""
    by_style: dict[str, Any] = {}
    for style in range(STYLES):
        by_style[f"damage{style}"] = s.damage[style]
        by_style[f"reach{style}"] = s.reach[style]
        # Food and water that an attack takes.
        by_style[f"stolen{style}"] = int(np.floor(s.damage[style] * s.steal_fraction + 0.5))
    return table_of(
        s,
        side=s.side,  # T
        window=s.view,  # V
        buckets=-(-s.side // BUCKET),  # per side
        choices=sum(choices(s)),  # of all action heads
        most=s.most,  # C
        max_ticks=s.max_ticks or 0,  # 0 = none
        maps=s.maps or 0,  # 0 = a new one for every episode
        reach=max(s.reach),  # the longest
        conserved=s.steal == "conserved",
        simultaneous=s.resolution == "simultaneous",
        lava_next_update=s.lava == "next_update",
        **by_style,
    )

"""The tiles of the persistent world (specification 4)."""

from __future__ import annotations

LAVA = 0  # passable, deadly
WATER = 1  # not passable; drunk from the four tiles beside it, never runs out
GRASS = 2
SCRUB = 3  # eaten forest; turns back to forest by chance
FOREST = 4  # food for an agent on it at its update
STONE = 5  # not passable
TILES = 7  # 6 is ore in the id list of 2019, never made: embeddings keep seven rows

PASSABLE = (True, False, True, True, True, False, False)

"""Laws for people: names fit choices, keys fit names, visible layers exist, guides name fields, both views have the same layers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gymnasium import spaces

from interplay.checker.bench import Bench, described
from interplay.core.controls import controls_of, names_of
from interplay.core.errors import UserError
from interplay.core.fog import fogged, hideable
from interplay.core.frames import Encoder
from interplay.core.guides import Guides
from interplay.core.replay.marks import phase_of
from interplay.core.scene import scene_of
from interplay.core.world import World


def check_people(bench: Bench) -> None:
    """Reads the world's names, keys, visible layers and guides once, for the first slot of each kind."""
    world = bench.begun()
    _check_phase(bench, world)
    for kind in world.kinds:
        slot = kind.slots[0]
        try:
            names_of(world, kind.name)
            controls_of(world, slot)
            _check_guides(world.observation_guides(0, slot), kind.observation_space.spaces)
            visible = world.visible(0, slot)
            if visible is not None:
                fogged(hideable(scene_of(world)), visible)
        except UserError as error:
            bench.add("people", str(error), agent=world.agents[slot])
        except Exception as error:
            bench.add("people", f"it raised {described(error)}", agent=world.agents[slot])
    _check_views(bench, world)  # last, as it changes the view


def _check_phase(bench: Bench, world: World) -> None:
    try:
        phase_of(world, 0)
    except UserError as error:
        bench.add("people", str(error))
    except Exception as error:
        bench.add("people", f"phase raised {described(error)}")


def _check_views(bench: Bench, world: World) -> None:
    """Both views draw the same layers, since all frames of a source have the layers of its first one."""
    if world.privileged_view is None:
        return
    try:
        scenes = []
        for world.privileged_view in (True, False):
            scenes.append(scene_of(world))
        for first, later in (scenes, scenes[::-1]):
            Encoder(first, recording=False).encode(later, 0)
    except UserError as error:
        bench.add("people", f"with and without privileged_view: {error}")
    except Exception as error:
        bench.add("people", f"with and without privileged_view: {described(error)}")


def _check_guides(guides: Guides, fields: Mapping[str, spaces.Space[Any]]) -> None:
    for name, parts in guides.items():
        if name not in fields:
            raise UserError(f"observation_guides: {name} is no field of the observation; name one that is")
        for guide in parts:
            if guide.hidden and guide.hidden not in fields:
                raise UserError(
                    f"observation_guides: {name} is hidden by {guide.hidden}, which is no field of the observation; name one that is"
                )
            rows = guide.rows or next(iter(fields[name].shape or ()), 1)
            if guide.hidden and (size := math.prod(fields[guide.hidden].shape or ())) < rows:
                raise UserError(
                    f"observation_guides: {name} has {rows} rows and is hidden by {guide.hidden}, which has {size} numbers; give one for each row"
                )

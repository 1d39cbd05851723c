"""Laws for people: names fit the choices, keys mean names, what is visible names layers that there are, guides name fields, both views have the same layers."""

from __future__ import annotations

from collections.abc import Collection

from interplay.checker.bench import Bench
from interplay.core.controls import controls_of, names_of
from interplay.core.errors import UserError
from interplay.core.fog import fogged, hideable
from interplay.core.frames.schema import LayerSchema, schema_of
from interplay.core.guides import Guides
from interplay.core.replay.marks import phase_of
from interplay.core.scene import scene_of
from interplay.core.world import World


def check_people(bench: Bench) -> None:
    """Reads once what the world says of names, keys, sight and observations, of the first slot of each kind."""
    world = bench.begun()
    _check_phase(bench, world)
    _check_views(bench, world)
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
            bench.note("people", str(error), agent=world.agents[slot])
        except Exception as error:
            bench.note("people", f"it raised {type(error).__name__}: {error}", agent=world.agents[slot])


def _check_phase(bench: Bench, world: World) -> None:
    try:
        phase_of(world, 0)
    except UserError as error:
        bench.note("people", str(error))
    except Exception as error:
        bench.note("people", f"phase raised {type(error).__name__}: {error}")


def _check_views(bench: Bench, world: World) -> None:
    """A page is shown the one view, then the other, and the layers of a source are declared once."""
    before = world.privileged_view
    if before is None:
        return
    try:
        declared = []
        for world.privileged_view in (False, True):
            declared.append(schema_of(scene_of(world)))
        if declared[0] != declared[1]:
            odd = {_told(one) for one in declared[0].layers} ^ {_told(one) for one in declared[1].layers}
            names = ", ".join(sorted({name for name, _ in odd})) or "in another order"
            raise UserError(
                f"draw declares other layers with privileged_view than without it ({names}); draw the same ones, some without rows"
            )
    except UserError as error:
        bench.note("people", str(error))
    except Exception as error:
        bench.note("people", f"draw raised {type(error).__name__} in one of its views: {error}")
    finally:
        world.privileged_view = before


def _told(layer: LayerSchema) -> tuple[str, str]:
    return layer.name, layer.model_dump_json(exclude={"id", "text"})


def _check_guides(guides: Guides, fields: Collection[str]) -> None:
    for name, parts in guides.items():
        for guide in parts:
            if guide.hidden and guide.hidden not in fields:
                raise UserError(
                    f"observation_guides: {name} is hidden by {guide.hidden}, which is no field of the observation; name one that is"
                )

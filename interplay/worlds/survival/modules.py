"""Survival's modules and groups: the composition of specification section 3.

Each class names the phases of `rules/` that carry out its callbacks; `build_groups` is the whole world's list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from interplay.planar import modules as general
from interplay.planar.simulation import Group, Module
from interplay.worlds.survival.config import SurvivalSettings
from interplay.worlds.survival.rules import step as s


class RandomizeBoxShapes(Module):
    """Draws box sides anew in every episode."""

    phases: ClassVar = {"post_reset": (s.SHAPE_BOXES,)}


class OwnedObject(Module):
    """A broken box becomes an item in the next step; only its first breaker may break it again (`ownership`)."""

    phases: ClassVar = {
        "pre_step": (s.DROP_BROKEN_BOXES,),
        "post_step": (s.FINISH_PLACED_BOXES,),
        "pre_despawn": (s.OWN_BROKEN_BOXES,),
    }
    spawns: ClassVar = {"pre_step": ("box_items",)}


class OwnedObjectItem(general.Item):
    """The items of boxes; using one places its box (`UseLast`)."""

    phases: ClassVar = {"pre_step": ()}  # compiled into `UseLast`


class Heal(general.Item):
    """Items that heal their user (`UseLast`)."""

    phases: ClassVar = {"pre_step": ()}  # compiled into `UseLast`


class ThickRoomWalls(Module):
    """The room: four half-planes, set in `Rules.physics`."""


class Inventory(Module):
    """Slots for items, last in first out; acts only when called by other modules."""


class DeathDrop(Module):
    """Scatters the inventory of a dead agent around its last position."""

    phases: ClassVar = {"pre_despawn": (s.SCATTER_INVENTORIES,)}


class TrackUse(Module):
    """Items used in this step: ``state.agent["used"]`` (W, A), filled by `UseLast`."""


class TrackKills(Module):
    """Kills of this step by side: ``state.agent["kills"]`` (W, A)."""

    phases: ClassVar = {"pre_step": (s.CLEAR_KILLS,), "pre_despawn": (s.CREDIT_KILLS,)}


class AutoPickup(Module):
    """Picks up items within reach."""

    phases: ClassVar = {"post_step": (s.PICK_UP,)}


class UseLast(Module):
    """Uses the last item on control."""

    phases: ClassVar = {"pre_step": (s.USE_ITEMS,)}
    spawns: ClassVar = {"pre_step": ("boxes",)}


class GiveLast(Module):
    """Gives the last item on control."""

    phases: ClassVar = {"pre_step": (s.GIVE_ITEMS,)}


class DropLast(Module):
    """Drops the last item on control (option `drop_action`)."""

    phases: ClassVar = {"pre_step": (s.DROP_ITEMS,)}


class SafeZone(Module):
    """A circle that shrinks in phases; outside it health burns."""

    phases: ClassVar = {"post_reset": (s.PLACE_ZONE,), "post_step": (s.BURN_OUTSIDE, s.MOVE_ZONE)}


class Clock(Module):
    """Counts the steps of an episode if there is no zone to count them."""

    phases: ClassVar = {"post_step": (s.COUNT_STEP,)}


class Melee(Module):
    """The attack along the heading, continuous or with a cooldown (`melee`)."""

    phases: ClassVar = {"pre_step": (s.ATTACK,)}


class Teams(Module):
    """Sides of the agents: ``state.sides`` (A,); read by melee, gifts and rewards."""


class TwoTeams(Teams):
    """The paper's teams: first half of the ids against the rest."""


def build_groups(
    settings: SurvivalSettings,
    extra_modules: Mapping[str, Sequence[Module]] | None = None,
    extra_groups: Sequence[Group] = (),
) -> list[Group]:
    """The groups of a survival world in callback order.

    Args:
        extra_modules: group name -> user-defined modules, appended to that group's.
        extra_groups: user-defined groups of items, after the agents.
    """
    extra = extra_modules or {}
    boxes = [
        RandomizeBoxShapes(),
        general.ResetSpawns(),
        OwnedObject(),
        general.IndexBodies(),
        general.Health(),
    ]
    items = ("heals", "box_items", *(group.name for group in extra_groups))
    agents = agent_modules(settings, items)
    built = [Group("boxes", settings.boxes, boxes, solid=True)] if settings.boxes else []
    built += [Group("box_items", settings.boxes, [OwnedObjectItem()])] if settings.boxes else []
    if settings.heals:
        built.append(Group("heals", settings.heals, [Heal(), general.ResetSpawns(), general.IndexBodies()]))
    built += [Group("walls", 0, [ThickRoomWalls()]), Group("agents", settings.agents, agents, solid=True)]
    built += extra_groups
    for group in built:
        for module in extra.get(group.name, ()):
            group.add(module)
    return built


def agent_modules(settings: SurvivalSettings, items: Sequence[str]) -> list[Module]:
    """The modules of the agents in callback order, without those that are off.

    Args:
        items: names of the groups of bodies that can be held.
    """
    carries, scatter, pickup = settings.inventory == "on", DeathDrop(), AutoPickup()
    # The groups these two act on depend on the world's groups.
    scatter.spawns = {"pre_despawn": tuple(items)}  # type: ignore[misc]
    pickup.despawns = {"post_step": tuple(items)}  # type: ignore[misc]
    modules: list[Module] = [general.ResetSpawns(), general.TrackDeaths(), general.IndexBodies()]
    if settings.cameras == "on":
        modules.append(general.Cameras())
    modules.append(general.DynamicMotors())
    if carries:
        modules += [scatter, Inventory(), TrackUse()]
    modules += [general.Health(), TrackKills()]
    if carries:
        modules += [pickup, UseLast(), GiveLast()]
    if settings.drop_action:
        modules.append(DropLast())
    modules.append(SafeZone() if settings.zone == "on" else Clock())
    if settings.melee != "off":
        modules.append(Melee())
    if settings.teams:
        modules.append(TwoTeams() if settings.teams is True else Teams())
    return modules

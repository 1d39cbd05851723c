"""What each role is, stated a second time from the tables of the rule book."""

from __future__ import annotations

# Role numbers, in the order in which observations count them.
VILLAGER, WEREWOLF, SEER, GUARD, MEDIUM, POSSESSED, HUNTER, WITCH = range(8)
NAMES = ("villager", "werewolf", "seer", "guard", "medium", "possessed", "hunter", "witch")

NONE = -1
VILLAGERS, WOLVES = 0, 1


def team(role: int) -> int:
    """The winning side of a role."""
    return WOLVES if role in (WEREWOLF, POSSESSED) else VILLAGERS


def in_pack(role: int) -> bool:
    """Whether it knows the pack, counts as a wolf and looks like one to a seer."""
    return role == WEREWOLF

"""The roles as data (specification 16.2), one row each.

A role's number is its place in `ROLES`, in every line-up.
"""

from __future__ import annotations

from typing import NamedTuple

VILLAGERS, WOLVES = 0, 1  # teams, and values of `winner`
HUMAN, WOLF = 0, 1  # species, as a seer sees it

# What an acting role does in a phase, by number in the kernels' phase table.
# SPEAK to VOTE write to a board; the others act in private.
ABILITIES = ("none", "speak", "speak_in_pack", "attack", "vote", "divine", "guard", "brew", "shoot")
NO_ABILITY, SPEAK, SPEAK_IN_PACK, ATTACK, VOTE, DIVINE, GUARD, BREW, SHOOT = range(len(ABILITIES))


class Role(NamedTuple):
    """One role."""

    name: str  # e.g. ``"seer"``
    team: int  # VILLAGERS or WOLVES
    counts_as: int  # for parity, HUMAN or WOLF
    species: int  # what a seer or a medium learns, HUMAN or WOLF
    knows_pack: bool  # sees the pack and its boards, and may not be named by it at night
    night: int  # ability in the phase of the kill
    mark: str  # one letter for tables


ROLES = (
    Role("villager", VILLAGERS, HUMAN, HUMAN, False, NO_ABILITY, "v"),
    Role("werewolf", WOLVES, WOLF, WOLF, True, ATTACK, "W"),
    Role("seer", VILLAGERS, HUMAN, HUMAN, False, DIVINE, "s"),
    Role("guard", VILLAGERS, HUMAN, HUMAN, False, GUARD, "g"),
    Role("medium", VILLAGERS, HUMAN, HUMAN, False, NO_ABILITY, "m"),
    Role("possessed", WOLVES, HUMAN, HUMAN, False, NO_ABILITY, "p"),
    Role("hunter", VILLAGERS, HUMAN, HUMAN, False, NO_ABILITY, "h"),
    Role("witch", VILLAGERS, HUMAN, HUMAN, False, NO_ABILITY, "w"),
)
NAMES = tuple(role.name for role in ROLES)
VILLAGER, WEREWOLF, SEER, GUARDIAN, MEDIUM, POSSESSED, HUNTER, WITCH = range(len(ROLES))
EXTRA = NAMES[SEER:]  # optional roles of a line-up

"""The roles as data (specification 16.2): one row each, and what a night ability may name.

A role's number is its place in `ROLES`; worlds use the roles of their line-up only, but keep these numbers.
"""

from __future__ import annotations

from typing import NamedTuple

VILLAGERS, WOLVES = 0, 1  # teams, and what `winner` says
HUMAN, WOLF = 0, 1  # species, as a seer sees it

# What an acting role does in a phase; its number is what the kernels' phase table holds.
# What SPEAK to VOTE say stands on a board; the others act in private.
ABILITIES = ("none", "speak", "speak_in_pack", "attack", "vote", "divine", "guard", "brew", "shoot")
NONE, SPEAK, SPEAK_IN_PACK, ATTACK, VOTE, DIVINE, GUARD, BREW, SHOOT = range(len(ABILITIES))


class Role(NamedTuple):
    """One role.

    Attributes:
        name: e.g. ``"seer"``.
        team: who wins together, VILLAGERS or WOLVES.
        counts_as: for parity, HUMAN or WOLF.
        species: what a seer or a medium learns, HUMAN or WOLF.
        knows_pack: sees the pack and its boards, and may not be named by it at night.
        night: ability in the phase of the kill.
        mark: one letter for tables.
    """

    name: str
    team: int
    counts_as: int
    species: int
    knows_pack: bool
    night: int
    mark: str


ROLES = (
    Role("villager", VILLAGERS, HUMAN, HUMAN, False, NONE, "v"),
    Role("werewolf", WOLVES, WOLF, WOLF, True, ATTACK, "W"),
    Role("seer", VILLAGERS, HUMAN, HUMAN, False, DIVINE, "s"),
    Role("guard", VILLAGERS, HUMAN, HUMAN, False, GUARD, "g"),
    Role("medium", VILLAGERS, HUMAN, HUMAN, False, NONE, "m"),
    Role("possessed", WOLVES, HUMAN, HUMAN, False, NONE, "p"),
    Role("hunter", VILLAGERS, HUMAN, HUMAN, False, NONE, "h"),
    Role("witch", VILLAGERS, HUMAN, HUMAN, False, NONE, "w"),
)
NAMES = tuple(role.name for role in ROLES)
VILLAGER, WEREWOLF, SEER, GUARDIAN, MEDIUM, POSSESSED, HUNTER, WITCH = range(len(ROLES))
EXTRA = NAMES[SEER:]  # roles that a line-up may have beside villagers and werewolves
PRIVATE = (SEER, MEDIUM, WITCH)  # roles that are told something of their own, in `private_info`

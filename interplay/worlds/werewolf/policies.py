"""Scripted players (specification 11). All but the oracle read only masks and observations.

Each acts for all seats of its batch. A wolves' rule leads seats that know to be wolves, a villagers' rule all others; seats and
phases without a rule choose at random. So each can be played alone; `interplay.evaluate.PolicyMap` combines them. A rule's name
fills the ballot, unless its description differs.
"""

from __future__ import annotations

from interplay.core.policy import by_name
from interplay.worlds.werewolf.players.bayes import BayesVillager
from interplay.worlds.werewolf.players.scripted import Random
from interplay.worlds.werewolf.players.villagers import CoordinatedLynch, Oracle, Password
from interplay.worlds.werewolf.players.wolves import (
    AvoidWolves,
    Bandwagon,
    Defend,
    MimicWolf,
    MutedWolf,
    RandomTarget,
    Revenge,
    StaticSignal,
    Unite,
)

POLICIES = by_name(
    Random,
    RandomTarget,
    StaticSignal,
    MutedWolf,
    Unite,
    AvoidWolves,
    Revenge,
    Defend,
    MimicWolf,
    Bandwagon,
    CoordinatedLynch,
    Password,
    BayesVillager,
    Oracle,
)

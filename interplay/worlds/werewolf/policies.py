"""Scripted players (specification 11). They read masks and private views alone, as a learner does; the oracle is told more.

Each acts for every seat that it is asked for. A rule for wolves leads those who know to be wolves, a rule for villagers everybody
else; the others, and all in phases that the rule says nothing about, choose at random. So each can be played alone, and
`interplay.evaluate.PolicyMap` sets one against another. On ballots with several names a rule's name fills the ballot, unless
it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

from interplay.core.policy import Policy
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

POLICIES: dict[str, Callable[[], Policy]] = {
    policy.name: policy
    for policy in (
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
}

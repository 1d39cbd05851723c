"""The odds of attacks: closed forms, counted over many turns with fixed seeds, within four standard deviations."""

from __future__ import annotations

import itertools
from collections import Counter
from math import comb, sqrt

import numpy as np
import pytest

from interplay.gridworld.actors import (
    BinaryAttackActor,
    EncodingBasedAttackActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from tests.gridworld.fighters import Fighter, Gunner, at, settle, someone

TURNS = 3000


def fair(count: int, turns: int, chance: float) -> bool:
    return abs(count - turns * chance) <= 4 * sqrt(turns * chance * (1 - chance)) + 1e-9


def arena(kind, others, stacked=False, seed=7, **kwargs):
    """An attacker in the middle of others, whom its attacks do not weaken."""
    me = kind(id="me", encoding=1, initial_position=at(1, 1), attack_strength=0, **kwargs)
    overlapping = {1: {2, 3}, 2: {2, 3}, 3: {2, 3}}
    mapping = {1: {agent.encoding for agent in others}}
    return me, settle([me, *others], 3, 3, seed=seed, overlapping=overlapping) | {"attack_mapping": mapping}


def reports(actor, me, action, turns=TURNS):
    for _ in range(turns):
        attempted, attacked = actor.process_action(me, {"attack": action})
        assert attempted
        yield tuple(agent.id for agent in attacked)


def three(cells=((0, 0), (0, 1), (2, 2))):
    return [someone(name, 2 + (name == "c"), *cell) for name, cell in zip("abc", cells, strict=True)]


def test_one_attack_picks_uniformly():
    """T14: each of three candidates with 1/3, wherever they stand."""
    me, those = arena(Fighter, three())
    seen = Counter(reports(BinaryAttackActor(**those), me, 1))
    assert set(seen) == {("a",), ("b",), ("c",)}
    assert all(fair(number, TURNS, 1 / 3) for number in seen.values())


@pytest.mark.parametrize("stacked", [False, True])
def test_pairs_of_attacks(stacked):
    """T13, T14: ordered pairs without repetition 1/6 each; stacked every ordered pair 1/9."""
    me, those = arena(Fighter, three(), simultaneous_attacks=2)
    seen = Counter(reports(BinaryAttackActor(**those, stacked_attacks=stacked), me, 2))
    wanted = set(itertools.product("abc", repeat=2) if stacked else itertools.permutations("abc", 2))
    assert set(seen) == wanted
    assert all(fair(number, TURNS, 1 / len(wanted)) for number in seen.values())


def test_choice_within_an_encoding():
    """T11, T14: among those of the encoding alone."""
    me, those = arena(Fighter, three())
    seen = Counter(reports(EncodingBasedAttackActor(**those), me, {2: 1, 3: 1}))
    assert set(seen) == {("a", "c"), ("b", "c")}
    assert fair(seen["a", "c"], TURNS, 1 / 2)


def test_choice_within_a_cell():
    """T11, T14: among those in the cell alone, in both forms that name cells."""
    me, those = arena(Fighter, three(((0, 0), (0, 0), (0, 0))))
    ask = np.zeros((3, 3), int)
    ask[0, 0] = 1
    for actor, action in (
        (SelectiveAttackActor(**those), ask),
        (RestrictedSelectiveAttackActor(**those), [1]),
    ):
        seen = Counter(reports(actor, me, action))
        assert len(seen) == 3
        assert all(fair(number, TURNS, 1 / 3) for number in seen.values())


@pytest.mark.parametrize("accuracy", [0.0, 0.25, 0.5, 1.0])
def test_accuracy_of_one_attack(accuracy):
    """T14 and section 3, row 20: an attack succeeds with the accuracy, however many candidates there are."""
    me, those = arena(Fighter, three(), attack_accuracy=accuracy)
    hits = sum(map(len, reports(BinaryAttackActor(**those), me, 1)))
    assert fair(hits, TURNS, accuracy)


def test_stacked_hits_are_binomial():
    """T14: each launched attack succeeds on its own, also when all fall on one agent."""
    me, those = arena(Fighter, [someone("a", 2, 0, 0)], attack_accuracy=0.3, simultaneous_attacks=4)
    actor = BinaryAttackActor(**those, stacked_attacks=True)
    seen = Counter(map(len, reports(actor, me, 4)))
    assert all(fair(seen[k], TURNS, comb(4, k) * 0.3**k * 0.7 ** (4 - k)) for k in range(5))


def test_an_attack_that_misses_does_not_spend_its_target():
    """T13, T14: only a hit takes an agent out of the choice, so two attacks on one agent hit with 1 - q^2."""
    me, those = arena(Fighter, [someone("a", 2, 0, 0)], attack_accuracy=0.4, simultaneous_attacks=2)
    for actor, action in (
        (BinaryAttackActor(**those), 2),
        (RestrictedSelectiveAttackActor(**those), [1, 1]),
        (EncodingBasedAttackActor(**those), {2: 2}),
    ):
        hits = sum(map(len, reports(actor, me, action)))
        assert fair(hits, TURNS, 1 - 0.6**2)


def gunner(**kwargs):
    me, those = arena(Gunner, three(), initial_ammo=2, simultaneous_attacks=3, **kwargs)
    return me, those


def test_too_little_ammo_lets_a_uniform_subset_through():
    """T16: three hits, two rounds: each pair with 1/3, in the order of the attacks."""
    me, those = gunner()
    actor, seen = RestrictedSelectiveAttackActor(**those), Counter()
    for _ in range(TURNS):
        me.ammo = 2
        seen.update(reports(actor, me, [9, 1, 2], turns=1))
        assert me.ammo == 0
    assert set(seen) == {("c", "a"), ("c", "b"), ("a", "b")}
    assert all(fair(number, TURNS, 1 / 3) for number in seen.values())


def test_the_subset_is_drawn_among_attacks_when_stacked():
    """T16: without replacement among hits, not among agents: of a, a, c one round hits a with 2/3."""
    me, those = gunner(stacked=True)
    actor, seen = RestrictedSelectiveAttackActor(**those, stacked_attacks=True), Counter()
    for _ in range(TURNS):
        me.ammo = 1
        seen.update(reports(actor, me, [1, 1, 9], turns=1))
    assert set(seen) == {("a",), ("c",)}
    assert fair(seen["a",], TURNS, 2 / 3)


def test_misses_cost_no_ammo():
    """T14, T16: rounds left after n attacks are binomial in the successes."""
    me, those = arena(Gunner, [someone("a", 2, 0, 0)], initial_ammo=0, attack_accuracy=0.5)
    actor = BinaryAttackActor(**those)
    me.ammo = TURNS
    hits = sum(map(len, reports(actor, me, 1)))
    assert me.ammo == TURNS - hits
    assert fair(hits, TURNS, 0.5)

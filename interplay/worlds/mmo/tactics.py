"""Scripted players as kernels over the whole batch, and how they treat each other: fight or flee (specification 16.1).

They read only observations.
"""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.philox import integer_below
from interplay.worlds.mmo.config import MOVES, STYLES
from interplay.worlds.mmo.foraging import (
    DOWN,
    FOOD,
    FREEZE,
    HEALTH,
    LIFE,
    RIGHT,
    SAME,
    WATER,
    can_step,
    draw_number,
    forage,
    read,
)
from interplay.worlds.mmo.search import step_down, step_right

FORAGE, FIGHT, FLEE = 0, 1, 2  # behaviour beside foraging
HUNGRY = 8  # food or water below it: no pursuit
NEAR = 2  # tiles, Chebyshev: a stronger agent this near is avoided
MAGE = 2


@phase
def distance(senses, rules, w, a, row, down, right):
    """Chebyshev distance of a row's agent from a tile (down, right) of the observer."""
    return max(
        abs(read(senses, rules, w, a, row, DOWN) - down), abs(read(senses, rules, w, a, row, RIGHT) - right)
    )


@phase
def is_spared(senses, rules, w, a, row):
    """Whether populations protect the observer and a row's agent from each other."""
    return rules.spares_own and senses.entities[w, a, row, SAME] > 0


@phase
def is_prey(senses, rules, w, a, row, health):
    """Whether a row's agent is in reach, vulnerable, and frozen or weaker than the observer."""
    if is_spared(senses, rules, w, a, row) or distance(senses, rules, w, a, row, 0, 0) > rules.reach:
        return False
    life = read(senses, rules, w, a, row, LIFE)
    if life < rules.immune_until:
        return False
    if read(senses, rules, w, a, 0, LIFE) > rules.elder_age >= 0 and life <= rules.elder_age:
        return False
    return read(senses, rules, w, a, row, FREEZE) > 1 or read(senses, rules, w, a, row, HEALTH) < health


@phase
def choose_prey(senses, rules, scratch, w, a, health):
    """The tile of the prey that takes the fewest steps, ties: the weaker, then the earlier row; -1 = none."""
    side = senses.tiles.shape[2]
    best, least, weakest = np.int64(-1), np.int64(0), np.int64(0)
    for row in range(1, senses.count[w, a]):
        if not is_prey(senses, rules, w, a, row, health):
            continue
        down, right = read(senses, rules, w, a, row, DOWN), read(senses, rules, w, a, row, RIGHT)
        cell = (side // 2 + down) * side + side // 2 + right
        steps, weak = np.int64(scratch.steps[cell]), read(senses, rules, w, a, row, HEALTH)
        if steps >= 0 and (best < 0 or steps < least or (steps == least and weak < weakest)):
            best, least, weakest = cell, steps, weak
    return best


@phase
def step_away(senses, rules, w, a, row, wish):
    """The legal step, or none, that leads furthest from a row's agent; ties: the wish, then the earlier move."""
    best, most = np.int64(0), np.int64(-1)
    for move in range(MOVES):
        if can_step(senses, w, a, move):
            far = distance(senses, rules, w, a, row, step_down(move), step_right(move))
            if far > most or (far == most and move == wish):
                best, most = np.int64(move), far
    return best


@phase
def sees_prey(senses, rules, w, a):
    """Whether a fighter that is neither hungry nor thirsty sees prey."""
    if read(senses, rules, w, a, 0, FOOD) < HUNGRY or read(senses, rules, w, a, 0, WATER) < HUNGRY:
        return False
    health = read(senses, rules, w, a, 0, HEALTH)
    found = False
    for row in range(1, senses.count[w, a]):
        found = found or is_prey(senses, rules, w, a, row, health)
    return found


@phase
def find_threat(senses, rules, w, a):
    """The row of the nearest stronger agent within NEAR, ties: the earlier; 0 = none."""
    health = read(senses, rules, w, a, 0, HEALTH)
    threat, near = np.int64(0), np.int64(NEAR + 1)
    for row in range(1, senses.count[w, a]):
        if is_spared(senses, rules, w, a, row) or read(senses, rules, w, a, row, HEALTH) <= health:
            continue
        away = distance(senses, rules, w, a, row, 0, 0)
        if away < near:
            threat, near = np.int64(row), away
    return threat


@phase
def fight(senses, rules, scratch, w, a, hunts, wish):
    """A fighter's move: approaches reachable prey, avoids the stronger, else forages."""
    if hunts:
        prey = choose_prey(senses, rules, scratch, w, a, read(senses, rules, w, a, 0, HEALTH))
        if prey >= 0:
            return np.int64(scratch.first[prey])
    threat = find_threat(senses, rules, w, a)
    return step_away(senses, rules, w, a, threat, wish) if threat > 0 else wish


@phase
def is_danger(senses, rules, w, a, row):
    """Whether a row's agent could hit the observer now or, after one step, in the tick after next."""
    if is_spared(senses, rules, w, a, row):
        return False
    life = read(senses, rules, w, a, 0, LIFE)
    if read(senses, rules, w, a, row, LIFE) > rules.elder_age >= 0 and life <= rules.elder_age:
        return False
    return distance(senses, rules, w, a, row, 0, 0) <= rules.reach + 1


@phase
def flee(senses, rules, w, a, wish):
    """A fleer's move: away from the nearest agent that could hit it, else forages."""
    if read(senses, rules, w, a, 0, LIFE) + 1 < rules.immune_until:
        return wish
    best, most, dangers = np.int64(0), np.int64(-1), 0
    for move in range(MOVES):
        if not can_step(senses, w, a, move):
            continue
        nearest = np.int64(1 << 20)
        for row in range(1, senses.count[w, a]):
            if is_danger(senses, rules, w, a, row):
                dangers += 1
                away = distance(senses, rules, w, a, row, step_down(move), step_right(move))
                nearest = min(nearest, away)
        if nearest > most or (nearest == most and move == wish):
            best, most = np.int64(move), nearest
    return best if dangers > 0 else wish


@phase
def choose_style(senses, rules, w, a, fights):
    """The attack: fighters take the strongest style with a target; else none, or the mage's if there is no none."""
    first = np.int64(rules.none_first)
    if fights:
        for style in range(STYLES):
            if senses.mask[w, a, MOVES + first + style]:
                return first + style
    return np.int64(0) if rules.none_first else np.int64(MAGE)


@phase
def choose_row(senses, rules, w, a, style):
    """The row of the weakest legal target of a style, ties: the nearer, then the earlier row; 0 = none."""
    rows = senses.entities.shape[2]
    start = senses.mask.shape[2] - (STYLES - style) * rows
    best, weakest, near = np.int64(0), np.int64(0), np.int64(0)
    for row in range(1, senses.count[w, a]):
        if not senses.mask[w, a, start + row]:
            continue
        away = distance(senses, rules, w, a, row, 0, 0)
        health = read(senses, rules, w, a, row, HEALTH)
        if best == 0 or health < weakest or (health == weakest and away < near):
            best, weakest, near = np.int64(row), health, away
    return best


@kernel
def play(player, senses, rules, stream, scratch, action):
    """Writes the actions of all acting agents: (W, A, heads) int64; heads beyond two name a row for each style."""
    for w in range(action.shape[0]):
        for a in range(action.shape[1]):
            if not senses.acting[w, a]:
                continue
            hunts = rules.combat and player == FIGHT and sees_prey(senses, rules, w, a)
            move = forage(senses, rules, stream, scratch, w, a, hunts)
            if rules.combat and player == FIGHT:
                move = fight(senses, rules, scratch, w, a, hunts, move)
            elif rules.combat and player == FLEE:
                move = flee(senses, rules, w, a, move)
            action[w, a, 0] = move
            action[w, a, 1] = choose_style(senses, rules, w, a, player == FIGHT)
            for head in range(2, action.shape[2]):
                action[w, a, head] = choose_row(senses, rules, w, a, head - 2)


@phase
def nth_legal(mask, w, a, start, skip):
    """The legal choice of a head, from `start` on, with `skip` legal ones before it."""
    choice = 0
    while True:
        if mask[w, a, start + choice]:
            if skip == 0:
                return choice
            skip -= 1
        choice += 1


@kernel
def play_at_random(mask, acting, choices, legal, stream, action):
    """Draws every head of acting agents uniformly; with `legal`, among its legal choices if it has any."""
    for w in range(action.shape[0]):
        for a in range(action.shape[1]):
            start = 0
            for head in range(choices.shape[0] if acting[w, a] else 0):
                number = np.int64(choices[head])
                possible = 0
                for i in range(number):
                    possible += legal and mask[w, a, start + i]
                draw = draw_number(stream, w, a, stream.tick[w], head)
                skip = integer_below(
                    stream.seed[w], stream.episode[w], draw, possible if possible > 0 else number
                )
                action[w, a, head] = skip
                if possible > 0:
                    action[w, a, head] = nth_legal(mask, w, a, start, skip)
                start += number

"""Observations and masks of agents (specification 7): a function of the state."""

import numpy as np

from interplay.core.jit import phase
from interplay.worlds.mmo.neighbours import see_others, sort_into_buckets
from interplay.worlds.mmo.state import NONE
from interplay.worlds.mmo.tiles import LAVA, STONE, WATER
from interplay.worlds.mmo.views import copy_crops, fetch_view, forget_view

AHEAD = 3  # slots to prefetch before writing a view
MAX_LIFE, MAX_DAMAGE, MAX_FREEZE = 100, 5, 2  # of the scaled columns


@phase
def look_around(state, sight, rules, scratch, thread, w):
    """Fills every slot's view; free slots see nothing."""
    living = sort_into_buckets(state, rules, scratch, thread, w)
    describe(state, rules, scratch, thread, w, living)
    fetched = 0.0
    slots = state.agent.shape[1]
    for i in range(slots):  # in the order of memory: views are long, and written once
        fetched += fetch_view(sight, rules, w, min(i + AHEAD, slots - 1))
        if not state.agent[w, i].alive:
            if sight.filled[w, i] > 0:
                forget_view(sight, w, i)
            continue
        person = state.agent[w, i]
        own = scratch.spot[thread, i]
        copy_crops(state, sight, rules, w, person.row, person.col, w, i)
        see_others(
            state, sight, rules, scratch, thread, w, own, person.row, person.col, person.population, w, i
        )
        mask_choices(state, sight, rules, w, person.row, person.col, person.freeze, w, i)
    scratch.fetched[thread] = fetched


@phase
def describe(state, rules, scratch, thread, w, living):
    """Entity rows without the columns that depend on the observer (6, 7 and 9)."""
    for k in range(living):
        person = state.agent[w, scratch.sorted[thread, k]]
        scratch.place[thread, k, 0] = person.row
        scratch.place[thread, k, 1] = person.col
        scratch.health[thread, k] = person.health
        scratch.kin[thread, k] = person.population
        describe_one(
            scratch.features[thread],
            rules,
            k,
            person.life,
            person.health,
            person.food,
            person.water,
            person.row,
            person.col,
            person.damage,
            person.freeze,
        )


@phase
def describe_one(features, rules, k, life, health, food, water, row, col, damage, freeze):
    """One agent's columns (specification 7): scaled, or as small integers."""
    if rules.compact:
        features[k, 0] = min(life // 8, 127)
        features[k, 1] = min(health, 127)
        features[k, 2] = min(food, 127)
        features[k, 3] = min(water, 127)
        features[k, 4] = np.int64(np.floor(row * 254.0 / (rules.side - 1) - 126.5))
        features[k, 5] = np.int64(np.floor(col * 254.0 / (rules.side - 1) - 126.5))
        features[k, 8] = min(damage, 127)
        features[k, 10] = min(freeze, 127)
        return
    far = np.float64(rules.side - rules.border)
    features[k, 0] = life / np.float64(MAX_LIFE) - 0.5
    features[k, 1] = health / np.float64(rules.health) - 0.5
    features[k, 2] = food / np.float64(rules.food) - 0.5
    features[k, 3] = water / np.float64(rules.water) - 0.5
    features[k, 4] = row / far - 0.5
    features[k, 5] = col / far - 0.5
    features[k, 8] = damage / np.float64(MAX_DAMAGE) - 0.5
    features[k, 10] = freeze / np.float64(MAX_FREEZE) - 0.5


@phase
def mask_choices(state, sight, rules, w, row, col, freeze, ow, o):
    """Legal moves, and styles that have a target; without any target all styles are legal."""
    mask = sight.mask[ow, o]
    mask[0] = True
    free = freeze <= 1
    mask[1] = free and _is_open(state.tiles[w, row, col + 1], rules.mask_lava)
    mask[2] = free and _is_open(state.tiles[w, row + 1, col], rules.mask_lava)
    mask[3] = free and _is_open(state.tiles[w, row, col - 1], rules.mask_lava)
    mask[4] = free and _is_open(state.tiles[w, row - 1, col], rules.mask_lava)
    if not rules.combat:
        return  # the head stays, its choices are ignored: all are legal
    target, first = sight.target[ow, o], 5
    aimless = target[0] == NONE and target[1] == NONE and target[2] == NONE
    if rules.no_attack:
        mask[5] = True
        aimless = False
        first = 6
    for style in range(3):
        mask[first + style] = aimless or target[style] != NONE


@phase
def _is_open(tile, mask_lava):
    return tile != WATER and tile < STONE and not (mask_lava and tile == LAVA)

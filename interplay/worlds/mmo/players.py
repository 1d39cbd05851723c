"""The scripted players as kernels over the whole batch (specification 16.1)."""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.philox import integer_below
from interplay.worlds.mmo.foraging import draw_number, forage
from interplay.worlds.mmo.tactics import choose_row, choose_style, fight, flee, sees_prey

FORAGE, FIGHT, FLEE = 0, 1, 2  # behaviour beside foraging


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

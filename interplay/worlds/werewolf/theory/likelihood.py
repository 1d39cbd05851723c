"""The likelihood of a row of a public board, as a villager's or a wolf's, under assumptions (kernels)."""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import phase

# Wolves: any legal choice, any legal name, names outside the pack, one common such name.
ANY, NAMES, OUTSIDE, AS_ONE = range(4)
RANDOM, PASSWORD = range(2)  # villagers: any legal choice, a seat that did not say the word


class Creed(NamedTuple):
    """Assumptions about how players play."""

    wolves: np.ndarray  # (M,) int64, ways of wolves
    villagers: int
    wolf_word: np.ndarray  # (l,) int16, empty: words at random
    villager_word: np.ndarray  # (l,) int16
    log_words: float  # logarithm of the number of words
    reads_words: bool  # boards show the words as spoken
    reads_talk: bool  # boards show the names of talk
    self_vote: bool


class Evidence(NamedTuple):
    """The evidence of one step."""

    going: np.ndarray  # (W,) bool, the game continues after a death and its end test
    fresh: np.ndarray  # (W,) bool, there is a new public board
    talk: np.ndarray  # (W,) bool, it is a talk's
    targets: np.ndarray  # (W, A, b) int16, the public board
    words: np.ndarray  # (W, A, L) int16
    silent: np.ndarray  # (W, A) bool, did not say the villagers' word on the previous public board
    legal: np.ndarray  # (W, A + 1) bool, legal names on it, and whether a pass is legal
    was_alive: np.ndarray  # (W, A) bool, before the step
    alive: np.ndarray  # (W, A) bool
    eaten: np.ndarray  # (W,) int16, last seat killed at night, or -1
    revealed: np.ndarray  # (W, A) int8, role of the dead, or -1


@phase
def spoke(evidence, w, j):
    """Whether a seat has a row on the board; passes without words count where a pass is legal."""
    if not evidence.was_alive[w, j]:
        return False
    if evidence.legal[w, evidence.alive.shape[1]]:
        return True
    has_word = evidence.words.shape[2] > 0 and evidence.words[w, j, 0] >= 0
    return has_word or evidence.targets[w, j, 0] >= 0


@phase
def reads_names(evidence, creed, w):
    return creed.reads_talk or not evidence.talk[w]


@phase
def legal_names(evidence, creed, w, j):
    """The number of names a seat could choose from."""
    count = 0
    for i in range(evidence.alive.shape[1]):
        count += evidence.legal[w, i]
    if not creed.self_vote and not evidence.talk[w] and evidence.legal[w, j]:
        count -= 1
    return count


@phase
def any_name(evidence, creed, w, j, passes):
    """Log-likelihood of a ballot of random legal names; with `passes`, a legal pass counts as a name."""
    passes = passes and evidence.legal[w, evidence.alive.shape[1]]
    choices, total = legal_names(evidence, creed, w, j) + passes, 0.0
    for k in range(evidence.targets.shape[2]):
        if evidence.targets[w, j, k] < 0 and not passes and choices > 0:
            return -np.inf
        total -= np.log(choices) if choices > 0 else 0.0
    return total


@phase
def names_outside(evidence, inside, w, j, outside):
    """Log-likelihood of a ballot of random names outside the pack."""
    for k in range(evidence.targets.shape[2]):
        name = evidence.targets[w, j, k]
        if name < 0 or inside[name]:
            return -np.inf
    return -np.log(outside) * evidence.targets.shape[2]


@phase
def names_agreed(evidence, inside, w, j, agreed, outside):
    """Log-likelihood of a ballot filled with one name outside the pack, drawn by the first seat for all."""
    for k in range(evidence.targets.shape[2]):
        name = evidence.targets[w, j, k]
        if name < 0 or inside[name] or name != (agreed if agreed >= 0 else evidence.targets[w, j, 0]):
            return -np.inf
    return -np.log(outside) if agreed < 0 else 0.0


@phase
def villager_names(evidence, creed, w, j):
    """Log-likelihood of a ballot as a villager's."""
    if not reads_names(evidence, creed, w):
        return 0.0
    if creed.villagers == RANDOM:
        return any_name(evidence, creed, w, j, True)
    barred = not creed.self_vote and not evidence.talk[w]
    count = 0
    for i in range(evidence.alive.shape[1]):
        count += evidence.legal[w, i] and evidence.silent[w, i] and not (barred and i == j)
    suspects = count > 0
    if not suspects:
        count = legal_names(evidence, creed, w, j)
    if count == 0:
        return 0.0
    first = evidence.targets[w, j, 0]
    for k in range(evidence.targets.shape[2]):
        name = evidence.targets[w, j, k]
        if name < 0 or name != first or (suspects and not evidence.silent[w, name]):
            return -np.inf
    return -np.log(count)


@phase
def villager_word_likelihood(evidence, creed, w, j):
    return word_likelihood(evidence, creed, creed.villager_word, w, j)


@phase
def wolf_word_likelihood(evidence, creed, w, j):
    return word_likelihood(evidence, creed, creed.wolf_word, w, j)


@phase
def word_likelihood(evidence, creed, word, w, j):
    """Log-likelihood of a word: random, or constant."""
    if not creed.reads_words:
        return 0.0
    if word.shape[0] == 0:
        return -creed.log_words
    for place in range(word.shape[0]):
        if evidence.words[w, j, place] != word[place]:
            return -np.inf
    return 0.0

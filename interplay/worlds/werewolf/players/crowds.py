"""Kernels of scripted players that react to public boards (specification 11): accusers, crowds, numbers, words.

Each writes the names that every seat of `ours` (W, A) bool would give: `wanted` (W, A, A) bool. Common arguments: `mask`
(W, A, choices) bool, `members` (W, A, A) bool, the pack as known to each seat, and `boards`, see `knowledge.Boards`.
"""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.worlds.werewolf.players.choosing import WORDS, begin, split


@kernel
def want_accusers(mask, ours, members, boards, others_only, count, wanted):
    """Wants the outsiders that named most of the pack in the last public talk.

    With `others_only` only names of the seat's mates count, not its own.
    """
    n = ours.shape[1]
    for w in range(ours.shape[0]):
        for a in range(n):
            if not ours[w, a]:
                continue
            for i in range(n):
                count[i] = 0
                for k in range(boards.talk_targets.shape[2]):
                    name = boards.talk_targets[w, i, k]
                    if name >= 0 and members[w, a, name] and not (others_only and name == a):
                        count[i] += 1
            want_most(mask, w, a, members, True, count, wanted)


@phase
def want_most(mask, w, a, members, spares, count, wanted):
    """Wants the legal seats with the highest count; returns whether any is above 0.

    With `spares` the pack is excluded.
    """
    n, most = count.shape[0], 0
    for i in range(n):
        if count[i] > most and mask[w, a, i] and not (spares and members[w, a, i]):
            most = count[i]
    for i in range(n):
        most_named = most > 0 and count[i] == most
        wanted[w, a, i] = most_named and mask[w, a, i] and not (spares and members[w, a, i])
    return most > 0


@kernel
def want_most_named(mask, ours, members, spares, boards, at_night, night_targets, count, wanted):
    """Wants the seats named most on the last board; none if there is no board.

    Args:
        mask, ours, members, boards: see above.
        spares: excludes the pack; if no outsider was named, all outsiders are wanted.
        at_night: (W, A) bool, seats that last saw the pack's board.
        night_targets: (W, A, A, b) int16, the pack's board as each seat sees it.
        count: (A,) int32, a working array.
        wanted: see above.
    """
    n = ours.shape[1]
    for w in range(ours.shape[0]):
        for a in range(n):
            if not ours[w, a]:
                continue
            for i in range(n):
                count[i] = 0
            for i in range(n):
                for k in range(boards.targets.shape[2]):
                    name = night_targets[w, a, i, k] if at_night[w, a] else boards.targets[w, i, k]
                    if name >= 0:
                        count[name] += 1
            found = want_most(mask, w, a, members, spares, count, wanted)
            for i in range(n if spares and not found else 0):
                wanted[w, a, i] = not members[w, a, i]


@kernel
def want_silent(ours, boards, word, wanted):
    """Wants seats with a last public word that does not begin with `word` (l,) int16."""
    n = ours.shape[1]
    for w in range(ours.shape[0]):
        for a in range(n):
            for i in range(n if ours[w, a] else 0):
                wanted[w, a, i] = not begins_with(boards.words, w, i, word)


@phase
def begins_with(words, w, i, word):
    """Whether a seat's word begins with `word`."""
    other = 0
    for place in range(word.shape[0]):
        other += words[w, i, place] != word[place]
    return other == 0


@kernel
def want_lot(ours, alive, boards, by_word, wanted):
    """Wants the living player at the sum of the last public talk's numbers, modulo the living.

    A player's number is the place among the living of the seat it named, or with `by_word` its word's first symbol. Before a talk no
    seat is wanted.
    """
    n = ours.shape[1]
    for w in range(ours.shape[0]):
        for a in range(n):
            if not ours[w, a]:
                continue
            chosen = lot(alive[w, a], boards, w, by_word)
            for i in range(n):
                wanted[w, a, i] = i == chosen


@phase
def lot(alive, boards, w, by_word):
    living, total, numbers = 0, 0, 0
    for i in range(alive.shape[0]):
        living += alive[i] != 0
        value = boards.talk_words[w, i, 0] if by_word else place_among(alive, boards.talk_targets[w, i, 0])
        if value >= 0:
            total += value
            numbers += 1
    if numbers == 0:
        return -1
    skip = total % living
    for i in range(alive.shape[0]):
        if alive[i]:
            if skip == 0:
                return i
            skip -= 1
    return -1


@phase
def place_among(alive, seat):
    """The number of living players before a living seat; -1 for others."""
    if seat < 0 or not alive[seat]:
        return -1
    place = 0
    for i in range(seat):
        place += alive[i] != 0
    return place


@kernel
def announce(ours, alive, names, stream, action):
    """Sets first symbols to random numbers below the living's; words start after `names`."""
    for w in range(ours.shape[0]):
        for a in range(ours.shape[1]):
            if not ours[w, a]:
                continue
            living = np.uint64(0)
            for i in range(ours.shape[1]):
                living += np.uint64(alive[w, a, i] != 0)
            start, number = begin(stream, w, a, WORDS)
            pick = split(start, number, np.uint64(0), np.uint64(1 << 24), living)
            action[w, a, names] = pick[0]


@kernel
def repeat_words(ours, members, boards, names, stream, action):
    """Copies the outsiders' commonest word on the last public board; ties at random."""
    n = ours.shape[1]
    for w in range(ours.shape[0]):
        for a in range(n):
            if not ours[w, a] or not boards.seen[w]:
                continue
            speaker = usual_speaker(members[w, a], boards.words, stream, w, a)
            for place in range(boards.words.shape[2] if speaker >= 0 else 0):
                action[w, a, names + place] = boards.words[w, speaker, place]


@phase
def usual_speaker(barred, words, stream, w, a):
    """A speaker of the commonest word, uniform among tied words."""
    most, ties = 0, 0
    for i in range(barred.shape[0]):
        times = times_said(barred, words, w, i)
        if times > most:
            most, ties = times, 0
        ties += times == most and times > 0
    if ties == 0:
        return -1
    start, number = begin(stream, w, a, WORDS)
    skip = np.int64(split(start, number, np.uint64(0), np.uint64(1 << 24), np.uint64(ties))[0])
    for i in range(barred.shape[0]):
        if times_said(barred, words, w, i) == most:
            if skip == 0:
                return i
            skip -= 1
    return -1


@phase
def times_said(barred, words, w, i):
    """The number of speakers of seat i's word; 0 unless i is the first of them."""
    if barred[i] or words.shape[2] == 0 or words[w, i, 0] < 0:
        return 0
    for j in range(i):
        if not barred[j] and same_word(words, w, i, j):
            return 0
    times = 0
    for j in range(i, barred.shape[0]):
        times += not barred[j] and same_word(words, w, i, j)
    return times


@phase
def same_word(words, w, i, j):
    place, length = 0, words.shape[2]
    while place < length and words[w, i, place] == words[w, j, place]:
        place += 1
    return place == length

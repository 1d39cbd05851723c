"""Statistics of tables of counts under permutations of utterances, and rank sums under permutations of labels.

Permutation number 0 is the recorded order; the others are drawn by Fisher and Yates' method, a pure function of
(seed, number of the permutation).
"""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.splitmix import episode_start, integer_below

# Statistics of a table n[k, y], K words against Y things; the last axis of what `permuted_statistics` writes.
STATISTICS = ("information", "context", "distance", "agreement", "share")
INFORMATION, CONTEXT, DISTANCE, AGREEMENT, SHARE = range(len(STATISTICS))


@kernel
def permuted_statistics(
    start,
    group,
    code,
    sizes,
    thing,
    weight,
    named,
    word,
    player,
    block,
    like,
    alike,
    pools,
    n_log_n,
    seed,
    first_number,
    order,
    games,
    table,
    sums,
    out,
):
    """Counts words against attributes of their speakers, and summarises the tables, for several permutations.

    Rows are utterances, those of one board adjacent. A permutation gives each row the utterance of another row of its block. With
    `player` it permutes attributes that a player has on all its rows: whole games among those that are alike, then within each block.

    Args:
        start: (B + 1,) int64, first row of each board.
        group: (B,) int64, which of the G tables the board is counted in.
        code: (U, C) int32, the utterance: C readings of it, each below K; -1 is not counted.
        sizes: (C,) int64, distinct values of each reading.
        thing: (U,) int32, the speaker's attribute below Y, or -1; (0,) counts `weight`. With `player` (M,), of each player.
        weight: (U, Y) int32, how often the speaker is counted with each attribute; with `thing` only its shape is read.
        named: (U,) int32, row of the agent that the speaker named, or -1; (0,) counts `weight`. Otherwise a speaker is counted with
            0 (the named agent used the same word) or 1 (another one), and Y = 2.
        word: (U,) int32, number of the whole word, for `named`.
        player: (U,) int64, the player of each row, below M = J n, game by game; (0,) permutes rows.
        block: (N + 1,) int64, first row, or player, of each block.
        like: (N,) int64, earlier block of the same size that has the same permutation, or the block itself.
        alike: (A + 1,) int64, first of the games with blocks of the same sizes; (1,) without `player`.
        pools: (Q, G) bool, which tables are added up for each of the Q results.
        n_log_n: (N + 1,) float64, x log2 x of every count up to N.
        first_number: of the first permutation; 0 is the recorded order.
        order: (U,) or (M,) int64, scratch.
        games: (J,) int64, scratch.
        table: (G, C, K, Y) int32, scratch.
        sums: (K + 1, Y + 1) int64, scratch.
        out: (P, Q, C, 5) float64, see `STATISTICS`.
    """
    boards, columns, kinds = group.shape[0], code.shape[1], weight.shape[1]
    seats = order.shape[0] // max(games.shape[0], 1)
    for p in range(out.shape[0]):
        number = first_number + p
        begin, drawn = episode_start(seed, np.uint64(number)), np.uint64(0)
        for g in range(table.shape[0]):
            for c in range(columns):
                for k in range(sizes[c]):
                    for y in range(kinds):
                        table[g, c, k, y] = 0
        for i in range(order.shape[0]):
            order[i] = i
        if number > 0:
            for j in range(games.shape[0]):
                games[j] = j
            for a in range(alike.shape[0] - 1):
                drawn = _shuffle(games, alike[a], alike[a + 1], begin, drawn)
            for j in range(games.shape[0]):
                for i in range(seats):
                    order[j * seats + i] = games[j] * seats + i
            for b in range(like.shape[0]):
                if like[b] == b:
                    drawn = _shuffle(order, block[b], block[b + 1], begin, drawn)
                else:
                    shift = block[b] - block[like[b]]
                    for i in range(block[b], block[b + 1]):
                        order[i] = order[i - shift] + shift
        for board in range(boards):
            own = group[board]
            for row in range(start[board], start[board + 1]):
                source = row if player.shape[0] > 0 else order[row]
                if named.shape[0] > 0:
                    y = -1
                    if named[row] >= 0:
                        y = np.int64(word[order[named[row]]] != word[source])
                elif player.shape[0] > 0:
                    y = np.int64(thing[order[player[row]]])
                elif thing.shape[0] > 0:
                    y = np.int64(thing[row])
                else:
                    for c in range(columns):
                        word_code = code[source, c]
                        if word_code >= 0:
                            for k in range(kinds):
                                table[own, c, word_code, k] += weight[row, k]
                    continue
                if y >= 0:
                    for c in range(columns):
                        word_code = code[source, c]
                        if word_code >= 0:
                            table[own, c, word_code, y] += 1
        for q in range(pools.shape[0]):
            for c in range(columns):
                _add_up(table, pools, q, c, sizes[c], sums)
                _summarise(sums, sizes[c], n_log_n, out, p, q, c)


@phase
def _shuffle(order, first, end, begin, drawn):
    """Shuffles a part by Fisher and Yates' method; returns the number of draws so far."""
    for i in range(end - first - 1, 0, -1):
        drawn += np.uint64(1)
        j = first + integer_below(begin, drawn, i + 1)
        order[first + i], order[j] = order[j], order[first + i]
    return drawn


@phase
def _add_up(table, pools, q, c, words, sums):
    """Adds the tables of a pool; row K of `sums` and its last column hold the totals."""
    kinds = table.shape[3]
    for k in range(words + 1):
        for y in range(kinds + 1):
            sums[k, y] = 0
    for g in range(table.shape[0]):
        if pools[q, g]:
            for k in range(words):
                for y in range(kinds):
                    sums[k, y] += table[g, c, k, y]
    for k in range(words):
        for y in range(kinds):
            sums[k, kinds] += sums[k, y]
            sums[words, y] += sums[k, y]
        sums[words, kinds] += sums[k, kinds]


@phase
def _summarise(sums, words, n_log_n, out, p, q, c):
    """The statistics of one table; all are 0 for an empty table."""
    kinds = sums.shape[1] - 1
    total = sums[words, kinds]
    for s in range(5):
        out[p, q, c, s] = 0.0
    if total > 0:
        within, rows, columns, apart, agreed = 0.0, 0.0, 0.0, 0.0, 0
        for y in range(kinds):
            columns += n_log_n[sums[words, y]]
        two = kinds == 2 and sums[words, 0] > 0 and sums[words, 1] > 0
        for k in range(words):
            rows += n_log_n[sums[k, kinds]]
            for y in range(kinds):
                within += n_log_n[sums[k, y]]
            if k < kinds:
                agreed += sums[k, k]
            if two:
                apart += abs(sums[k, 0] / sums[words, 0] - sums[k, 1] / sums[words, 1])
        out[p, q, c, 0] = max((within - rows - columns + n_log_n[total]) / total, 0.0)
        out[p, q, c, 1] = _context(sums, words)
        out[p, q, c, 2] = apart / 2
        out[p, q, c, 3] = agreed / total
        out[p, q, c, 4] = sums[words, kinds - 1] / total


@phase
def _context(sums, words):
    """Context independence: the mean over attributes y of p(w|y) p(y|w), w being the word with the largest p(y|w)."""
    kinds = sums.shape[1] - 1
    found, met = 0.0, 0
    for y in range(kinds):
        if sums[words, y] > 0:
            met += 1
            best, at = -1.0, 0
            for k in range(words):
                if sums[k, kinds] > 0 and sums[k, y] / sums[k, kinds] > best:
                    best, at = sums[k, y] / sums[k, kinds], k
            found += best * sums[at, y] / sums[words, y]
    return found / met if met > 0 else 0.0


@kernel
def permuted_rank_sums(rank, living, marked, seed, first_number, order, out):
    """Sums of the ranks of marked seats, with the marks permuted among the living seats of each game.

    One order of the seats is drawn per game and permutation and serves all its days, so that a seat's utterances on several days stay
    together.

    Args:
        rank: (G, D, n) float64.
        living: (G, D, n) bool.
        marked: (G, D) int64, number of marks.
        first_number: of the first permutation, from 1.
        order: (n,) int64, scratch.
        out: (P, D) float64.
    """
    games, days, seats = rank.shape
    for p in range(out.shape[0]):
        begin, drawn = episode_start(seed, np.uint64(first_number + p)), np.uint64(0)
        for d in range(days):
            out[p, d] = 0.0
        for g in range(games):
            for i in range(seats):
                order[i] = i
            drawn = _shuffle(order, 0, seats, begin, drawn)
            for d in range(days):
                left = marked[g, d]
                for i in range(seats):
                    if left > 0 and living[g, d, order[i]]:
                        out[p, d] += rank[g, d, order[i]]
                        left -= 1

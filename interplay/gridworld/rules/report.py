"""What the managers do, for a batch: who acts, who is told what, who has finished (specification 2.3)."""

from interplay.core.jit import kernel


@kernel
def line_up(acting, over, learners, order, count, lo, hi):
    """Lists those who act in worlds that go on.

    Args:
        acting: (W, L) bool, over the learners.
        over: (W,) bool.
        learners: (L,) slots.
        order, count: (W, A), (W,), written.
    """
    for w in range(lo, hi):
        number = 0
        if not over[w]:
            for k in range(learners.shape[0]):
                if acting[w, k]:
                    order[w, number] = learners[k]
                    number += 1
        count[w] = number


@kernel
def first_report(
    which, learners, in_turns, line, finished, asked, acting, terminated, truncated, over, reward, lengths
):
    """Begins the episodes of the worlds in ``which``: everybody is observed, all or the first in line act."""
    for w in range(which.shape[0]):
        if not which[w]:
            continue
        lengths[w] = 0
        over[w] = learners.shape[0] == 0
        line[w] = 1 % max(learners.shape[0], 1)
        for k in range(learners.shape[0]):
            finished[w, k] = False
            terminated[w, k] = False
            truncated[w, k] = False
            reward[w, k] = 0.0
            asked[w, learners[k]] = True
            acting[w, k] = k == 0 or not in_turns


@kernel
def report(
    agents,
    done,
    ended,
    learners,
    limit,
    in_turns,
    line,
    finished,
    asked,
    acting,
    terminated,
    truncated,
    over,
    reward,
    lengths,
    lo,
    hi,
):
    """Reports a step of the worlds lo..hi-1 as a manager does.

    Args:
        done, ended: (W, A), (W,) uint8: what the done components say.
        learners: (L,) slots.
        limit: steps after which an episode is cut; 0 = never.
        in_turns: one after another, in the order of the learners.
        line: (W,) int64, who is next in line.
        finished: (W, L) bool, whoever is done.
        asked: (W, A) bool, written: whose observation is wanted.
        acting, terminated, truncated, reward: (W, L); over, lengths: (W,); all written.
    """
    number = learners.shape[0]
    for w in range(lo, hi):
        for k in range(number):
            asked[w, learners[k]] = False
            terminated[w, k] = False
            truncated[w, k] = False
            reward[w, k] = 0.0
        if over[w]:
            for k in range(number):
                acting[w, k] = False
            continue
        lengths[w] += 1
        stop = ended[w] != 0
        cut = not stop and limit > 0 and lengths[w] >= limit
        everybody = stop or cut or not in_turns
        for k in range(number):
            acting[w, k] = False
        for i in range(number):
            k = i if everybody else (line[w] + i) % number
            a = learners[k]
            if finished[w, k]:
                continue
            asked[w, a] = True
            reward[w, k] = agents[w, a].reward
            agents[w, a].reward = 0.0
            if done[w, a]:
                finished[w, k] = True
                terminated[w, k] = True
            else:
                acting[w, k] = True
                if not everybody:
                    line[w] = (k + 1) % number
                    break
        left = False
        for k in range(number):
            left = left or not finished[w, k]
        over[w] = stop or cut or not left
        if over[w]:
            for k in range(number):
                acting[w, k] = False
                if not finished[w, k]:
                    terminated[w, k] = not cut
                    truncated[w, k] = cut

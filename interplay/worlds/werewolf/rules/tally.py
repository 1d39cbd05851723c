"""Sums and counts over the episode for the metrics (specification 10)."""

from interplay.core.jit import phase
from interplay.worlds.werewolf.roles import VOTE, WEREWOLF, WOLF
from interplay.worlds.werewolf.rules.numbers import TARGETS_OFF
from interplay.worlds.werewolf.rules.votes import is_first_mention
from interplay.worlds.werewolf.state import NONE


@phase
def add_count(state, rules, tables, scratch, s, w, voters, best, second):
    """Of every count: the margin, and the entropy of the counted names."""
    tally, votes = state.tally[w], scratch.votes[s]
    tally.counted += 1
    if voters > 0:
        tally.margin += (best - second) / voters
    total, weighted = 0, 0.0
    for j in range(rules.players):
        total += votes[j]
        weighted += votes[j] * tables.logarithm[votes[j]]
    if total > 0 and state.room[w].living > 1:
        entropy = tables.logarithm[total] - weighted / total
        tally.entropy += entropy / tables.logarithm[state.room[w].living]


@phase
def add_kill(state, rules, scratch, s, w, ability):
    """Of every kill: whether the pack's first names differ."""
    tally = state.tally[w]
    tally.kills += 1
    named, split = NONE, False
    for i in range(rules.players):
        if state.ability[w, i] == ability:
            name = scratch.ballots[s, i, 0]
            split = split or (named != NONE and name != named)
            named = name
    tally.splits += split


@phase
def add_suicides(state, rules, scratch, s, w, voters):
    """Of every execution: the share of self-votes by first name, and wolves' votes on wolves."""
    tally, ballots, role, ability = state.tally[w], scratch.ballots[s], state.role[w], state.ability[w]
    suicides, wolf_votes, busses = 0, 0, 0
    for i in range(rules.players):
        name = ballots[i, 0]
        counts = (ability[i] == VOTE) & (name != NONE)
        wolf = counts & (role[i] == WEREWOLF)
        suicides += counts & (name == i)
        wolf_votes += wolf
        busses += wolf & (role[max(name, 0)] == WEREWOLF)
    tally.wolf_votes += wolf_votes
    tally.busses += busses
    if voters > 0:
        tally.suicide += suicides / voters


@phase
def add_execution(state, tables, w, chosen):
    """Of every concluded execution: whether it chose a seat, and a wolf."""
    tally = state.tally[w]
    tally.executions += 1
    if chosen != NONE:
        tally.removed += 1
        tally.hits += tables.counts_as[state.role[w, chosen]] == WOLF


@phase
def compare_with_talk(state, rules, tables, scratch, s, w):
    """Compares votes with the talk before them, by first names, and by whole ballots for b > 1.

    The public board still is the talk's. A voter naming none differs from one that names a seat.
    """
    room = state.room[w]
    if room.public_phase == NONE or rules.arm == TARGETS_OFF:
        return
    if not tables.talks[room.public_phase]:
        return
    tally, ballots, talk, ability = (
        state.tally[w],
        scratch.ballots[s],
        state.public_targets[w],
        state.ability[w],
    )
    spoken, voted = scratch.talked[s], scratch.votes[s]
    talks, votes = count_first_names(state, rules, scratch, s, w)
    voters, switched, followed, follows = 0, 0, 0, 0
    for i in range(rules.players):
        name = ballots[i, 0]
        votes_now = ability[i] == VOTE
        switches = votes_now & (name != talk[i, 0])
        voters += votes_now
        switched += switches
        leads = switches & (name != NONE)
        followed += leads
        follows += leads * (voted[max(name, 0)] - 1)  # without its own vote
    if voters == 0:
        return
    tally.compared += 1
    tally.switch += switched / voters
    tally.follows += follows
    tally.followable += followed * (voters - 1)
    per_talk, per_vote, total = 1.0 / max(talks, 1), 1.0 / max(votes, 1), 0.0
    for j in range(rules.players):
        difference = spoken[j] * per_talk - voted[j] * per_vote
        total += difference * difference
    tally.influence += 1.0 - total
    if rules.names > 1:
        compare_ballots(state, rules, scratch, s, w, voters)


@phase
def count_first_names(state, rules, scratch, s, w):
    """Counts each seat's first mentions in the talk and in the vote."""
    spoken, voted, talk = scratch.talked[s], scratch.votes[s], state.public_targets[w]
    talks, votes = 0, 0
    for j in range(rules.players):
        spoken[j] = voted[j] = 0
    for i in range(rules.players):
        name, before = scratch.ballots[s, i, 0], talk[i, 0]
        counts, counted = (state.ability[w, i] == VOTE) & (name != NONE), before != NONE
        voted[max(name, 0)] += counts
        spoken[max(before, 0)] += counted
        votes += counts
        talks += counted
    return talks, votes


@phase
def compare_ballots(state, rules, scratch, s, w, voters):
    """Mean change of ballots from talk to vote: places, number of repeated names, set of names."""
    tally, ballots, talk, b = state.tally[w], scratch.ballots[s], state.public_targets[w], rules.names
    for i in range(rules.players):
        if state.ability[w, i] != VOTE:
            continue
        places = 0
        for slot in range(b):
            places += ballots[i, slot] != talk[i, slot]
        now, then = count_distinct(ballots[i], b), count_distinct(talk[i], b)
        shared = count_shared(ballots[i], talk[i], b)
        repeats = count_names(ballots[i], b) - now - (count_names(talk[i], b) - then)
        tally.index_distance += places / b / voters
        tally.repetition_distance += abs(repeats) / b / voters
        if now + then > 0:
            tally.set_difference += (now + then - 2 * shared) / (now + then) / voters


@phase
def count_names(ballot, names):
    """The number of names on a ballot."""
    found = 0
    for slot in range(names):
        found += ballot[slot] != NONE
    return found


@phase
def count_distinct(ballot, names):
    """The number of distinct names on a ballot."""
    found = 0
    for slot in range(names):
        found += ballot[slot] != NONE and is_first_mention(ballot, slot)
    return found


@phase
def count_shared(ballot, other, names):
    """The number of distinct names on both ballots."""
    found = 0
    for slot in range(names):
        if ballot[slot] != NONE and is_first_mention(ballot, slot):
            for place in range(names):
                if other[place] == ballot[slot]:
                    found += 1
                    break
    return found


@phase
def add_drift(state, rules, scratch, s, w):
    """The share of a ballot's places that changed since the last execution, for voters in both."""
    tally, ballots, last, b = state.tally[w], scratch.ballots[s], state.last_votes[w], rules.names
    first = tally.executions == 0
    places, voters = 0, 0
    for i in range(rules.players):
        votes = state.ability[w, i] == VOTE
        voters += votes
        for slot in range(b):
            places += votes & (ballots[i, slot] != last[i, slot])
            last[i, slot] = ballots[i, slot] if votes else NONE
    if not first:
        tally.drift += places / b
        tally.drifts += voters

"""Done components: ends of agents and of the simulation."""

from __future__ import annotations

import copy

import pytest

from interplay.gridworld.dones import (
    ActiveDone,
    OneTeamRemainingDone,
    TargetAgentInactiveDone,
    TargetAgentOverlapDone,
    TargetEncodingInactiveDone,
)
from tests.gridworld.fighters import settle, someone


def crowd(*encodings):
    return settle(
        [someone(name, e, 0, i) for i, (name, e) in enumerate(zip("abcdef", encodings, strict=False))]
    )


def flags(done):
    """Done agents, as a text, and whether it is over; both exactly bool."""
    told = {name: done.get_done(agent) for name, agent in done.agents.items()}
    over = done.get_all_done()
    assert {type(flag) for flag in (*told.values(), over)} == {bool}
    return "".join(name for name, flag in told.items() if flag), over


def put_out(those, *names):
    for name in names:
        those["agents"][name].active = False


def test_active():
    """Manual 3.2.13: the inactive are done; it is over when no agent is active."""
    those = crowd(1, 2, 2)
    done = ActiveDone(**those)
    assert flags(done) == ("", False)
    put_out(those, "b")
    assert flags(done) == ("b", False)
    put_out(those, "a", "c")
    assert flags(done) == ("abc", True)


def test_one_team_remaining():
    """D3 and section 3, row 13: inactive agents are done; over at one or zero active encodings."""
    those = crowd(1, 1, 2, 3)
    done = OneTeamRemainingDone(**those)
    assert isinstance(done, ActiveDone)
    assert flags(done) == ("", False)
    put_out(those, "c")
    assert flags(done) == ("c", False)
    put_out(those, "d")
    assert flags(done) == ("cd", True)
    put_out(those, "a", "b")
    assert flags(done) == ("abcd", True)


def test_overlap_is_judged_anew():
    """D1 and section 3, row 14: an agent that leaves its target is no longer done; only mapped agents count; F14: no KeyError."""
    those = settle([someone(n, 1, 0, i) for i, n in enumerate("abcd")], overlapping={1: 1})
    grid, agents = those["grid"], those["agents"]
    done = TargetAgentOverlapDone(**those, target_mapping={"a": "d", "b": "d"})
    assert flags(done) == ("", False)
    assert grid.place(agents["a"], (0, 3))
    assert flags(done) == ("a", False)
    assert grid.place(agents["b"], (0, 3))
    assert flags(done) == ("ab", True)
    assert grid.place(agents["a"], (1, 3))
    assert flags(done) == ("b", False)
    assert grid.place(agents["d"], (1, 3))
    assert flags(done) == ("a", False)


def test_target_inactive():
    """Manual 3.2.16, D1: done with its target; over when all targets are inactive; the unmapped never are."""
    those = crowd(1, 1, 2, 2)
    done = TargetAgentInactiveDone(**those, target_mapping={"a": "c", "b": "d"})
    put_out(those, "a")
    assert flags(done) == ("", False)
    put_out(those, "c")
    assert flags(done) == ("a", False)
    put_out(those, "d")
    assert flags(done) == ("ab", True)


@pytest.mark.parametrize("kind", [TargetAgentOverlapDone, TargetAgentInactiveDone])
def test_mappings_of_ids(kind):
    """C1, C2: no dict, and unknown ids, fail; the mapping is read back."""
    those = crowd(1, 2)
    for wrong in (None, [("a", "b")], {"a": "z"}, {"z": "a"}, {"a": 1}):
        with pytest.raises(AssertionError, match="target_mapping"):
            kind(**those, target_mapping=wrong)
    done = kind(**those, target_mapping={"a": "b"})
    assert done.target_mapping == {"a": "b"}
    with pytest.raises(AssertionError, match="target_mapping"):
        done.target_mapping = {"a": "z"}
    done.target_mapping = {"b": "a"}
    put_out(those, "a")
    assert done.get_done(those["agents"]["b"]) is (kind is TargetAgentInactiveDone)


def test_encodings_inactive():
    """D2: done when no agent of its target encodings is active; it ends when one mapped encoding is done."""
    those = crowd(1, 2, 3, 3, 4)
    done = TargetEncodingInactiveDone(**those, target_mapping={1: {2, 3}, 2: 4})
    assert done.target_mapping == {1: {2, 3}, 2: {4}}
    assert done.sim_ends_if_one_done is True
    put_out(those, "b", "c")
    assert flags(done) == ("", False)
    put_out(those, "d")
    assert flags(done) == ("a", True)
    put_out(those, "e")
    assert flags(done) == ("ab", True)


def test_all_encodings_inactive():
    """D2: with the flag false all mapped encodings must be done."""
    those = crowd(1, 2, 3)
    done = TargetEncodingInactiveDone(**those, target_mapping={1: 2, 2: 3}, sim_ends_if_one_done=False)
    put_out(those, "b")
    assert flags(done) == ("a", False)
    put_out(those, "c")
    assert flags(done) == ("ab", True)


def test_mappings_of_encodings():
    """D2, C2, C3, F11: own and unknown encodings, no dict and no bool fail; a list is a TypeError."""
    those = crowd(1, 2, 3)
    for wrong in (None, {1: 1}, {1: {1, 2}}, {1: 5}, {5: 1}, {"1": 2}):
        with pytest.raises(AssertionError, match="TargetEncodingInactiveDone"):
            TargetEncodingInactiveDone(**those, target_mapping=wrong)
    with pytest.raises(TypeError, match="target_mapping"):
        TargetEncodingInactiveDone(**those, target_mapping={1: [2]})
    for wrong in (0, 1, None):
        with pytest.raises(AssertionError, match="sim_ends_if_one_done"):
            TargetEncodingInactiveDone(**those, target_mapping={1: 2}, sim_ends_if_one_done=wrong)
    given = {1: 2}
    before = copy.deepcopy(given)
    TargetEncodingInactiveDone(**those, target_mapping=given)
    assert given == before


def test_only_some():
    """Section 7: `only` restricts a done component to some agents, by id, encoding or predicate."""
    for only in (["a", "b"], {1}, lambda agent: agent.encoding == 1):
        those = crowd(1, 1, 2)
        done = ActiveDone(**those, only=only)
        put_out(those, "c")
        assert flags(done) == ("", False)
        put_out(those, "a", "b")
        assert flags(done) == ("ab", True)
    those = crowd(1, 2, 3)
    teams = OneTeamRemainingDone(**those, only=[1, 2])
    put_out(those, "b")
    assert flags(teams) == ("b", True)


def test_only_some_targets():
    """Section 7: agents excluded by `only` count as unmapped."""
    those = crowd(1, 1, 2, 3)
    put_out(those, "c")
    mapping = {"a": "c", "b": "d"}
    assert flags(TargetAgentInactiveDone(**those, target_mapping=mapping, only=["a"])) == ("a", True)
    assert flags(TargetAgentInactiveDone(**those, target_mapping=mapping, only=["b"])) == ("", False)
    by_encoding = TargetEncodingInactiveDone(**those, target_mapping={1: 2}, only=["a"])
    assert flags(by_encoding) == ("a", True)


def test_a_done_component_counts_its_own_agents():
    """Release: other agents on the grid, or joined later, do not count."""
    those = crowd(1, 2, 2, 3)
    mine = {"grid": those["grid"], "agents": {name: those["agents"][name] for name in "ab"}}
    targets = TargetEncodingInactiveDone(**mine, target_mapping={1: 2})
    active, teams = ActiveDone(**mine), OneTeamRemainingDone(**mine)
    put_out(those, "b")
    assert flags(targets) == ("a", True)
    assert flags(teams) == ("b", True)
    put_out(those, "a")
    assert flags(active) == ("ab", True)


def test_agents_who_come_later_count_from_then_on():
    """The dictionary is the simulation's own, so a component sees agents added to it."""
    those = crowd(1, 2)
    late = someone("z", 2, 2, 2)
    targets = TargetEncodingInactiveDone(**those, target_mapping={1: 2})
    active = ActiveDone(**those)
    those["grid"].join([late])
    put_out(those, "a", "b")
    assert (flags(targets), flags(active)) == (("ab"[:1], True), ("ab", True))
    those["agents"]["z"] = late
    assert (flags(targets), flags(active)) == (("", False), ("ab", False))

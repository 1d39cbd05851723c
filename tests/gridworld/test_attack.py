"""Attackers: forms, reach, stacking, order of reports, ammo, and the manual's examples."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from gymnasium import spaces

from interplay.gridworld.actors import (
    ActionResult,
    BinaryAttackActor,
    EncodingBasedAttackActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from interplay.gridworld.agents import AttackingAgent
from interplay.sim import Box
from tests.gridworld.fighters import Gunner, at, settle, someone

BINARY, BY_ENCODING = BinaryAttackActor, EncodingBasedAttackActor
SELECTIVE, RESTRICTED = SelectiveAttackActor, RestrictedSelectiveAttackActor
ATTACKERS = [BINARY, BY_ENCODING, SELECTIVE, RESTRICTED]


def attacker(row: int, col: int, **kwargs):
    defaults = {"id": "me", "encoding": 1, "attack_range": 1, "attack_strength": 1, "attack_accuracy": 1}
    return AttackingAgent(initial_position=at(row, col), **(defaults | kwargs))


def full(actor, agent):
    """The action with the maximum number of attacks."""
    if isinstance(actor, EncodingBasedAttackActor):
        return dict.fromkeys(agent.action_space["attack"].spaces, agent.simultaneous_attacks)
    if isinstance(actor, BinaryAttackActor):
        return agent.simultaneous_attacks
    space = agent.action_space["attack"]
    if isinstance(actor, SelectiveAttackActor):
        return space.high.copy()
    return np.minimum(np.arange(1, agent.simultaneous_attacks + 1), space.nvec - 1)


def hit(actor, agent, action):
    attempted, attacked = actor.process_action(agent, {"attack": action})
    assert type(attacked) is list
    return attempted, [each.id for each in attacked]


@pytest.mark.parametrize("kind", ATTACKERS)
def test_key_and_people_who_do_not_attack(kind):
    """T1, T8: the channel is "attack"; other agents get (False, [])."""
    stone = someone("stone", 2, 0, 0)
    actor = kind(**settle([stone, attacker(1, 1)]), attack_mapping={1: 2})
    assert actor.key == "attack"
    assert actor.process_action(stone, {"attack": 1}) == (False, [])
    assert not actor._supported_agent(stone)


@pytest.mark.parametrize("kind", ATTACKERS)
def test_mapping(kind):
    """T7, C2, C3, F11: ints or sets, read back as sets; unknown encodings and wrong containers fail."""
    those = settle([attacker(0, 0), someone("b", 2, 0, 1), someone("c", 3, 0, 2)])
    given = {1: 2, 2: {3, 1}}
    before = copy.deepcopy(given)
    assert kind(**those, attack_mapping=given).attack_mapping == {1: {2}, 2: {3, 1}}
    assert given == before
    for wrong in (None, [1], {1: 4}, {4: 1}, {"1": 2}, {1: {2.0}}, {1.0: [2]}):
        with pytest.raises(AssertionError, match="attack_mapping"):
            kind(**those, attack_mapping=wrong)
    with pytest.raises(TypeError, match="attack_mapping"):
        kind(**those, attack_mapping={1: [2]})


@pytest.mark.parametrize("kind", [BINARY, SELECTIVE, RESTRICTED])
def test_who_is_not_in_the_mapping_attacks_nobody(kind):
    """T7, F14: no entry is no KeyError: the attempt has no target."""
    me = attacker(0, 0)
    actor = kind(**settle([me, someone("b", 2, 0, 1)]), attack_mapping={2: 1})
    assert hit(actor, me, full(actor, me)) == (True, [])


def test_who_is_not_in_the_mapping_has_no_encodings_to_ask_for():
    """T7, T10, F14: the encoding-based form offers nothing then, and nothing is asked for."""
    me = attacker(0, 0)
    actor = BY_ENCODING(**settle([me, someone("b", 2, 0, 1)]), attack_mapping={2: 1})
    assert me.action_space["attack"] == spaces.Dict({})
    assert hit(actor, me, {}) == (False, [])


@pytest.mark.parametrize("kind", ATTACKERS)
def test_null_actions_ask_for_nothing(kind):
    """T8, T10: zeros, in the space; attempted is false then."""
    me = attacker(1, 1, simultaneous_attacks=2)
    actor = kind(**settle([me, someone("b", 2, 0, 1)]), attack_mapping={1: 2})
    me.finalize()
    assert me.null_action in me.action_space
    assert hit(actor, me, me.null_action["attack"]) == (False, [])


def test_spaces():
    """T10: the four forms, n = 3 attacks, range 1."""
    forms = {
        BINARY: spaces.Discrete(4),
        BY_ENCODING: spaces.Dict({2: spaces.Discrete(4), 3: spaces.Discrete(4)}),
        SELECTIVE: Box(0, 3, (3, 3), int),
        RESTRICTED: spaces.MultiDiscrete([10, 10, 10]),
    }
    for kind, space in forms.items():
        me = attacker(1, 1, simultaneous_attacks=3)
        kind(**settle([me, someone("b", 2, 0, 1), someone("c", 3, 2, 2)]), attack_mapping={1: {2, 3}})
        assert me.action_space["attack"] == space
    assert np.array_equal(me.null_action["attack"], [0, 0, 0])


def test_full_range_is_that_of_the_grid():
    """T2: written back when the actor is built; the spaces follow it."""
    me = attacker(0, 0, attack_range="FULL")
    actor = SELECTIVE(**settle([me, someone("b", 2, 2, 3)], rows=3, cols=4), attack_mapping={1: 2})
    assert me.attack_range == 3
    assert me.action_space["attack"].shape == (7, 7)
    assert hit(actor, me, full(actor, me)) == (True, ["b"])


@pytest.mark.parametrize("kind", ATTACKERS)
def test_full_range_is_written_back_by_every_attacker(kind):
    """T2, as the release does, also where spaces do not depend on the range; agents that do not attack keep theirs."""
    me, other = attacker(0, 0, attack_range="FULL"), attacker(2, 3, id="other", attack_range="FULL")
    kind(**settle([me, other], rows=3, cols=4), attack_mapping={1: 1}, only=[me.id])
    assert (me.attack_range, other.attack_range) == (3, "FULL")


@pytest.mark.parametrize("kind", ATTACKERS)
def test_candidates(kind):
    """T9: not oneself, active, mapped, within the square range, not hidden."""
    me = attacker(2, 2, simultaneous_attacks=25, attack_strength=0, attack_range=2)
    those = settle(
        [
            me,
            someone("corner", 2, 0, 0),
            someone("friend", 1, 1, 2),
            someone("stranger", 3, 3, 2),
            someone("far", 2, 2, 5),
            someone("wall", 3, 2, 3, blocking=True),
            someone("hidden", 2, 2, 4),
            someone("sick", 2, 3, 3),
        ],
        cols=6,
    )
    actor = kind(**those, attack_mapping={1: 2})
    those["agents"]["sick"].health = 0.0  # inactive, but still there
    assert set(hit(actor, me, full(actor, me))[1]) == {"corner"}
    those["agents"]["sick"].health = 1.0
    those["agents"]["wall"].active = False  # O7: only active blockers hide
    assert set(hit(actor, me, full(actor, me))[1]) == {"corner", "sick", "hidden"}


@pytest.mark.parametrize("kind", ATTACKERS)
def test_an_attacker_that_hides_others_does_not_hide_them_from_itself(kind):
    me = attacker(1, 1, attack_range=2, simultaneous_attacks=25, attack_strength=0, blocking=True)
    crowd = [someone("wall", 3, 1, 2, blocking=True), someone("hidden", 2, 1, 3), someone("seen", 2, 3, 1)]
    actor = kind(**settle([me, *crowd]), attack_mapping={1: 2})
    assert set(hit(actor, me, full(actor, me))[1]) == {"seen"}


@pytest.mark.parametrize("kind", ATTACKERS)
def test_the_own_cell_and_the_own_encoding_can_be_attacked(kind):
    """T9: agents in the attacker's cell, and its own kind if mapped, never itself."""
    me = attacker(1, 1, simultaneous_attacks=4)
    those = settle([me, someone("twin", 1, 1, 1), someone("b", 1, 1, 2)], overlapping={1: 1})
    actor = kind(**those, attack_mapping={1: 1})
    action = full(actor, me) if kind is not RESTRICTED else [5, 5, 6, 6]
    assert sorted(hit(actor, me, action)[1]) == ["b", "twin"]
    assert me.active


def test_selective_scans_row_by_row_and_counts_each_cell():
    """T11: reports follow the cells; n bounds each cell."""
    me = attacker(1, 1, simultaneous_attacks=2, attack_strength=0)
    crowd = [someone(f"{r}{c}{i}", 2, r, c) for c in range(3) for r in range(3) for i in range(3)]
    actor = SELECTIVE(**settle([me, *crowd], overlapping={2: {1, 2}}), attack_mapping={1: 2})
    action = np.array([[0, 1, 0], [2, 0, 0], [1, 0, 2]])
    attempted, names = hit(actor, me, action)
    assert attempted
    assert [name[:2] for name in names] == ["01", "10", "10", "20", "22", "22"]
    assert len(set(names)) == 6


def test_encodings_are_attacked_in_the_order_of_the_action():
    """T11: groups in the order of the action dict; n bounds each encoding."""
    me = attacker(1, 1, simultaneous_attacks=2, attack_strength=0)
    crowd = [someone(f"{e}{i}", e, e - 2, i) for e in (2, 3, 4) for i in range(3)]
    actor = BY_ENCODING(**settle([me, *crowd], overlapping={1: 3}), attack_mapping={1: {2, 3, 4}})
    assert [name[0] for name in hit(actor, me, {4: 1, 2: 2, 3: 2})[1]] == list("42233")
    assert [name[0] for name in hit(actor, me, {2: 0, 3: 1, 4: 2})[1]] == list("344")
    for wrong in (
        {2: 1},
        {2: 1, 3: 1, 4: 3},
        {2: 1, 3: 1, 4: 1, 5: 1},
        {2: 1, 3: 1, 4: -1},
        {2: 1, 3: 1, 4: 1.0},
        2,
        None,
    ):
        with pytest.raises(AssertionError, match="me: attack action"):
            hit(actor, me, wrong)


def test_restricted_cells_are_numbered_row_by_row():
    """T12 and section 3, row 2: 1 top left, 2 to the right of it; reports follow the entries (T11)."""
    me = attacker(1, 1, attack_strength=0, simultaneous_attacks=3)
    ring = [someone(f"{r}{c}", 2, r, c) for r in range(3) for c in range(3) if (r, c) != (1, 1)]
    actor = RESTRICTED(**settle([me, *ring]), attack_mapping={1: 2})
    for number in (1, 2, 3, 4, 6, 7, 8, 9):
        row, col = divmod(number - 1, 3)
        assert hit(actor, me, [0, number, 0]) == (True, [f"{row}{col}"])
    assert hit(actor, me, np.array([9, 2, 4])) == (True, ["22", "01", "10"])
    assert hit(actor, me, [0, 5, 0]) == (True, [])


def test_cells_outside_the_grid_are_wasted():
    """T11, T12: an attack may aim there, without effect."""
    me = attacker(0, 0)
    those = settle([me, someone("b", 2, 0, 1)])
    restricted, selective = (kind(**those, attack_mapping={1: 2}) for kind in (RESTRICTED, SELECTIVE))
    assert hit(restricted, me, [1]) == (True, [])
    assert hit(selective, me, np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0]])) == (True, [])
    assert hit(restricted, me, [6]) == (True, ["b"])


@pytest.mark.parametrize("kind", [BINARY, RESTRICTED])
@pytest.mark.parametrize("stacked", [False, True])
def test_n_bounds_the_whole_turn(kind, stacked):
    """T11, T13: binary and restricted launch n attacks, however many could be hit."""
    me = attacker(1, 1, simultaneous_attacks=3, attack_strength=0)
    ring = [someone(f"{r}{c}", 2, r, c) for r in range(3) for c in range(3) if (r, c) != (1, 1)]
    actor = kind(**settle([me, *ring]), attack_mapping={1: 2}, stacked_attacks=stacked)
    assert len(hit(actor, me, 3 if kind is BINARY else [1, 2, 3])[1]) == 3


@pytest.mark.parametrize("kind", ATTACKERS)
def test_not_stacked_hits_once_and_wastes_the_rest(kind):
    """T13."""
    me = attacker(0, 0, simultaneous_attacks=3, attack_strength=0.25)
    those = settle([me, someone("b", 2, 0, 1)])
    actor = kind(**those, attack_mapping={1: 2})
    action = full(actor, me) if kind is not RESTRICTED else [6, 6, 6]
    assert hit(actor, me, action) == (True, ["b"])
    assert those["agents"]["b"].health == 0.75


@pytest.mark.parametrize("kind", ATTACKERS)
def test_stacked_hits_again_even_the_dead(kind):
    """T13: an agent may appear several times, even after it has died within the same action."""
    me = attacker(0, 0, simultaneous_attacks=3, attack_strength=0.6)
    those = settle([me, someone("b", 2, 0, 1)])
    actor = kind(**those, attack_mapping={1: 2}, stacked_attacks=True)
    action = full(actor, me) if kind is not RESTRICTED else [6, 6, 6]
    assert hit(actor, me, action) == (True, ["b", "b", "b"])
    victim = those["agents"]["b"]
    assert (victim.health, victim.active, actor.grid[0, 1]) == (0.0, False, {})
    assert hit(actor, me, action) == (True, [])


@pytest.mark.parametrize("kind", ATTACKERS)
def test_strength_zero_is_a_success_and_the_killed_leave_at_once(kind):
    """T15."""
    me = attacker(0, 0, attack_strength=0)
    those = settle([me, someone("b", 2, 0, 1, initial_health=0.5)])
    actor, victim = kind(**those, attack_mapping={1: 2}), those["agents"]["b"]
    action = full(actor, me) if kind is not RESTRICTED else [6]
    assert hit(actor, me, action) == (True, ["b"])
    assert (victim.health, victim.active) == (0.5, True)
    me.attack_strength = 0.5
    assert hit(actor, me, action) == (True, ["b"])
    assert (victim.health, victim.active) == (0.0, False)
    assert actor.grid[0, 1] == {}
    assert victim.position.tolist() == [0, 1]


@pytest.mark.parametrize("kind", ATTACKERS)
@pytest.mark.parametrize("stacked", [False, True])
def test_ammo_falls_by_successes(kind, stacked):
    """T16: not by attempts; with none left the answer is (True, [])."""
    me = Gunner(
        id="me",
        encoding=1,
        initial_position=at(1, 1),
        initial_ammo=5,
        simultaneous_attacks=4,
        attack_strength=0,
    )
    ring = [someone("b", 2, 0, 0), someone("c", 2, 0, 1)]
    actor = kind(**settle([me, *ring]), attack_mapping={1: 2}, stacked_attacks=stacked)
    me.ammo = 5
    action = full(actor, me) if kind is not RESTRICTED else [1, 1, 2, 2]
    left = 5
    for _ in range(4):
        attempted, names = hit(actor, me, action)
        assert attempted
        most = 2 if not stacked else 8 if kind is SELECTIVE else 4
        assert len(names) == min(most, left)
        left -= len(names)
        assert me.ammo == left
    assert left == 0
    me.ammo = 3
    empty = [5, 9, 8, 7] if kind is RESTRICTED else action
    for victim in ring:
        victim.active = False
    assert hit(actor, me, empty) == (True, [])
    assert me.ammo == 3


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        (BINARY, 2),
        (BY_ENCODING, {2: 2}),
        (SELECTIVE, np.array([[1, 0, 2], [0, 0, 0], [0, 0, 0]])),
        (RESTRICTED, np.array([1, 3])),
    ],
)
def test_actions_stay_as_they_are(kind, action):
    """T3, F10: no attacker writes into the action, nor keeps it."""
    me = attacker(1, 1, simultaneous_attacks=2)
    actor = kind(**settle([me, someone("b", 2, 0, 0), someone("c", 2, 0, 2)]), attack_mapping={1: 2})
    given = {"attack": action, "move": 3}
    before = copy.deepcopy(given)
    actor.process_action(me, given)
    assert given.keys() == before.keys()
    assert np.array_equal(given["attack"], before["attack"])


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        *((BINARY, wrong) for wrong in (3, -1, 1.0, None, "1", [1, 1], 2**32 + 1)),
        *(
            (RESTRICTED, wrong)
            for wrong in ([10, 0], [-1, 0], [1], [1, 2, 3], 1, [0.5, 1], {1: 2}, [2**32 + 1, 0])
        ),
        *(
            (SELECTIVE, wrong)
            for wrong in (np.full((3, 3), 3), np.full((3, 3), -1), np.ones((3, 2), int), 1, np.ones((3, 3)))
        ),
    ],
)
def test_attacks_outside_the_space_fail(kind, wrong):
    """C1, T10: points outside the space are refused, and no agent is hit."""
    me = attacker(0, 0, simultaneous_attacks=2)
    those = settle([me, someone("b", 2, 0, 1)])
    actor = kind(**those, attack_mapping={1: 2})
    with pytest.raises(AssertionError, match="me: attack action"):
        hit(actor, me, wrong)
    assert those["agents"]["b"].health == 1.0


def test_results_in_the_common_form():
    """Section 7: attempted, success, targets."""
    me = attacker(0, 0)
    those = settle([me, someone("b", 2, 0, 1)])
    actor, victim = BINARY(**those, attack_mapping={1: 2}), those["agents"]["b"]
    assert actor.as_result(actor.process_action(me, {"attack": 0})) == ActionResult(False, False, ())
    assert actor.as_result(actor.process_action(me, {"attack": 1})) == ActionResult(True, True, (victim,))
    assert actor.as_result(actor.process_action(me, {"attack": 1})) == ActionResult(True, False, ())


# -- the examples of the manual ------------------------------------------------------------------------------------------


def scene(health, third=2, strength=0.4, attacks=2, overlapping=None, cells=((1, 0), (1, 1), (0, 1))):
    me = attacker(0, 0, attack_strength=strength, simultaneous_attacks=attacks)
    others = [
        someone(f"agent{i + 1}", 2 if i < 2 else third, *cell, initial_health=health[i])
        for i, cell in enumerate(cells)
    ]
    those = settle([me, *others], 2, 2, overlapping=overlapping)
    return me, those["agents"], those


def alive(agents):
    return [name for name, agent in agents.items() if agent.active and name != "me"]


@pytest.mark.parametrize("seed", range(5))
def test_binary_example(seed):
    """Manual 3.2.12, binary: two in the mapping, not stacked; the weak one dies, the strong one takes both turns."""
    me, agents, those = scene((1, 0.3, None), third=3)
    those["grid"].board.stream[0] = seed, 0, 0
    actor = BINARY(**those, attack_mapping={1: {2}}, stacked_attacks=False)
    hit(actor, me, 2)
    assert alive(agents) == ["agent1", "agent3"]
    assert hit(actor, me, 2) == (True, ["agent1"])
    assert alive(agents) == ["agent1", "agent3"]
    assert agents["agent1"].health == pytest.approx(0.2)


def test_encoding_based_example():
    """Manual 3.2.12, encoding-based: both stacked attacks on encoding 3 fall on its only agent."""
    me, agents, those = scene((1, 1, 0.5), third=3)
    actor = BY_ENCODING(**those, attack_mapping={1: {2, 3}}, stacked_attacks=True)
    assert hit(actor, me, {2: 0, 3: 2}) == (True, ["agent3", "agent3"])
    assert [agents[f"agent{i}"].health for i in (1, 2)] == [1, 1]
    assert not agents["agent3"].active


def test_selective_example():
    """Manual 3.2.12, selective: five attacks, of which the two on attackable agents succeed."""
    me, agents, those = scene(
        (1, 1, None), third=3, strength=1, overlapping={2: {3}, 3: {2}}, cells=((1, 0), (0, 1), (0, 1))
    )
    actor = SELECTIVE(**those, attack_mapping={1: {2}}, stacked_attacks=False)
    assert hit(actor, me, np.array([[0, 1, 0], [0, 1, 2], [0, 1, 0]])) == (True, ["agent2", "agent1"])
    assert alive(agents) == ["agent3"]


def test_restricted_example():
    """Manual 3.2.12, restricted: two attacks on one cell count once; the next turn finishes all three."""
    me, agents, those = scene((0.1, 0.1, 1), strength=0.6, attacks=3, cells=((1, 0), (0, 1), (1, 1)))
    actor = RESTRICTED(**those, attack_mapping={1: {2}}, stacked_attacks=False)
    assert hit(actor, me, [9, 9, 0]) == (True, ["agent3"])
    assert (agents["agent3"].active, agents["agent3"].health) == (True, 0.4)
    assert hit(actor, me, [9, 6, 8]) == (True, ["agent3", "agent2", "agent1"])
    assert alive(agents) == []

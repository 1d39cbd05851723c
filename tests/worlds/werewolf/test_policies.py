"""Scripted players, rule by rule, at tables set by hand (specification 11, and 13, numbers 11 and 12)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.worlds.werewolf.phases import DAY_EXECUTION, DAY_TALK, NIGHT_KILL, NIGHT_TALK
from interplay.worlds.werewolf.players.villagers import CoordinatedLynch, Oracle, Password
from interplay.worlds.werewolf.players.wolves import (
    AvoidWolves,
    Bandwagon,
    Defend,
    MimicWolf,
    MutedWolf,
    RandomTarget,
    Revenge,
    StaticSignal,
    Unite,
)
from interplay.worlds.werewolf.policies import POLICIES
from tests.worlds.werewolf.hand_table import HandTable, even, named, start

MANY = 3000
NINE = "vvvWWvvWv"  # wolves sit on 3, 4 and 7
PACK = (3, 4, 7)
VILLAGERS = (0, 1, 2, 5, 6, 8)


@pytest.fixture(scope="module")
def nine() -> HandTable:
    return HandTable(NINE, MANY, signal_length=2, signal_range=3)


def test_random_is_even_over_names_and_symbols(nine: HandTable) -> None:
    policy = start(POLICIES["random"](), nine)
    assert even(named(policy, nine.show(DAY_EXECUTION, dead=(1,)), 3), (0, 2, 3, 4, 5, 6, 7, 8), MANY)
    assert even(named(policy, nine.show(NIGHT_KILL), 3), VILLAGERS, MANY)
    action = policy.act(nine.show(DAY_TALK))
    pairs = np.bincount((action[:, 5, 1] * 3 + action[:, 5, 2]).astype(int), minlength=9) / MANY
    assert abs(pairs - 1 / 9).max() < 5 * np.sqrt(8) / 9 / np.sqrt(MANY)


def test_heads_of_a_long_action_are_independent() -> None:
    """Several symbols are cut out of one draw: no two of them may know of each other."""
    table = HandTable(NINE, MANY, signal_length=9, signal_range=9)
    action = start(POLICIES["random"](), table).act(table.show(DAY_TALK))[:, 0].astype(int)
    for i in range(10):
        for j in range(i):
            pairs = np.bincount(action[:, i] * 9 + action[:, j], minlength=81)
            chi = ((pairs - MANY / 81) ** 2 / (MANY / 81)).sum()
            assert chi < 80 + 5.5 * np.sqrt(160)


def test_a_pass_is_random_but_no_target() -> None:
    table = HandTable("vvvvW", MANY, allow_abstain=True)
    step = table.show(DAY_EXECUTION)
    assert even(named(start(POLICIES["random"](), table), step, 4), range(6), MANY)
    assert even(named(start(RandomTarget(), table), step, 4), range(5), MANY)


def test_every_slot_of_a_random_ballot_is_drawn(nine: HandTable) -> None:
    table = HandTable("vvvvvW", MANY, ballot_len=2)
    for policy in (RandomTarget(), AvoidWolves()):
        action = start(policy, table).act(table.show(DAY_EXECUTION))
        same = (action[:, 5, 0] == action[:, 5, 1]).mean()
        assert abs(same - (1 / 6 if type(policy) is RandomTarget else 1 / 5)) < 0.04
    action = start(Unite(), table).act(table.show(DAY_EXECUTION))
    assert (action[:, 5, 0] == action[:, 5, 1]).all()


# -- wolves -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [NIGHT_KILL, DAY_EXECUTION])
def test_unite_shares_one_villager(nine: HandTable, phase: int) -> None:
    policy = start(Unite(), nine)
    action = policy.act(nine.show(phase, dead=(0,)))[:, PACK, 0]
    assert (action == action[:, :1]).all()
    assert even(named(policy, nine.show(phase, dead=(0,)), 3), (1, 2, 5, 6, 8), MANY)


def test_unite_draws_the_same_whatever_the_batch(nine: HandTable) -> None:
    """Defect 12: wolves in other calls or other batches still agree."""
    step = nine.show(NIGHT_KILL)
    whole = start(Unite(), nine, 5).act(step)[:, PACK, 0].copy()
    for seat in PACK:
        alone = np.zeros_like(step.acting)
        alone[:, seat] = step.acting[:, seat]
        said = start(Unite(), nine, 5).act(step._replace(acting=alone))[:, seat, 0]
        np.testing.assert_array_equal(said, whole[:, PACK.index(seat)])
    half = HandTable(NINE, MANY // 2, signal_length=2, signal_range=3)
    half.world.first_world = MANY // 2
    np.testing.assert_array_equal(
        start(Unite(), half, 5).act(half.show(NIGHT_KILL))[:, PACK, 0], whole[MANY // 2 :]
    )


def test_wolves_avoid_wolves_by_day_too(nine: HandTable) -> None:
    policy = start(AvoidWolves(), nine)
    for phase in (DAY_TALK, DAY_EXECUTION, NIGHT_KILL):
        assert even(named(policy, nine.show(phase, dead=(8,)), 4), (0, 1, 2, 5, 6), MANY)
    assert even(named(policy, nine.show(DAY_EXECUTION), 0), range(9), MANY)  # a villager's seat is random


def test_a_revote_without_villagers_leaves_the_pack_any_name(nine: HandTable) -> None:
    step = nine.show(DAY_EXECUTION, tied=(3, 7))
    for policy in (Unite(), AvoidWolves(), Revenge()):
        assert even(named(start(policy, nine), step, 4), (3, 7), MANY)


TALK = [
    3,
    0,
    4,
    5,
    5,
    0,
    7,
    6,
    2,
]  # 0 named wolf 3, 2 wolf 4, 6 wolf 7; each once: the count is never the seat


def test_revenge_names_an_accuser_not_a_count(nine: HandTable) -> None:
    """Defect 11: the published code names seat 1 here, because the pack was named once by each."""
    for phase in (NIGHT_KILL, DAY_EXECUTION):
        policy = start(Revenge(), nine)
        assert even(named(policy, nine.show(phase, names=TALK), 3), (0, 2, 6), MANY)
        assert even(named(policy, nine.show(phase, dead=(2,)), 7), (0, 6), MANY)


def test_revenge_counts_names_of_long_ballots() -> None:
    table = HandTable("vvvvvvWW", MANY, ballot_len=3, vote_depth=1)
    talk = [[0, 1, 2], [6, 1, 0], [6, 7, 0], [7, 0, 6], [0, 0, 0], [1, 1, 1], [6, 7, 7], [6, 6, 6]]
    policy = start(Revenge(), table)
    assert even(named(policy, table.show(DAY_EXECUTION, names=talk), 6), (2, 3), MANY)
    assert even(named(policy, table.show(DAY_EXECUTION, dead=(2, 3)), 7), (1,), MANY)


def test_revenge_remembers_the_talk_behind_the_votes(nine: HandTable) -> None:
    """The board of the vote replaces the talk's before the night's kill."""
    policy = start(Revenge(), nine)
    policy.act(nine.show(DAY_EXECUTION, names=TALK))
    policy.act(nine.show(NIGHT_TALK, names=[8] * 9, board=DAY_EXECUTION, day=1))
    assert even(named(policy, nine.show(NIGHT_KILL, day=1), 4), (0, 2, 6), MANY)


def test_without_board_or_accuser_revenge_is_random(nine: HandTable) -> None:
    fresh = HandTable(NINE, MANY)
    assert even(named(start(Revenge(), fresh), fresh.show(DAY_EXECUTION), 4), range(9), MANY)
    for names in ([0, 1, 2, 4, 3, 5, 6, 7, 8], [-1] * 9):  # of the pack only the pack itself
        policy = start(Revenge(), nine)
        assert even(named(policy, nine.show(NIGHT_KILL, names=names), 4), VILLAGERS, MANY)


def test_a_restart_forgets_the_board() -> None:
    table = HandTable(NINE, MANY, board="last_visible")
    policy = start(Revenge(), table)
    policy.act(table.show(DAY_TALK))
    policy.act(table.show(DAY_EXECUTION, names=TALK))
    policy.forget(np.ones(MANY, bool))
    assert even(named(policy, table.show(NIGHT_KILL), 4), VILLAGERS, MANY)


def test_defend_is_for_mates_alone(nine: HandTable) -> None:
    policy = start(Defend(), nine)
    step = nine.show(DAY_EXECUTION, names=TALK)
    assert even(named(policy, step, 3), (2, 6), MANY)
    assert even(named(policy, step, 7), (0, 2), MANY)


@pytest.mark.parametrize("form", ["last_visible", "last_phase"])
def test_revenge_in_the_written_form(form: str) -> None:
    """One board, hidden role and pack: the pack is inferred from the night's mask, the board's phase is remembered."""
    table = HandTable(NINE, MANY, board=form, obs={"role": False, "pack": False})
    policy = start(Revenge(), table)
    first = policy.act(table.show(NIGHT_TALK))
    assert np.isin(first[:, PACK, 0], VILLAGERS).all()
    policy.act(table.show(DAY_TALK, names=[-1, -1, -1, 0, 1, -1, -1, 2, -1], board=NIGHT_TALK))
    assert even(named(policy, table.show(DAY_EXECUTION, names=TALK), 3), (0, 2, 6), MANY)
    policy.act(table.show(NIGHT_TALK, names=[8] * 9, board=DAY_EXECUTION))
    assert even(named(policy, table.show(NIGHT_KILL, names=[8] * 9, board=NIGHT_TALK), 3), (0, 2, 6), MANY)


def test_words_of_static_wolves(nine: HandTable) -> None:
    step = nine.show(DAY_TALK, day=4)
    wolves, others = list(PACK), list(VILLAGERS)
    assert (start(StaticSignal((2, 1)), nine).act(step)[:, wolves, 1:] == (2, 1)).all()
    assert (start(StaticSignal("day"), nine).act(step)[:, wolves, 1:] == 4 % 3).all()
    seats = start(StaticSignal("seat"), nine).act(step)[0, wolves, 1:]
    np.testing.assert_array_equal(seats, np.repeat([[0], [1], [1]], 2, axis=1))
    muted = start(MutedWolf(), nine).act(step)
    assert (muted[:, wolves, 1:] == 0).all()
    assert len(np.unique(muted[:, others, 1:])) == 3
    drawn = {
        tuple(start(StaticSignal(), nine, seed).act(step)[:, wolves, 1:].reshape(-1, 2).max(0))
        for seed in range(20)
    }
    assert len(drawn) > 4
    assert even(named(start(StaticSignal(), nine), step, 3), range(9), MANY)


def test_mimic_repeats_the_commonest_villager_word(nine: HandTable) -> None:
    words: list[Any] = [[2, 1], [0, 0], [2, 1], [1, 1], [1, 1], [2, 2], [0, 0], [1, 1], [2, 0]]
    policy = start(MimicWolf(), nine)
    action = policy.act(nine.show(DAY_EXECUTION, names=[5, 5, 3, 3, 3, 3, 8, 8, 0], words=words))
    said, counts = np.unique(action[:, 3, 1:], axis=0, return_counts=True)
    np.testing.assert_array_equal(said, [[0, 0], [2, 1]])  # wolves' own [1, 1] is not a villager's
    assert abs(counts[0] / MANY - 0.5) < 0.05
    assert even(named(policy, nine.show(DAY_EXECUTION), 4), (5, 8), MANY)
    assert even(named(policy, nine.show(NIGHT_KILL, dead=(5,)), 7), (8,), MANY)


def test_mimic_before_any_board_is_random() -> None:
    table = HandTable(NINE, MANY, signal_length=1, signal_range=4)
    policy = start(MimicWolf(), table)
    step = table.show(NIGHT_KILL)
    assert even(named(policy, step, 3), VILLAGERS, MANY)
    assert len(np.unique(policy.act(step)[:, 3, 1])) == 4


# -- both sides -------------------------------------------------------------------------------------------------------


def test_bandwagon_follows_the_last_board_one_saw(nine: HandTable) -> None:
    policy = start(Bandwagon(), nine)
    step = nine.show(DAY_EXECUTION, names=[3, 3, 3, 0, 0, 0, 8, 8, 1])
    for seat in (0, 3):
        assert even(named(policy, step, seat), (0, 3), MANY)
    assert even(
        named(policy, nine.show(NIGHT_TALK, names=[3, 3, 3, 0, 0, 1, 1, 1, 1], board=DAY_EXECUTION), 4),
        (1,),
        MANY,
    )
    night = nine.show(NIGHT_KILL, names=[-1, -1, -1, 5, 5, -1, -1, 2, -1], board=NIGHT_TALK)
    assert even(named(policy, night, 4), (5,), MANY)
    assert even(named(policy, nine.show(DAY_TALK, dead=(5,)), 0), (1,), MANY)


# -- villagers --------------------------------------------------------------------------------------------------------


def test_the_lot_falls_where_the_numbers_say(nine: HandTable) -> None:
    dead = (0, 5)  # the living, counted: 1, 2, 3, 4, 6, 7, 8 are 0, 1, 2, 3, 4, 5, 6
    names = [-1, 8, 8, 1, 2, -1, 6, 7, -1]  # 6 + 6 + 0 + 1 + 4 + 5 = 22, one left of three times 7
    policy = start(CoordinatedLynch(), nine)
    for villager in (1, 2, 6, 8):
        assert named(policy, nine.show(DAY_EXECUTION, dead=dead, names=names), villager) == {2: 1.0}
    names[1] = 3  # 18: place 4
    assert named(policy, nine.show(DAY_EXECUTION, dead=dead, names=names), 6) == {6: 1.0}


def test_the_lot_by_words() -> None:
    table = HandTable("vvvWWvv", MANY, signal_length=1, signal_range=9)
    policy = start(CoordinatedLynch("word"), table)
    said = policy.act(table.show(DAY_TALK, dead=(0, 1)))[:, 2, 1]
    assert sorted(np.unique(said)) == [0, 1, 2, 3, 4]
    words = [[-1], [-1], [4], [8], [8], [0], [3]]  # 23 among 2, 3, 4, 5, 6: place 3
    assert named(policy, table.show(DAY_EXECUTION, dead=(0, 1), words=words), 6) == {5: 1.0}
    with pytest.raises(UserError, match="signal_range = 3"):
        start(CoordinatedLynch("word"), HandTable("vvvvW", signal_length=1, signal_range=3))


def test_password_names_who_did_not_say_it(nine: HandTable) -> None:
    policy = start(Password((2, 0)), nine)
    step = nine.show(DAY_TALK)
    assert (policy.act(step)[:, VILLAGERS, 1:] == (2, 0)).all()
    words: list[Any] = [[2, 0]] * 9
    words[3], words[7] = [2, 1], [0, 0]
    assert even(named(policy, nine.show(DAY_EXECUTION, words=words), 0), (3, 7), MANY)
    assert even(named(policy, nine.show(DAY_EXECUTION, dead=(3,)), 0), (7,), MANY)
    assert even(named(policy, nine.show(DAY_EXECUTION, words=[[2, 0]] * 9), 0), range(9), MANY)


@pytest.mark.parametrize("word", [3, (1, 1, 1), -1])
def test_words_that_do_not_fit_are_refused(nine: HandTable, word: Any) -> None:
    with pytest.raises(UserError, match="signal_length = 2"):
        start(Password(word), nine)


def test_the_oracle_names_a_wolf_together_from_its_day_on(nine: HandTable) -> None:
    policy = start(Oracle(from_day=2), nine)
    assert even(named(policy, nine.show(DAY_EXECUTION), 0), range(9), MANY)
    step = nine.show(DAY_EXECUTION, day=1, dead=(4,))
    assert even(named(policy, step, 0), (3, 7), MANY)
    action = policy.act(step)[:, VILLAGERS, 0]
    assert (action == action[:, :1]).all()

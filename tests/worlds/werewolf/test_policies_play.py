"""Scripted players in whole games: legal everywhere, the same in every batch, as strong as theory says (specification 11, 14.5)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interplay.core.policy import Policy
from interplay.core.settings import build
from interplay.evaluate import PolicyMap, play
from interplay.registry import make_world
from interplay.worlds.werewolf.config import VARIANTS, WerewolfSettings
from interplay.worlds.werewolf.players.villagers import CoordinatedLynch, Oracle, Password
from interplay.worlds.werewolf.policies import POLICIES
from interplay.worlds.werewolf.theory import odds
from interplay.worlds.werewolf.world import WerewolfWorld
from tests.worlds.werewolf.settings_of_games import options

NAMES = sorted(POLICIES)


def make(worlds: int, seed: int = 0, first_world: int = 0, **given: Any) -> WerewolfWorld:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = build(WerewolfSettings, given, "play")
    return WerewolfWorld(chosen, worlds, seed, first_world=first_world)


def play_on(world: WerewolfWorld, policy: Policy, steps: int) -> list[np.ndarray]:
    """Plays and restarts; the rows of actions that were read, others -1. Refuses whatever the masks do not allow."""
    heads = np.concatenate([[0], np.cumsum(world.action_space.nvec)])[:-1]  # type: ignore[attr-defined]
    step, read = world.reset(), []
    policy.start(world, 7)
    for _ in range(steps):
        action = policy.act(step).copy()
        mask: Any = step.action_mask
        legal = np.take_along_axis(mask["action"], action.astype(np.int64) + heads, axis=-1)
        assert legal[step.acting].all(), policy.name
        read.append(np.where(step.acting[..., None], action, -1))
        step = world.step(action)
        if step.over.any():
            over = step.over.copy()
            step = world.reset(over)
            policy.forget(over)
    return read


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_every_player_is_legal_in_every_variant(variant: str) -> None:
    for name in NAMES:
        play_on(make(3, **VARIANTS[variant]), POLICIES[name](), 30)


@given(options(), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_player_is_legal_under_all_settings(given: dict[str, Any], seed: int) -> None:
    world = make(2, seed, **given)
    for name in NAMES:
        play_on(world, POLICIES[name](), 25)


@pytest.mark.parametrize("name", NAMES)
def test_a_world_alone_is_a_world_of_a_batch(name: str) -> None:
    """Defect 12: no draw may know where a world stands in its batch."""
    form = {"n_players": 9, "signal_length": 2, "signal_range": 9}
    whole = play_on(make(5, seed=3, **form), POLICIES[name](), 40)
    for first, worlds in ((0, 2), (2, 3)):
        part = play_on(make(worlds, 3, first, **form), POLICIES[name](), 40)
        np.testing.assert_array_equal(np.array(part), np.array(whole)[:, first : first + worlds])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("told", [True, False])
def test_what_was_saved_goes_on_the_same(name: str, told: bool) -> None:
    form: dict[str, Any] = {"n_players": 9, "signal_length": 2, "signal_range": 9}
    if not told:
        form |= {"board": "last_phase", "obs": {"role": False, "pack": False}}
    world, policy = make(6, 3, **form), POLICIES[name]()
    step = world.reset()
    policy.start(world, 7)
    for _ in range(6):
        step = world.step(policy.act(step))
    snapshot, memory = world.save(), policy.save()
    again, other = make(6, 0, **form), POLICIES[name]()
    other.start(again, 8)
    other.load(memory)
    there = again.load(snapshot)
    for _ in range(10):
        action, same = policy.act(step), other.act(there)
        np.testing.assert_array_equal(action[step.acting], same[there.acting])
        step, there = world.step(action), again.step(same)


def test_one_policy_for_all_does_as_one_for_each_side() -> None:
    """Other players, and other seats of the same policy, do not change a seat's actions."""
    world = make(64, n_players=9, signal_length=1, signal_range=9)
    step = world.reset()
    for name in NAMES:
        apart = []
        for side in (0, 1):
            policy = POLICIES[name]()
            policy.start(world, 7)
            own = step.acting & (world.population == side)
            apart.append(policy.act(step._replace(acting=own)).copy())
        policy = POLICIES[name]()
        policy.start(world, 7)
        both = policy.act(step)
        chosen = np.where((world.population == 1)[..., None], apart[1], apart[0])
        np.testing.assert_array_equal(both[step.acting], chosen[step.acting])


# -- strength ---------------------------------------------------------------------------------------------------------


def wolves_win(villagers: Policy, wolves: Policy, games: int, **form: Any) -> float:
    table = play(
        make(min(games, 2000), **form), PolicyMap({0: villagers, 1: wolves}, by="population"), games, seed=11
    )
    return float(table["win_wolf"].mean())


def near(share: float, p: float, games: int) -> bool:
    return abs(share - p) <= 4 * np.sqrt(p * (1 - p) / games)


@pytest.mark.parametrize("n", [6, 7, 9, 10, 11])
@pytest.mark.parametrize("wolves", ["random_target", "unite", "avoid_wolves", "revenge"])
def test_an_oracle_always_wins(n: int, wolves: str) -> None:
    assert wolves_win(Oracle(), POLICIES[wolves](), 300, n_players=n) == 0.0


@pytest.mark.parametrize(("n", "villagers_win"), [(6, 0.4), (7, 1 / 3), (9, 0.375), (10, 1.0), (11, 1.0)])
def test_an_oracle_from_the_second_day(n: int, villagers_win: float) -> None:
    share = wolves_win(Oracle(from_day=2), POLICIES["random_target"](), 6000, n_players=n)
    assert near(share, 1 - villagers_win, 6000)


@pytest.mark.parametrize(
    ("n", "wolves", "p"), [(6, "unite", 0.983704), (9, "avoid_wolves", 0.996807), (10, "unite", 0.998716)]
)
def test_packs_win_as_often_as_computed(n: int, wolves: str, p: float) -> None:
    assert near(wolves_win(POLICIES["random"](), POLICIES[wolves](), 20_000, n_players=n), p, 20_000)


@pytest.mark.parametrize("by", ["target", "word"])
@pytest.mark.parametrize("wolves", ["random", "avoid_wolves"])
def test_a_lot_is_as_good_as_chance(by: str, wolves: str) -> None:
    """Whoever the lot falls on is uniform over the living, whatever numbers wolves give (14.1)."""
    form = {"n_players": 9, "signal_length": 1, "signal_range": 12}
    share = wolves_win(CoordinatedLynch(by), POLICIES[wolves](), 20_000, **form)
    assert near(share, 1 - float(odds.villagers_win(3, 6)), 20_000)


@pytest.mark.parametrize(("length", "symbols"), [(1, 2), (1, 9), (2, 3)])
def test_wolves_guess_a_password_as_often_as_chance(length: int, symbols: int) -> None:
    """S to the power of -L (14.5)."""
    world = make(4000, n_players=9, signal_length=length, signal_range=symbols)
    word = np.arange(length) % symbols
    policy = Password(word.tolist())
    step = world.reset()
    policy.start(world, 1)
    while (step.observation["public_phase"] != 2).any():
        step = world.step(policy.act(step))
    passed = (step.observation["public_signals"][:, 0] == word).all(axis=-1)
    wolf = world.population == 1
    alive = world.state.alive
    assert passed[~wolf & alive].all()
    assert near(passed[wolf].mean(), float(symbols) ** -length, wolf.sum())


def test_a_known_password_is_a_won_game() -> None:
    form = {"n_players": 9, "signal_length": 9, "signal_range": 9}
    p = wolves_win(Password(), POLICIES["random_target"](), 2000, **form)
    assert p < 0.15
    assert wolves_win(Password(), POLICIES["mimic_wolf"](), 2000, **form) > 0.9


def test_words_of_the_policies_reach_the_registry() -> None:
    world = make_world("werewolf/9-l1s9", num_worlds=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert play(world, POLICIES["bandwagon"](), 4)["win_wolf"].shape == (4,)

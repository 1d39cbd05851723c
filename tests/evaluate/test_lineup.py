"""Lineups: sides by every name, players drawn by their shares, and the same numbers as policies in a `PolicyMap`."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.seeding import world_seeds
from interplay.evaluate import PolicyMap, play
from interplay.evaluate.lineup import (
    ANY,
    FIRST,
    Choice,
    Lineup,
    Rule,
    find_side,
    line_of,
    players_of,
    seats_of,
    teams_of,
)
from interplay.registry import make_policy, make_world
from interplay.worlds.werewolf.policies import POLICIES
from tests.train.toy_worlds import Corridor

BATTLE = "battle/3m"


def by_script(world: str, side: str, script: str) -> Rule:
    return Rule(side, (Choice(script, open=partial(make_policy, world, script)),))


def test_a_script_on_one_side_plays_as_in_a_policy_map():
    lineup = Lineup(RandomPolicy(), [by_script(BATTLE, "blue", "attack_move")])
    played = play(make_world(BATTLE, num_worlds=5), lineup, episodes=12, seed=4)
    own, theirs = RandomPolicy(), make_policy(BATTLE, "attack_move")
    by_hand = PolicyMap({slot: own if slot < 3 else theirs for slot in range(6)})
    other = play(make_world(BATTLE, num_worlds=5), by_hand, episodes=12, seed=4)
    for name, values in other.columns.items():
        np.testing.assert_array_equal(played[name], values)
    assert played.players == {"red": "random", "blue": "attack_move"}


def test_populations_are_played_as_in_a_policy_map():
    rules = [Rule("werewolf", (Choice("unite", open=POLICIES["unite"]),))]
    world = "werewolf/9-l1s9"
    played = play(make_world(world, num_worlds=6), Lineup(RandomPolicy(), rules, narrow=True), 9, seed=2)
    by_hand = PolicyMap({0: RandomPolicy(), 1: POLICIES["unite"]()}, by="population")
    other = play(make_world(world, num_worlds=6), by_hand, episodes=9, seed=2)
    np.testing.assert_array_equal(played["return"], other["return"])
    assert played.seating is not None
    assert (
        played.seating.own.sum(axis=1) == played.seating.own[0].sum()
    ).all()  # as many villagers in every game
    assert len({tuple(row) for row in played.seating.own.tolist()}) > 1  # in other seats


def test_means_are_of_the_policy_under_study_and_of_each_side():
    lineup = Lineup(RandomPolicy(), [by_script(BATTLE, "team1", "attack_move")])
    table = play(make_world(BATTLE, num_worlds=4), lineup, episodes=10, seed=1)
    summary = table.summary()
    for name in ("return", "health"):
        red, blue = table[name][:, :3].mean(axis=1), table[name][:, 3:].mean(axis=1)
        assert summary[name].mean == pytest.approx(red.mean())
        assert summary[f"{name}[red]"] == summary[name]
        assert summary[f"{name}[blue]"].mean == pytest.approx(blue.mean())
        assert summary[name].standard_error == pytest.approx(red.std(ddof=1) / np.sqrt(10))
    won = (table["outcome"][:, 0] > 0).mean()
    assert summary["won[red]"].mean == pytest.approx(won) == summary["lost[blue]"].mean
    assert "outcome" not in summary


def test_slots_of_several_populations_in_an_episode_count_for_none_of_them():
    """A slot is lived in by both populations, so its return is of neither player; a player of a slot has the slot's."""
    world = "mmo/forage"
    options = {"npop": 2, "slots": 8, "cap_draw": "fixed", "interior": 20, "respawn": "immediate"}
    lived = [set() for _ in range(8)]

    def look(world, episode):
        for slot, population in enumerate(world.population[0]):
            lived[slot].add(int(population))

    found = {}
    for side in ("pop1", "slot_3"):
        lineup = Lineup(make_policy(world, "forager"), [by_script(world, side, "random")])
        batch = make_world(world, num_worlds=1, **options)
        found[side] = play(batch, lineup, episodes=3, seed=2, max_steps=200, on_step=look)
    assert lived.count({0, 1}) > 4
    by_population, by_slot = found["pop1"].summary(), found["slot_3"].summary()
    assert by_population["return"].n == 0
    assert found["pop1"].learner_results() is None
    returns = found["slot_3"]["return"]
    assert by_slot["return"].mean == pytest.approx(np.delete(returns, 3, axis=1).mean())
    assert by_slot["return[slot_3]"].mean == pytest.approx(returns[:, 3].mean())
    for summary in (by_population, by_slot):
        assert not {"return[pop0]", "return[pop1]"} & {*summary}


@pytest.mark.parametrize(
    ("world", "name", "slots"),
    [
        (BATTLE, "red", (0, 1, 2)),
        (BATTLE, "team1", (3, 4, 5)),
        (BATTLE, "blue_1", (4,)),
        ("pommerman/team", "team1", (1, 3)),
        ("gridworld/team-battle", "team2", (2, 6, 10, 14, 18, 22)),
        ("pong/2p", "pop0", (0, 1)),
    ],
)
def test_a_side_is_found_by_team_seat_and_population(world, name, slots):
    made = make_world(world)
    assert find_side(name, made).slots == slots
    if len(slots) == 1:
        assert made.agents[slots[0]] == name


def test_a_population_of_the_world_is_a_side():
    made = make_world("werewolf/9-l1s9", num_worlds=3)
    made.reset()
    side = find_side("werewolf", made)
    number = made.population_names.index("werewolf")
    np.testing.assert_array_equal(side.of(made), made.population == number)
    with pytest.raises(UserError):
        find_side("werwolf", made)


def drawn(lineup: Lineup, seeds: np.ndarray) -> np.ndarray:
    """(N, A) the players of episodes with those seeds."""
    world = Corridor(len(seeds))
    world.reset()
    lineup.start(world, 0)
    lineup.draw(np.ones(len(seeds), bool), seeds)
    return lineup.seats()


def mixed(side: str) -> Lineup:
    choices = (Choice("self", 0.6), Choice("random", 0.3, RandomPolicy), Choice("other", 0.1, RandomPolicy))
    return Lineup(RandomPolicy(), [Rule(side, choices)], seats_of)


def within(count: float, draws: int, share: float) -> bool:
    return abs(count - draws * share) < 4 * np.sqrt(draws * share * (1 - share))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shares_are_of_the_episodes(seed):
    seats = drawn(mixed("walker_1"), world_seeds(seed, 1_000))
    assert (seats[:, 0] == FIRST).all()
    for player, share in enumerate((0.6, 0.3, 0.1)):
        assert within((seats[:, 1] == player).sum(), 1_000, share)


def test_any_side_is_as_likely():
    seats = drawn(mixed(ANY), world_seeds(5, 2_000))
    assert ((seats != FIRST).sum(axis=1) <= 1).all()
    for slot in range(2):
        for player, share in ((1, 0.15), (2, 0.05)):
            assert within((seats[:, slot] == player).sum(), 2_000, share)


def test_sides_draw_independently():
    lineup = mixed("walker_0")
    lineup = Lineup(lineup.first, [*lineup.rules, *mixed("walker_1").rules], seats_of)
    seats = drawn(lineup, world_seeds(6, 4_000))
    both = (seats[:, 0] == FIRST) & (seats[:, 1] == FIRST)
    assert within(both.sum(), 4_000, 0.36)


def test_the_players_of_an_episode_depend_on_its_seed_alone():
    """Also with another number of worlds and another order of episodes."""
    tables = [play(Corridor(worlds), mixed("walker_1"), episodes=40, seed=3) for worlds in (1, 7, 40)]
    for table in tables[1:]:
        np.testing.assert_array_equal(table.seating.own, tables[0].seating.own)
    assert 0 < tables[0].seating.own[:, 1].sum() < 40


def test_a_mean_over_drawn_seats_leaves_out_the_others():
    table = play(Corridor(8), mixed(ANY), episodes=60, seed=8)
    own = table.seating.own
    assert not own.all()
    expected = [table["return"][e][own[e]].mean() for e in range(60)]
    assert table.summary()["return"].mean == pytest.approx(np.mean(expected))


def test_shares_of_the_policy_under_study_are_of_episodes_with_others():
    """A script plays one side in half of the episodes; the others are self-play, half won."""
    rule = Rule(ANY, (Choice("self", 0.5), Choice("still", 0.5, partial(make_policy, BATTLE, "still"))))
    lineup = Lineup(make_policy(BATTLE, "attack_move"), [rule], teams_of)
    table = play(make_world(BATTLE, num_worlds=20), lineup, episodes=40, seed=3)
    own = table.seating.own
    mixed_ = own.any(axis=1) & ~own.all(axis=1)
    assert 10 < mixed_.sum() < 30
    ours = [table["outcome"][e][own[e]][0] for e in np.flatnonzero(mixed_)]
    cut = table["truncated"][mixed_].astype(bool)
    summary = table.summary()
    assert summary["won"].mean == pytest.approx(np.mean([x > 0 for x in ours]))
    assert summary["lost"].mean == pytest.approx(np.mean([x < 0 for x in ours]))
    assert summary["cut"].mean == pytest.approx(
        np.mean([x == 0 and c for x, c in zip(ours, cut, strict=True)])
    )
    assert summary["won"].mean > 0.9


def test_later_rules_replace_earlier_ones_and_are_not_opened_then():
    def never() -> RandomPolicy:
        raise AssertionError

    rules = [Rule("blue", (Choice("gone", open=never),)), by_script(BATTLE, "team1", "attack_nearest")]
    world = make_world(BATTLE)
    assert players_of(Lineup(RandomPolicy(), rules), world)["blue"] == "attack_nearest"
    own = Lineup(RandomPolicy(), [rules[0], Rule("blue", (Choice("self"),))], teams_of)
    assert players_of(own, world) == {"all": "random"}


def test_one_seat_of_a_team_is_named_by_itself():
    rules = [by_script(BATTLE, "blue", "attack_move"), by_script(BATTLE, "red_1", "still")]
    world = make_world(BATTLE)
    world.reset()
    lineup = Lineup(RandomPolicy(), rules, teams_of)
    found = players_of(lineup, world)
    assert found == {
        "red_0": "random",
        "red_1": "still",
        "red_2": "random",
        **{f"blue_{n}": "attack_move" for n in range(3)},
    }
    assert line_of(found) == "red_0, red_2: random · red_1: still · blue_0, blue_1, blue_2: attack_move"
    assert lineup.learner == ("red_0", "red_2")


def test_a_lineup_goes_on_as_it_was_saved():
    one, world = mixed(ANY), Corridor(6)
    world.reset()
    one.start(world, 3)
    for _ in range(4):
        one.forget(np.ones(6, bool))
    kept, there = one.save(), one.seats()
    other = mixed(ANY)
    other.start(world, 9)
    other.load(kept)
    np.testing.assert_array_equal(other.seats(), there)
    other.forget(np.ones(6, bool))
    one.forget(np.ones(6, bool))
    np.testing.assert_array_equal(other.seats(), one.seats())


def test_a_slot_that_the_world_plays_itself_counts_for_no_player():
    """A bat that never moves loses every game to the bat of the game."""
    world = make_world("pong/2p", num_worlds=4, follow="right")
    table = play(world, make_policy("pong/2p", "still"), episodes=6, seed=1)
    assert table.players == {"left": "still", "right": "the game"}
    assert table.seating is not None
    assert table.seating.own.tolist() == [[True, False]] * 6
    summary = table.summary()
    assert summary["won"].mean == summary["won[left]"].mean == 0.0
    assert summary["return"].mean == summary["return[left]"].mean == -20.0 == -summary["return[right]"].mean
    rules = [by_script("pong/2p", side, "random") for side in ("left", "right")]
    lineup = Lineup(RandomPolicy(), rules)  # as of a run's training: its player on the right gives way
    assert players_of(lineup, world) == {"left": "random", "right": "the game"}
    chosen = Lineup(RandomPolicy(), [rules[1]._replace(chosen=True)])
    with pytest.raises(UserError, match="right"):
        players_of(chosen, world)
    assert players_of(RandomPolicy(), make_world("pong/2p")) == {"all": "random"}

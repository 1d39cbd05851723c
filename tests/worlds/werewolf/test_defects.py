"""Defects of the reference implementation that cannot happen here: a test for each (specification 13)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from interplay import make_policy, make_world
from interplay.connect.pettingzoo import WorldEnv
from interplay.connect.werewolf import make_role_named
from interplay.core.masks import to_gymnasium
from interplay.core.settings import build
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.roles import EXTRA, NAMES, VILLAGERS, WEREWOLF, WOLVES
from interplay.worlds.werewolf.theory import odds
from tests.worlds.werewolf.call_patterns import VIEWS, dense
from tests.worlds.werewolf.closed_form import closed_form
from tests.worlds.werewolf.games import game, play, rounds, same, shown, split
from tests.worlds.werewolf.secrets import role_names, scramble, sight_of
from tests.worlds.werewolf.settings_of_games import options

pytestmark = pytest.mark.slow

ANY = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@given(chosen=options(), seed=st.integers(0, 99))
@settings(max_examples=30, **ANY)
def test_1_phase_off_by_one(chosen, seed):
    world = game(num_worlds=2, seed=seed, **chosen)
    for action in rounds(world, seed):
        going = ~world.timestep.over
        announced = world.timestep.observation["phase"].copy()
        assert (announced == announced[:, :1]).all()
        world.step(action)
        assert (announced[going, 0] == world.state.room["ended_phase"][going]).all()


@given(chosen=options(), seed=st.integers(0, 99))
@settings(max_examples=30, **ANY)
def test_2_villagers_wake_at_night(chosen, seed):
    """What sleepers and the dead hand in changes nothing, in no array of the world."""
    quiet, loud = (game(num_worlds=2, seed=seed, **chosen) for _ in range(2))
    rng = np.random.default_rng(seed)
    for action in rounds(quiet, seed):
        asleep = ~quiet.timestep.acting
        anything = rng.integers(0, quiet.action_space.nvec, action.shape)
        noise = np.where(asleep[..., None], anything, action)
        quiet.step(action)
        loud.step(noise)
        same(quiet.save(), loud.save())
        same(shown(quiet), shown(loud))


@given(chosen=options(), seed=st.integers(0, 99))
@settings(max_examples=30, **ANY)
def test_3_ghost_votes(chosen, seed):
    """Boards have no rows of players that were dead when they were written, nor a dying hunter's shot."""
    world = game(seed=seed, **chosen)
    state = world.state
    for action in rounds(world, seed):
        alive, spoke = state.alive[0].copy(), world.timestep.acting[0].copy()
        world.step(action)
        ended = state.room["ended_phase"][0]
        for board in ("public", "pack"):
            if state.room[f"{board}_phase"][0] == ended:
                targets = getattr(state, f"{board}_targets")[0]
                words = getattr(state, f"{board}_signals")[0]
                silent = ~(alive & spoke)
                assert (targets[silent] == -1).all()
                assert (words[silent] == -1).all()


@given(chosen=options(), seed=st.integers(0, 999), steps=st.integers(0, 14), data=st.data())
@settings(max_examples=120, **ANY)
def test_4_mask_leaks_roles(chosen, seed, steps, data):
    """At any reached state of any game: other roles, as far as the owner cannot tell, and the owner sees the same bits."""
    world = game(seed=seed, **chosen)
    adapter = WorldEnv(world)
    adapter.reset(seed=seed)
    for taken, action in enumerate(rounds(world, seed)):
        if taken == steps:
            break
        world.step(action)
    assume(not world.timestep.over[0])
    owner = data.draw(st.integers(0, world.settings.n_players - 1))
    before, roles, snapshot = sight_of(world, adapter, 0, owner), role_names(world, 0), world.save()
    for attempt in range(4):
        scramble(world, 0, owner, np.random.default_rng((seed, attempt)))
        world.refresh()
        where = f"seat {owner}, {roles} -> {role_names(world, 0)}"
        same(before, sight_of(world, adapter, 0, owner), where)
        world.load(snapshot)


@pytest.mark.parametrize("board", ["split", "last_visible", "last_phase"])
def test_4_the_property_would_notice_a_leak(board):
    """The power of the test above: what a wolf may see does change with the pack, and so does its mask."""
    world = game("9-l1s2", board=board)
    adapter = WorldEnv(world)
    adapter.reset(seed=1)
    wolf = int(np.flatnonzero(world.state.role[0] == WEREWOLF)[0])
    mate = int(np.flatnonzero(world.state.role[0] == WEREWOLF)[1])
    villager = int(np.flatnonzero(world.state.role[0] != WEREWOLF)[0])
    before = sight_of(world, adapter, 0, wolf)
    world.state.role[0, [mate, villager]] = world.state.role[0, [villager, mate]]
    world.refresh()
    after = sight_of(world, adapter, 0, wolf)
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert {"pack", "mask", "info/action_mask"} <= changed


def test_4_masks_of_extra_roles_and_their_private_channels():
    """Every extra role at every step of whole games has its mask and only its own knowledge."""
    acted = set()
    for seed in range(6):
        world = game("9", seed=seed, wolves=2, roles=dict.fromkeys(EXTRA, 1), guard_repeat=False)
        adapter = WorldEnv(world)
        adapter.reset(seed=seed)
        for t, action in enumerate(rounds(world, seed)):
            snapshot = world.save()
            befores = [sight_of(world, adapter, 0, owner) for owner in range(9)]
            for owner, before in enumerate(befores):
                if world.timestep.acting[0, owner]:
                    acted.add((NAMES[world.state.role[0, owner]], int(world.state.room["phase"][0])))
                scramble(world, 0, owner, np.random.default_rng((seed, t, owner)))
                world.refresh()
                same(before, sight_of(world, adapter, 0, owner), f"step {t}, seat {owner}")
                world.load(snapshot)
            world.step(action)
    assert {("seer", 1), ("guard", 1), ("witch", 4), ("hunter", 5), ("werewolf", 1)} <= acted


def test_5_silent_timeouts():
    never = game("21", num_worlds=300, seed=4)
    play(never)
    assert not never.metrics["timeout"].any()
    assert never.state.room["winner"].min() >= 0

    cut = game("21", num_worlds=300, seed=4, max_days=2, reward_terms=True)
    team = np.zeros(300)
    for action in rounds(cut):
        cut.step(action)
        team += np.abs(cut.reward_terms[..., 3]).sum(axis=1)
        assert not (cut.timestep.truncated & cut.timestep.terminated).any()
    timeout = cut.metrics["timeout"]
    assert timeout.any()
    sums = cut.metrics["win_vil"].astype(int) + cut.metrics["win_wolf"] + timeout
    assert (sums == 1).all()
    assert (team[timeout] == 0).all()
    assert (team[~timeout] == 21 * 25.0).all()
    assert (cut.metrics["tot_days"][timeout] == 2).all()


@pytest.mark.parametrize("symbols", [1, 7, 21])
@pytest.mark.parametrize("length", [0, 1, 14])
def test_6_mask_corrupt_when_symbols_exceed_players(symbols, length):
    world = game("7", num_worlds=2, signal_length=length, signal_range=symbols)
    heard = set()
    for action in rounds(world, 3):
        acting, mask = world.timestep.acting, world.timestep.action_mask["action"]
        names, words = split(world, mask)
        alive = world.timestep.observation["status_map"].astype(bool)
        talks = acting & (world.timestep.observation["phase"] >= 2)
        assert (names[talks][:, :7] == alive[talks]).all()
        assert not names[acting][:, 7].any()
        assert words[acting].all()
        assert (words[~acting].sum(axis=-1) == 1).all()
        assert words[~acting][..., :1].all()
        sent, going = action[..., 1:].copy(), ~world.timestep.over
        acted = acting.copy()
        world.step(action)
        for w in np.flatnonzero(going):
            public = world.state.room["ended_phase"][w] >= 2
            board = world.state.public_signals if public else world.state.pack_signals
            assert (board[w][acted[w]] == sent[w][acted[w]]).all()
            heard |= set(board[w][acted[w]].ravel().tolist())
    assert heard == (set(range(symbols)) if length else set()) or (length == 1 and len(heard) > 0)


@given(chosen=options(), seed=st.integers(0, 99))
@settings(max_examples=20, **ANY)
def test_7_global_random_generator(chosen, seed):
    """A game is a function of its seed and the actions: alone or in a batch, beside another batch, with any threads."""
    batch, again = (game(num_worlds=4, seed=seed, **chosen) for _ in range(2))
    single = game(seed=seed, **chosen, first_world=2)
    threaded = game(num_worlds=4, seed=seed, threads=2, **chosen)
    disturbing = game(num_worlds=3, seed=seed + 1, **chosen)
    others = rounds(disturbing, 9)
    for action in rounds(batch, seed):
        for world in (batch, again, threaded):
            world.step(action)
            np.random.random()  # noqa: NPY002 - nobody may listen to it
            if (other := next(others, None)) is not None:
                disturbing.step(other)
        single.step(action[2:3])
        same(shown(batch), shown(again))
        same(shown(batch), shown(threaded))
        same({name: value[2:3] for name, value in shown(batch).items()}, shown(single))
    same(batch.save(), again.save())
    same(batch.save(), threaded.save())
    same({name: array[2:3] for name, array in batch.save().items()}, single.save())


def test_8_normalisers_too_large():
    agreed, alone = (game("9", num_worlds=5, seed=8) for _ in range(2))
    while not agreed.timestep.over.all():
        names, _ = split(agreed, agreed.timestep.action_mask["action"])
        # All name the first seat legal for a wolf: at night the victim, by day the executed player.
        first = np.array([row[0][:9].argmax() for row in names])
        human = (agreed.state.alive & (agreed.state.role != WEREWOLF)).argmax(axis=1)
        assert first.shape == human.shape
        agreed.step(np.broadcast_to(human[:, None, None], (5, 9, 1)))
    assert agreed.metrics["accord"].tolist() == [1.0] * 5
    assert agreed.metrics["discord"].tolist() == [0.0] * 5
    while not alone.timestep.over.all():
        night = alone.state.room["phase"][:, None] < 2
        human = (alone.state.alive & (alone.state.role != WEREWOLF)).argmax(axis=1)
        alone.step(np.where(night, human[:, None], np.arange(9))[..., None])
    assert alone.metrics["suicide"].tolist() == [1.0] * 5
    assert (alone.metrics["suicide_refnorm"] < 1).all()  # what the published code shows


@given(chosen=options())
@settings(max_examples=40, **ANY)
def test_9_constructor_argument_mix_up(chosen):
    made = build(WerewolfSettings, chosen, "werewolf")
    assert WerewolfSettings.model_validate_json(made.model_dump_json()) == made
    assert build(WerewolfSettings, made.model_dump(), "werewolf") == made
    with pytest.raises(TypeError):
        WerewolfSettings(9, 3)
    with pytest.raises(ValidationError, match="wolves"):
        WerewolfSettings(wolves={"seer": 1})
    assert WerewolfSettings(roles={"seer": 1}).wolves == "sqrt"


def test_10_no_per_agent_end_for_the_dead():
    world = game("9", num_worlds=50, seed=2, dead="end_with_bootstrap")
    ends = np.zeros((50, 9), int)
    died_early = np.zeros((50, 9), bool)
    for action in rounds(world):
        was_alive = world.state.alive.copy()
        world.step(action)
        now = world.timestep
        ends += now.terminated
        died = was_alive & ~world.state.alive
        assert now.terminated[died].all()
        assert not (now.terminated & ~died & ~now.over[:, None]).any()
        died_early |= died & ~now.over[:, None]
        assert (now.reward[died_early & ~died] == 0).all()
        assert (world.late_reward[~now.over] == 0).all()
    assert (ends == 1).all()
    won = np.where(world.state.role == WEREWOLF, WOLVES, VILLAGERS) == world.state.room["winner"][:, None]
    assert (world.late_reward == np.where(died_early, np.where(won, 25.0, -25.0), 0.0)).all()

    watching = game("9", num_worlds=50, seed=2, dead="spectate")
    for action in rounds(watching):
        going = ~watching.timestep.over
        watching.step(action)
        now, alive = watching.timestep, watching.state.alive
        paid = now.reward[going & now.over]
        assert (np.abs(paid) >= 25 - 5 - 2).all()  # the team's result reaches the dead
        assert not now.acting[~alive].any()  # what a learner weighs
        assert (now.terminated == now.over[:, None])[now.terminated.any(axis=1)].all()


def test_11_revenge_slip():
    """A wolf names the player that accused the pack most, not the count: by day, and in the night after it."""
    for phase in ("execution", "kill"):
        for seed in range(4):
            world = game("9", seed=seed, ballot_len=2, vote_depth=2, talk_rounds_night=0)
            policy = make_policy("werewolf/9", "revenge")
            policy.start(world, seed=1)
            wolves = np.flatnonzero(world.state.role[0] == WEREWOLF)
            while world.state.room["phase"][0] != 2:
                world.step(policy.act(world.timestep))
            humans = np.flatnonzero((world.state.role[0] != WEREWOLF) & world.state.alive[0])
            loud = humans[-1]  # not the seat whose number is the count
            talk = np.repeat(np.arange(9)[:, None], 2, axis=1)[None].astype(np.int16)  # all name themselves,
            talk[0, loud] = wolves[:2]  # but for one, whose two names are of the pack,
            talk[0, humans[0]] = (wolves[2], humans[0])  # and another with one
            policy.act(world.timestep)
            world.step(talk)
            said = policy.act(world.timestep)
            if phase == "execution":
                assert (said[0, wolves] == loud).all()
                continue
            quiet = next(seat for seat in humans if seat not in (loud, humans[0]))
            world.step(np.full((1, 9, 2), quiet))
            assert world.state.room["phase"][0] == 1
            assert (policy.act(world.timestep)[0, wolves] == loud).all()
            assert loud not in (1, 2, 3)


def test_12_unite_needs_co_located_wolves():
    """Games with a pack that shares its target are the same whole and in parts."""
    whole, first, second = (game("9", number, 5, first_world=at) for number, at in ((4, 0), (2, 0), (2, 2)))
    policies = []
    for world in (whole, first, second):
        policies.append(make_policy("werewolf/9", "unite"))
        policies[-1].start(world, seed=3)
    counted = 0
    while not whole.timestep.over.all():
        said = policies[0].act(whole.timestep)
        counts = np.isin(whole.state.room["phase"], (1, 3)) & ~whole.timestep.over
        pack = (whole.state.role == WEREWOLF) & whole.timestep.acting
        for w in np.flatnonzero(counts):
            named = set(said[w, pack[w], 0].tolist())
            assert len(named) == 1
            assert whole.state.role[w, named.pop()] != WEREWOLF
            counted += pack[w].sum() > 1
        whole.step(said)
        for world, policy in ((first, policies[1]), (second, policies[2])):
            world.step(policy.act(world.timestep))
        same(
            whole.save(),
            {name: np.concatenate([array, second.save()[name]]) for name, array in first.save().items()},
        )
    assert counted > 4


@pytest.mark.parametrize("relabel", [False, True])
@pytest.mark.parametrize(
    "chosen",
    [
        {"signal_length": 2, "signal_range": 4, "obs": {"history": 2}, "reveal_role": True},
        {"ballot_len": 3, "vote_depth": 2, "claims": True, "allow_abstain": True},
        {"board": "last_visible", "signal_length": 1, "roles": {"seer": 1, "hunter": 1}},
    ],
)
def test_13_relabelling_direction(relabel, chosen):
    """A player with a role-bearing name and shuffled ids, and the same player in the native world: equal games."""
    for seed in range(4):
        named = make_role_named("werewolf/9", relabel=relabel, **chosen)
        native = make_world("werewolf/9", 1, 0, **chosen)
        native.reset(seeds=seed)
        observations, infos = named.reset(seed=seed)
        moved = 0
        for action in rounds(native, seed):
            given = {}
            for name in named.agents:
                seat = native.agents.index(named._seat_of[name])
                if infos[name]["acting"]:
                    given[name] = named.labels.action_out(action[0, seat])
                    moved += not np.array_equal(given[name], action[0, seat])
                    parts = to_gymnasium(named.action_space(name), infos[name]["action_mask"])
                    for part, choice in zip(parts, given[name], strict=True):
                        assert part[choice] == 1
            observations, rewards, *_, infos = named.step(given)
            native.step(action)
            same(named.world.save(), native.save())
            assert named.world.metrics["illegal"][0] == 0
            for name, seen in observations.items():
                assert named.observation_space(name).contains(seen)
                seat = native.agents.index(named._seat_of[name])
                assert rewards[name] == native.timestep.reward[0, seat]
                told = {key: field[0, seat] for key, field in native.timestep.observation.items()}
                _assert_relabelled(seen, told, named.labels.ids)
                assert name.startswith("werewolf") == (native.state.role[0, seat] == WEREWOLF)
        assert (moved > 0) == relabel


def _assert_relabelled(seen, told, ids):
    """`seen` says of id ids[s] what `told` says of seat s; spelled out, not by the connector's own tables."""
    people = {-1: -1, **{seat: int(label) for seat, label in enumerate(ids)}}
    for key in ("own_id", "last_eaten", "last_executed"):
        assert int(seen[key]) == people[int(told[key])]
    for key in ("status_map", "pack", "private_info", "revealed", "signal", "public_signals", "pack_signals"):
        for seat in range(len(ids)) if key in told else ():
            assert np.array_equal(seen[key][people[seat]], told[key][seat]), key
    for key in ("targets", "public_targets", "pack_targets"):
        for seat in range(len(ids)) if key in told else ():
            named = [people[int(x)] for x in np.atleast_1d(told[key][seat])]
            assert np.atleast_1d(seen[key][people[seat]]).tolist() == named, key
    for key in ("past_targets", "past_signals") if "past_targets" in told else ():
        for k, board in enumerate(told[key]):
            for seat in range(len(ids)):
                row = np.atleast_1d(board[seat])
                row = [people[int(x)] for x in row] if key == "past_targets" else row.tolist()
                assert np.atleast_1d(seen[key][k][people[seat]]).tolist() == row
    for key in ("public_claims", "pack_claims") if "public_claims" in told else ():
        for seat in range(len(ids)):
            verb, subject, role = told[key][seat].tolist()
            subject = people.get(subject, subject)  # n: no subject
            assert seen[key][people[seat]].tolist() == [verb, subject, role]


GAMES = (
    {"variant": "9-l1s9"},
    {"variant": "published-code"},
    {"variant": "aiwolf13", "dead": "spectate"},
    {"variant": "9", "roles": {"witch": 1, "hunter": 2, "guard": 1}, "obs": {"history": 2}},
    {"variant": "9", "max_days": 1, "talk_rounds_day": 2, "tie": "revote"},
    {"variant": "9-l1s2", "board": "last_visible", "allow_abstain": True, "rule": "majority"},
)


@pytest.mark.parametrize("view", VIEWS)
def test_14_call_pattern_independence(view):
    if view == "rllib":
        pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")
    for seed, chosen in enumerate(GAMES):
        expected, _ = dense(seed, **chosen)
        seen, _ = VIEWS[view](seed, **chosen)
        assert seen == expected, chosen
        assert sum(map(len, seen.values())) > 10


@pytest.mark.parametrize("view", VIEWS)
def test_15_return_equality(view):
    if view == "rllib":
        pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")
    for seed, chosen in enumerate(GAMES):
        _, expected = dense(seed, **chosen)
        _, earned = VIEWS[view](seed, **chosen)
        assert earned == pytest.approx(expected), chosen
        assert len(set(earned.values())) > 1


def test_16_wrong_theory_table():
    """The wrong table at 6 players: n for n - 1, to extinction, double factorials below 0 taken for 1."""
    wrong = 1 - (Fraction(1) - 2 * Fraction(15, 48) + Fraction(8, 48))
    assert float(wrong) == pytest.approx(0.458, abs=5e-4)
    right = 1 - odds.villagers_win(2, 4)
    assert right == Fraction(13, 15) == 1 - closed_form(2, 5)
    world = game("6", num_worlds=4000, seed=16)
    play(world)
    share = world.metrics["win_wolf"].mean()
    error = float(right * (1 - right) / 4000) ** 0.5
    assert abs(share - float(right)) < 4 * error < abs(share - float(wrong))


@given(chosen=options(), seed=st.integers(0, 999))
@settings(max_examples=40, **ANY)
def test_what_is_seen_is_the_same_made_anew(chosen, seed):
    """Views are written where they changed; from the state alone they come out the same, and so does a world restored."""
    world, other = (game(num_worlds=2, seed=seed, **chosen) for _ in range(2))
    for t, action in enumerate(rounds(world, seed)):
        world.step(action)
        before = shown(world)
        world.refresh()
        same(before, shown(world), f"after step {t}")
        other.load(world.save())
        same(before, shown(other), f"restored after step {t}")


@pytest.mark.parametrize("roles", [{}, {"seer": 1, "guard": 4}])
def test_what_is_seen_in_phases_of_ones_own_is_the_same_made_anew(roles):
    """Two attacks a night, which guards may stop, and days without deaths: masks must still be updated."""
    table = [
        {
            "name": "night_kill",
            "night": True,
            "rounds": 2,
            "audience": "pack",
            "resolver": "kill",
            "actors": {"werewolf": "attack", "seer": "divine", "guard": "guard"},
        },
        {"name": "murmur", "actors": {"villager": "speak", "guard": "speak"}, "rounds": 2},
        {"name": "day_execution", "actors": {"all": "vote"}, "resolver": "execution"},
    ]
    rules = {"guard_repeat": False, "rule": "majority", "reveal_role": True}
    for seed in range(5):
        world = game("9", num_worlds=6, seed=seed, phases=table, wolves=1, roles=roles, **rules)
        for t, action in enumerate(rounds(world, seed)):
            world.step(action)
            before = shown(world)
            world.refresh()
            same(before, shown(world), f"after step {t}")


def test_a_snapshot_in_the_middle_of_a_game_goes_on_alike():
    world = game("aiwolf13", num_worlds=6, seed=3, roles={"seer": 1, "guard": 1, "witch": 1, "hunter": 1})
    actions = []
    snapshot, middle = None, 7
    for t, action in enumerate(rounds(world, 3)):
        if t == middle:
            snapshot = world.save()
        if t >= middle:
            actions.append(action)
        world.step(action)
    end = world.save()
    fresh = make_world("werewolf/aiwolf13", 6, 99, roles={"seer": 1, "guard": 1, "witch": 1, "hunter": 1})
    fresh.reset()
    fresh.load(snapshot)
    for action in actions:
        fresh.step(action)
    same(end, fresh.save())

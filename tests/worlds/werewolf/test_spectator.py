"""What the public view may tell: nothing that depends on hidden roles, the pack, or any other secret of the state."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.core.policy import RandomPolicy
from interplay.core.replay.marks import Marks
from interplay.core.scene import Scene, scene_of
from interplay.core.transcript import plain
from interplay.worlds.werewolf.drawing.spectator import count_votes
from interplay.worlds.werewolf.phases import LAST_SHOT
from interplay.worlds.werewolf.state import BY_TEETH, BY_VOTE
from tests.worlds.werewolf.hand_made import DAY_EXECUTION, DAY_TALK, NIGHT_KILL, Game

# All public knowledge; after phases of the pack neither the chosen seat nor ties.
PUBLIC = {
    "alive", "fate", "fell", "public_targets", "public_signals", "revealed", "suspect", "stream",
    "room.day", "room.phase", "room.stage", "room.winner", "room.over", "room.cut",
    "room.ended_phase", "room.ended_round", "room.ended_day",
}  # fmt: skip
PUBLIC_BY_DAY = {"room.chosen", "room.tied"}
BY_NIGHT = ("night_talk", "night_kill", "potions", "last_shot")
WORLDS = {
    "werewolf/9-l1s9": {},
    "werewolf/multi-round": {},
    "werewolf/aiwolf13": {"signal_length": 2, "claims": True},
    "werewolf/11": {"roles": {"witch": 1, "hunter": 1}, "tie": "revote", "reveal_role": True},
}


def same(a: Scene, b: Scene) -> None:
    """Asserts that two scenes are the same, bit for bit."""
    assert [layer.name for layer in a.layers] == [layer.name for layer in b.layers]
    for one, other in zip(a.layers, b.layers, strict=True):
        assert one.rows == other.rows, one.name
        assert one.options == other.options, one.name
        assert one.text == other.text, one.name
        assert one.columns.keys() == other.columns.keys(), one.name
        for key, column in one.columns.items():
            assert column.tobytes() == other.columns[key].tobytes(), (one.name, key)


def secrets_of(world, rng: np.random.Generator, ended: str) -> dict[str, np.ndarray]:
    """The world's state with everything that is no public knowledge replaced by noise."""
    public = PUBLIC if ended in BY_NIGHT else PUBLIC | PUBLIC_BY_DAY
    noisy = {}
    for name, array in world.save().items():
        if name in public:
            noisy[name] = array
        elif name == "role":  # revealed roles stay, the others change their seats
            free = np.flatnonzero(world.state.revealed[0] < 0)
            noisy[name] = array.copy()
            noisy[name][0, free] = array[0, rng.permutation(free)]
        elif name == "known":
            noisy[name] = rng.integers(-1, 2, array.shape).astype(array.dtype)
        elif array.dtype == bool:
            noisy[name] = rng.random(array.shape) < 0.5
        elif array.dtype.kind in "iu":
            noisy[name] = rng.integers(0, 6, array.shape).astype(array.dtype)
        else:
            noisy[name] = rng.random(array.shape).astype(array.dtype)
    return noisy


def show(world) -> tuple[Scene, list[str]]:
    return scene_of(world), [plain(told) for told in world.describe(0)]


@pytest.mark.parametrize("world_id", WORLDS)
def test_no_secret_of_the_state_changes_the_public_picture_or_words(world_id):
    world = interplay.make_world(world_id, **WORLDS[world_id])
    rng, policy, looked, told_by_privilege = np.random.default_rng(4), RandomPolicy(), 0, 0
    for seed in range(2):
        timestep = world.reset(seeds=seed)
        policy.start(world, seed)
        while not timestep.over[0] and world.state.stream[0, 2] < 12:
            kept, (scene, words) = world.save(), show(world)
            ended = int(world.state.room["ended_phase"][0])
            phase = world.phase_names[ended] if ended >= 0 else "night_talk"
            world.privileged_view = True
            privileged, _ = show(world)
            for _ in range(2):
                world.state.role[...] = kept["role"]
                noisy = secrets_of(world, rng, phase)
                # Straight into the arrays: the step's views need no sense for a picture.
                for name, array in world._arrays().items():
                    np.copyto(array, noisy[name])
                world.privileged_view = False
                hidden, hidden_words = show(world)
                same(hidden, scene)
                assert hidden_words == words
                world.privileged_view = True
                other, _ = show(world)
                told_by_privilege += other.layer("roles").text != privileged.layer("roles").text
            world.privileged_view = False
            timestep = world.load(kept)
            looked += 1
            timestep = world.step(policy.act(timestep))
    assert looked >= 8
    assert told_by_privilege >= looked  # the test could see a leak


def test_roles_are_told_by_privilege_at_the_end_and_of_the_dead_where_the_rules_say_so():
    roles = ["villager", "werewolf", "villager", "villager", "villager"]
    game = Game(roles, reveal_role=True).played(DAY_TALK, DAY_EXECUTION).died(2, BY_TEETH, step=2)
    game.state.revealed[0, 2] = 0
    assert game.moment().roles.tolist() == [-1, -1, 0, -1, -1]
    assert game.moment(privileged=True).roles.tolist() == [0, 1, 0, 0, 0]
    assert game.over(0).moment().roles.tolist() == [0, 1, 0, 0, 0]


def test_the_packs_board_is_seen_by_privilege_alone():
    game = Game(["villager"] * 4 + ["werewolf"] * 2, signal_length=1).played(NIGHT_KILL, DAY_TALK)
    game.board({4: 1, 5: 2}, {4: 3, 5: 3}).died(1, BY_TEETH)
    game.room["chosen"] = 1
    public, privileged = game.moment(), game.moment(privileged=True)
    assert not public.shown
    assert (public.names == -1).all()
    assert (public.words == -1).all()
    assert public.chosen == -1
    assert public.fallen.tolist() == [False, True, False, False, False, False]
    assert privileged.names[:, 0].tolist() == [-1, -1, -1, -1, 1, 2]
    assert privileged.words[:, 0].tolist() == [-1, -1, -1, -1, 3, 3]
    assert privileged.chosen == 1


def test_what_extra_roles_know_and_who_sees_the_board_stand_in_tables():
    game = Game(["villager", "werewolf", "seer", "guard", "villager"]).played(NIGHT_KILL, DAY_TALK)
    game.state.known[0, 2, [1, 4]] = 1, 0
    game.state.guarded[0, 3] = 4
    public, privileged = (dict(game.scene(shown).layer("knowledge").text) for shown in (False, True))
    assert privileged == {0: None, 1: None, 2: "1 is a wolf, 4 is human", 3: "stands before 4", 4: None}
    assert public == {}
    seen_by = {"the pack": NIGHT_KILL, "everybody": DAY_TALK, "its actor": LAST_SHOT}
    for audience, phase in seen_by.items():
        assert game.played(phase, DAY_TALK).scene().layer("status").text[0][-1] == audience
    board = game.scene().layer("board").options
    assert (board["history"], board["heads"]) == (("names",), "status")


def test_the_time_line_marks_where_day_and_night_begin():
    world, policy = interplay.make_world("werewolf/9-l1s9"), RandomPolicy()
    step = world.reset(seeds=1)
    policy.start(world, 1)
    marks, found, expected = Marks(world), [], []
    marks.begin()
    tick, before = 0, "night"  # the first night has begun with the game, which needs no mark
    assert world.phase(0) == before
    while not step.over[0]:
        step, tick = world.step(policy.act(step)), tick + 1
        found += [mark for mark in marks.step(tick) if mark.kind == "phase"]
        now = world.phase_names[world.state.room["ended_phase"][0]].partition("_")[0]
        assert world.phase(0) == now
        expected += [tick] * (now != before)
        before = now
    assert [(mark.tick, mark.rows) for mark in found] == [(tick, ()) for tick in expected]
    assert len(expected) >= 3


def test_only_the_deaths_of_the_last_step_are_fresh():
    game = Game(["villager"] * 4 + ["werewolf"]).played(DAY_EXECUTION, 0)
    game.died(0, BY_TEETH, step=2).died(3, BY_VOTE)
    assert np.flatnonzero(game.moment().fallen).tolist() == [3]
    assert game.moment().fate.tolist() == [BY_TEETH, -1, -1, BY_VOTE, -1]


@pytest.mark.parametrize(
    ("depth", "duplicates", "counts"),
    [(1, False, [0, 2, 1]), (2, False, [1, 2, 2]), (2, True, [1, 3, 2]), (3, False, [2, 2, 3])],
)
def test_votes_are_counted_as_the_rules_count_them(depth, duplicates, counts):
    ballots = np.array([[1, 1, 2], [2, 0, 0], [1, 2, 0]])
    assert count_votes(ballots, depth, duplicates).tolist() == counts


def test_the_counts_shown_execute_whom_the_world_executes():
    world = interplay.make_world("werewolf/9-l1s9", ballot_len=3, vote_depth=2)
    policy, executions = RandomPolicy(), 0
    for seed in range(6):
        timestep = world.reset(seeds=seed)
        policy.start(world, seed)
        while not timestep.over[0]:
            timestep = world.step(policy.act(timestep))
            votes = scene_of(world).layer("tally counts").text
            if world.state.room["ended_phase"][0] == DAY_EXECUTION:
                top = max(int(count or 0) for count in votes)
                assert votes[world.state.room["chosen"][0]] == str(top)
                executions += 1
    assert executions > 6


def test_what_the_dead_died_of_is_in_the_state():
    world = interplay.make_world("werewolf/aiwolf13", roles={"witch": 2, "hunter": 2, "guard": 1})
    policy, seen = RandomPolicy(), set()
    for seed in range(30):
        timestep = world.reset(seeds=seed)
        policy.start(world, seed)
        alive, step = world.state.alive[0].copy(), 0
        assert (world.state.fate[0] == -1).all()
        while not timestep.over[0]:
            timestep = world.step(policy.act(timestep))
            step += 1
            room, fate = world.state.room[0], world.state.fate[0]
            fresh = np.flatnonzero(alive & ~world.state.alive[0])
            assert (world.state.fell[0][fresh] == step).all()
            for seat in fresh:
                phase = world.phase_names[room["ended_phase"]]
                expected = {"day_execution": 1, "last_shot": 3}.get(phase, 0 if seat == room["eaten"] else 2)
                assert fate[seat] == expected, (phase, seat)
                seen.add(int(fate[seat]))
            alive = world.state.alive[0].copy()
            assert ((fate == -1) == alive).all()
    assert seen == {0, 1, 2, 3}

"""The exact belief: against deals enumerated by hand, and against what turns out to be true."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.settings import build
from interplay.core.world import TimeStep
from interplay.evaluate import PolicyMap
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.phases import DAY_EXECUTION, DAY_TALK, NIGHT_KILL
from interplay.worlds.werewolf.players.bayes import BayesVillager
from interplay.worlds.werewolf.players.villagers import Password
from interplay.worlds.werewolf.players.wolves import StaticSignal
from interplay.worlds.werewolf.policies import POLICIES
from interplay.worlds.werewolf.state import REVOTE
from interplay.worlds.werewolf.theory.belief import Belief, Ways
from interplay.worlds.werewolf.theory.likelihood import legal_names
from interplay.worlds.werewolf.world import WerewolfWorld
from tests.naive.werewolf.guesses import Event, Game, guesses
from tests.worlds.werewolf.hand_table import HandTable, start

WAYS = ("random", "random_target", "avoid_wolves", "unite")


def make(worlds: int, seed: int = 0, **options: Any) -> WerewolfWorld:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return WerewolfWorld(build(WerewolfSettings, options, "belief"), worlds, seed)


class Witness:
    """Records the public events of one world's game."""

    def __init__(self, world: Any) -> None:
        self.world, self.events = world, list[Event]()

    def before(self) -> None:
        state = self.world.state
        self.alive = frozenset(np.flatnonzero(state.alive[0]).tolist())
        again = state.room["stage"][0] == REVOTE
        self.legal = frozenset(np.flatnonzero(state.suspect[0]).tolist()) if again else self.alive

    def after(self, over: bool) -> None:
        state, phase = self.world.state, self.world.state.room["ended_phase"][0]
        alive = frozenset(np.flatnonzero(state.alive[0]).tolist())
        night_death = phase == NIGHT_KILL and len(alive) < len(self.alive)
        self.events.append(
            Event(
                talk=phase == DAY_TALK,
                vote=phase == DAY_EXECUTION,
                before=self.alive,
                after=alive,
                legal=self.legal,
                names=state.public_targets[0].tolist(),
                words=state.public_signals[0].tolist(),
                eaten=min(self.alive - alive) if night_death else None,
                goes_on=not over,
            )
        )


@st.composite
def games(draw: Any) -> tuple[dict[str, Any], Ways, str, int]:
    """Options of a small game, ways that are believed in, the wolves' true one, a seed."""
    n = draw(st.integers(5, 7))
    options = {
        "n_players": n,
        "wolves": draw(st.integers(1, 1 if n == 5 else 2)),
        "signal_length": draw(st.integers(0, 2)),
        "signal_range": 2,
        "ballot_len": draw(st.sampled_from((1, 1, 2))),
        "allow_self_vote": draw(st.booleans()),
        "allow_abstain": draw(st.booleans()),
        "tie": draw(st.sampled_from(("random", "revote", "none"))),
        "first_phase": draw(st.sampled_from(("night_talk", "day_talk"))),
        "talk_rounds_day": draw(st.integers(0, 2)),
        "reveal_role": False,
        "board": draw(st.sampled_from(("split", "last_visible", "last_phase"))),
        "obs": {"role": draw(st.booleans()), "pack": draw(st.booleans())},
    }
    if options["first_phase"] == "day_talk":  # else wolves do not know each other yet, and play at random
        options["obs"] = {"role": True, "pack": True}
    true = draw(st.sampled_from(WAYS))
    others = draw(st.lists(st.sampled_from(WAYS), max_size=2))
    password = draw(st.booleans())
    ways = Ways(
        wolves=tuple(dict.fromkeys((true, *others))),
        villagers="password" if password else "random",
        villager_word=1 if password else None,
        wolf_word=None,
    )
    return options, ways, true, draw(st.integers(0, 2**32 - 1))


@given(games())
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_belief_is_bayes_over_all_deals(drawn: Any) -> None:
    options, ways, true, seed = drawn
    world = make(1, seed, **options)
    chosen = world.settings
    villagers = Password(1) if ways.villagers == "password" else POLICIES["random"]()
    table = PolicyMap({0: villagers, 1: POLICIES[true]()}, by="population")
    said = [1] * chosen.signal_length if ways.villager_word is not None else None
    game = Game(
        chosen.n_players,
        chosen.num_wolves,
        chosen.signal_range,
        chosen.allow_self_vote,
        chosen.allow_abstain,
        ways.wolves,
        ways.villagers,
        None,
        said,
    )
    step, belief, witness = world.reset(), Belief(chosen, 1, ways), Witness(world)
    own = Belief(chosen, 1, ways)  # only the villagers act by it, as with another policy for the wolves
    table.start(world, seed)
    for _ in range(14):
        belief.look(step)
        found = belief.posterior()[0]
        own.look(step._replace(acting=step.acting & (world.population == 0)))
        villagers_only = world.population[0] == 0
        np.testing.assert_array_equal(found[villagers_only], own.posterior()[0][villagers_only])
        for viewer in np.flatnonzero(~(world.population[0] == 1)):
            expected = np.array(guesses(game, witness.events, int(viewer)), float)
            np.testing.assert_allclose(found[viewer], expected, atol=1e-9)
        witness.before()
        step = world.step(table.act(step))
        if step.over[0]:
            break
        witness.after(False)


# -- calibration ------------------------------------------------------------------------------------------------------


def judge(
    ways: Ways, villagers: Policy, wolves: Policy, worlds: int, day: int, **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    """What one villager of each game thinks of one other living player before a vote, and whether that is a wolf."""
    world = make(worlds, 5, **options)
    belief, table = (
        Belief(world.settings, worlds, ways),
        PolicyMap({0: villagers, 1: wolves}, by="population"),
    )
    step = world.reset()
    table.start(world, 3)
    thought, truth = np.full(worlds, np.nan), np.zeros(worlds, bool)
    rng = np.random.default_rng(0)
    while not step.over.all():
        belief.look(step)
        now = (
            (step.observation["day"][:, 0] == day)
            & (step.observation["phase"][:, 0] == DAY_EXECUTION)
            & ~step.over
        )
        if now.any():
            chance = belief.posterior()
            for w in np.flatnonzero(now & np.isnan(thought)):
                alive, wolf = world.state.alive[w], world.population[w] == 1
                i = rng.choice(np.flatnonzero(alive & ~wolf))
                j = rng.choice(np.flatnonzero(alive & (np.arange(len(alive)) != i)))
                thought[w], truth[w] = chance[w, i, j], wolf[j]
        step = world.step(table.act(step))
    asked = ~np.isnan(thought)
    return thought[asked], truth[asked]


def calibrated(thought: np.ndarray, truth: np.ndarray) -> bool:
    """Whether what is thought to have chance p happens about as often, in every fifth of the scale: 4 standard errors."""
    for low in np.arange(0, 1, 0.2):
        here = (thought >= low) & ((thought < low + 0.2) | (low + 0.2 >= 0.999))
        p = thought[here]
        if abs((truth[here] - p).sum()) > 4 * np.sqrt((p * (1 - p)).sum()) + 1e-6:
            return False
    return True


def sharper(thought: np.ndarray, truth: np.ndarray) -> bool:
    """Whether it is more informative than the share of wolves."""
    return bool(((thought - truth) ** 2).mean() < 0.97 * truth.mean() * (1 - truth.mean()))


PLAYED: dict[str, tuple[Ways, Any, Sequence[Any], int, dict[str, Any]]] = {
    "avoiding": (Ways(("avoid_wolves",)), "random", ("avoid_wolves",), 0, {}),
    "united": (Ways(("unite",)), "random", ("unite",), 1, {}),
    "one of three": (Ways(), "random", Ways.wolves, 1, {"ballot_len": 2}),
    "a short password": (
        Ways(("random_target",), "password", villager_word=1),
        Password(1),
        ("random_target",),
        0,
        {"signal_length": 1, "signal_range": 3},
    ),
    "static": (
        Ways(("random_target",), wolf_word=0),
        "random",
        (StaticSignal(0),),
        0,
        {"signal_length": 1, "signal_range": 2},
    ),
}


@pytest.mark.parametrize("name", PLAYED)
def test_what_is_believed_turns_out_as_often(name: str) -> None:
    ways, villagers, packs, day, form = PLAYED[name]
    judged = [
        judge(ways, player(villagers), player(wolves), 5000, day, n_players=11, **form) for wolves in packs
    ]
    thought, truth = (np.concatenate(part) for part in zip(*judged, strict=True))
    assert len(thought) > 2000
    assert calibrated(thought, truth)
    assert sharper(thought, truth)


def player(given: Any) -> Policy:
    made: Policy = POLICIES[given]() if isinstance(given, str) else given
    return made


def test_calibration_would_catch_a_wrong_creed() -> None:
    """The instrument itself: a belief that wolves avoid each other is wrong about wolves that do not."""
    players = POLICIES["random"](), POLICIES["random_target"]()
    thought, truth = judge(Ways(("avoid_wolves",)), *players, 6000, 0, n_players=9)
    assert not calibrated(thought, truth)


# -- the rest ---------------------------------------------------------------------------------------------------------


def looked(table: HandTable, ways: Ways, *steps: TimeStep) -> np.ndarray:
    belief = Belief(table.world.settings, table.world.num_worlds, ways)
    for step in steps:
        belief.look(step)
    return belief.posterior()[0]


def test_a_wolf_knows_its_pack_and_nobody_suspects_itself() -> None:
    table = HandTable("vvvvWW")
    chance = looked(table, Ways(), table.show(DAY_TALK, dead=(0,), eaten=0))
    np.testing.assert_array_equal(chance[4], [0, 0, 0, 0, 1, 1])
    np.testing.assert_allclose(chance[1], [0, 0, 0.5, 0.5, 0.5, 0.5])


def test_what_nobody_believes_possible_leaves_deaths_to_go_by() -> None:
    table = HandTable("vvvvWW", signal_length=1, signal_range=2)
    ways = Ways(("avoid_wolves",), wolf_word=0, villager_word=1)
    belief = Belief(table.world.settings, 1, ways)
    belief.look(table.show(DAY_TALK, dead=(0,), eaten=0))
    belief.look(table.show(DAY_EXECUTION, dead=(0,), names=[-1, 1, 1, 1, 1, 1], words=[[-1]] + [[0]] * 5))
    chance = belief.posterior()[0]
    np.testing.assert_allclose(chance[1], [0, 0, 0.5, 0.5, 0.5, 0.5])
    assert np.isfinite(chance).all()


def test_revealed_roles_are_believed() -> None:
    table = HandTable("vvvvvWW", reveal_role=True)
    table.world.state.revealed[:, 5] = 1
    chance = looked(table, Ways(), table.show(DAY_TALK, dead=(0, 5), eaten=0))
    np.testing.assert_allclose(chance[1], [0, 0, 0.25, 0.25, 0.25, 1, 0.25])


def test_a_seer_believes_what_it_was_told() -> None:
    world = make(200, 3, n_players=9, wolves=2, roles={"seer": 1, "guard": 1})
    policy, belief = POLICIES["random"](), Belief(world.settings, 200)
    step = world.reset()
    policy.start(world)
    for _ in range(6):
        belief.look(step)
        step = world.step(policy.act(step))
    belief.look(step)
    chance, going = belief.posterior(), ~step.over
    told, role = world.state.known, world.state.role
    assert (told[going] >= 0).any()
    for w, i, j in np.argwhere((told >= 0) & (role == 2)[..., None] & going[:, None, None]):
        assert chance[w, i, j] == told[w, i, j]


def test_of_a_restarted_game_it_believes_what_a_new_one_believes() -> None:
    """Other games in the batch keep their beliefs."""
    hidden = {"reveal_role": False, "obs": {"role": True, "pack": False}}
    told = {"roles": {"seer": 1, "hunter": 1}, "signal_length": 1, "signal_range": 2}
    world = make(200, 3, n_players=9, wolves=2, **hidden, **told)
    ways = Ways(("avoid_wolves",), "password", villager_word=1)
    policy, belief = POLICIES["avoid_wolves"](), Belief(world.settings, 200, ways)
    step = world.reset()
    policy.start(world, 2)
    for _ in range(5):
        belief.look(step)
        step = world.step(policy.act(step))
    again = step.over | (np.arange(200) % 3 == 0)
    other, new = copy.deepcopy(belief), Belief(world.settings, 200, ways)
    step = world.reset(again)
    belief.forget(again)
    policy.forget(again)
    for _ in range(7):
        for one in (belief, other, new):
            one.look(step)
        found = belief.posterior()
        assert np.array_equal(found[again], new.posterior()[again])
        assert np.array_equal(found[~again], other.posterior()[~again])
        step = world.step(policy.act(step))


def test_bayes_names_the_likeliest_and_draws_ties() -> None:
    table = HandTable("vvvvvWW", 3000)
    policy = start(BayesVillager(wolves=("avoid_wolves",)), table)
    policy.act(table.show(DAY_TALK, dead=(0,), eaten=0))
    names = [-1, 5, 3, 2, 1, 4, 4]  # 5 and 6 avoid each other, and every seat is named by another
    step = table.show(DAY_EXECUTION, dead=(0,), names=names)
    action = policy.act(step)
    chance = policy.belief.posterior()[0]  # type: ignore[attr-defined]
    for seat in (1, 2, 3, 4):
        best = np.flatnonzero(chance[seat] > chance[seat].max() - 1e-9)
        shares = np.bincount(action[:, seat, 0], minlength=7) / 3000
        assert set(np.flatnonzero(shares)) == set(best)
        assert abs(shares[best] - 1 / len(best)).max() < 0.05


@pytest.mark.parametrize(
    ("ways", "key"),
    [
        ({"wolves": ("unit",)}, "wolves = 'unit'"),
        ({"wolves": ()}, "wolves"),
        ({"villagers": "password"}, "villager_word"),
        ({"villager_word": 99}, "word = 99"),
    ],
)
def test_ways_that_do_not_exist_are_refused(ways: dict[str, Any], key: str) -> None:
    with pytest.raises(UserError, match=key):
        start(BayesVillager(**ways), HandTable("vvvvW", signal_length=1))


def test_too_many_hypotheses_are_refused() -> None:
    with pytest.raises(UserError, match="3,838,380 hypotheses"):
        Belief(build(WerewolfSettings, {"n_players": 40}, "crowd"), 1)


@pytest.mark.parametrize(
    ("self_vote", "talk", "names"), [(False, False, 2), (False, True, 3), (True, False, 3), (True, True, 3)]
)
def test_the_own_name_is_barred_from_votes_and_not_from_talk(self_vote: bool, talk: bool, names: int) -> None:
    """Three of four are legal; seat 1 is one of them, seat 2 is not."""
    count = getattr(legal_names, "py_func", legal_names)
    evidence = SimpleNamespace(
        alive=np.ones((1, 4), bool), legal=np.array([[1, 1, 0, 1, 1]], bool), talk=np.array([talk])
    )
    assert count(evidence, SimpleNamespace(self_vote=self_vote), 0, 1) == names
    assert count(evidence, SimpleNamespace(self_vote=self_vote), 0, 2) == 3

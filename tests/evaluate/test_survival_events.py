"""Records of survival's steps: balances of hit points and items, and hand-made scenes."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core.policy import RandomPolicy
from interplay.evaluate.lifetimes.overlays import compute_overlays
from interplay.evaluate.lifetimes.survival_world import events as e
from interplay.evaluate.lifetimes.survival_world import moments, overlays
from interplay.evaluate.lifetimes.survival_world.moments import MomentReader
from interplay.evaluate.lifetimes.tick import watch
from interplay.planar.sight import NOTHING, WALL
from interplay.registry import make_world
from interplay.worlds.survival.config import READ_BY
from interplay.worlds.survival.state import EMPTY
from tests.cli.command import typed
from tests.worlds.survival_scene import Scene
from tests.worlds.test_survival_laws import COOLDOWN, CROWDED, WEST, eager_actions

NORTH = math.pi / 2
CASES = {
    "teams": {"heals": 14, "boxes": 8, "health": 60},
    "alone": {"teams": False, "heals": 14, "health": 60, "end": "alldead"},
    "three teams": {"agents": 6, "teams": [2, 1, 3], "boxes": 6, "heals": 8, "slots": 2},
    "cooldown": {"melee": "cooldown", "melee_damage": 20, "melee_cooldown": 10, "box_health": 20},
    "pushed boxes": {"boxes_dynamic": True, "items_block_rays": False},
    "drops": {"drop_action": True, "slots": 3, "pickup_radius": 1.0},
    "quirks": {"author_parity": True, "duplicate_pickup": False},
    "no zone": {"zone": "off", "max_steps": 150},
}


def actions(world, rng):
    """Frequent actions, with extra gifts, and drops if the action has that head."""
    chosen = eager_actions(world, rng)
    chosen[..., 5] |= rng.random(chosen.shape[:2]) < 0.3
    extra = len(world.action_space.nvec) - chosen.shape[-1]
    return np.concatenate([chosen, (rng.random((*chosen.shape[:2], extra)) < 0.1).astype(np.int64)], axis=-1)


def play(world, steps=400, reader=None):
    """(moment, health after) of every step of a batch; finished worlds are reset."""
    world.reset()
    reader, rng = reader or MomentReader(world), np.random.default_rng(3)
    reader(world)
    for _ in range(steps):
        over = world.step(actions(world, rng)).over.copy()
        yield reader(world), world.state.body["health"][:, : world.rules.agents].copy()
        if over.any():
            world.reset(over)
            reader(world)


def health_balances(world, moment, after):
    """A survivor's change of health equals blows, heals and zone damage."""
    settings, sides = world.settings, np.asarray(world.state.sides)
    blows = np.zeros(after.shape, np.int64)
    for w, a in np.argwhere(moment.struck & (moment.ray >= 0) & (moment.ray < len(sides))):
        blows[w, moment.ray[w, a]] += sides[moment.ray[w, a]] != sides[a]
    rules = world.rules
    heals = (moment.used >= rules.first_heal) & (moment.used < rules.first_box_item)
    burns = moment.outside * settings.zone_damage
    expected = moment.before - settings.melee_damage * blows + settings.heal_amount * heals - burns
    here = moment.alive & moment.going[:, None]
    return bool((after == expected)[here].all())


@pytest.mark.parametrize("case", CASES)
def test_health_and_inventories_balance(case):
    off = {name for module, names in READ_BY.items() if CASES[case].get(module) == "off" for name in names}
    crowded = {name: value for name, value in CROWDED.items() if name not in off}
    world = make_world("survival/2v2-all-high", 6, 4, **crowded | CASES[case])
    pockets = [[[] for _ in world.agents] for _ in range(6)]
    met = dict.fromkeys(("struck", "used", "given", "picked", "died"), 0)
    for moment, after in play(world):
        assert health_balances(world, moment, after)
        for w in np.flatnonzero(moment.going):
            if moment.steps[w] == 1:
                pockets[w] = [[] for _ in world.agents]
            pocket = pockets[w]
            for a in range(len(world.agents)):  # all uses come before all gifts, and these before all drops
                if moment.used[w, a] != EMPTY:
                    assert pocket[a].pop() == moment.used[w, a]
            for a in range(len(world.agents)):
                if moment.given[w, a] != EMPTY:
                    assert pocket[a].pop() == moment.given[w, a]
                    if moment.taker[w, a] >= 0:
                        pocket[moment.taker[w, a]].append(moment.given[w, a])
            for a in range(len(world.agents)):
                if moment.dropped[w, a] != EMPTY:
                    assert pocket[a].pop() == moment.dropped[w, a]
                if moment.died[w, a]:
                    pocket[a].clear()
                pocket[a] += [item for item in moment.picked[w, a] if item != EMPTY]
                held = world.state.agent["held"][w, a] if moment.going[w] else len(pocket[a])
                assert pocket[a] == world.state.inventory[w, a, :held].tolist()
        met["struck"] += (moment.struck & (moment.ray != NOTHING)).sum()
        met["died"] += moment.died.sum()
        for name in ("used", "given", "picked"):
            met[name] += (getattr(moment, name) != EMPTY).sum()
    assert all(met.values()), met


@pytest.mark.parametrize("fault", ["late", "no boxes", "early zone"])
def test_a_wrong_account_is_noticed(monkeypatch, fault):
    """Rays of the end of the step, rays before items of broken boxes lie there, and the zone of the next step."""
    world = make_world("survival/2v2-all-high", 8, 4, **CROWDED | {"heals": 4, "boxes": 20, "health": 100})
    world.reset()

    class Wrong(MomentReader):
        def __call__(self, world):
            moment = super().__call__(world)
            if fault == "late":
                moments.melee_targets(world.state, self._table, moment.ray)
            if fault == "early zone":
                circle = np.stack([world.state.room[name] for name in ("zone_x", "zone_y", "zone_r")], 1)
                return moment._replace(outside=moments._outside(moment.position, circle))
            return moment

        def _run(self, world, state, going, *numbers):
            if fault != "no boxes" or moments.phases.DROP_BROKEN_BOXES not in numbers:
                super()._run(world, state, going, *numbers)

    assert all(health_balances(world, *told) for told in play(world))
    assert not all(health_balances(world, *told) for told in play(world, 1500, Wrong(world)))


def test_the_account_of_events_agrees_with_the_metrics():
    world = make_world("survival/2v2-all-high", 16, 1, **CROWDED | {"health": 60, "max_steps": 400})
    recorder = e.EventRecorder(world)

    class Eager(RandomPolicy):
        def act(self, timestep):
            return actions(world, self.rng)

    watch(world, Eager(), [recorder], 400, seed=2, reader=moments.moment_reader)
    found = recorder.events()
    assert world.timestep.over.all()
    uses = e.named(found, [e.USE])
    metrics = world.metrics
    for what, metric in ((e.HEAL, "heals_used"), (e.BOX_ITEM, "boxes_placed")):
        counted = np.bincount(uses["world"][uses["what"] == what], minlength=16)
        assert counted.tolist() == metrics[metric].tolist()
    deaths = e.named(found, [e.DEATH])
    assert len(deaths) == (~world.state.bodies.present[:, :4]).sum()
    blows = deaths[deaths["what"] == e.CAUSES.index("blow")]
    kills = np.zeros((16, 2), np.int64)
    np.add.at(kills, (blows["world"], blows["other"]), 1)
    assert kills.tolist() == metrics["team_kills"][:, ::2].tolist()
    contacts = e.named(found, [e.CONTACT])
    assert contacts["steps"].sum() == recorder.on_ray[:, e.OPPONENT, 0].sum()
    assert contacts["strikes"].sum() == recorder.on_ray[:, e.OPPONENT, 1].sum()
    assert (contacts["early"] == np.minimum(contacts["steps"], e.EARLY)).all()
    assert (contacts["early_strikes"] <= contacts["early"]).all()
    assert (uses["steps"] >= 1).all()
    lived = recorder.inside.sum()
    assert lived == recorder.standing[:, 0].sum()
    assert recorder.on_ray[..., 0].sum() == lived + len(deaths)


# -- hand-furnished rooms -------------------------------------------------------------------------------------------


class Told:
    """A scene with a reader and a recorder."""

    def __init__(self, *variant, **options):
        self.scene = Scene(*variant, **options)
        self.reader, self.recorder = MomentReader(self.scene.world), e.EventRecorder(self.scene.world)

    def step(self, **actions):
        if not self.scene.world.metrics["episode_length"][0]:
            self.reader(self.scene.world)  # what a test has furnished
        self.scene.step(**actions)
        moment = self.reader(self.scene.world)
        self.recorder.add(moment)
        return moment


def test_contacts_begin_and_end_and_count_their_strikes():
    told = Told()
    told.scene.put(0, 0.0, 0.0)
    told.scene.put(1, 1.5, 0.0, WEST)
    for attack in ("attack", "", "", "", "", "attack", "attack"):
        told.step(a0=attack)
    told.scene.put(1, 6.0, 0.0, WEST)
    told.reader(told.scene.world)
    told.scene.world.refresh()
    first, second = e.named(told.recorder.events(), [e.CONTACT])
    assert [first[name] for name in ("agent", "other", "step", "steps", "strikes", "early", "early_strikes")] == [
        0, 1, 1, 7, 3, 5, 1,
    ]  # fmt: skip
    assert [second[name] for name in ("agent", "other", "steps", "strikes")] == [1, 0, 7, 0]
    told.scene.step()
    told.recorder.add(told.reader(told.scene.world))
    assert (told.recorder._facing == NOTHING).all()


def test_another_opponent_on_the_ray_is_another_contact():
    told = Told("1v1-heals-low", agents=3)
    scene = told.scene
    scene.put(0, 0.0, 0.0)
    scene.put(1, 2.0, 0.0, 0.0)
    told.step()
    told.step()
    scene.put(2, 1.2, 0.0, NORTH)
    told.reader._before.body[...] = scene.world.state.body  # furnished between two steps
    told.step()
    contacts = e.named(told.recorder.events(), [e.CONTACT])
    assert [(one["other"], one["steps"]) for one in contacts if one["agent"] == 0] == [(1, 2), (2, 1)]


def test_the_ray_names_what_it_meets_first():
    told = Told("1v1-all-mid")
    scene = told.scene
    scene.put(0, 11.0, 0.0)
    scene.put(1, 0.0, 0.0, NORTH)
    scene.stand_box(2, 0.0, 1.5)
    assert told.step().ray[0].tolist() == [WALL, scene.rules.first_box + 2]
    told = Told()
    told.scene.put(0, 0.0, 0.0)
    told.scene.lay_heal(3, 1.0, 0.0)
    assert told.step().ray[0].tolist() == [told.scene.rules.first_heal + 3, NOTHING]


def test_a_box_placed_and_an_item_come_in_this_step_are_on_the_ray():
    told = Told("1v1-all-mid")
    scene = told.scene
    scene.put(0, 0.0, 0.0)
    scene.put(1, 2.4, 0.0, WEST)
    scene.stand_box(0, 5.0, 5.0)
    scene.state.bodies.present[0, scene.rules.first_box] = False
    scene.hold(0, ("box", 0))
    assert told.step(a0="use", a1="attack").ray[0, 1] == scene.rules.first_box
    told = Told("1v1-all-mid")
    told.scene.put(0, 0.0, 0.0)
    told.scene.stand_box(3, 2.0, 0.0)
    assert told.step(a0="attack").ray[0, 0] == told.scene.rules.first_box + 3
    assert told.step().ray[0, 0] == told.scene.rules.first_box_item + 3


def test_a_melee_that_cools_down_does_not_strike():
    told = Told(**COOLDOWN)
    told.scene.put(0, 0.0, 0.0)
    told.scene.put(1, 1.5, 0.0, WEST)
    struck = [bool(told.step(a0="attack").struck[0, 0]) for _ in range(41)]
    assert struck == [True] + [False] * 39 + [True]


def test_items_remember_since_when_they_are_held_and_gifts_begin_anew():
    told = Told()
    scene = told.scene
    scene.put(0, 0.0, 0.0)
    scene.put(1, 1.0, 0.0, WEST)
    scene.lay_heal(0, -0.4, 0.0)
    told.step()
    for _ in range(2):
        told.step()
    told.step(a0="give")
    told.step()
    told.step(a1="use")
    found = e.named(told.recorder.events(), [e.PICK_UP, e.GIFT, e.USE])
    assert found["kind"].tolist() == [e.PICK_UP, e.GIFT, e.USE]
    assert found["step"].tolist() == [1, 4, 6]
    assert found["agent"].tolist() == [0, 0, 1]
    assert found["other"].tolist() == [-1, 1, -1]
    assert found["steps"].tolist() == [0, 3, 2]
    assert set(found["what"]) == {e.HEAL}
    assert found["health"].tolist() == [100, 100, 100]


def test_deaths_tell_cause_time_and_place():
    told = Told("2v2-all-high", agents=3, teams=[1, 2], end="alldead")
    scene = told.scene
    scene.put(0, 0.0, 0.0)
    scene.put(1, 1.5, 0.0, WEST)
    scene.put(2, 11.5, 11.5)
    scene.state.health[0, :3] = [5, 100, 1]
    told.step()
    told.step(a1="attack")
    burnt, struck = sorted(e.named(told.recorder.events(), [e.DEATH]), key=lambda one: -int(one["agent"]))
    assert [burnt[name] for name in ("agent", "step", "what", "other", "outside")] == [2, 2, 0, -1, True]
    assert [struck[name] for name in ("agent", "step", "what", "other", "outside")] == [0, 2, 1, 1, False]
    assert (struck["radius"], struck["health"]) == (12.5, 5)


# -- overlays, in Python and typed ------------------------------------------------------------------------------------

NAMES = ("strikes", "items", "deaths", "zone")


@pytest.mark.parametrize(
    "options", [{}, {"agents": 6, "teams": [2, 1, 3]}, {"melee": "off", "inventory": "off"}]
)
def test_overlays_of_whole_and_cut_episodes(options):
    for ticks, burn_in in ((60, 0), (1700, 1)):
        world = make_world("survival/2v2-all-low", 2, 0, zone_cooldown=20, **options)
        data = compute_overlays(NAMES, world, RandomPolicy(), ticks, burn_in=burn_in)
        assert list(data) == list(NAMES)
        assert ("cut after 60" in data["zone"].title) == (ticks == 60)
        for one in data.values():
            json.dumps(one.describe(), default=str)
            assert one.all_arrays()


def test_where_nobody_dies_there_is_no_median_life():
    world = make_world("survival/1v1-heals-low", 4, 0)
    title = compute_overlays(["deaths"], world, RandomPolicy(), 20)["deaths"].title
    assert title.startswith("0 deaths in 4 episodes, 4 of them cut after 20 steps, no median life: ")
    assert "nan" not in title


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30), st.integers(0, 400))
def test_bars_of_deaths_stand_over_the_steps_that_they_count(steps, further):
    """Windows are half-open, also for the longest life."""
    found = np.zeros(len(steps), e.EVENT)
    found["step"] = steps
    layer = overlays._by_cause(found, max(steps) + further)
    for x, count in zip(layer.x, layer.values.sum(axis=0), strict=True):
        inside = [step for step in steps if abs(step - x) < overlays.WINDOW / 2]
        assert count == len(inside)
    assert layer.values.sum() == len(steps)


def test_the_table_of_strikes_is_the_count_of_the_recorder():
    world = make_world("survival/1v1-heals-low", 8, 0)
    data = compute_overlays(["strikes"], world, RandomPolicy(), 60)["strikes"]
    rows = {row[0]: row[1:] for row in data.rows}
    assert rows["nothing"][2] == pytest.approx(0.5, abs=0.05)  # random play strikes in half of all steps
    assert sum(row[0] for name, row in rows.items() if "first" not in name) == 8 * 2 * 60


def test_typed(capsys, tmp_path):
    code, out, _ = typed(
        capsys, "analyze", "hunter", "--world", "survival/1v1-all-high", "--overlay", "strikes", "--overlay", "deaths",
        "--ticks", "80", "--num-worlds", "4", "--out", tmp_path, "zone_cooldown=10",
    )  # fmt: skip
    assert code == 0
    assert "contacts in 4 episodes" in out
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.{end}" for name in ("strikes", "deaths") for end in ("npz", "json", "png")
    }
    with np.load(tmp_path / "strikes.npz", allow_pickle=False) as arrays:
        assert arrays["events"].dtype == e.EVENT

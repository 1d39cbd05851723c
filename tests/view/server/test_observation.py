"""Specification viewer 8: what an agent sees, by kind, with the names that its world gives."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from interplay.core.guides import Guide
from interplay.core.policy import RandomPolicy
from interplay.planar.modules import Lidars
from interplay.registry import make_world
from interplay.view.server.agent import describe_agent, describe_observation
from interplay.worlds.survival.world import SurvivalWorld
from tests.evaluate.commons import lawn
from tests.view.server.tables import TableWorld


def parts(world, slot: int, look=None) -> dict[str, dict]:
    told = describe_observation(world, slot, world.timestep.observation, slot, look)
    return {part["name"]: part for part in told}


def described(monkeypatch, *guides: Guide, **fields) -> list[dict]:
    """The parts of a made-up observation; the guides are those of its field ``all``."""
    monkeypatch.setattr(TableWorld, "observation_guides", lambda *_: {"all": guides})
    return describe_observation(TableWorld(), 0, {name: np.array([[row]]) for name, row in fields.items()}, 0)


def table(part: dict) -> np.ndarray:
    """Its rows, NaN where unknown."""
    return np.array(part["values"], float).reshape(part["shape"])


def test_rows_of_the_persistent_world_say_who_they_are_as_far_as_that_is_known():
    # Around slot 0: one at its right, two on one tile, one out of view.
    world = lawn([(15, 15), (15, 17), (13, 14), (13, 14), (30, 30)], [0, 1, 0, 1, 0])
    found = parts(world, 0)
    assert (found["tiles"]["kind"], found["tiles"]["shape"], len(found["tiles"]["palette"])) == (
        "crop",
        [15, 15],
        6,
    )
    rows = found["entities"]
    names, numbers = rows["names"], table(rows)
    assert rows["there"] == [True] * 4 + [False] * (len(numbers) - 4)
    assert np.isnan(numbers[4:]).all()
    away = numbers[:4][:, [names.index("rows away"), names.index("columns away")]]
    assert sorted(map(tuple, away.tolist())) == [(-2.0, -1.0), (-2.0, -1.0), (0.0, 0.0), (0.0, 2.0)]
    told = dict(zip(map(tuple, away.tolist()), rows["slots"], strict=False))
    assert (told[0.0, 0.0], told[0.0, 2.0], told[-2.0, -1.0]) == (0, 1, None)
    alike = numbers[:4, names.index("own population")]
    assert alike[rows["slots"].index(1)] < 0 < alike[rows["slots"].index(0)]


@pytest.mark.parametrize("name", ["battle/3m", "battle/2s3z"])
def test_units_of_a_battle_see_rows_of_enemies_and_allies(name):
    world = make_world(name)
    policy, step = RandomPolicy(), world.reset(seeds=1)
    policy.start(world, 1)
    seen = 0
    for _ in range(12):
        step = world.step(policy.act(step))
        for slot in (0, len(world.agents) - 1):
            found = parts(world, slot)
            assert "units · others" not in found  # every number has its name
            sights: list[float] = []  # the observer's, as each row tells it
            for title, first in (("enemies", "reached"), ("allies", "seen")):
                rows = found[f"units · {title}"]
                numbers, names = table(rows), rows["names"]
                assert names[0] == first
                unit = world.state.unit[0]
                for row, other in zip(numbers, rows["slots"], strict=True):
                    if row[names.index("distance")] == 0:
                        continue
                    seen += 1
                    body = world.body[other]
                    assert row[names.index("health")] == pytest.approx(unit["health"][other] / body["health"])
                    apart = np.hypot(*(unit[axis][other] - unit[axis][slot] for axis in "xy"))
                    sights.append(apart / row[names.index("distance")])
            assert sights == pytest.approx([sights[0]] * len(sights) if sights else [])  # each is that unit
            itself = dict(
                zip(found["units · itself"]["names"], found["units · itself"]["values"], strict=False)
            )
            assert itself["health"] == pytest.approx(
                world.state.unit["health"][0, slot] / world.body[slot]["health"]
            )
    assert seen > 20


def test_what_survivors_do_not_see_is_not_told():
    world = make_world("survival/2v2-all-low")
    world.reset(seeds=3)
    hidden = shown = 0
    for slot in range(len(world.agents)):
        found, seen = parts(world, slot), world.timestep.observation
        assert not any(name.endswith("_mask") for name in found)
        rows, mask = found["others"], seen["others_mask"][0, slot]
        assert rows["slots"] == [other for other in range(len(world.agents)) if other != slot]
        numbers = table(rows)
        assert np.array_equal(np.isnan(numbers).all(axis=1), mask == 1)
        clear = mask == 0
        np.testing.assert_allclose(numbers[clear], seen["others"][0, slot][clear])
        assert numbers[clear][:, 0].tolist() == [rows["slots"][row] for row in np.flatnonzero(clear)]
        hidden, shown = hidden + int((~clear).sum()), shown + int(clear.sum())
    assert hidden
    assert len(found["agent"]["names"]) == found["agent"]["shape"][0]


def test_names_of_numbers_are_as_many_as_the_numbers():
    for name in ("pong/2p", "survival/1v1-all-high", "survival/2v2-all-low", "mmo/forage"):
        world = make_world(name)
        world.reset(seeds=0)
        for part in parts(world, 0).values():
            if "names" in part and part["shape"]:
                assert len(part["names"]) == part["shape"][-1], (name, part["name"])


def test_of_what_a_world_says_nothing_the_form_is_guessed():
    world = make_world("pong/2p-pictures")
    world.reset(seeds=0)
    (picture,) = parts(world, 0).values()
    assert (picture["kind"], picture["name"]) == ("crop", "pictures · newest")
    assert picture["values"] == world.timestep.observation["pictures"][0, 0, ..., -1].reshape(-1).tolist()
    board = {
        "board": np.zeros((1, 2, 7, 9), np.int8),
        "pairs": np.zeros((1, 2, 3, 2)),
        "much": np.zeros((1, 2, 5000)),
    }
    table = TableWorld()
    told = {part["name"]: part for part in describe_observation(table, 0, board, 0)}
    assert [told[name]["kind"] for name in board] == ["crop", "rows", "numbers"]
    assert told["much"]["values"] is None


def test_parts_stand_one_after_another_and_what_is_left_over_is_told(monkeypatch):
    guides = (Guide(title="a", names=("x",)), Guide("rows", "b", ("y", "z"), 2))
    told = described(monkeypatch, *guides, all=np.arange(7.0))
    assert [(part["name"], part["shape"], part["values"]) for part in told] == [
        ("all · a", [1], [0.0]),
        ("all · b", [2, 2], [1.0, 2.0, 3.0, 4.0]),
        ("all · others", [2], [5.0, 6.0]),
    ]


class Eyes(Lidars):
    """Rays that agents observe in tens of metres, and what a guide says of them."""

    def fields(self):
        return {"rays": (self.rays,)}

    def observe(self, out):
        out["rays"][...] = self.distance / 10.0

    def guides(self, agent):
        angles = np.linspace(-self.span / 2, self.span / 2, self.rays)
        return {"rays": (Guide("rays", angles=angles, unit=10.0),)}


def test_rays_of_a_module_are_told_in_metres_with_their_angles():
    eyes = Eyes(rays=5, span=2.0, depth=8.0)
    world = SurvivalWorld(make_world("survival/2v2-all-low").settings, extra_modules={"agents": [eyes]})
    world.reset(seeds=3)
    told = parts(world, 1)["rays"]
    assert told["kind"] == "rays"
    assert told["angles"] == [-1.0, -0.5, 0.0, 0.5, 1.0]
    np.testing.assert_allclose(told["values"], eyes.distance[0, 1], rtol=1e-6)
    assert max(told["values"]) > 1.0


def test_rays_that_are_not_as_many_as_their_angles_are_numbers(monkeypatch):
    (told,) = described(monkeypatch, Guide("rays", angles=(0.0,)), all=np.ones(2))
    assert (told["kind"], "angles" in told) == ("numbers", False)


@pytest.mark.parametrize(
    ("guide", "numbers", "said"),
    [
        (Guide("text"), [*"<b>é".encode(), 0, 65], "<b>é"),
        (Guide("text"), [255, 104, 105], "\ufffdhi"),
        (Guide("text", names=("north", "run")), [1, 0, 7, -1], "run north"),
    ],
)
def test_texts_are_told_as_words(monkeypatch, guide, numbers, said):
    (told,) = described(monkeypatch, guide, all=numbers)
    assert (told["kind"], told["text"], told["values"]) == ("text", said, [])


def test_hidden_words_are_not_told_and_others_follow_a_text(monkeypatch):
    guides = (
        Guide("text", "heard", names=("a", "b"), rows=3, hidden="deaf"),
        Guide(title="own", names=("x",)),
    )
    heard, own = described(monkeypatch, *guides, all=[0, 1, 1, 9], deaf=[0, 1, 0])
    assert (heard["text"], own["name"], own["values"]) == ("a b", "all · own", [9.0])


def test_attention_stands_beside_its_rows():
    attention = np.zeros((2, 3, 3))  # heads, queries, keys
    attention[:, :, 0], attention[:, :, 1] = 0.25, 0.75
    look = SimpleNamespace(attention=attention, attended=("pairs[0]", "pairs[1]", "nobody"))
    (told,) = describe_observation(TableWorld(), 0, {"pairs": np.ones((1, 1, 2, 3))}, 0, look)
    assert told["weights"] == [0.25, 0.75]


def test_an_account_of_an_agent_has_it():
    world = make_world("pong/2p")
    world.reset(seeds=0)
    (told,) = describe_agent(world, 1, 0, "random")["observation"]
    assert told["names"][:2] == ["own y", "own speed"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("werewolf/9", {}),
        ("werewolf/aiwolf13", {"signal_length": 2, "reveal_role": True}),
        ("werewolf/9", {"board": "last_phase", "ballot_len": 3, "signal_length": 1}),
    ],
)
def test_who_plays_werewolf_reads_roles_phases_and_seats_by_name(name, options):
    world = make_world(name, **options)
    policy, step = RandomPolicy(), world.reset(seeds=4)
    policy.start(world, 4)
    roles = set()
    for _ in range(6):
        for slot, seat in enumerate(world.agents):
            found = parts(world, slot)
            assert found["own_id"]["text"] == seat
            role = found["role"]["text"]
            roles.add(role)
            assert role == world.population_names[world.population[0, slot]]
            assert found["phase"]["text"] == world.phase_names[int(step.observation["phase"][0, slot])]
            pack = dict(zip(found["pack"]["names"], found["pack"]["values"], strict=True))
            assert (pack[seat] == 1) == (role == "werewolf")
            eaten = int(step.observation["last_eaten"][0, slot])
            assert found["last_eaten"]["text"] == ("" if eaten < 0 else world.agents[eaten])
            for part in found.values():
                if part["kind"] == "rows":
                    assert part["slots"] == list(range(len(world.agents)))
                    assert len(part["names"]) == part["shape"][1]
                elif part["shape"] == [len(world.agents)]:
                    assert part["names"] == list(world.agents)
        step = world.step(policy.act(step))
    assert {"werewolf", "villager"} <= roles

"""Pacman, sentence by sentence of specification 9.4, with the faults F7 and F8 repaired."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.core.scene import Canvas
from interplay.evaluate import play
from interplay.gridworld.actors import ActorBaseComponent
from interplay.gridworld.draw import outline
from interplay.registry import make_policy
from interplay.worlds import BaddieAgent, FoodAgent, PacmanAgent, PacmanSim, PacmanSimSimple
from interplay.worlds.pacman.components import ScriptedBaddieAgent, WallAgent
from interplay.worlds.pacman.config import CODES, ROUNDS, PacmanSettings
from interplay.worlds.pacman.simulation import legend, manager

LEFT, DOWN, RIGHT, UP = ({"move": code} for code in (1, 2, 3, 4))
STAY = {"move": 0}
LEGEND = {
    "P": lambda n: PacmanAgent(id="pacman", view_range=2, initial_orientation=3),
    "B": lambda n: BaddieAgent(id=f"baddie{n}", view_range=2, initial_orientation=4),
    "S": lambda n: ScriptedBaddieAgent(id=f"baddie{n}", initial_orientation=4),
    "F": lambda n: FoodAgent(id=f"food{n}"),
    "W": lambda n: WallAgent(id=f"wall{n}"),
}


def game(*rows, rules=PacmanSim, **kwargs):
    """A simulation drawn as rows of letters, reset."""
    sim = rules.build_sim_from_array(np.array([list(row) for row in rows]), LEGEND, **kwargs)
    sim.reseed(3)
    sim.reset()
    return sim


def earned(sim):
    return {name: round(value, 6) for name, value in sim.rewards.items()}


def place(sim, name="pacman"):
    return tuple(sim.agents[name].position)


def test_pacman_eats_by_sharing_a_cell():
    """9.4: food is eaten by sharing its cell; 0.1, and the entropy of a good move."""
    sim = game("PFF", "WWW")
    sim.step({"pacman": RIGHT})
    assert not sim.agents["food0"].active
    assert earned(sim) == {"pacman": 0.09}
    assert list(sim.grid[0, 1]) == ["pacman"]


def test_walls_stop():
    """9.4: a bad move costs 0.1 and no entropy: either one or the other."""
    sim = game("PW", "FF")
    sim.step({"pacman": RIGHT})
    assert place(sim) == (0, 0)
    assert earned(sim) == {"pacman": -0.1}


def test_pacman_drifts():
    """T6: a way that is not free leaves the orientation, and he goes on the way he faces."""
    sim = game("PFFF", "WWWF")
    sim.step({"pacman": DOWN})
    assert place(sim) == (0, 1)
    assert sim.agents["pacman"].orientation == 3
    sim.step({"pacman": STAY})
    assert place(sim) == (0, 2)


@pytest.mark.parametrize("width", [3, 4, 9])
def test_tunnels_on_maps_of_any_size(width):
    """F8, 9.4: a tunnel joins the first and the last cell of a row when neither holds a wall."""
    sim = game("P" + "." * (width - 2) + ".", "W" + "F" * (width - 1))
    sim.step({"pacman": LEFT})
    assert place(sim) == (0, width - 1)
    sim.step({"pacman": RIGHT})
    assert place(sim) == (0, 0)
    assert earned(sim)["pacman"] == -0.02


def test_who_comes_through_a_tunnel_does_not_glide_across_the_map():
    def still(sim):
        canvas = Canvas()
        sim.draw(canvas)
        agents = canvas.scene().layer("agents")
        assert agents.rows == 2
        return agents.columns["jump"].tolist()

    sim = game("P...F", "B...F")
    sim.step({"pacman": LEFT, "baddie0": RIGHT})
    assert still(sim) == [True, False]
    sim.step({"pacman": LEFT, "baddie0": LEFT})
    assert still(sim) == [False, False]
    for _ in range(2):
        sim.step({"pacman": RIGHT, "baddie0": LEFT})
    assert still(sim) == [True, False]


@pytest.mark.parametrize("rows", [("PFW", "FFF"), ("PF.", "FFF")])
def test_a_wall_at_the_other_end_closes_a_tunnel_and_columns_have_none(rows):
    sim = game(*rows)
    sim.step({"pacman": LEFT if rows[0].endswith("W") else UP})
    assert place(sim) == (0, 1), "he drifts to the right, as he faced"


def test_a_tunnel_leads_to_food_and_to_baddies():
    sim = game("P.F", "FWW")
    sim.step({"pacman": LEFT})
    assert not sim.agents["food0"].active
    sim = game("P.B", "WWW")
    sim.agents["pacman"].orientation = 2  # against the wall, so that he stays
    sim.step({"pacman": STAY, "baddie0": RIGHT})
    assert place(sim, "baddie0") == (0, 0)
    assert sim.get_all_done()


def test_over_when_the_last_food_is_eaten():
    """F7: the game ends then; pacman has won."""
    sim = game("PFF", "B..")
    sim.step({"pacman": RIGHT, "baddie0": STAY})
    assert not sim.get_all_done()
    sim.step({"pacman": RIGHT, "baddie0": STAY})
    assert sim.get_all_done()
    assert sim.get_done("pacman")
    assert sim.agents["pacman"].active


def test_pacman_dies_where_a_baddie_is():
    """9.4: pacman eats or dies; both sides are paid."""
    sim = game("PB.", "FWW")
    sim.step({"pacman": RIGHT, "baddie0": RIGHT})
    assert not sim.agents["pacman"].active
    assert earned(sim) == {"pacman": -1.01, "baddie0": 0.99}
    assert sim.get_all_done()


def test_who_dies_does_not_eat():
    sim = PacmanSim.build_sim(
        1,
        3,
        agents={
            "pacman": PacmanAgent(id="pacman", initial_position=np.array([0, 0])),
            "food0": FoodAgent(id="food0", initial_position=np.array([0, 1])),
            "baddie0": BaddieAgent(id="baddie0", initial_position=np.array([0, 1])),
        },
    )
    sim.reset()
    sim.step({"pacman": RIGHT})
    assert sim.agents["food0"].active
    assert not sim.agents["pacman"].active


def test_all_baddies_that_catch_him_are_paid():
    """9.4: baddies move, may catch him, all that do are paid; pacman moves first."""
    sim = game("WBW", "BPB", "WFW", "FFF")
    sim.step({"baddie0": DOWN, "baddie1": RIGHT, "baddie2": UP, "pacman": DOWN})
    assert place(sim) == (2, 1)
    assert sim.agents["pacman"].active, "he was gone before they came"
    sim = game("WBW", "BPB", "WFW", "FFF")
    sim.step({"baddie0": DOWN, "baddie1": RIGHT, "baddie2": STAY, "pacman": {"move": 4}})
    assert earned(sim)["pacman"] == -1.01, "he walked into the first"
    assert earned(sim)["baddie0"] == 0.99
    sim = game("WBWW", "BPWF", "WWWF")
    sim.step({"baddie0": DOWN, "baddie1": RIGHT, "pacman": STAY})
    assert earned(sim) == {"pacman": -1.1, "baddie0": 0.99, "baddie1": 0.99}


def test_baddies_share_cells_with_food_and_leave_it():
    sim = game("BFF", "WWP", "WWF")
    sim.step({"baddie0": RIGHT, "pacman": DOWN})
    assert place(sim, "baddie0") == (0, 1)
    assert sim.agents["food0"].active


def test_a_reward_scheme_replaces_single_events():
    """9.4: missing events take the default, unknown ones fail."""
    sim = game("PF", "WF", reward_scheme={"eat_food": 5})
    sim.step({"pacman": RIGHT})
    assert earned(sim) == {"pacman": 4.99}
    for wrong, message in (
        ({"eat": 1}, "unknown event 'eat'"),
        ({"die": "much"}, "is no number"),
        ([1], "is no dict"),
    ):
        with pytest.raises(AssertionError, match=message):
            game("PF", reward_scheme=wrong)


def test_the_simple_scheme_has_no_kill():
    """9.4: no ``kill`` key in the simple simulation."""
    assert "kill" not in PacmanSimSimple.REWARDS
    with pytest.raises(AssertionError, match="unknown event 'kill'"):
        game("PF", rules=PacmanSimSimple, reward_scheme={"kill": 2})


def test_pacman_is_needed():
    with pytest.raises(AssertionError, match="no PacmanAgent has the id 'pacman'"):
        PacmanSim.build_sim(2, 2, agents={"food0": FoodAgent(id="food0")})


def test_a_map_without_food_or_baddies_goes_on():
    sim = game("P..")
    sim.step({"pacman": RIGHT})
    assert not sim.get_all_done()


def test_the_example_grid_is_a_class_attribute():
    """F8; 9.4: 21 x 19, five baddies."""
    for rules in (PacmanSim, PacmanSimSimple):
        assert rules.example_grid.shape == (21, 19)
        letters = rules.example_grid.ravel().tolist()
        assert (letters.count("P"), letters.count("B")) == (1, 5)
        assert set(letters) == set("WFBP")


def test_every_cell_of_the_example_can_be_reached_and_left():
    free = PacmanSim.example_grid != "W"
    reached = np.zeros_like(free)
    reached[tuple(np.argwhere(PacmanSim.example_grid == "P")[0])] = True
    for _ in range(free.size):
        wide = reached | np.roll(reached, 1, 1) | np.roll(reached, -1, 1)
        wide[1:] |= reached[:-1]
        wide[:-1] |= reached[1:]
        reached = wide & free
    assert (reached == free).all()
    assert not free[0].any()
    assert not free[-1].any()
    assert free[10, 0]
    assert free[10, -1], "a tunnel"


def test_rounds_lead_back_to_where_they_began():
    """9.4: five scripted baddies on fixed periodic rounds; actions sent for them are ignored."""
    sim = manager(PacmanSettings(learning_baddies=False)).sim
    sim.reseed(1)
    sim.reset()
    rounds = {f"baddie{n}": moves for n, moves in enumerate(ROUNDS)}
    begins = {name: place(sim, name) for name in rounds}
    cells = {name: [] for name in rounds}
    for _ in range(40):
        sim.step({"pacman": STAY})
        for name in rounds:
            cells[name].append(place(sim, name))
    for name, moves in rounds.items():
        period = len(moves)
        assert cells[name][period - 1] == begins[name]
        assert cells[name][: 40 - period] == cells[name][period:]
        assert all(a != b for a, b in zip(cells[name], cells[name][1:], strict=False)), "never against a wall"
        assert set(moves) <= set(CODES)


@pytest.mark.parametrize("ids", ["baddie_{}", "ghost{}"])
def test_the_usual_rounds_go_by_order_whatever_the_ids_are(ids):
    """Release: its own example calls them ``baddie_0`` to ``baddie_4``, and they walk."""
    named = {**legend(PacmanSettings(learning_baddies=False)), "B": lambda n: BaddieAgent(id=ids.format(n))}
    usual = manager(PacmanSettings(learning_baddies=False)).sim
    sim = PacmanSimSimple.build_sim_from_array(PacmanSimSimple.example_grid, named)
    for one in (usual, sim):
        one.reseed(1)
        one.reset()
    for _ in range(30):
        sim.step({"pacman": STAY})
        usual.step({"pacman": STAY})
        walked = [place(sim, ids.format(n)) for n in range(5)]
        assert walked == [place(usual, f"baddie{n}") for n in range(5)]


def test_rounds_as_a_list_and_who_would_stand_still():
    """A list goes by order, and may be longer; baddies without rounds are an error."""
    sim = game("SFS", "FFP", rules=PacmanSimSimple, rounds=["D", "L", "U"])
    sim.step({"pacman": STAY})
    assert (place(sim, "baddie0"), place(sim, "baddie1")) == ((1, 0), (0, 1))
    with pytest.raises(AssertionError, match=r"5 rounds for 6 baddies, so \['baddie5'\] would stand still"):
        game("SSSSSS", "FFFFFP", rules=PacmanSimSimple)
    with pytest.raises(AssertionError, match="names 'baddie1'"):
        game("SFP", rules=PacmanSimSimple, rounds={"baddie1": "R"})
    with pytest.raises(AssertionError, match="names 'pacman'"):
        game("SFP", rules=PacmanSimSimple, rounds={"pacman": "R"})
    with pytest.raises(AssertionError, match="rounds 'LR'"):
        game("SFP", rules=PacmanSimSimple, rounds="LR")


def test_rounds_begin_anew_with_each_episode():
    sim = manager(PacmanSettings(learning_baddies=False)).sim
    sim.reset()
    sim.step({"pacman": STAY})
    first = place(sim, "baddie3")
    sim.step({"pacman": STAY})
    sim.reset()
    sim.step({"pacman": STAY})
    assert place(sim, "baddie3") == first


def test_only_pacman_learns_and_actions_for_scripted_baddies_are_ignored():
    world = interplay.make_world("gridworld/pacman-simple")
    assert world.agents == ("pacman",)
    # Even of the class that can act.
    one, other = (game("BFF", "FFP", rules=PacmanSimSimple, rounds={"baddie0": "RL"}) for _ in range(2))
    one.step({"pacman": LEFT, "baddie0": DOWN})
    other.step({"pacman": LEFT})
    assert place(one, "baddie0") == place(other, "baddie0") == (0, 1)
    assert earned(one)["baddie0"] == 0


def test_other_rounds():
    sim = game("SFF", "FFP", rules=PacmanSimSimple, rounds={"baddie0": "D.U"})
    cells = []
    for _ in range(3):
        sim.step({"pacman": STAY})
        cells.append(place(sim, "baddie0"))
    assert cells == [(1, 0), (1, 0), (0, 0)]
    with pytest.raises(AssertionError, match=r"rounds\['baddie0'\] is 'north'"):
        game("SFP", rules=PacmanSimSimple, rounds={"baddie0": "north"})


def test_baddies_who_walk_rounds_kill():
    sim = game("SPF", "WWW", rules=PacmanSimSimple, rounds={"baddie0": "R"})
    sim.agents["pacman"].orientation = 2
    sim.step({"pacman": STAY})
    assert earned(sim) == {"pacman": -1.1}
    assert sim.get_all_done()


def test_the_shape_follows_the_orientation_while_drawn():
    """9.4: < v > ^ for orientations 1 to 4."""
    sim = game("PF", "FF")
    for facing, shape in enumerate("<v>^", 1):
        sim.agents["pacman"].orientation = facing
        canvas = Canvas()
        sim.draw(canvas)
        layer = next(layer for layer in canvas.scene().layers if layer.name == "agents")
        drawn = np.stack([np.asarray(layer.columns["x"])[0], np.asarray(layer.columns["y"])[0]], axis=1)
        centred = drawn - np.array([0.5, 0.5])
        assert np.allclose(
            centred / np.abs(centred).max(), outline(shape) / np.abs(outline(shape)).max(), atol=1e-2
        )


def test_plain_actors_are_refused():
    """A user's own actor would break the order of the turn."""

    class Nap(ActorBaseComponent):
        key = "nap"

        def process_action(self, agent, action_dict, **kwargs):
            return None

    with pytest.raises(AssertionError, match="must be of the library's Board classes"):
        game("PF", actors=[Nap])


def test_a_snapshot_holds_the_clock_of_rounds():
    world = interplay.make_world("gridworld/pacman-simple", num_worlds=2, seed=8)
    world.reset()
    stay = {"move": np.zeros((2, 1), np.int64)}
    for _ in range(5):
        world.step(stay)
    saved = world.save()
    later = world.step(stay).observation["position_centered_encoding"].copy()
    other = interplay.make_world("gridworld/pacman-simple", num_worlds=2)
    other.load(saved)
    assert np.array_equal(other.step(stay).observation["position_centered_encoding"], later)
    assert np.array_equal(other.hash(), world.hash())


def test_the_hungry_player_eats_more_than_chance():
    world = interplay.make_world("gridworld/pacman-simple", num_worlds=32)
    hungry, chance = (
        play(world, make_policy("gridworld/pacman-simple", name), 32) for name in ("hungry", "random")
    )
    assert hungry["food"].mean() < chance["food"].mean() - 10
    assert hungry["return"].mean() > chance["return"].mean() + 2

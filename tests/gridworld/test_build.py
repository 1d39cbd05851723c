"""Builders: specification 2.6 (B1 to B4), section 5 and the faults F11, F15 and F30."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from interplay.gridworld.grid import Grid
from interplay.gridworld.smart import SmartGridWorldSimulation
from tests.gridworld.boards import named, thing

REGISTRY = {
    "A": lambda n: thing(f"a{n}", 1),
    "B": lambda n: thing(f"b{n}", 2),
}
MAP = np.array([["A", ".", "B"], ["_", "A", "0"], ["", "B", "A"]])
BUILD = SmartGridWorldSimulation
REST = {"states": ["PositionState"]}
WRONG_SIZES = (0, -1, 1.0, True, None, "2", np.int64(2))
NO_GRIDS = (MAP, None, {}, (3, 3))
NO_NAMES = (3, None, b"map.txt", ["map.txt"])
NO_REGISTRIES = (None, [], "A", {0: None}, {"0": None}, {".": None}, {"_": None})


def positions(sim):
    return {name: tuple(agent.initial_position.tolist()) for name, agent in sim.agents.items()}


EXPECTED = {"a0": (0, 0), "b0": (0, 2), "a1": (1, 1), "b1": (2, 1), "a2": (2, 2)}


def test_b1_letters_become_agents_in_reading_order_counted_by_letter():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing in it is unknown
        sim = BUILD.build_sim_from_array(MAP, REGISTRY, **REST)
    assert list(sim.agents) == ["a0", "b0", "a1", "b1", "a2"]
    assert positions(sim) == EXPECTED
    assert (sim.grid.rows, sim.grid.cols) == (3, 3)
    sim.reset()
    assert list(sim.grid[2, 1]) == ["b1"]


@pytest.mark.parametrize("dtype", ["<U1", "<U8", object, "S1"])
def test_5_arrays_of_any_string_dtype(dtype):
    assert positions(BUILD.build_sim_from_array(MAP.astype(dtype), REGISTRY)) == EXPECTED


def of_array(array, registry=REGISTRY):
    return lambda path: BUILD.build_sim_from_array(array, registry)


def of_file(text, registry=REGISTRY):
    def build(path):
        path.write_bytes(text)
        BUILD.build_sim_from_file(str(path), registry)

    return build


LETTER = np.array([["A"]])
REFUSED = {
    **{f"rows {n!r}": (lambda _, n=n: BUILD.build_sim(n, 2, agents={}), "rows") for n in WRONG_SIZES},
    **{f"cols {n!r}": (lambda _, n=n: BUILD.build_sim(2, n, agents={}), "cols") for n in WRONG_SIZES},
    "a list": (of_array(MAP.tolist()), "array"),
    "one dimension": (of_array(MAP.reshape(9)), "array"),
    "three dimensions": (of_array(MAP.reshape(1, 3, 3)), "array"),
    "no rows": (of_array(np.zeros((0, 3), "<U1")), "rows"),
    "no columns": (of_array(np.zeros((3, 0), "<U1")), "cols"),
    **{f"grid {i}": (lambda _, g=g: BUILD.build_sim_from_grid(g), "grid") for i, g in enumerate(NO_GRIDS)},
    **{f"name {n!r}": (lambda _, n=n: BUILD.build_sim_from_file(n, REGISTRY), "file_name") for n in NO_NAMES},
    **{f"registry {r}": (of_array(MAP, r), "object registry") for r in NO_REGISTRIES},
    **{f"file, registry {r}": (of_file(b"A .", r), "object registry") for r in NO_REGISTRIES},
    "two characters": (of_array(LETTER, {"WW": lambda n: None}), "key 'WW'"),
    "a number": (of_array(LETTER, {1: lambda n: None}), "key 1"),
    "no function": (of_array(LETTER, {"W": 3}), r"\['W'\] is 3"),
    **{f"made {m!r}": (of_array(LETTER, {"A": lambda n, m=m: m}), "GridWorldAgent") for m in (None, "a", 3)},
    "F30, one id": (of_array(MAP, {"A": lambda n: thing("same")}), "'same' twice"),
    "F30, ids of two letters": (
        of_array(MAP, {"A": lambda n: thing(f"same{n or ''}"), "B": lambda n: thing("same")}),
        "'same' twice",
    ),
    "a short line": (of_file(b"A . B\nA .\n"), r"map\.txt, line 2: 2 entries"),
    "an empty line": (of_file(b"A .\n\nA .\n"), r"map\.txt, line 2: 0 entries"),
    "a long line": (of_file(b"A .\nA .\nA . .\n"), r"map\.txt, line 3"),
    "an empty file": (of_file(b""), r"map\.txt"),
    "a blank file": (of_file(b"\n \n"), r"map\.txt"),
    "no text": (of_file(b"\xff\xfeW W"), r"map\.txt"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_5_wrong_arguments_are_refused_in_one_line(case, tmp_path):
    build, names = REFUSED[case]
    with pytest.raises(AssertionError, match=names) as caught:
        build(tmp_path / "map.txt")
    assert "\n" not in str(caught.value) or names in ("array", "grid")


def test_5_unknown_letters_are_empty_and_named_once():
    letters = np.array([["A", "Z", "q"], ["Z", "", "."], ["0", "_", "A"]])
    with pytest.warns(UserWarning, match="letters Z, q are not in the object registry") as caught:
        sim = BUILD.build_sim_from_array(letters, REGISTRY)
    assert len(caught) == 1
    assert positions(sim) == {"a0": (0, 0), "a1": (2, 2)}
    numbers = np.zeros((2, 2), int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert BUILD.build_sim_from_array(numbers, REGISTRY).agents == {}


def test_5_files(tmp_path):
    path = tmp_path / "map.txt"
    for text in (
        "A . B\n_ A 0\n. B A\n",
        "A . B\r\n_ A 0\r\n. B A\r\n\r\n",
        "A  .   B  \n_ A 0\n. B A\n\n  \n",
        "A . B\n_ A 0\n. B A",
    ):
        path.write_bytes(text.encode())
        for name in (path, str(path)):
            assert positions(BUILD.build_sim_from_file(name, REGISTRY)) == EXPECTED
    path.write_text("Ä .\n", encoding="utf-8")
    assert list(BUILD.build_sim_from_file(path, {"Ä": lambda n: thing(f"ä{n}")}).agents) == ["ä0"]


def test_5_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        BUILD.build_sim_from_file(str(tmp_path / "none.txt"), REGISTRY)


def grid_with(agent, cell=(1, 1)):
    grid = Grid(2, 2)
    grid.reset()
    grid.place(agent, cell)
    return grid


def builds(tmp_path):
    """The four builders, as functions of extra agents."""
    path = Path(tmp_path) / "map.txt"
    path.write_text("A .\n. .\n")
    return [
        lambda extra, **more: BUILD.build_sim_from_array(np.array([["A", "."]]), REGISTRY, extra, **more),
        lambda extra, **more: BUILD.build_sim_from_file(path, REGISTRY, extra, **more),
        lambda extra, **more: BUILD.build_sim_from_grid(grid_with(thing("a0", at=(1, 1))), extra, **more),
    ]


@pytest.mark.parametrize(
    "extra", [[], [thing("e")], {"f": thing("e")}, {"e": 3}, {"e": None}, "e", {1: thing("e")}, 0, ()]
)
def test_5_extra_agents(extra, tmp_path):
    for build in builds(tmp_path):
        with pytest.raises(AssertionError, match="extra_agents"):
            build(extra)
    if extra not in ((), [], 0):
        with pytest.raises(AssertionError, match="agents"):
            BUILD.build_sim(2, 2, agents=extra)


def test_b2_the_map_wins_at_the_place_of_the_extra_agent_f11(tmp_path):
    for build in builds(tmp_path):
        extra = named(thing("e", 1), thing("a0", 5), thing("f", 1))
        before = dict(extra)
        sim = build(extra)
        assert extra == before
        assert all(extra[name] is before[name] for name in extra)
        assert list(sim.agents) == ["e", "a0", "f"]
        assert sim.agents["a0"].encoding == 1
        assert sim.agents["e"] is extra["e"]
        assert sim.agents is not extra
        assert list(build(None).agents) == ["a0"]


def test_b2_grid_agents_must_begin_in_their_cell():
    for agent in (thing(), thing(at=(0, 1))):
        with pytest.raises(AssertionError, match=r"x stands at \(1, 1\), its initial_position"):
            BUILD.build_sim_from_grid(grid_with(agent))
    agent = thing(at=(1, 1))
    sim = BUILD.build_sim_from_grid(grid_with(agent), **REST)
    assert sim.agents["x"] is agent
    sim.reset()
    assert sim.grid[1, 1] == {"x": agent}
    assert BUILD.build_sim_from_grid(Grid(2, 3)).agents == {}  # it was never filled


def test_b3_agents_who_may_not_share_fail_at_reset_and_not_before():
    extra = named(thing("e", 1, at=(0, 0)))
    sim = BUILD.build_sim_from_array(MAP, REGISTRY, extra, **REST)
    with pytest.raises(AssertionError, match=r"agent a0: initial_position \(0, 0\) is taken"):
        sim.reset()
    sim = BUILD.build_sim_from_array(MAP, REGISTRY, extra, overlapping={1: 1}, **REST)
    sim.reset()
    assert list(sim.grid[0, 0]) == ["e", "a0"]


def test_b4_keyword_arguments_reach_the_grid_the_components_and_the_simulation(tmp_path):
    class Own(SmartGridWorldSimulation):
        def __init__(self, colour="none", **kwargs):
            super().__init__(**kwargs)
            self.colour = colour

    agent = thing("e")
    sim = Own.build_sim(
        2, 2, agents=named(agent), overlapping={1: 2}, colour="red", no_overlap_at_reset=True, **REST
    )
    assert sim.colour == "red"
    assert sim.grid.overlapping == {1: {2}, 2: {1}}
    assert sim.states[0].no_overlap_at_reset is True
    assert sim.agents["e"] is agent
    for build in builds(tmp_path):
        sim = build(None, overlapping={1: 1}, states=[("PositionState", {"randomize_placement_order": True})])
        assert sim.grid.overlapping == {1: {1}}
        assert sim.states[0].randomize_placement_order is True

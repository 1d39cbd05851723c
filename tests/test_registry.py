"""Worlds by name: listing is light, mistakes are one line, neighbours cannot break it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pydantic
import pytest

import interplay
from interplay import registry
from interplay.cli.worlds import worlds
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.seeding import world_seeds
from interplay.core.settings import Settings
from interplay.core.spec import WorldSpec
from interplay.registry import check_options, lay_options
from tests.connect.toys import Line


class LineSettings(Settings):
    agents: int = pydantic.Field(3, ge=2, le=9)
    masked: bool = False


def make_line(settings, *, num_worlds, seed, threads, first_world):
    return Line(num_worlds, seed, settings.agents, settings.masked, first=first_world)


def make_plain(settings, *, num_worlds, seed, threads, first_world):
    assert settings is None
    return Line(num_worlds, seed)


POLICIES = {"walker": RandomPolicy}
LINE = WorldSpec(
    "toy/line",
    "A line.",
    "tests.test_registry:make_line",
    settings="tests.test_registry:LineSettings",
    options={"masked": True},
    policies="tests.test_registry:POLICIES",
)
TRAINED = LINE._replace(id="toy/trained", training={"seed": 3})
PLAIN = WorldSpec("toy/plain", "A line without options.", "tests.test_registry:make_plain")


@pytest.fixture
def toys(monkeypatch):
    """The registry with two toys, left as it was."""
    monkeypatch.setattr(registry._WORLDS, "added", {})
    interplay.register(LINE)
    interplay.register(PLAIN)


@pytest.fixture
def entry_points(monkeypatch):
    """Sets what neighbours declare."""

    def declare(**values):
        found = [EntryPoint(name, value, registry.ENTRY_POINTS) for name, value in values.items()]
        monkeypatch.setattr(registry.metadata, "entry_points", lambda group: found)
        vars(registry._WORLDS).pop("installed", None)

    yield declare
    monkeypatch.undo()
    vars(registry._WORLDS).pop("installed", None)


def cure() -> str:
    return "run `pip install engine`"


def test_a_world_without_its_engine_is_listed_with_the_cure(toys, capsys):
    interplay.register(LINE._replace(id="toy/engine", missing="tests.test_registry:cure"))
    interplay.register(LINE._replace(id="toy/found", missing="builtins:str"))
    worlds(world="toy", json=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "toy/engine  A line. (missing: run `pip install engine`)"
    assert lines[1:] == ["toy/found   A line.", "toy/line    A line.", "toy/plain   A line without options."]
    worlds(world="toy", json=True)
    rows = json.loads(capsys.readouterr().out)
    assert rows[0] == {"id": "toy/engine", "summary": "A line.", "missing": cure()}
    assert rows[1] == {"id": "toy/found", "summary": "A line."}


def test_the_eight_survival_variants_are_listed_in_order():
    ids = [spec.id for spec in interplay.list_worlds()]
    assert ids == sorted(ids)
    assert sum(world_id.startswith("survival/") for world_id in ids) == 8
    assert all(spec.summary and "\n" not in spec.summary for spec in interplay.list_worlds())


def test_what_specs_name_exists():
    for spec in interplay.list_worlds():
        for path in (spec.make, spec.settings, spec.policies):
            assert registry.load(path)


@pytest.mark.usefixtures("toys")
def test_options_go_on_top_of_the_variants():
    world = interplay.make_world("toy/line", num_worlds=2, agents=4)
    assert world.id == "toy/line"
    assert (world.num_worlds, len(world.agents), world.masked) == (2, 4, True)
    assert not interplay.make_world("toy/line", masked=False).masked


SHAPED = {"reward": "shaped", "weights": (1, 1, 0, 0)}


@pytest.mark.parametrize(
    ("world_id", "below", "above", "laid"),
    [
        ("soccer/2v2", SHAPED, {"seconds": 9}, {**SHAPED, "seconds": 9}),
        ("soccer/2v2", SHAPED, {"reward": "plain"}, {"reward": "plain"}),
        ("soccer/2v2", SHAPED, {"reward": "shaped"}, SHAPED),
        (
            "soccer/2v2",
            SHAPED,
            {"reward": "plain", "weights": (0, 0, 1, 1)},
            {"reward": "plain", "weights": (0, 0, 1, 1)},
        ),
        (
            "werewolf/9",
            {"obs": {"role": False}},
            {"obs": {"history": 2}},
            {"obs": {"role": False, "history": 2}},
        ),
        ("my.own:world", {"a": 1}, {"a": 2, "b": 3}, {"a": 2, "b": 3}),
    ],
)
def test_options_lie_on_those_of_a_run(world_id, below, above, laid):
    assert lay_options(world_id, below, above) == laid


@pytest.mark.parametrize(
    ("world_id", "options", "wanted"),
    [
        ("soccer/2v2", {"weights": (1, 1, 0, 0)}, "reward"),
        ("soccer/2v2", {"weights": (1, 1, 0, 0), "reward": "plain"}, "reward"),
        ("doom/basic", {"weights": (0,) * 10}, "reward"),
        ("doom/duel", {"living_reward": 0.5}, "reward"),
        ("doom/duel", {"navigate": True}, "post_rules"),
        ("doom/duel", {"navigate": True, "post_rules": False}, "post_rules"),
        ("doom/duel", {"buttons": ("attack",)}, "actions"),
        ("battle/5i", {"negatives": True}, "reward"),
        ("battle/3m", {"defeat": 5, "reward": "smac_sparse"}, "reward"),
        ("battle/3m", {"exact_smac": True, "reward": "result"}, "reward"),
        ("pong/2p", {"frames": 8}, "see"),
        ("pommerman/ffa", {"words": 3}, "radio"),
        ("pommerman/team-fog", {"vocabulary": 30}, "radio"),
    ],
)
def test_an_option_that_is_not_read_is_refused(world_id, options, wanted):
    with pytest.raises(UserError, match=f"{next(iter(options))} does nothing without {wanted} = "):
        check_options(world_id, options)


def test_a_variants_own_options_go_where_they_are_not_read():
    """doom/basic has a living reward of -1 a tic, which the reward by components does not read."""
    check_options("doom/basic", {"reward": "vector", "weights": (0,) * 10})
    check_options(
        "soccer/2v2", {"reward": "plain", "weights": (1, 1, 1e-4, 5e-4)}
    )  # the default, as in a full file


@pytest.mark.usefixtures("toys")
def test_a_part_of_a_batch_has_the_worlds_of_the_whole():
    whole = interplay.make_world("toy/line", num_worlds=8, seed=3)
    part = interplay.make_world("toy/line", num_worlds=4, seed=3, first_world=4)
    assert np.array_equal(whole.reset().observation["self"][4:], part.reset().observation["self"])


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: interplay.make_world("toy/lin"), "unknown world 'toy/lin'; did you mean 'toy/line'?"),
        (lambda: interplay.make_world("zzz"), "unknown world 'zzz'; `interplay worlds` lists all"),
        (lambda: interplay.make_world("toy/line", agent=3), "agent; did you mean agents"),
        (lambda: interplay.make_world("toy/line", agents=1), "agents"),
        (lambda: interplay.make_world("toy/plain", agents=1), "this world has no options"),
        (lambda: interplay.make_world("toy/line", first_world=-2), "first_world = -2 is not allowed"),
        (
            lambda: interplay.make_policy("toy/line", "walkr"),
            "unknown policy 'walkr'; did you mean 'walker'?",
        ),
        (lambda: interplay.make_policy("toy/plain", "x"), "there are random"),
        (lambda: interplay.make_world("tests.connect.toys:Lin"), "did you mean 'Line'?"),
        (lambda: interplay.make_world("tests.connect.toys:Line", agentz=2), "did you mean 'agents'?"),
        (lambda: interplay.make_world("tests.connect.toys:EDGE"), ": no world"),
        (lambda: interplay.make_world("tests.no_such:Line"), "no module named 'tests.no_such'"),
        (lambda: interplay.make_world(":Line"), "no module:name"),
        (lambda: interplay.register(LINE._replace(make="other:make")), "'toy/line' is taken"),
        (lambda: interplay.register(WorldSpec("", "", "")), "needs an id"),
    ],
)
def test_a_mistake_is_one_line(call, message):
    with pytest.raises(UserError, match=message.replace("?", r"\?")) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("toys")
def test_policies_by_name():
    assert registry.list_policies("toy/line") == ("random", "walker")
    assert registry.list_policies("toy/plain") == ("random",)
    assert isinstance(interplay.make_policy("toy/line", "walker"), RandomPolicy)
    assert isinstance(interplay.make_policy("toy/plain", "random"), RandomPolicy)
    assert isinstance(interplay.make_policy("toy/plain", "interplay.core.policy:RandomPolicy"), RandomPolicy)


def test_a_class_of_ones_own_needs_no_registration():
    world = interplay.make_world("tests.connect.toys:Line", num_worlds=3, seed=4, agents=2, first_world=1)
    assert world.id == "tests.connect.toys:Line"
    seeded = Line(3, agents=2)
    expected = seeded.reset(seeds=world_seeds(4, 3, first=1)).observation["self"]
    assert np.array_equal(world.reset().observation["self"], expected)


def test_a_spec_of_ones_own_needs_no_registration():
    name = "tests.test_registry:TRAINED"
    world = interplay.make_world(name, num_worlds=2, agents=4)
    assert (world.id, len(world.agents), world.num_worlds) == (name, 4, 2)
    assert registry.list_policies(name) == ("random", "walker")
    assert registry.training_settings(name) == {"seed": 3}


def test_a_class_in_the_working_folder_is_found(tmp_path):
    (tmp_path / "own_world.py").write_text(
        "from tests.connect.toys import Line\n\n\nclass Mine(Line):\n    pass\n"
    )
    code = "import interplay, os; print(type(interplay.make_world('own_world:Mine')).__name__)"
    here = str(registry.__file__).removesuffix("/interplay/registry.py")
    told = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": here, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout.strip() == "Mine", told.stderr


def test_a_missing_dependency_of_a_users_module_is_not_called_a_typo(tmp_path, monkeypatch):
    (tmp_path / "needs_more.py").write_text("import a_package_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_package_that_is_not_there"):
        interplay.make_world("needs_more:World")


def test_entry_points_join_and_a_broken_one_is_one_warning(entry_points, caplog):
    entry_points(
        good="tests.test_registry:GIVEN", broken="no_such_package:SPECS", odd="tests.test_registry:LINE"
    )
    with caplog.at_level(logging.WARNING, logger="interplay"):
        ids = [spec.id for spec in interplay.list_worlds()]
    assert "toy/line" in ids
    assert "survival/1v1-heals-low" in ids
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert all("\n" not in message for message in messages)
    assert "no_such_package" in messages[0]
    assert "expected WorldSpec, got str" in messages[1]


def test_an_entry_point_cannot_take_a_built_in_id(entry_points, caplog):
    entry_points(greedy="tests.test_registry:GREEDY")
    with caplog.at_level(logging.WARNING, logger="interplay"):
        assert registry.find_world("survival/1v1-heals-low").make.startswith("interplay.worlds.survival")
    assert "is taken by" in caplog.text


GIVEN = (LINE, PLAIN)
GREEDY = (LINE._replace(id="survival/1v1-heals-low"),)


def test_training_settings_are_the_callers_own_to_change():
    world = "survival/1v1-heals-low"
    mine = registry.training_settings(world)
    kept = str(mine)
    mine["ppo"]["reward_scale"] = 77.0
    mine["network"] = {"kind": "mlp"}
    assert str(registry.training_settings(world)) == kept
    assert "77" not in str(registry.find_world(world).training)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mine.py:Tag", "mine:Tag"),
        ("./mine.py:Tag", "mine:Tag"),
        ("games/mine.py:Tag", "games.mine:Tag"),
        ("mine:", "mine:Tag"),
    ],
)
def test_a_file_is_named_as_a_module(name, meant):
    with pytest.raises(UserError, match=rf"no module:name; write for example {meant}"):
        registry.make_world(name)


def test_a_module_that_ends_the_program_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "ends_it.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=r"SystemExit while .*ends_it was imported"):
        registry.make_world("ends_it:Tag")


@pytest.mark.parametrize(
    ("name", "value"), [("num_worlds", "x"), ("num_worlds", 2.5), ("num_worlds", True), ("threads", "a")]
)
def test_numbers_that_are_none_are_one_line(name, value):
    with pytest.raises(UserError, match=rf"^{name} = {value!r} is not allowed; pass a whole number$"):
        interplay.make_world("pong/2p", **{name: value})

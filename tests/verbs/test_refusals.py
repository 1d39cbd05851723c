"""Refusals of verbs; those of misspelt arguments are `TypeError` too."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import interplay
from interplay import Run
from interplay.connect.resolved import resolve_world
from interplay.core.policy import RandomPolicy
from interplay.verbs.settings import build_settings
from tests.connect.foreign_envs import Market
from tests.refusals import case, refuses
from tests.verbs.test_training import FEW

pytestmark = pytest.mark.slow


def trained(world: object = "dilemma/fixed", /, **settings: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        try:
            interplay.train(world, out, **settings)
        finally:
            assert not out.exists()


def of_run(verb: str, **given: Any) -> None:
    """Of a run folder that has settings and no more."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "settings.toml").write_text("")
        getattr(Run(folder), verb)(**given)


def opened(**given: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "settings.toml").write_text("")
        Run(folder, **given)


misspelt = partial(case, error=TypeError)
HEALS = ("survival/1v1-heals-low", "survival/2v2-all-high")
VECTOR = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="vector_entry_point")
REFUSED = [
    misspelt("evaluate: .*'episods'.*'episodes'", interplay.evaluate, "random", episods=3),
    misspelt("record: .*'frame'.*'frames'", interplay.record, "random", "a.gif", frame=3),
    misspelt("tournament: .*'mtches'.*'matches'", interplay.tournament, [], mtches=3),
    misspelt("load_policy: .*'gredy'.*'greedy'", interplay.load_policy, "a", gredy=True),
    misspelt("train: .*'stpes'.*'steps'", trained, stpes=3),
    misspelt("train: .*'on_updat'", trained, on_updat=print),
    misspelt("Run: .*'truts'.*'trust'", opened, truts=True),
    misspelt("evaluate: .*'episods'", of_run, "evaluate", episods=3),
    misspelt("record: .*'evry'", of_run, "record", evry=3),
    misspelt("Run.curves: .*'column'", of_run, "curves", column=["kl"]),
    misspelt("Run.resume: .*'step'", of_run, "resume", step=3),
    misspelt("Run.policy: .*'gredy'", of_run, "policy", gredy=True),
    case("learning_rate; did you mean ppo.learning_rate", trained, learning_rate=1),
    case("ppo.learning_rat; did you mean ppo.learning_rate", trained, ppo={"learning_rat": 1e-4}),
    case("ppo.clip", trained, **{"ppo.clip": "much"}),
    case("network.layers = 4", trained, network={"kind": "mlp", "layers": 4}),
    case("round", trained, world={"options": {"round": 7}}),
    case("league.learnerss; did you mean league.learners", trained, league={"learnerss": {}}),
    case("a int is no world", resolve_world, 3),
    case("a int is no world", resolve_world, lambda: 3),
    case("a function that makes one", resolve_world, VECTOR),
    *(
        case("workers = 2", trained, Market(), **{**FEW, **given})
        for given in ({"workers": 2}, {"train.workers": 2})
    ),
    case("handed over as it is", trained, Market(), **{**FEW, "world.options.silent": True}),
    case(
        "num_worlds = 2 .* train.shards = 4",
        build_settings,
        "dilemma/fixed",
        {"train": {"shards": 4}},
        {"num_worlds": 2},
    ),
    *(case(f"{world}, .*world.options.heals=3", build_settings, world, ["heals=3"], {}) for world in HEALS),
    case("unknown key heals", build_settings, "dilemma/fixed", ["heals=3"], {}),
    case("needs a world", interplay.evaluate, RandomPolicy(), episodes=1),
    case("no players", interplay.tournament, []),
    case(
        "step_limit = -1", interplay.tournament, ["random", "tit_for_tat"], "dilemma/fixed", step_limit=-1.0
    ),
    case("at_checkpoints: random", interplay.evaluate, RandomPolicy(), "dilemma/fixed", at_checkpoints=True),
    case("nowhere", interplay.Sweep, "nowhere"),
]


@pytest.mark.parametrize(("call", "key", "error"), REFUSED)
def test_a_refusal_is_one_line_that_names_its_key(call, key, error):
    refuses(call, key, error)

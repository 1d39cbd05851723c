"""Training from Python: what may be handed over, what settings mean, who may stop it."""

from __future__ import annotations

import os
import signal
import threading
import time

import gymnasium
import numpy as np
import pytest
from pettingzoo.classic import tictactoe_v3
from pettingzoo.utils.env import ParallelEnv

import interplay
from interplay.connect.resolved import resolve_world
from interplay.core.errors import UserError
from interplay.verbs.settings import build_settings
from interplay.verbs.training import nested
from tests.connect.foreign_envs import Market
from tests.connect.toys import Line

pytestmark = pytest.mark.slow

SMALL = {"num_worlds": 4, "network": {"kind": "mlp", "hidden": (8,)}, "train": {"quiet": True, "shards": 2}}
FEW = {**SMALL, "ppo": {"rollout": 16, "minibatch": 32, "epochs": 1}, "steps": 200}


def market() -> ParallelEnv:
    return Market()


def test_settings_are_those_of_the_command_line(tmp_path):
    run = interplay.train(
        "dilemma/fixed",
        tmp_path / "run",
        seed=3,
        workers=1,
        **{**FEW, "ppo.clip": 0.1, "world.options.rounds": 7},
    )
    typed = ["network.kind=mlp", "network.hidden=[8]", "train.quiet=true", "train.shards=2", "ppo.rollout=16"]
    typed += ["ppo.minibatch=32", "ppo.epochs=1", "ppo.clip=0.1", "world.options.rounds=7"]
    flags = {"steps": 200, "seed": 3, "num_worlds": 4, "train.workers": 1}
    assert run.settings == build_settings("dilemma/fixed", typed, flags)
    assert run.settings.ppo.reward_scale == 0.2  # the world's own
    assert run.metrics["agent_steps"][-1] >= 200


def test_dotted_names_and_groups_are_the_same():
    assert nested({"ppo.clip": 0.1, "ppo": {"rollout": 8, "populations.a.clip": 0.2}}) == {
        "ppo": {"clip": 0.1, "rollout": 8, "populations": {"a": {"clip": 0.2}}}
    }


HANDED = {
    "a parallel environment": (lambda: Market(), "given/market", 4),
    "a function without a word": (lambda: lambda: Market(silent=True), "given/market", 4),
    "an environment in turns": (tictactoe_v3.env, "given/tictactoe_v3", 2),
    "a Gymnasium environment": (lambda: gymnasium.make("CartPole-v1"), "given/CartPole-v1", 1),
    "a vector": (
        lambda: gymnasium.make_vec("CartPole-v1", 3, vectorization_mode="sync"),
        "given/CartPole-v1",
        1,
    ),
    "a world": (lambda: interplay.make_world("dilemma/fixed", rounds=9), "given/dilemma/fixed", 2),
    "our own environment": (lambda: interplay.make("dilemma/fixed", rounds=9), "given/dilemma/fixed", 2),
    "a batch of one's own": (lambda: Line(num_worlds=2), "given/Line", 3),
}


@pytest.mark.parametrize("name", HANDED)
def test_what_is_handed_over_is_trained(tmp_path, name):
    make, world_id, agents = HANDED[name]
    run = interplay.train(make(), tmp_path / "run", **FEW)
    assert run.settings.world.id == world_id
    assert run.settings.train.workers == 1
    table = run.evaluate(episodes=3)
    assert table["return"].shape == (3, agents)
    if "dilemma" in world_id:
        assert (table["steps"] == 9).all()  # made with the option that it was handed over with
    # Another process knows the folder alone.
    again = interplay.Run(tmp_path / "run")
    with pytest.raises(UserError, match="passed as a Python object"):
        again.evaluate(episodes=1)
    with pytest.raises(UserError, match="passed as a Python object"):
        again.resume(steps=400)
    longer = interplay.Run(tmp_path / "run", make()).resume(steps=400)
    assert longer.metrics["agent_steps"][-1] >= 400
    assert (np.diff(longer.metrics["agent_steps"]) >= 0).all()
    assert (
        np.diff(longer.metrics["updates"][:-1]) == 1
    ).all()  # and a line of the episodes that are played out


def test_a_function_with_a_name_is_trained_by_its_name(tmp_path):
    handed = resolve_world(market)
    assert (handed.id, handed.make) == (f"{__name__}:market", None)
    assert resolve_world(Line).id == "tests.connect.toys:Line"


def test_a_cut_episode_is_truncated_and_a_lost_one_terminated():
    world = resolve_world(lambda: gymnasium.make("CartPole-v1", max_episode_steps=5)).make(
        num_worlds=1, seed=1, first_world=0
    )
    world.reset()
    for number in range(5):
        step = world.step(np.array([[number % 2]]))
    assert step.truncated.all()
    assert not step.terminated.any()
    assert step.over.all()
    longer = resolve_world(gymnasium.make("CartPole-v1")).make(num_worlds=1, seed=1, first_world=0)
    step = longer.reset()
    while not step.over.all():
        step = longer.step(np.array([[0]]))
    assert step.terminated.all()
    assert not step.truncated.any()


def test_turns_are_those_of_the_environment():
    assert resolve_world(tictactoe_v3.env).id == "pettingzoo.classic.tictactoe.tictactoe:env"
    world = resolve_world(lambda: tictactoe_v3.env()).make(num_worlds=2, seed=0, first_world=0)
    step = world.reset()
    assert step.acting.tolist() == [[True, False]] * 2
    for place in (0, 3, 1, 4):
        step = world.step(np.full((2, 2), place))
    assert step.acting.tolist() == [[True, False]] * 2
    assert not step.action_mask["action"][:, 0, [0, 1, 3, 4]].any()
    assert step.action_mask["action"][:, 0, 2].all()
    step = world.step(np.full((2, 2), 2))  # the first player has a row
    assert step.over.all()
    assert step.terminated.all()
    assert step.reward.tolist() == [[1.0, -1.0]] * 2


def test_an_environment_that_cannot_be_copied_is_refused(tmp_path):
    env = Market()
    env.lock = threading.Lock()
    with pytest.raises(UserError, match="no copy can be made of it"):
        interplay.train(env, tmp_path / "run", **FEW)
    assert not (tmp_path / "run").exists()


def test_a_callback_hears_every_update_and_stops_with_a_checkpoint(tmp_path, capfd):
    heard = []

    def on_update(run, numbers):
        heard.append((run.folder, numbers["agent_steps"]))
        return len(heard) == 2

    run = interplay.train(
        "dilemma/fixed", tmp_path / "run", workers=1, on_update=on_update, **{**FEW, "steps": 100_000}
    )
    assert [folder for folder, _ in heard] == [tmp_path / "run"] * 2
    assert run.metrics["agent_steps"].tolist() == [steps for _, steps in heard]
    assert "stopped by on_update at" in capfd.readouterr().err
    assert int(max((tmp_path / "run/checkpoints").iterdir()).name) == heard[-1][1]
    seen = []
    run.resume(on_update=lambda run, numbers: seen.append(numbers["updates"]) or len(seen) == 1)
    assert seen == [3]  # it goes on where it was stopped


def test_a_callback_that_fails_is_not_hidden(tmp_path):
    with pytest.raises(ZeroDivisionError):
        interplay.train("dilemma/fixed", tmp_path / "run", workers=1, on_update=lambda *_: 1 / 0, **FEW)


def test_ctrl_c_saves_and_gives_the_run(tmp_path):
    def on_update(run, numbers):
        if numbers["updates"] == 2:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

    run = interplay.train(
        "dilemma/fixed", tmp_path / "run", workers=1, on_update=on_update, **{**FEW, "steps": 10**6}
    )
    assert run.metrics["agent_steps"][-1] < 10**6
    assert interplay.load_policy(run.folder).name.startswith("dilemma/fixed")


@pytest.mark.parametrize(
    ("worlds", "given", "shards"), [(2, {}, 2), (1, {}, 1), (6, {}, 2), (64, {}, 4), (8, {"shards": 2}, 2)]
)
def test_shards_that_nobody_chose_share_the_worlds(worlds, given, shards):
    settings = build_settings(
        "dilemma/fixed", {"train": given, "network": {"kind": "mlp"}}, {"num_worlds": worlds}
    )
    assert settings.train.shards == shards


def test_the_observation_of_one_agent_is_told_from_those_of_all(tmp_path):
    run = interplay.train("dilemma/fixed", tmp_path / "run", workers=1, **FEW)
    policy, env = run.policy(), interplay.make("dilemma/fixed")
    observations, _ = env.reset(seed=0)
    with pytest.raises(
        UserError, match=r"observation of one agent; .*policy.act\(\{'agent_0': observation\}\)"
    ):
        policy.act(observations["agent_0"])
    assert policy.act({"further": observations["agent_0"]})["further"] in (
        0,
        1,
    )  # one network moves any agent
    with pytest.raises(KeyError, match="no column 'nope'; there are"):
        run.metrics["nope"]

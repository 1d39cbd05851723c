"""A run that stops and goes on with another number of workers ends with the bits and the log lines of one that did neither.

One case holds several features, and checks that what they save is not empty at the stop.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from interplay.core.policy import Policy
from interplay.train.run.checkpoint import Checkpoint, latest_checkpoint, read_checkpoint
from interplay.train.trainer import resume, train
from tests.train.runs import arrays_of, go_on, short_run

pytestmark = pytest.mark.slow

CLOCKS = ("time", "time_share", "agent_steps_per_s")
TOYS = "tests.train.toy_worlds:"
PPO = {"rollout": 16, "minibatch": 64, "epochs": 2, "learning_rate": 1e-2, "target_kl": "off"}
WALKERS = {"left": ["walker_0"], "right": ["walker_1"]}
TILES = {"kind": "tiles", "width": 8, "activation": "none"}
GRU = {"memory": "gru", "memory_size": 6}


class Trained(NamedTuple):
    """What a case looks at."""

    stop: Checkpoint  # of the run that stopped
    end: Checkpoint
    lines: list[dict[str, Any]]  # of updates
    stopped: int  # updates before the stop
    ending: bool  # whether the run that stopped had played running episodes out

    def at_stop(self, name: str) -> np.ndarray:
        """An array of all shards, in one row."""
        shards = sorted(stem for stem in self.stop.arrays if stem.startswith("shard-"))
        return np.concatenate([self.stop.arrays[stem][name].ravel() for stem in shards])

    def has(self, *names: str) -> bool:
        """Whether the log has these names."""
        return set(names) <= {name for line in self.lines for name in line}


class Case(NamedTuple):
    """A run.

    Attributes:
        world: its name.
        settings: over those of `short_run`.
        check: asserts that the features were used.
        updates: before the stop, and in all.
        workers: before the stop, and after it; a run without a stop has one.
        by: what stops the run: its limit, after which it plays its episodes out, or the caller, which leaves the settings.
    """

    world: str
    settings: dict[str, Any]
    check: Callable[[Trained], None]
    updates: tuple[int, int] = (2, 4)
    workers: tuple[int, int] = (1, 2)
    by: str = "limit"


def scaled(run: Trained) -> None:
    """Two kinds, running moments of inputs and returns, rates that follow the run's share, an early stop, measures."""
    saved = {name for arrays in run.stop.arrays.values() for name in arrays}
    assert {"walker/normaliser/mean", "guide/normaliser/count", "guide/normaliser/deviation"} <= saved
    assert run.at_stop("discounted_returns").any()
    assert run.stop.record["return_deviation"] != run.end.record["return_deviation"]
    last = run.lines[-1]
    assert list(last["return_deviation"]) == ["walker_0", "walker_1", "walker_2"]
    assert all(divisor > 0 for divisor in last["return_deviation"].values())
    assert last["rates"]["learning_rate"] < run.lines[0]["rates"]["learning_rate"]
    assert any(line["epochs"] < 4 for line in run.lines[run.stopped :])
    assert run.has("reward_abs_max", "target_rms", "episodes_ended", "arrived")


def lives(run: Trained) -> None:
    """Rows of lives that wait for their end, in populations, and a window of measurements for the best checkpoint."""
    assert len(run.at_stop("pending/agent/step")) > 40
    assert run.has("life[pop0]", "entropy[pop2]")
    assert run.stop.record["best"] != run.end.record["best"]


def opponents(run: Trained) -> None:
    """An opponent that remembers and draws, in every world."""
    assert run.at_stop("opponent/pop1/steps").tolist() == [32] * 8
    assert run.has("lives[pop1]", "entropy[pop0]")


def pointer(run: Trained) -> None:
    """A world of crowds; returns end with the rollout."""
    assert run.has("life", "entropy")
    assert run.at_stop("present").any()


def critic(run: Trained) -> None:
    """A policy with memory under a critic that sees the team."""
    assert run.at_stop("memory/agent").any()
    assert run.ending
    assert {name.split("/")[1] for name in run.end.arrays["policy-pop0"]} == {"network", "critic"}


def sequences(run: Trained) -> None:
    """Rows that wait with their memory, in a simulation whose agents take turns."""
    assert run.at_stop("memory/agent").any()
    assert len(run.at_stop("pending/agent/step")) > 20


def turns(run: Trained) -> None:
    """Populations in turns, past selves of one, frames, and ratings."""
    learning = [(line["learning[left]"], line["learning[right]"]) for line in run.lines]
    assert learning[run.stopped :] != [learning[run.stopped - 1]] * len(learning[run.stopped :])
    assert run.stop.record["alternate"]["spans"]
    assert (run.at_stop("cast_player") >= 0).any()
    assert run.stop.arrays["pool"]["taken"] < run.end.arrays["pool"]["taken"]
    assert run.at_stop("memory/agent").any()
    rated = ["rating" in line for line in run.lines]
    assert any(rated[: run.stopped])
    assert any(rated[run.stopped :])


def sides(run: Trained) -> None:
    """Past selves, a guest that counts and a random one play in the middle of episodes; networks remember."""
    players = set(run.at_stop("cast_player"))
    assert {-1, 2} < players  # the learner, and a guest after two places for past selves
    assert players & {0, 1}
    assert run.at_stop("opponent/any/1/count").any()
    assert run.at_stop("memory/agent").any()
    assert any("won" in line for line in run.lines[run.stopped :])


def league(run: Trained) -> None:
    """Results, copies, and rates of learners that follow each other."""
    before, after = run.stop.arrays["pool"], run.end.arrays["pool"]
    assert all(pool["matches"].sum() > 20 for pool in (before, after))
    assert not np.array_equal(before["matches"], after["matches"])
    assert not np.array_equal(before["factor"], after["factor"])
    assert {line["rating[rock]"] for line in run.lines[run.stopped :] if "rating[rock]" in line} == {0.0}


def corrected(run: Trained) -> None:
    """Targets that are made anew in each epoch, of continuous actions, and measures of inputs."""
    assert all(line["epochs"] == 3 for line in run.lines)
    assert run.has("clipped_actions", "input_abs_max", "input_range")


def own(run: Trained) -> None:
    """A user-defined algorithm, whose rate falls over the run, under a mask that leaves one choice."""
    rates = [line["rates"]["learning_rate"] for line in run.lines]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < rates[0]
    assert run.has("one_choice")


def replay(run: Trained) -> None:
    """Teams with memory that learn from a replay by target networks, against past selves and others."""
    assert any("ring" in name for name in run.stop.arrays["shard-0000"])
    assert run.lines[-1]["gradient_steps"] >= 1
    assert np.isfinite(run.lines[-1]["td_error"])


def replayed_stages(run: Trained) -> None:
    """A replay that outlives the stage in which it was played, of frames."""
    stages(run)
    kept = [line["replay"] for line in run.lines]
    assert kept == sorted(kept)


def stages(run: Trained) -> None:
    """Stages of a simulation, with numbers of infos that come late."""
    found = [(line["stage"], line["options"]["size"]) for line in run.lines]
    assert found[: run.stopped][-1][0] < found[-1][0]
    assert {"late", "way"} <= set(run.stop.record["later_metrics"])
    assert any("late" in line for line in run.lines[: run.stopped])
    assert any("late" in line for line in run.lines[run.stopped :])


def guesses(run: Trained) -> None:
    """Listeners learn from the truth, and speakers are paid by how beliefs change."""
    assert all(np.isfinite(line["guess_loss"]) for line in run.lines)


def interfaces(run: Trained) -> None:
    """What interfaces remember in the middle of an episode."""
    assert any(name.startswith("world/interfaces/one/") for name in run.stop.arrays["shard-0000"])


class Counting(Policy):
    """Plays by its own count of an episode's steps, and by chance."""

    def start(self, world: Any, seed: int = 0) -> None:
        super().start(world, seed)
        self.count = np.zeros(world.num_worlds, np.int64)

    def forget(self, which: np.ndarray) -> None:
        self.count[which] = 0

    def act(self, timestep: Any) -> np.ndarray:
        self.count += 1
        drawn = self.rng.integers(0, 2, timestep.acting.shape)
        return np.where(self.count[:, None] % 3 == 0, drawn, 1)


STAGES = [
    {"options": {"size": 2}, "until": 128.0},  # two updates
    {"options": {"size": 5}, "until": 256.0},
    {"options": {"size": 3}},
]
CASES = {
    "scaled": Case(
        TOYS + "TwoKinds",
        {
            "num_worlds": 16,
            "train": {"shards": 4},
            "ppo": PPO
            | {"epochs": 4, "learning_rate": "linear 3e-2 0", "target_kl": 0.02, "normalise_reward": "agent"},
            "network": {"normalise": True},
        },
        scaled,
        workers=(1, 4),
        by="caller",
    ),
    "lives": Case(
        "tests.train.meadow:Meadow",
        {
            "num_worlds": 16,
            "algorithm": "policy_gradient",
            "policy_gradient": {"rollout": 16, "horizon": 40, "learning_rate": 2e-2, "gamma": 0.9},
            "train": {"shards": 4, "best_by": "life", "best_measurements": 3},
            "population": {"block": 32},
            "network": TILES | {"probability_floor": 0.001},
        },
        lives,
    ),
    "opponents": Case(
        "tests.train.meadow:Meadow",
        {
            "ppo": PPO | {"minibatch": 128},
            "population": {"block": 32},
            "network": TILES,
            "opponents": {"pop1": "tests.train.meadow:Grazer"},
        },
        opponents,
        workers=(2, 1),
    ),
    "pointer": Case(
        "mmo/combat",
        {
            "world": {
                "options": {
                    "interior": 16,
                    "slots": 12,
                    "npop": 2,
                    "cap_draw": "fixed",
                    "spawn_per_tick": 3,
                    "targeting": "learned",
                    "rows": 6,
                }
            },
            "num_worlds": 4,
            "algorithm": "policy_gradient",
            "policy_gradient": {"rollout": 8, "horizon": 8, "returns": "cut"},
            "network": {"kind": "tiles_attention", "width": 8, "tail": 8, "probability_floor": 0.001},
        },
        pointer,
    ),
    "critic": Case(
        "tests.train.test_critic:Pairs",
        {"ppo": PPO | {"sequence": 8}, "network": GRU | {"critic": "team", "critic_hidden": [8]}},
        critic,
    ),
    "sequences": Case(
        "examples.corridor:in_turns",
        {
            "algorithm": "policy_gradient",
            "policy_gradient": {"rollout": 16, "horizon": 24, "sequence": 4, "reward_scale": 0.02},
            "network": GRU | {"input_scale": True},
        },
        sequences,
    ),
    "turns": Case(
        TOYS + "Corridor",
        {
            "train": {
                "evaluate_against": ["random"],
                "evaluate_every": 600,
                "evaluate_episodes": 4,
                "evaluate_actions": "sampled",
            },
            "ppo": PPO | {"learning_rate": 1e-4},
            "network": {"stack": 3},
            "population": {"by": "name", "groups": WALKERS, "block": 32},
            "alternate": {
                "metric": "episode_length",
                "at_high": "left",
                "at_low": "right",
                "high": 17.1,
                "low": 16.8,
                "episodes": 20,
            },
            "pool": {"populations": ["left"], "every": 2, "keep": 2, "share": 0.8},
        },
        turns,
        updates=(5, 10),
    ),
    "sides": Case(
        "pong/2p",
        {
            "world": {"options": {"rounds": 2, "round_steps": 30}},
            "ppo": PPO | {"minibatch": 128, "sequence": 8},
            "network": GRU,
            "sides": {"by": "seat"},
            "pool": {"every": 1, "keep": 2},
            "opponents": {
                "any": [
                    {"play": "past", "share": 0.3},
                    {"play": "tests.train.test_exact_resume:Counting", "share": 0.2},
                    {"play": "random", "share": 0.2},
                    {"play": "self", "share": 0.3},
                ]
            },
        },
        sides,
        updates=(3, 8),
    ),
    "league": Case(
        "matrix/rock-paper-scissors",
        {
            "num_worlds": 32,
            "ppo": PPO | {"rollout": 8, "minibatch": 128},
            "population": {"block": 8},
            "league": {
                "learners": {
                    "main": {
                        "meets": [
                            {"by": "self", "share": 0.3},
                            {"by": "pfsp", "share": 0.5},
                            {"by": "fixed", "share": 0.2, "play": "rock"},
                        ]
                    },
                    "exploiter": {"meets": [{"by": "current", "among": ["main"]}], "restart_after": 3},
                },
                "period": 700,
                "keep": 4,
                "pbt": {
                    "rates": ["learning_rate", "entropy_coefficient"],
                    "spread": 4.0,
                    "change": 1.5,
                    "below": 0.45,
                },
            },
        },
        league,
        updates=(4, 9),
    ),
    "corrected": Case(
        "tests.train.ailing_world:Cues",
        {
            "world": {"options": {"box": 1.0}},
            "algorithm": "vtrace",
            "vtrace": {"rollout": 24, "normalise_advantage": True, "epochs": 3},
        },
        corrected,
        workers=(2, 1),
        by="caller",
    ),
    "own": Case(
        "tests.train.ailing_world:Cues",
        {"world": {"options": {"forced": True}}, "algorithm": "examples.own_algorithm:Hysteretic"},
        own,
        by="caller",
    ),
    "replay": Case(
        "gridworld/team-battle",
        {
            "world": {"options": {"num_agents": 4, "teams": 2}},
            "algorithm": "qmix",
            "qmix": {
                "rollout": 6,
                "sequence": 5,
                "minibatch": 80,
                "replay": 400,
                "epsilon_steps": 500,
                "target_every": 3,
                "replays": 1.0,
                "agent_id": True,
            },
            "network": GRU,
            "sides": {"by": "team"},
            "pool": {"every": 1, "keep": 2},
            "opponents": {
                "any": [
                    {"play": "self", "share": 0.4},
                    {"play": "past", "share": 0.4},
                    {"play": "random", "share": 0.2},
                ]
            },
        },
        replay,
        updates=(4, 8),
    ),
    "stages": Case(
        "tests.connect.telling_envs:growing",
        {
            "num_worlds": 4,
            "ppo": PPO | {"rollout": 8, "minibatch": 32},
            "curriculum": {"stages": STAGES, "episodes": 10},
        },
        stages,
        updates=(4, 6),
    ),
    "replayed stages": Case(
        "tests.connect.telling_envs:growing",
        {
            "num_worlds": 4,
            "algorithm": "vdn",
            "vdn": {"rollout": 8, "minibatch": 32},
            "network": {"stack": 2},
            "population": {"by": "name", "groups": {"team": ["*"]}},
            "curriculum": {"stages": STAGES, "episodes": 10},
        },
        replayed_stages,
        updates=(3, 6),
        workers=(2, 1),
    ),
    "guesses": Case(
        "werewolf/6",
        {
            "world": {"options": {"signal_length": 1, "signal_range": 2}},
            "ppo": PPO | {"rollout": 12, "discount": "decision", "reward_scale": 0.1},
            "population": {"block": 32},
            "network": {"kind": "seats", "width": 8, "tail": 8, "layers": 1, "activation": "relu"},
            "belief": {"about": "werewolf", "listening": 0.5, "speaking": 1.0},
        },
        guesses,
        updates=(1, 2),
    ),
    "interfaces": Case(
        "dilemma/fixed",
        {
            "world": {"options": {"rounds": 9}},
            "ppo": PPO | {"minibatch": 128},
            "population": {"by": "name", "groups": {"one": ["agent_0"], "two": ["agent_1"]}},
            "interfaces": {
                "one": [{"name": "FrameStack", "k": 3}, "ConcatVec"],
                "two": ["PrevActObs", "ConcatVec"],
            },
        },
        interfaces,
        workers=(2, 1),
    ),
}


def lines_of(run: Path) -> list[str]:
    """The lines of updates and of the run's end, without their clocks."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [json.dumps({k: v for k, v in line.items() if k not in CLOCKS}) for line in lines]


def last(run: Path) -> Checkpoint:
    return read_checkpoint(latest_checkpoint(run) or "")


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_stopped_is_the_run_that_did_not(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    (stop, end), (first, then) = case.updates, case.workers

    def trained(updates: int, workers: int, where: str, stop: int = 0) -> Path:
        group = {"max_updates": updates, "workers": workers, "quiet": True, "writers": []}
        settings = short_run(case.world, case.settings, train=group)
        return train(
            settings, tmp_path / where, on_update=lambda _, numbers: bool(numbers["updates"] == stop)
        )

    whole = trained(end, 1, "whole")
    if case.by == "limit":
        run = trained(stop, first, "parts")
    else:
        run = trained(end, first, "parts", stop)
    stopped, ending = last(run), any('"ending"' in line for line in lines_of(run))
    assert stopped.record["updates"] == stop
    if case.by == "limit":
        go_on(run, end, then)
    else:
        resume(run, workers=then)
    assert lines_of(run) == lines_of(whole)
    mine, other = arrays_of(run), arrays_of(whole)
    assert [name for name in mine if mine[name] != other.get(name)] == []
    assert mine.keys() == other.keys()
    records = [{k: v for k, v in last(each).record.items() if k != "seconds"} for each in (run, whole)]
    assert json.dumps(records[0]) == json.dumps(records[1])
    lines = [json.loads(line) for line in lines_of(whole)]
    case.check(Trained(stopped, last(whole), [line for line in lines if "ending" not in line], stop, ending))

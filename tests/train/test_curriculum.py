"""Stages of a run: when they end, and what the worlds are then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import interplay
from interplay.core.errors import UserError
from interplay.core.trust import Untrusted, read_settings
from interplay.sim.managers import AllStepManager
from interplay.train.curriculum import Curriculum, in_stage, played_stage
from interplay.train.making import registry_factory
from interplay.train.run.checkpoint import read_part
from interplay.train.run.manifest import read_manifest
from interplay.train.selfplay import evaluation
from interplay.train.settings import CurriculumGroup, TrainSettings
from interplay.verbs.settings import build_settings
from tests.connect.telling_envs import Sized
from tests.train.runs import arrays_of, log_of
from tests.train.test_own_numbers import SMALL

SIZED = "tests.connect.telling_envs:sized"
STEPS = 8 * 4 * 2  # agent-steps of an update: rollout, worlds, agents


def trained(out: Path, stages: list[dict[str, Any]], world: object = SIZED, **over: Any) -> interplay.Run:
    train = {"quiet": True, "writers": ["csv"], "shards": 2, "max_updates": 6, **over.pop("train", {})}
    given = {"steps": 10**6, "workers": 1, "num_worlds": 4, "ppo": {"rollout": 8, "minibatch": 32}, **over}
    return interplay.train(
        world, out, train=train, curriculum={"stages": stages, "episodes": 10}, **SMALL, **given
    )


BY_STEPS = [
    {"options": {"size": 2}, "until": 2.0 * STEPS},
    {"options": {"size": 5}, "until": 4.0 * STEPS},
    {"options": {"size": 3}},
]


def sizes(run: interplay.Run) -> list[tuple[int, int, set[float]]]:
    """Of each update its stage, the size of its worlds, and the lengths of the episodes that it tells."""
    lines = [line for line in log_of(run.folder) if "stage" in line]
    return [
        (line["stage"], line["options"]["size"], {line["episode_length"]} if line["episodes"] else set())
        for line in lines
    ]


@pytest.mark.parametrize(
    ("world", "own", "stage", "laid"),
    [
        (
            "werewolf/9",
            {"obs": {"role": False}},
            {"obs": {"history": 2}},
            {"obs": {"role": False, "history": 2}},
        ),
        (
            "soccer/1v1",
            {"reward": "shaped", "weights": [1, 1, 0, 0]},
            {"reward": "plain"},
            {"reward": "plain"},
        ),
    ],
)
def test_what_a_stage_plays_is_what_is_evaluated(
    world: str, own: dict[str, Any], stage: dict[str, Any], laid: dict[str, Any]
) -> None:
    settings = build_settings(world, {"world": {"options": own}}, {})
    played = registry_factory(settings)(num_worlds=1, seed=0, first_world=0, **stage)
    asked = in_stage(settings, {"curriculum": {"played": [0, stage]}}).world.options
    assert asked == laid
    assert interplay.make_world(world, **asked).settings == played.settings


def test_stages_end_by_agent_steps(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", BY_STEPS)
    found = sizes(run)
    assert [(stage, size) for stage, size, _ in found] == [(1, 2)] * 2 + [(2, 5)] * 2 + [(3, 3)] * 2
    for _, size, lengths in found:
        assert lengths <= {size}
    assert {size for _, size, lengths in found if lengths} == {2, 5, 3}
    # Worlds and rows of the log say the same: 1 / size is a number of the environment.
    assert {(line["options"]["size"], line["share"]) for line in log_of(run.folder) if line["episodes"] and "stage" in line} == {
        (2, 1 / 2), (5, 1 / 5), (3, 1 / 3)
    }  # fmt: skip
    table = run.evaluate(episodes=2)
    assert table["steps"].tolist() == [3, 3]
    assert "stage 3" in table.line


def test_the_best_checkpoint_is_of_the_last_stage(tmp_path: Path) -> None:
    """Episodes have 2, then 5, then 3 steps: the longest are those of the second stage."""
    group = {"best_by": "episode_length", "best_measurements": 1}
    run = trained(tmp_path / "run", BY_STEPS, train=group).folder
    manifest = read_manifest(run / "checkpoints" / "best")
    record, _ = read_part(run / "checkpoints" / "best", [])
    assert (manifest["agent_steps"], played_stage(record)[0]) == (6 * STEPS, 3)
    assert (record["best"]["value"], record["best"]["agent_steps"]) == (3.0, 6 * STEPS)


def test_a_run_that_ends_with_a_stage_is_evaluated_in_it(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", BY_STEPS, steps=2 * STEPS)
    assert run.evaluate(episodes=2)["steps"].tolist() == [2, 2]


def test_ratings_are_played_in_the_present_stage_also_after_a_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run stops within the second stage."""
    lengths: list[set[int]] = []
    results = evaluation.match_results

    def noted(played: Any, score: str) -> Any:
        lengths.append({match.more["steps"] for match in played})
        return results(played, score)

    monkeypatch.setattr(evaluation, "match_results", noted)
    rated = {
        "evaluate_against": ["random"],
        "evaluate_every": STEPS,
        "evaluate_episodes": 2,
        "max_updates": 4,
    }
    run = trained(tmp_path / "run", BY_STEPS, train=rated, steps=3 * STEPS)
    run.resume(steps=10**6)
    assert lengths == [{2}, {2}, {5}, {5}]


def test_shares_of_the_run_are_of_its_own_end(tmp_path: Path) -> None:
    stages = [
        {"options": {"size": 2}, "until": 0.3},
        {"options": {"size": 5}, "until": 0.4},
        {"options": {"size": 3}},
    ]
    run = trained(tmp_path / "run", stages)
    assert [size for _, size, _ in sizes(run)] == [2, 2, 5, 3, 3, 3]  # after 2/6 and 3/6


def test_a_metric_ends_a_stage_by_its_mean_over_enough_episodes() -> None:
    stages = [{"until": "won > 0.6"}, {"until": "lost < 0.2"}, {"until": "rating > 10"}, {}]
    group = CurriculumGroup.model_validate({"stages": stages, "episodes": 10})
    curriculum, resumed, ends = Curriculum(group), Curriculum(group), []
    for won, lost, episodes in (
        (1.0, 0.1, 4),  # 4 episodes are too few
        (0.0, 0.1, 4),
        (1.0, 0.1, 8),  # the newest 12: 8 / 12; the first 4 are not needed
        (0.0, 0.1, 8),  # 8 of the second stage: too few
        (0.0, 0.4, 2),  # 10 of them: 0.8 + 0.8 lost, 0.16
    ):
        numbers = {"won": won, "lost": lost, "episodes": episodes, "of_episodes": ["won", "lost"]}
        ends.append([one.add(numbers, ["rating"], 0.0, 0) for one in (curriculum, resumed)])
        before, resumed = resumed, Curriculum(group)  # the run goes on from a checkpoint after each update
        resumed.load(json.loads(json.dumps(before.describe())))
    assert ends == [[end] * 2 for end in (False, False, True, False, True)]
    assert [one.add({"rating": 11.0}, [], 0.0, 0) for one in (curriculum, resumed)] == [True, True]
    assert resumed.stage == 3


def test_episodes_without_other_players_do_not_count_towards_a_metric_of_the_others() -> None:
    """4, 4 and 2 of 100 episodes each: ten in the third update, with (4 + 0 + 2) / 10 won."""
    group = CurriculumGroup.model_validate({"stages": [{"until": "won > 0.59"}, {}], "episodes": 10})
    curriculum, ends = Curriculum(group), []
    for won, others in ((1.0, 4), (0.0, 4), (1.0, 2)):
        counts = {"episodes": 100, "episodes_with_others": others}
        numbers = {"won": won, **counts, "of_episodes": ["won"], "of_others": ["won"]}
        ends.append(curriculum.add(numbers, [], 0.0, 0))
    assert ends == [False, False, True]


def test_stages_that_are_over_together_are_passed_together() -> None:
    curriculum = Curriculum(
        CurriculumGroup.model_validate({"stages": [{"until": 0.1}, {"until": 500.0}, {"until": 0.5}, {}]})
    )
    assert curriculum.add({}, [], 0.2, 600)
    assert curriculum.stage == 2


def test_a_number_of_infos_ends_a_stage(tmp_path: Path) -> None:
    stages = [
        {"options": {"size": 2}, "until": "share > 0.4"},
        {"options": {"size": 4}, "until": "share > 0.4"},
        {},
    ]
    run = trained(tmp_path / "run", stages)
    assert sorted({stage for stage, _, _ in sizes(run)}) == [1, 2]


def test_on_update_gives_options_that_a_resumed_run_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(run: interplay.Run, numbers: Any) -> Any:
        return {"size": 2 + numbers["updates"]} if numbers["updates"] % 2 == 0 else None

    whole = trained(tmp_path / "whole", [], on_update=answer)
    lines = [line for line in log_of(whole.folder) if "kl" in line]
    assert [line.get("options", {}).get("size") for line in lines] == [None, None, 4, 4, 6, 6]
    parts = trained(tmp_path / "parts", [], on_update=answer, steps=3 * STEPS)
    parts.resume(steps=10**6, on_update=answer)
    assert arrays_of(parts.folder) == arrays_of(whole.folder)
    assert whole.evaluate(episodes=1)["steps"].tolist() == [6]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another machine"))
    read_settings(whole.folder / "settings.toml", TrainSettings, trust=True)  # the options are not among them
    again = interplay.Run(whole.folder)
    for act in (lambda: again.evaluate(episodes=1), lambda: again.resume(steps=10**7)):
        with pytest.raises(Untrusted):
            act()
    assert interplay.Run(whole.folder, trust=True).evaluate(episodes=1)["steps"].tolist() == [6]
    assert again.evaluate(episodes=1)["steps"].tolist() == [6]  # asked for once


def test_a_function_that_was_handed_over_takes_options(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", BY_STEPS, lambda size=9: AllStepManager(Sized(size)))
    assert [size for _, size, _ in sizes(run)] == [2, 2, 5, 5, 3, 3]
    assert run.evaluate(episodes=2)["steps"].tolist() == [3, 3]


def test_options_that_change_spaces_in_play_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="kinds"):
        trained(tmp_path / "run", [], on_update=lambda run, numbers: {"wide": True})

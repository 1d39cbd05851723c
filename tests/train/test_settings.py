"""The training settings: ranges, and the rules that join two of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from interplay.core.errors import UserError
from interplay.core.settings import build, from_toml, key_called, merge, parse_overrides, to_toml
from interplay.train.settings import TrainSettings
from interplay.train.settings.train import ALSO_CALLED

BASE = {"world": {"id": "survival/1v1-heals-low"}}


def settings(*overrides: str) -> TrainSettings:
    return build(TrainSettings, merge(BASE, parse_overrides(overrides)), "settings")


@pytest.mark.parametrize(
    ("override", "part"),
    [
        ("ppo.learning_rat=1", "did you mean ppo.learning_rate?"),
        ("clip=0.1", "did you mean ppo.clip?"),
        ("lr=1e-4", "did you mean ppo.learning_rate?"),
        ("n_envs=8", "did you mean num_worlds?"),
        ("ppo.total_timesteps=8", "did you mean steps?"),
        ("train.most_updates=3", "did you mean train.max_updates?"),
        ("ppo.clip=1", "ppo.clip: 1.0 "),
        ("ppo.target_kl=0", 'ppo.target_kl = 0 is not allowed; give a number above 0 or "off"'),
        ("train.workers=3", "workers = 3 cannot share shards = 4"),
        ("train.shards=6", "shards = 6 "),
        ("num_worlds=62", "num_worlds = 62 cannot be split over train.shards = 4"),
        ("network.kind=atention", '"atention" is no network; give attention, mlp,'),
        ("network.heads=5", "width = 32 cannot be shared by heads = 5"),
        ("network.hidden=[64, 0]", "[64, 0]: every layer has 1 to 1,000,000 units"),
        ("network.activation=gelu", 'network.activation = "gelu" is not allowed; give one of tanh, relu'),
        ('train.writers=["csv", "csvv"]', 'train.writers.1 = "csvv" is not allowed; give one of auto, '),
        ("train.writers=csv", 'train.writers = "csv" is not allowed; give a list of values among auto, '),
        ("world.options.seed=3", "seed = 3"),
        ("world.options.world_id=x", 'world_id = "x" is set by the run; leave it out'),
        ("seed=-1", "seed = -1 is not allowed; give a whole number at least 0"),
    ],
)
def test_refusals(override: str, part: str) -> None:
    with pytest.raises(UserError) as caught:
        settings(override)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_heads_matter_only_to_attention() -> None:
    assert settings("network.kind=mlp", "network.heads=5").network.heads == 5
    assert settings("network.kind=my_nets.wide:Wide").network.kind == "my_nets.wide:Wide"


def test_preset_of_the_paper() -> None:
    ppo = settings().ppo
    assert (ppo.minibatch, ppo.clip, ppo.gamma, ppo.gae_lambda, ppo.target_kl) == (512, 0.2, 0.99, 0.95, 0.01)
    assert (ppo.learning_rate, ppo.entropy_coefficient) == (3e-4, 0.0)
    assert (ppo.value_coefficient, ppo.max_grad_norm) == (0.5, 0.5)


def test_a_run_reads_back_what_it_wrote(tmp_path: Path) -> None:
    asked = settings(
        "ppo.target_kl=off",
        "network.hidden=[8]",
        "seed=7",
        'world.options={ room = 10, boxes = [1, 2.5], "odd key" = "a # b" }',
    )
    path = tmp_path / "settings.toml"
    path.write_text(to_toml(asked))
    assert from_toml(path, TrainSettings) == asked


def test_every_name_of_others_leads_to_a_key_that_there_is():
    for name, ours in ALSO_CALLED.items():
        key = key_called(TrainSettings, name)
        assert key.rpartition(".")[2] == ours, name

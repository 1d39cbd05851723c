"""Settings that the chosen network or algorithm does not read are refused; a world's own are left out where the user chooses another."""

from __future__ import annotations

from typing import Any

import pytest

from interplay.core.errors import UserError
from interplay.core.settings import build
from interplay.registry import list_worlds, training_settings
from interplay.train.making import make_learner
from interplay.train.settings import TrainSettings
from interplay.train.settings.unread import check_read
from interplay.verbs.settings import build_settings
from tests.train.toy_worlds import make_corridor

CORRIDOR = "simulation/multi-corridor"


@pytest.mark.parametrize(
    "words",
    [
        ["network.kind=mlp", "network.hidden=[8]"],
        ["network.memory=lstm", "network.memory_size=8", "ppo.sequence=8"],
        ["network.kind=seats", "network.layers=4"],
        ["network.kind=pictures", "network.channels=[8,8,8]", "network.hidden=[8]"],
        ["network.kind=my_module:Mine", "network.layers=4", "network.hidden=[8]"],
        ["network.kind=mlp", "network.layers=2"],  # the default, as every settings.toml has it
    ],
)
def test_what_is_read_is_taken(words: list[str]) -> None:
    build_settings(CORRIDOR, words, {})


@pytest.mark.parametrize("population", ["pop1", "villager"])
def test_rates_of_a_population_that_does_not_learn_here_are_one_line(population: str) -> None:
    own = {"ppo": {"populations": {population: {"learning_rate": 1e-4}}}, "world": {"id": "corridor"}}
    settings = build(TrainSettings, {**own, "network": {"kind": "mlp"}}, "test")
    with pytest.raises(UserError, match=f"ppo.populations: no population '{population}' learns here; .*pop0"):
        make_learner(settings, make_corridor, begins=True)


@pytest.mark.parametrize("kind", ["attention", "mlp", "pictures", "tiles"])
@pytest.mark.parametrize("algorithm", ["ppo", "policy_gradient"])
def test_every_world_s_own_settings_fit_every_choice(kind: str, algorithm: str) -> None:
    for spec in list_worlds():
        settings = build_settings(spec.id, [f"network.kind={kind}", f"algorithm={algorithm}"], {})
        assert (settings.network.kind, settings.algorithm) == (kind, algorithm)
        own: dict[str, Any] = {**training_settings(spec.id), "world": {"id": spec.id}}
        check_read(build(TrainSettings, own, spec.id))

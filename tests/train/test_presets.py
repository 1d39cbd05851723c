"""Presets: every number arrives, with its source, below what the user says; docs/presets.md shows them as they are."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from interplay.core.settings_text import toml_value
from interplay.registry import list_worlds
from interplay.train.settings.presets import PRESETS, Row
from interplay.verbs.settings import build_settings, run_settings
from tests.cli.command import refusal, typed

ROOT = Path(__file__).resolve().parents[2]
MARSH = "tests.cli.marsh:Marsh"


def at(settings: object, key: str) -> object:
    for part in key.split("."):
        settings = settings[part] if isinstance(settings, dict) else getattr(settings, part)
    return settings


@pytest.mark.parametrize("name", PRESETS)
def test_every_row_arrives_in_every_world_that_it_is_for(name: str) -> None:
    preset = PRESETS[name]
    prefix = preset.worlds.removesuffix("*")
    worlds = [spec.id for spec in list_worlds() if spec.id.startswith(prefix)]
    assert preset.world in worlds
    for world in ("", *worlds):
        settings = build_settings(world, [], {}, preset=name)
        assert settings.world.id == (world or preset.world)
        for key, value, _ in preset.rows:
            assert at(settings, key) == value, key
    own = build_settings("", [], {}, preset=name).world.options
    assert all(own[key] == value for key, value, _ in preset.game)


@pytest.mark.parametrize("name", PRESETS)
def test_every_row_names_its_source(name: str) -> None:
    preset = PRESETS[name]
    for key, _, source in (*preset.rows, *preset.game):
        assert re.search(r"specification \w+ \d+|^ours: ", source), key
    assert len({key for key, _, _ in preset.rows}) == len(preset.rows)
    assert preset.departures


def test_what_the_user_says_stays(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[world]\nid = "survival/2v2-all-low"\n[ppo]\nepochs = 7\ngamma = 0.5\n')
    settings = build_settings(str(file), ["ppo.gamma=0.6"], {"steps": 5}, preset="fanti2022")
    assert (settings.world.id, settings.steps) == ("survival/2v2-all-low", 5)
    assert (settings.ppo.epochs, settings.ppo.gamma, settings.ppo.mask_dead) == (7, 0.6, False)
    # Another algorithm or network than the preset's: what it does not read is left out, as a world's own settings are.
    other = build_settings("", ["algorithm=policy_gradient", "network.kind=mlp"], {}, preset="fanti2022")
    assert (other.algorithm, other.network.kind, other.ppo.epochs) == ("policy_gradient", "mlp", 10)
    longer = build_settings("", ["world.options.signal_length=3"], {}, preset="werewolf-record").world
    assert (longer.id, longer.options["signal_length"]) == ("werewolf/published-code", 3)
    assert longer.options["signal_range"] == 9


def test_a_run_begins_with_what_its_preset_does_not_honour(capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    trained = []
    monkeypatch.setattr(
        "interplay.train.trainer.train", lambda settings, out, **_: trained.append(settings) or "x"
    )
    world = SimpleNamespace(agents=(), kinds=(), close=lambda: None)
    monkeypatch.setattr("interplay.verbs.settings.open_world", lambda world_id, **options: world)
    code, _, errors = typed(capsys, "train", "--preset", "fanti2022", "seed=3")
    assert (code, trained[0].seed, trained[0].ppo.epochs) == (0, 3, 400)
    assert errors.splitlines() == [f"--preset fanti2022: {line}" for line in PRESETS["fanti2022"].departures]
    code, _, errors = typed(capsys, "train", "--preset", "fanti2022", "train.quiet=true")
    assert (code, errors) == (0, "")
    code, _, errors = typed(capsys, "train", "mmo/forage", "--preset", "suarez2019")
    assert (code, trained[2].world.id, trained[2].policy_gradient.reward_scale) == (0, "mmo/forage", 1.0)
    assert "no world; name one" in refusal(capsys, "train")


def describe(name: str) -> str:
    """A section of docs/presets.md: the preset's rows with sources, and its departures."""
    preset = PRESETS[name]
    lines = [f"## {name}", "", f"{preset.about[0].upper()}{preset.about[1:]}; for `{preset.worlds}`,"]
    options = "".join(f" world.options.{key}={toml_value(value)}" for key, value, _ in preset.game)
    lines[-1] += f" `{preset.world}{options}` unless you name a world."
    lines += ["", "| setting | value | source |", "|---|---|---|"]
    game = [Row(f"world.options.{key}", value, source) for key, value, source in preset.game]
    for key, value, source in (*preset.rows, *game):
        shown = '"off"' if value is None else toml_value(value)
        lines.append(f"| `{key}` | `{shown}` | {source} |")
    return (
        "\n".join([*lines, "", "Not honoured, or ours:", "", *(f"- {line}" for line in preset.departures)])
        + "\n"
    )


def test_the_page_shows_them_as_they_are() -> None:
    page = (ROOT / "docs" / "presets.md").read_text()
    for name in PRESETS:
        assert describe(name) in page, f"docs/presets.md: put this there\n\n{describe(name)}"


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        # 2 agents: 2,048 worlds; 2,048 x 2 x 64 = 262,144 agent-steps an update
        ("survival/1v1-heals-low", {"num_worlds": 2048, "ppo.minibatch": 65_536, "ppo.reward_scale": 0.2}),
        # 24 agents: 171 worlds, one more for two shards; 172 x 24 x 64 = 264,192
        ("gridworld/team-battle", {"num_worlds": 172, "ppo.minibatch": 66_048, "ppo.gamma": 0.95}),
    ],
)
def test_batches_for_a_card(world: str, expected: dict[str, object]) -> None:
    settings = build_settings(world, [], {}, preset="gpu")
    usual = {"train.shards": 2, "ppo.rollout": 64, "ppo.epochs": 2, "train.device": "cpu"}
    for key, value in (usual | expected).items():
        assert at(settings, key) == value, key
    assert (
        run_settings(world, [], {"steps": 10}, preset="gpu").num_worlds == expected["num_worlds"]
    )  # a short run keeps them


def test_a_world_that_has_more_agents_keeps_them_under_the_preset_for_a_card() -> None:
    settings = build_settings("mmo/combat", [], {}, preset="gpu")  # one gradient step takes all samples
    assert (settings.num_worlds, settings.policy_gradient.rollout, settings.train.shards) == (64, 64, 2)
    assert settings.policy_gradient.reward_scale == 0.1


def test_what_the_user_says_stays_above_the_preset_for_a_card() -> None:
    typed = ["ppo.rollout=32", "train.shards=4", "num_worlds=64"]
    settings = build_settings("survival/1v1-heals-low", typed, {"train.device": "gpu"}, preset="gpu")
    assert (settings.num_worlds, settings.ppo.rollout, settings.train.shards) == (64, 32, 4)
    assert (settings.ppo.minibatch, settings.train.device) == (16_384, "gpu")  # 4,096 agent-steps an update
    settings = build_settings(
        "survival/1v1-heals-low", ["ppo.minibatch=512"], {"num_worlds": 100}, preset="gpu"
    )
    assert (settings.num_worlds, settings.ppo.minibatch) == (100, 512)


def test_the_preset_for_a_card_counts_the_agents_of_the_worlds_options() -> None:
    typed = ["world.options.slots=16", "world.options.npop=2"]
    assert build_settings("mmo/combat", typed, {}, preset="gpu").num_worlds == 256

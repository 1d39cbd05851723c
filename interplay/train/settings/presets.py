"""Presets: published training settings, every number with its source; and `gpu`, batch sizes for a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.settings import merge, nest
from interplay.train.settings.algorithms import BUILT_IN, RolloutGroup
from interplay.train.settings.train import TrainSettings
from interplay.train.settings.unread import fitting

GPU = "gpu"
AGENTS, ROLLOUT, EPOCHS = 4096, 64, 2
SHARDS = 2  # the GPU infers for one while the worlds of the other step (`rollout.collect`)
MINIBATCH = 16_384  # at least; a quarter of an update where that is more


class Row(NamedTuple):
    """One setting.

    Attributes:
        key: as on the command line.
        value: its value.
        source: publication or code.
    """

    key: str
    value: Any
    source: str


class Preset(NamedTuple):
    """Settings of a published training run.

    Attributes:
        about: title.
        worlds: pattern of world ids it applies to.
        world: default world, with the options in `game`.
        rows: the settings.
        departures: differences from the original, one sentence each; logged when a run begins.
        game: options of `world`.
    """

    about: str
    worlds: str
    world: str
    rows: tuple[Row, ...]
    departures: tuple[str, ...]
    game: tuple[Row, ...] = ()


_FANTI = "the code of all published curves (specification survival 10)"
_FANTI_TABLE = "the paper's table 1 and its code (specification survival 10)"
_SUAREZ = "the paper (specification mmo 10)"
_SUAREZ_CODE = "the code of 2019 (specification mmo 10)"
_PC = "starting values of the published code (specification werewolf 15)"
_RECORD = "the record: L = S = n = 9 (specification werewolf 19)"

PRESETS: dict[str, Preset] = {
    "fanti2022": Preset(
        about="survival as Fanti (2022) trained it",
        worlds="survival/*",
        world="survival/1v1-heals-low",
        rows=(
            Row("steps", 10_000_000, _FANTI),
            Row("num_worlds", 64, "with ppo.rollout: 16,384 steps of each agent per update, " + _FANTI_TABLE),
            Row(
                "ppo.rollout", 256, "with num_worlds: 16,384 steps of each agent per update, " + _FANTI_TABLE
            ),
            Row("ppo.minibatch", 512, _FANTI_TABLE),
            Row("ppo.clip", 0.2, _FANTI_TABLE),
            Row("ppo.gamma", 0.99, _FANTI_TABLE),
            Row("ppo.gae_lambda", 0.95, _FANTI_TABLE),
            Row("ppo.target_kl", 0.01, _FANTI_TABLE),
            Row("ppo.epochs", 400, _FANTI),
            Row("ppo.learning_rate", 3e-4, _FANTI),
            Row("ppo.entropy_coefficient", 0.0, _FANTI),
            Row("ppo.value_coefficient", 0.5, _FANTI),
            Row("ppo.max_grad_norm", 0.5, _FANTI),
            Row("ppo.normalise_advantage", True, _FANTI),
            Row("ppo.mask_dead", False, _FANTI),
            Row("ppo.reward_scale", 1.0, "rewards as the world pays them (specification survival 8)"),
            Row("network.kind", "attention", _FANTI),
            Row("network.width", 32, _FANTI),
            Row("network.heads", 4, _FANTI),
            Row("network.tail", 64, _FANTI),
            Row("network.activation", "tanh", _FANTI),
            Row("network.separate_value", False, _FANTI),
        ),
        departures=(
            "hidden entities are masked, as the paper says; the code's mask hides nothing: network.attention_mask_additive=true",
            "the world is the paper's; the quirks of its code: world.options.author_parity=true",
            "agent-steps count acting agents; the author's 10 M count every slot, which is slot_steps here",
            "advantages are normalised over an update, not over each minibatch",
        ),
    ),
    "suarez2019": Preset(
        about="the persistent world as Suarez et al. (2019) trained it",
        worlds="mmo/*",
        world="mmo/combat",
        rows=(
            Row("algorithm", "policy_gradient", _SUAREZ),
            Row("policy_gradient.returns", "lives", _SUAREZ_CODE),
            Row("policy_gradient.gamma", 0.99, _SUAREZ),
            Row("policy_gradient.learning_rate", 1e-3, _SUAREZ),
            Row("policy_gradient.weight_decay", 1e-5, _SUAREZ),
            Row("policy_gradient.entropy_coefficient", 0.01, _SUAREZ),
            Row("policy_gradient.value_coefficient", 0.25, _SUAREZ_CODE),
            Row("policy_gradient.clip_element", 5.0, _SUAREZ_CODE),
            Row("policy_gradient.normalise_advantage", True, _SUAREZ_CODE),
            Row("policy_gradient.reward_scale", 1.0, "rewards as the world pays them (specification mmo 8)"),
            Row(
                "policy_gradient.rollout",
                32,
                "ours: the original waits for 3,200 agent-steps of finished lives",
            ),
            Row("network.kind", "tiles", _SUAREZ),
            Row("network.width", 32, _SUAREZ_CODE),
            Row("network.activation", "none", _SUAREZ),
            Row("network.separate_heads", False, _SUAREZ),
            Row("network.probability_floor", 0.001, _SUAREZ_CODE),
            Row("train.best_by", "life", "the best by mean life is kept (specification mmo 11)"),
        ),
        departures=(
            "a batch is what 32 ticks of all worlds have finished, not 3,200 agent-steps of finished lives in one world",
            "a running life's steps older than 128 ticks are learnt from with a value at the cut: policy_gradient.horizon",
            "advantages are normalised for each population, and a population without a row keeps its moments (specification mmo 10)",
            "the code's three trunks: network.separate_heads=true",
            "its number of lives is not set: give --steps",
        ),
    ),
    "werewolf-record": Preset(
        about="the public record of werewolf runs (Boldt's data set of 2024), by the published code's own starting values",
        worlds="werewolf/*",
        world="werewolf/published-code",
        rows=(
            Row("opponents.werewolf", "random_target", "wolves name anybody (specification werewolf 15, 19)"),
            Row("num_worlds", 8, "with ppo.rollout: a batch of 400 steps, " + _PC),
            Row("ppo.rollout", 50, "with num_worlds: a batch of 400 steps, " + _PC),
            Row("ppo.epochs", 10, _PC),
            Row("ppo.target_kl", None, "no stop by KL is published (specification werewolf 15)"),
            Row("ppo.clip", 0.2, _PC),
            Row("ppo.gamma", 0.998, _PC),
            Row("ppo.discount", "step", "gamma counts steps of the world (specification werewolf 15)"),
            Row("ppo.gae_lambda", 0.95, _PC),
            Row("ppo.learning_rate", 3e-4, _PC),
            Row("ppo.entropy_coefficient", 0.01, _PC),
            Row("ppo.max_grad_norm", 5.0, _PC),
            Row("ppo.reward_scale", 1.0, "rewards as the world pays them (specification werewolf 8)"),
            Row("network.kind", "mlp", "feed-forward, " + _PC),
        ),
        departures=(
            "the record does not hold its settings: these are the published code's starting values, by the original only a hint",
            "units of layers and the size of minibatches are not published: network.hidden and ppo.minibatch are those of interplay",
            "an update cuts games where its steps end and goes on with a value; there it held complete games",
            "for 21 players add: world.options.n_players=21 world.options.signal_length=21 world.options.signal_range=21",
        ),
        game=(Row("signal_length", 9, _RECORD), Row("signal_range", 9, _RECORD)),
    ),
}


def find_preset(name: str) -> Preset:
    """The preset of this name."""
    if name not in PRESETS:
        near = did_you_mean(name, PRESETS, f"give {', '.join(PRESETS)} or {GPU}")
        raise UserError(f"--preset {name}: no such preset; {near}")
    return PRESETS[name]


def under(name: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Puts the user's settings over those of a preset.

    Args:
        wanted: nested, of the user. Without a world it gets the preset's, with its options.

    Example:
        >>> under("fanti2022", {"ppo": {"epochs": 10}})["world"]
        {'id': 'survival/1v1-heals-low', 'options': {}}
        >>> under("fanti2022", {"ppo": {"epochs": 10}})["ppo"]["epochs"]
        10
    """
    preset = find_preset(name)
    below = nest({key: "off" if value is None else value for key, value, _ in preset.rows})
    chosen = wanted.get("world")
    if not (isinstance(chosen, dict) and "id" in chosen):
        below["world"] = {"id": preset.world, "options": {key: value for key, value, _ in preset.game}}
    elif not fnmatchcase(str(chosen["id"]), preset.worlds):
        raise UserError(
            f"--preset {name} is for {preset.worlds}, not for {chosen['id']}; leave one of them out"
        )
    return merge(fitting(below, wanted), wanted)


def with_gpu_preset(values: Mapping[str, Any], asked: Mapping[str, Any], agents: int) -> dict[str, Any]:
    """Puts the preset `gpu` over `values` and the user's settings over both.

    Args:
        values: nested, of the world and the user together.
        agents: slots of one world.

    Example:
        >>> found = with_gpu_preset({"num_worlds": 64}, {"ppo": {"epochs": 3}}, agents=2)
        >>> found["num_worlds"], found["ppo"]
        (2048, {'rollout': 64, 'epochs': 3, 'minibatch': 65536})
    """
    algorithm = str(values.get("algorithm", "ppo"))
    group = BUILT_IN.get(algorithm)
    if group is None or not issubclass(group, RolloutGroup):
        raise UserError(f"--preset {GPU}: {algorithm} has no minibatches of rollouts; leave the preset out")
    own = {"rollout": ROLLOUT} | ({"epochs": EPOCHS} if "epochs" in group.model_fields else {})
    below = merge(dict(values), {"train": {"shards": SHARDS}, algorithm: own})
    found = merge(below, asked)
    split, rule, worlds = (
        found["train"],
        found[algorithm],
        found.get("num_worlds", TrainSettings.model_fields["num_worlds"].default),
    )
    if not (isinstance(split, Mapping) and isinstance(rule, Mapping)):
        return found  # `build` refuses it
    shards, rollout = split["shards"], rule["rollout"]
    if not all(isinstance(number, int) and number > 0 for number in (worlds, shards, rollout)):
        return found
    if "num_worlds" not in asked:
        worlds = -(-max(worlds, -(-AGENTS // agents)) // shards) * shards
    least = {"num_worlds": worlds}
    if "minibatch" in group.model_fields:
        least |= {algorithm: {"minibatch": max(MINIBATCH, worlds * agents * rollout // 4)}}
    return merge(merge(found, least), asked)

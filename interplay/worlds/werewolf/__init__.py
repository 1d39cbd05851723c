"""Werewolf: hidden roles, votes, and words with learned meanings."""

from collections.abc import Mapping
from typing import Any

from interplay.core.spec import WorldSpec
from interplay.worlds.werewolf.config import VARIANTS

_SUMMARIES = {
    "written": "9 players as in the original's description: one board, hidden own roles, WD's rewards",
    "published_code": "as written, with the published code's deviations: no penalty for a day, 9 days",
    "multi_round": "21 players, three rounds of talk by day, executions by a quota of the margin",
    "aiwolf5": "5 players: a wolf, a possessed, a seer, two villagers",
    "aiwolf13": "13 players: 3 wolves, a possessed, a seer, a guard, a medium, 6 villagers",
}


def _summary(name: str) -> str:
    if name in _SUMMARIES:
        return _SUMMARIES[name]
    options = VARIANTS[name]
    length = options.get("signal_length", 0)
    words = f"words of {length} out of {options['signal_range']} symbols" if length else "no words"
    return f"{options['n_players']} players, {words}"


def _training(options: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that learned (docs/results/werewolf.md): results of +-1, discount by decisions, two days of past boards."""
    ppo = {"rollout": 32, "epochs": 3, "gamma": 1.0, "discount": "decision", "reward_scale": 0.04}
    few = {"num_worlds": 128 if options.get("n_players", 9) <= 13 else 64, "train": {"shards": 2}}
    training: dict[str, Any] = few | {"ppo": ppo | {"entropy_coefficient": 0.003}}
    if "board" in options:  # the network of seats does not read the original's single board
        return training | {"network": {"kind": "mlp", "input_scale": True}}
    network = {"kind": "seats", "activation": "relu"}
    return training | {"network": network, "world": {"options": {"obs": {"history": 4}}}}


SPECS = tuple(
    WorldSpec(
        id=f"werewolf/{name.replace('_', '-')}",
        summary=_summary(name),
        make="interplay.worlds.werewolf.world:WerewolfWorld",
        settings="interplay.worlds.werewolf.config:WerewolfSettings",
        options=options,
        policies="interplay.worlds.werewolf.policies:POLICIES",
        training=_training(options),
    )
    for name, options in VARIANTS.items()
)

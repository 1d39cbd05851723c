"""One player behind every adapter: what it sees when it decides, and what each seat earns in the end."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from interplay.connect import to_aec, world_to_simulation
from interplay.connect.pettingzoo import make
from interplay.core.masks import to_gymnasium
from interplay.sim.managers import DynamicOrderManager
from tests.worlds.werewolf.games import game

Decisions = dict[str, list[bytes]]
Story = tuple[Decisions, dict[str, float]]


class Player:
    """Chooses by what it sees alone, and remembers what each seat saw."""

    def __init__(self, agents: list[str]) -> None:
        self.seen: Decisions = {name: [] for name in agents}
        self.earned = dict.fromkeys(agents, 0.0)

    def choose(self, name: str, observation: dict[str, Any], mask: Any) -> np.ndarray:
        told = b"".join(
            key.encode() + np.asarray(observation[key]).tobytes() for key in sorted(observation)
        ) + b"".join(part.tobytes() for part in mask)
        self.seen[name].append(told)
        rng = np.random.default_rng(zlib.crc32(told))
        return np.array([rng.choice(np.flatnonzero(part)) for part in mask], np.int16)

    def pay(self, rewards: dict[str, float]) -> None:
        for name, reward in rewards.items():
            self.earned[name] += reward

    def story(self) -> Story:
        return self.seen, self.earned


def heads(env: Any, name: str, infos: Any) -> Any:
    """The mask in an info, head by head."""
    return to_gymnasium(env.action_spaces[name], infos[name]["action_mask"])


def dense(seed: int, **options: Any) -> Story:
    """The batch itself: sleepers and the dead have rows, and pass."""
    world = game(seed=seed, **options)
    world.reset(seeds=seed)
    player, n = Player(list(world.agents)), len(world.agents)
    idle = [world.settings.n_players] * world.settings.names + [0] * world.settings.word_length
    while not world.timestep.over[0]:
        now = world.timestep
        action = np.tile(np.array(idle, np.int16), (1, n, 1))
        for seat, name in enumerate(world.agents):
            if now.acting[0, seat]:
                seen = {key: field[0, seat].copy() for key, field in now.observation.items()}
                mask = to_gymnasium(world.action_space, now.action_mask["action"][0, seat])  # type: ignore[index]
                action[0, seat] = player.choose(name, seen, mask)
        world.step(action)
        player.pay(dict(zip(world.agents, world.timestep.reward[0].tolist(), strict=True)))
    return player.story()


def parallel(seed: int, **options: Any) -> Story:
    """PettingZoo's parallel form; only acting agents pass an action."""
    variant = options.pop("variant", "9")
    env = make(f"werewolf/{variant}", **options)
    observations, infos = env.reset(seed=seed)
    player = Player(env.possible_agents)
    while env.agents:
        actions = {
            name: player.choose(name, observations[name], heads(env, name, infos))
            for name in env.agents
            if infos[name]["acting"]
        }
        observations, rewards, _, _, infos = env.step(actions)
        player.pay(rewards)
    return player.story()


def one_by_one(seed: int, **options: Any) -> Story:
    """PettingZoo's AEC form: acting seats in order, each with the state before the first."""
    variant = options.pop("variant", "9")
    env = to_aec(DynamicOrderManager(world_to_simulation(f"werewolf/{variant}", **options)))
    env.reset(seed=seed)
    player = Player(env.possible_agents)
    for name in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        player.pay({name: reward})
        over = terminated or truncated
        env.step(None if over else player.choose(name, observation, info["action_mask"]))
    return player.story()


def rllib(seed: int, **options: Any) -> Story:
    """RLlib's form: agents with an observation act."""
    from interplay.connect import world_to_rllib

    variant = options.pop("variant", "9")
    env = world_to_rllib(f"werewolf/{variant}", **options)
    observations, infos = env.reset(seed=seed)
    player, over = Player(env.possible_agents), False
    while not over:
        actions = {
            name: player.choose(name, observations[name], heads(env, name, infos)) for name in observations
        }
        observations, rewards, terminateds, truncateds, infos = env.step(actions)
        player.pay(rewards)
        over = terminateds["__all__"] or truncateds["__all__"]
        ended = {n for n in observations if terminateds.get(n) or truncateds.get(n)}
        observations = {name: seen for name, seen in observations.items() if name not in ended}
    return player.story()


VIEWS: dict[str, Callable[..., Story]] = {"parallel": parallel, "aec": one_by_one, "rllib": rllib}

"""RLlib's own check of environments, over every step of whole episodes: ``python -m bench.rllib_checks``.

`check_multiagent_environments` looks at one reset and one step, in which nobody has ended yet. Here the same looks go to every report
of an episode, as agents end and are born in the middle of it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from ray.rllib.utils.pre_checks import env as rllib

import interplay
from interplay.connect.rllib import WorldMultiAgentEnv, world_to_rllib
from interplay.registry import installed_ids

LIVES = 1000  # of an episode at least, where slots live more than once
MOST_AGENTS = 2000  # of a world: RLlib has to be told of every agent beforehand
NAMES = ("observations", "rewards", "terminateds", "truncateds", "infos")


def check_report(env: Any, told: tuple[Any, ...]) -> None:
    """What `check_multiagent_environments` asks of a step, of any step.

    Raises:
        ValueError: RLlib's own, if it finds a fault.
    """
    for name, part in zip(NAMES, told, strict=True):
        rllib._check_if_element_multi_agent_dict(env, part, f"step, {name}", allow_common=name == "infos")
    _, rewards, terminateds, truncateds, infos = told
    rllib._check_reward({"env": rewards}, base_env=True, agent_ids=env.agents)
    rllib._check_done_and_truncated(
        {"env": terminateds}, {"env": truncateds}, base_env=True, agent_ids=env.agents
    )
    rllib._check_info({"env": infos}, base_env=True, agent_ids=env.agents)


def episode(env: Any, seed: int, most: int, check: Any = check_report) -> int:
    """Plays an episode with legal actions drawn at random, every report checked; its steps.

    Raises:
        ValueError: RLlib's own, if it finds a fault, or an observation lies outside its space.
    """
    observations, infos = env.reset(seed=seed)
    rllib._check_if_element_multi_agent_dict(env, observations, "reset")
    for step in range(most):
        actions = {name: env.action_spaces[name].sample(_mask(infos.get(name))) for name in observations}
        told = env.step(actions)
        check(env, told)
        for name, seen in told[0].items():
            if not env.get_observation_space(name).contains(seen):
                raise ValueError(f"the observation of {name} in step {step + 1} lies outside its space")
        if told[2]["__all__"] or told[3]["__all__"]:
            return step + 1
        ended = {name for flags in told[2:4] for name in flags if flags[name]}
        observations, infos = {n: seen for n, seen in told[0].items() if n not in ended}, told[4]
    return most


def _mask(info: dict[str, Any] | None) -> Any:
    return None if info is None else info.get("action_mask")


def make(world_id: str) -> WorldMultiAgentEnv:
    """A registered world for RLlib."""
    world = interplay.make_world(world_id)
    lives = {"lives": max(LIVES, 2 * len(world.agents))} if world.respawns else {}
    return world_to_rllib(world_id, **lives)


def refusals(world_id: str, episodes: int, seed: int, most: int) -> Iterator[str]:
    """What RLlib's check does not like of a world, one line for each episode that it refuses."""
    env = make(world_id)
    try:
        rllib.check_multiagent_environments(env)
    except ValueError as error:
        yield f"check_multiagent_environments: {_line(error.__cause__ or error)}"
    for number in range(episodes):
        try:
            episode(env, seed + number, most)
        except ValueError as error:
            yield f"episode {seed + number}: {_line(error)}"
    env.close()


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", help="ids; all that are registered, if none is given")
    parser.add_argument("--count", type=int, default=2, help="episodes of each world")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=300, help="the most of an episode")
    given = parser.parse_args()
    worlds = given.worlds or installed_ids()
    large = [world_id for world_id in worlds if len(interplay.make_world(world_id).agents) > MOST_AGENTS]
    worlds = [world_id for world_id in worlds if world_id not in large]
    refused = 0
    for world_id in worlds:
        found = list(refusals(world_id, given.count, given.seed, given.steps))
        refused += bool(found)
        print(f"{world_id}: {len(found)} refusals in {given.count} episodes", file=sys.stderr, flush=True)
        for line in found[:3]:
            print(f"  {line}", file=sys.stderr, flush=True)
    print(f"{len(worlds)} worlds, {given.count} episodes each: RLlib's own check refuses {refused} of them")
    if large:
        print(f"left out, more than {MOST_AGENTS:,} agents: {', '.join(large)}")
    sys.exit(refused > 0)


if __name__ == "__main__":
    main()

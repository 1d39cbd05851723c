"""Plays episodes of a simulation and writes them to text files, without training.

Source: manual 2.3 and 7.6; specification 2.11, L5, and 6.2.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from interplay.core.files import os_errors_as_user_errors, replace_file
from interplay.sim.agents import is_agent
from interplay.sim.checks import is_exactly, require
from interplay.sim.managers import SimulationManager
from interplay.train.tabular.folders import make_folder, results_folder, stamp
from interplay.train.tabular.policies import Policy, RandomPolicy
from interplay.train.tabular.trainers import MultiPolicyTrainer

NAME = "DEBUG"


class DebugTrainer(MultiPolicyTrainer):
    """Plays episodes and writes each into two text files: by event and by agent.

    Args:
        sim: the manager.
        policies: policy id -> policy; without them every learning agent gets a random policy with its own id, and no
            mapping is needed.
        policy_mapping_fn: agent id -> policy id.
        name: of the experiment; date and time are appended.
        output_dir: where the folder is made; None: ``interplay_results`` in the home directory.

    Raises:
        AssertionError: for a name or a folder that is no str, and as `MultiPolicyTrainer` does.
    """

    def __init__(
        self,
        policies: dict[str, Policy] | None = None,
        name: str | None = None,
        output_dir: str | None = None,
        sim: SimulationManager | None = None,
        policy_mapping_fn: Callable[[str], str] | None = None,
        **kwargs: Any,
    ) -> None:
        require(isinstance(sim, SimulationManager), f"sim {sim!r} is no SimulationManager; give one")
        for what, value in (("name", name), ("output_dir", output_dir)):
            require(value is None or is_exactly(value, str), f"{what} {value!r} is no str; give one or None")
        self._random: dict[str, Policy] | None = None
        if not policies and sim is not None:
            policies = self._random = _random_policies(sim)
            policy_mapping_fn = _itself
        super().__init__(sim, policies, policy_mapping_fn, **kwargs)
        self._name = f"{name or NAME}_{stamp(datetime.now())}"
        self._folder = (results_folder() if output_dir is None else Path(output_dir)) / self._name
        self._made = False

    def _compare(self) -> None:
        if not self._compared and self.policies is self._random:  # another sim was set
            self.policies = self._random = _random_policies(self.sim)
        super()._compare()

    @property
    def name(self) -> str:
        """The name with date and time."""
        return self._name

    @property
    def output_dir(self) -> str:
        """The folder of this trainer's files; its name gets a number if it exists when it is made."""
        return str(self._folder)

    def make_output_dir(self) -> str:
        """Makes the folder, once."""
        if not self._made:
            self._folder, self._made = make_folder(self._folder), True
        return self.output_dir

    def train(
        self,
        iterations: int = 5,
        render: bool | Callable[[SimulationManager], object] = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> str:
        """Plays and writes ``Episode_<i>_by_event.txt`` and ``Episode_<i>_by_agent.txt``.

        Args:
            iterations: episodes.
            render: as in `generate_episode`.
            seed: of the first episode; the i-th has seed + i.
            **kwargs: of `generate_episode`.

        Returns:
            The folder.
        """
        self.make_output_dir()
        for i in range(iterations):
            stem = f"Episode_{i}_by"
            # Written step by step: when the simulation fails, the last lines show where.
            events = self._folder / f"{stem}_event.txt"
            with os_errors_as_user_errors("writing", events), events.open("w", encoding="utf-8") as log:
                one = None if seed is None else seed + i
                episode = self.generate_episode(render=render, log=log, seed=one, **kwargs)
            replace_file(self._folder / f"{stem}_agent.txt", episode.text())
        return self.output_dir


def _random_policies(sim: SimulationManager) -> dict[str, Policy]:
    """A random policy for each learning agent, named by its id."""
    return {
        agent_id: RandomPolicy(agent.action_space, agent.observation_space)
        for agent_id, agent in sim.agents.items()
        if is_agent(agent)
    }


def _itself(agent_id: str) -> str:
    return agent_id

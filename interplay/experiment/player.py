"""The trainer for an analysis script: the trained policies, one action at a time.

Source: manual 2.5; specification section 3, row 7.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from interplay.core import masks
from interplay.core.errors import UserError
from interplay.experiment.params import Experiment
from interplay.experiment.worlds import read
from interplay.sim.batch.layout import mask_of


class TrainedPolicies:
    """The policies of a checkpoint.

    Args:
        experiment: that was trained.
        checkpoint: folder of the checkpoint.
        explore: draw actions instead of taking the likeliest, unless a call says otherwise.
        seed: of the draws.
        trust: allows programs named in the run's settings; needed once, for a foreign run.

    Attributes:
        agents: ids of the agents with a policy.
        config: the experiment's ``ray_tune.config``; ``config['policy_mapping_fn']``, which is also
            ``config['multiagent']['policy_mapping_fn']``, takes an agent's id.
    """

    def __init__(
        self,
        experiment: Experiment,
        checkpoint: Path,
        explore: bool = False,
        seed: int | None = None,
        trust: bool = False,
    ) -> None:
        from interplay.train.play.single import SingleActor

        self._readers, self._assigned = read(experiment)
        self.agents = tuple(self._assigned)
        kinds = [reader.kind for reader in self._readers.values()]
        self._actor = SingleActor(checkpoint, kinds, seed or 0, trust)
        self._explore = explore
        multiagent = {**experiment.multiagent, "policy_mapping_fn": self.policy_of}
        by_agent = {"multiagent": multiagent, "policy_mapping_fn": self.policy_of}
        self.config: dict[str, Any] = {**experiment.config, **by_agent}

    def policy_of(self, agent_id: str, *args: Any, **kwargs: Any) -> str:
        """The policy that acts for an agent.

        Raises:
            UserError: for an agent that has none.
        """
        if agent_id not in self._assigned:
            raise UserError(f"no policy acts for {agent_id!r}; agents are {', '.join(self._assigned)}")
        return self._assigned[agent_id]

    def compute_action(
        self,
        observation: Any,
        policy_id: str | None = None,
        explore: bool | None = None,
        action_mask: Any = None,
        **kwargs: Any,
    ) -> Any:
        """An action for an agent's observation.

        Args:
            observation: from the simulation.
            policy_id: the acting policy; may be left out where there is one.
            explore: draw the action instead of taking the likeliest.
            action_mask: from the simulation's `get_action_mask`.

        Raises:
            UserError: for an unknown policy, or none where there are several.
        """
        if policy_id is None and len(self._readers) == 1:
            policy_id = next(iter(self._readers))
        if policy_id not in self._readers:
            raise UserError(f"policy_id = {policy_id!r}; give one of {', '.join(self._readers)}")
        reader = self._readers[policy_id]
        mask = {}
        for leaf in reader.foreign.masks:
            part = mask_of(leaf, action_mask)
            if part is not None:
                mask[leaf.name] = masks.from_gymnasium(leaf.space, part)
        explores = self._explore if explore is None else explore
        return self._actor.act(policy_id, reader.leaves(observation), mask or None, explores)

    compute_single_action = compute_action

"""Assigns a policy to every agent.

Source: specification 6.3 and section 3, row 8.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from interplay.core.errors import UserError
from interplay.experiment.params import Experiment
from interplay.sim.agents import is_agent

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def mapping_of(experiment: Experiment) -> Callable[..., str] | None:
    """The experiment's mapping as a function of the agent's id; None without policies.

    Raises:
        UserError: if there are several policies and no mapping.
    """
    policies = experiment.multiagent.get("policies")
    function = experiment.multiagent.get("policy_mapping_fn")
    if policies is None:
        return None
    if function is not None:
        return _takes_an_id(function)
    if len(policies) > 1:
        raise UserError(
            f"{experiment.title}: {len(policies)} policies and no policy_mapping_fn; give a function of an agent's id"
        )
    only = next(iter(policies))
    return lambda agent_id, *args, **kwargs: only


def assign(experiment: Experiment, agents: Mapping[str, Any]) -> dict[str, str] | None:
    """Agent id -> policy id for every learning agent; None without policies.

    Args:
        experiment: with its policies.
        agents: of a manager.

    Raises:
        UserError: if an agent is mapped to no policy or has other spaces than its policy, or a policy has a form that the trainer
            does not support.
    """
    function = mapping_of(experiment)
    if function is None:
        return None
    policies = experiment.multiagent["policies"]
    for policy_id, policy in policies.items():
        _check_policy(experiment.title, policy_id, policy)
    assigned = {name: function(name) for name, agent in agents.items() if is_agent(agent)}
    for agent_id, policy_id in assigned.items():
        if policy_id not in policies:
            raise UserError(
                f"{experiment.title}: policy_mapping_fn gives {policy_id!r} for {agent_id}; policies are {', '.join(map(str, policies))}"
            )
        _, seen, acts, _ = policies[policy_id]
        for what, theirs, ours in (
            ("observation", agents[agent_id].observation_space, seen),
            ("action", agents[agent_id].action_space, acts),
        ):
            if theirs != ours:
                raise UserError(
                    f"{experiment.title}: the {what} space of {agent_id} is {theirs}, that of its policy {policy_id} is {ours}; give the policy the agent's"
                )
    idle = [str(policy_id) for policy_id in policies if policy_id not in assigned.values()]
    if idle:
        warnings.warn(
            f"{experiment.title}: no agent is mapped to {', '.join(idle)}; left out",
            UserWarning,
            stacklevel=2,
        )
    return assigned


def learners(experiment: Experiment, assigned: Mapping[str, str] | None) -> tuple[str, ...]:
    """The policies that learn; empty for all.

    Raises:
        UserError: for an unknown policy to train, and if none is left.
    """
    wanted = experiment.multiagent.get("policies_to_train")
    if wanted is None or assigned is None:
        return ()
    policies = experiment.multiagent["policies"]
    for policy_id in wanted:
        if policy_id not in policies:
            raise UserError(
                f"{experiment.title}: policies_to_train names {policy_id!r}; policies are {', '.join(map(str, policies))}"
            )
    used = tuple(
        policy_id for policy_id in policies if policy_id in wanted and policy_id in assigned.values()
    )
    if not used:
        raise UserError(f"{experiment.title}: policies_to_train leaves nothing to train; name a policy in it")
    return used


def _check_policy(title: str, policy_id: Any, policy: Any) -> None:
    if not isinstance(policy_id, str) or not policy_id or "/" in policy_id:
        raise UserError(f"{title}: the policy id {policy_id!r} is no text without '/'; choose another")
    if not isinstance(policy, tuple) or len(policy) != 4:
        raise UserError(
            f"{title}: policies[{policy_id!r}] = {policy!r}; give (None, observation space, action space, {{}})"
        )
    if policy[0] is not None or policy[3]:
        raise UserError(
            f"{title}: policies[{policy_id!r}] names a class or a configuration of its own; give None and {{}}, or for a configuration 'backend': 'rllib'"
        )


def _takes_an_id(function: Callable[..., str]) -> Callable[..., str]:
    """Calls a mapping with the arguments that it requires.

    RLlib's versions pass an episode, a worker and keywords besides.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # builtins have none
        parameters = []
    required = [p for p in parameters if p.default is p.empty]
    more = max(sum(p.kind in POSITIONAL for p in required) - 1, 0)
    named = {p.name: None for p in required if p.kind is p.KEYWORD_ONLY}
    return lambda agent_id, *args, **kwargs: function(agent_id, *[None] * more, **named)

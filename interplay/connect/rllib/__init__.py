"""RLlib in both directions: simulations and worlds as `MultiAgentEnv`s, and a `MultiAgentEnv` as a simulation.

For RLlib's new API stack. Observations that are no single Box go through its own connector
``FlattenObservations(multi_agent=True)`` (`docs/integrations/rllib.md` shows how).
Source: manual 2.1.5 and 7.4; specification 2.12, X6 and X7, and 8.1.
"""

from interplay.core.errors import MissingExtraError

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv as _MultiAgentEnv  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        'this adapter needs RLlib; install it with pip install "interplay[rllib]"'
    ) from error

from interplay.connect.rllib.masked import MaskedMultiAgentEnv
from interplay.connect.rllib.runner import BatchedEnvRunner
from interplay.connect.rllib.simulation import MultiAgentABS, multi_agent_to_simulation
from interplay.connect.rllib.worlds import WorldMultiAgentEnv, world_to_rllib
from interplay.connect.rllib.wrapper import MultiAgentWrapper

__all__ = [
    "BatchedEnvRunner",
    "MaskedMultiAgentEnv",
    "MultiAgentABS",
    "MultiAgentWrapper",
    "WorldMultiAgentEnv",
    "multi_agent_to_simulation",
    "world_to_rllib",
]

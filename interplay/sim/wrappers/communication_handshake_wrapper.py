"""Communication by handshake: a message counts when it was offered and, one step later, accepted.

Source: specification 2.4, H1 to H3.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from interplay.sim.agents import ActingAgent, ObservingAgent, is_unset
from interplay.sim.simulation import AgentBasedSimulation
from interplay.sim.wrappers.wrapper import Wrapper

Messages = dict[str, dict[str, bool]]  # receiver -> sender -> whether


class CommunicationHandshakeWrapper(Wrapper):
    """Lets agents offer each other their observations, and accept offers.

    An action becomes a dict of the inner ``action``, ``send`` (by receiver) and ``receive`` (by sender); an observation becomes
    ``obs`` and ``message_buffer`` (offers by sender). The simulation's `get_obs` gets ``fusion_matrix``, sender -> bool: the messages
    that the agent has just accepted. Merging them is the simulation's task.

    Attributes:
        message_buffer: receiver -> sender -> whether a message waits.
        received_message: receiver -> sender -> whether a message was accepted in the last step.
    """

    def __init__(self, sim: AgentBasedSimulation) -> None:
        super().__init__(sim)
        for name, agent in self.agents.items():
            inner = sim.agents[name]
            flags = spaces.Dict({other: spaces.Discrete(2) for other in self._others(name)})
            nobody = dict.fromkeys(self._others(name), 0)
            if isinstance(agent, ObservingAgent):
                agent.observation_space = {"obs": inner.observation_space, "message_buffer": flags}
                if not is_unset(inner.null_observation):
                    agent.null_observation = {"obs": inner.null_observation, "message_buffer": nobody}
            if isinstance(agent, ActingAgent):
                agent.action_space = {"action": inner.action_space, "send": flags, "receive": flags}
                if not is_unset(inner.null_action):
                    agent.null_action = {"action": inner.null_action, "send": nobody, "receive": nobody}
        self.finalize()
        self.message_buffer: Messages = self._silence()
        self.received_message: Messages = self._silence()

    def reset(self, **kwargs: Any) -> None:
        super().reset(**kwargs)
        self.message_buffer, self.received_message = self._silence(), self._silence()

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        self.received_message = self._silence()
        for name, given in action.items():
            for sender, wanted in given["receive"].items():
                self.received_message[name][sender] = bool(wanted) and self.message_buffer[name][sender]
        self.message_buffer = self._silence()
        super().step({name: given["action"] for name, given in action.items()}, **kwargs)
        for name, given in action.items():
            for receiver, offered in given["send"].items():
                self.message_buffer[receiver][name] = bool(offered)

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        fusion_matrix = self.received_message[agent_id]
        waiting = {sender: int(waits) for sender, waits in self.message_buffer[agent_id].items()}
        inner = self.sim.get_obs(agent_id, fusion_matrix=fusion_matrix, **kwargs)
        return {"obs": inner, "message_buffer": waiting}

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        """The inner action's; messages are always legal."""
        inner = self.sim.get_action_mask(agent_id, **kwargs)
        if inner is None:
            return None
        free = dict.fromkeys(self._others(agent_id))
        return {"action": inner, "send": free, "receive": free}

    def _others(self, name: str) -> list[str]:
        """All other entities, those that never act included."""
        return [other for other in self.sim.agents if other != name]

    def _silence(self) -> Messages:
        return {name: dict.fromkeys(self._others(name), False) for name in self.sim.agents}

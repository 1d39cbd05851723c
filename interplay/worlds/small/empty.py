"""A simulation without content."""

from __future__ import annotations

from typing import Any

from interplay.sim import AgentBasedSimulation


class EmptyABS(AgentBasedSimulation):
    """All methods do nothing.

    Args:
        agents: id -> agent; None for none.
    """

    def __init__(self, agents: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__({} if agents is None else agents)
        self.finalize()

    def reset(self, **kwargs: Any) -> None: ...

    def step(self, action: dict[str, Any], **kwargs: Any) -> None: ...

    def render(self, **kwargs: Any) -> None: ...

    def get_obs(self, agent_id: str, **kwargs: Any) -> None: ...

    def get_reward(self, agent_id: str, **kwargs: Any) -> None: ...

    def get_done(self, agent_id: str, **kwargs: Any) -> None: ...

    def get_all_done(self, **kwargs: Any) -> None: ...

    def get_info(self, agent_id: str, **kwargs: Any) -> None: ...

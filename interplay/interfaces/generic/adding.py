"""Features that are added to an observation: a tuple, a mapping or a bare array gets one more entry."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Nest

MODES = ("append", "replace")


class Feature(Interface):
    """An interface that makes one entry and adds it to the observation (specification interfaces 7).

    A tuple grows by one. A mapping gets a new key. A bare array counts as a tuple of one. Subclasses write `_feature_space` and
    `_feature`.

    Args:
        mode: ``"append"``, or ``"replace"``: the entry is all that is observed.
        key: what a mapping calls it; None is `name`.

    Attributes:
        name: what a mapping calls it otherwise.
    """

    name: str = "feature"

    def __init__(self, inner: Interface | None = None, mode: str = "append", key: str | None = None) -> None:
        super().__init__(inner)
        if mode not in MODES:
            raise UserError(f"{type(self).__name__}: mode = {mode!r}; it is one of {', '.join(MODES)}")
        self.mode, self.key = mode, key or self.name

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        feature = self._feature_space(obs_space, act_space)
        return (feature if self.mode == "replace" else self._grown(obs_space, feature)), act_space

    def _observe(self, obs: Nest) -> Nest:
        feature = self._feature(obs)
        if self.mode == "replace":
            return feature
        if isinstance(obs, dict):
            return {**obs, self.key: feature}
        return (*obs, feature) if isinstance(obs, tuple) else (obs, feature)

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        """The entry's space; the place to call `keep`."""
        raise NotImplementedError

    def _feature(self, obs: Nest) -> Any:
        """The entry, (B, ...)."""
        raise NotImplementedError

    def _grown(self, obs_space: spaces.Space, feature: spaces.Space) -> spaces.Space:
        if isinstance(obs_space, spaces.Dict):
            if self.key in obs_space.spaces:
                raise UserError(f"{self._called()}: there is a {self.key!r} already; give another key")
            return spaces.Dict([*obs_space.spaces.items(), (self.key, feature)])
        if isinstance(obs_space, spaces.Tuple):
            return spaces.Tuple([*obs_space.spaces, feature])
        return spaces.Tuple([obs_space, feature])

"""The playground (github.com/MultiAgentLearning/playground, Apache-2.0) as a peer: loaded from a checkout, never a dependency.

It does not run on today's Python as it is (specification 3.9): its package imports network and command-line code, pinned gym and
a window library on load. What games and scripted agents need of those are a few names, which stand in here; no rule is
changed. Sampling from a set, which Python forbids since 3.11, becomes sampling from a tuple of it.
"""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from interplay.core.errors import UserError


class _Discrete:
    """Of `gym.spaces`, what a random agent asks for."""

    def __init__(self, n: int) -> None:
        self.n = n

    def sample(self) -> int:
        return random.randrange(self.n)


class _Tuple:
    def __init__(self, parts: Any) -> None:
        self.spaces = tuple(parts)

    def sample(self) -> list[int]:
        return [part.sample() for part in self.spaces]


class _Random(ModuleType):
    """The module `random`, with sets to sample from."""

    def __getattr__(self, name: str) -> Any:
        return getattr(random, name)

    def sample(self, population: Any, k: int) -> list[Any]:
        return random.sample(tuple(population), k)


def load_playground(path: Path) -> SimpleNamespace:
    """Imports the playground's games and agents from a checkout.

    Args:
        path: the folder that holds its folder ``pommerman``.

    Returns:
        Its modules ``characters``, ``constants``, ``utility``, ``v0``, ``v1``, ``v2``, ``simple_agent``, ``random_agent``.

    Raises:
        UserError: if it is not there.
    """
    if not (path / "pommerman" / "forward_model.py").is_file():
        raise UserError(
            f"{path}: no playground is there; clone MultiAgentLearning/playground and pass its folder"
        )
    boxes = SimpleNamespace(Discrete=_Discrete, Tuple=_Tuple, Box=lambda *_: None)
    _stand_in("gym", Env=object, spaces=boxes)
    _stand_in("gym.utils", seeding=None)
    _stand_in("gym.spaces", **vars(boxes))
    _stand_in("jsonmerge", Merger=None)
    for package in ("pommerman", "pommerman.agents", "pommerman.envs"):
        module = _stand_in(package)
        module.__path__ = [str(path / package.replace(".", "/"))]
    _stand_in("pommerman.graphics")
    base = importlib.import_module("pommerman.agents.base_agent")
    sys.modules["pommerman.agents"].BaseAgent = base.BaseAgent  # type: ignore[attr-defined]
    names = ("constants", "utility", "characters", "forward_model", "envs.v0")
    found = {name.rpartition(".")[2]: importlib.import_module(f"pommerman.{name}") for name in names}
    found["utility"].random = _Random("random")  # type: ignore[attr-defined]
    sys.modules["pommerman.envs"].v0 = found["v0"]  # type: ignore[attr-defined]
    for name in ("envs.v1", "envs.v2", "agents.simple_agent", "agents.random_agent"):
        found[name.rpartition(".")[2]] = importlib.import_module(f"pommerman.{name}")
    return SimpleNamespace(**found)


def _stand_in(name: str, **contents: Any) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(contents)
    sys.modules[name] = module
    return module


def make_game(peer: SimpleNamespace, settings: Any, agents: list[Any]) -> Any:
    """The playground's environment for our settings, with agents of its own, not reset yet."""
    types = peer.constants.GameType
    kind = types.FFA if settings.players == 4 else types.OneVsOne
    if settings.teams:
        kind = types.TeamRadio if settings.radio else types.Team
    version = peer.v2 if settings.radio else peer.v1 if settings.collapse else peer.v0
    game = version.Pomme(
        game_type=kind,
        board_size=settings.size,
        agent_view_size=settings.fog,
        num_rigid=settings.rigid,
        num_wood=settings.wood,
        num_items=settings.items,
        max_steps=settings.limit,
        is_partially_observable=settings.fog is not None,
        env="",
        first_collapse=settings.collapse,
        radio_vocab_size=settings.vocabulary,
        radio_num_words=settings.words,
    )
    for number, agent in enumerate(agents):
        agent.init_agent(number, kind)
    game.set_agents(agents)
    game.set_init_game_state(None)
    return game

"""Policy and value networks, built-in and user-defined, with one signature.

A network is an Equinox module::

    class Mine(eqx.Module):
        def __init__(self, observation_space, action_space, settings, *, key): ...
        def __call__(self, observation): return parameters, value

`observation` maps each key of the observation space to a float32 array (B, ...). The result is the parameters of the action
distribution, (B, `Distribution(action_space).size`), and the value, (B,). `settings` is the run's ``network`` group. The trainer
applies action masks. ``network.kind = "my_package.my_module:Mine"`` trains the network. Agents with different spaces have one each.

Optional members:

- ``prepare(observation)``: work without parameters (sorting, flattening, packing). The trainer calls it once per rollout, and
  `__call__` gets its result, any tree of arrays (B, ...). With ``raw = True`` it gets observations in their own dtypes.
- ``plans``, ``demand(prepared)``, ``choose_plan(demands)``: for a cost that depends on the samples. `plans` is a tuple of anything,
  `demand` gives (B,) numbers, and `choose_plan` the index of the plan for a minibatch in ascending order of demand. The network is
  compiled for every plan and called as ``network(prepared, plan)``. `AttentionNetwork` computes visible entities only this way.
- ``precompute()``: returns a callable of the same signature with parts that depend on the weights alone, such as a table
  (`TilesNetwork`). With populations it is called once per update.
- ``features``, ``decide``: for a recurrent cell (``network.memory``), see `interplay.train.networks.memory`.
- ``attend(observation)``, which gives rows (width, n, B) and anything, and ``answer(rows, anything)``: for a network with a row per
  seat, which ``belief.about`` can give a head that guesses populations (`GuessingNetwork`).

With ``network.stack = k`` a user-defined network gets every leaf as (B, k, ...) float32, the oldest observation first, and an
observation space with that axis (`StackedNetwork`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import equinox as eqx
import jax
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.train.networks.attention import AttentionNetwork
from interplay.train.networks.critic import Critic, CriticNetwork, MixedNetwork, MonotonicMixer, SumMixer
from interplay.train.networks.memory import RecurrentNetwork, StackedNetwork, unroll
from interplay.train.networks.mlp import MlpNetwork
from interplay.train.networks.pictures import PicturesNetwork
from interplay.train.networks.tiles.attention import TilesAttentionNetwork
from interplay.train.networks.tiles.network import TilesNetwork
from interplay.train.networks.werewolf.guessing import GuessingNetwork
from interplay.train.networks.werewolf.seats import SeatsNetwork
from interplay.train.settings import NetworkGroup

__all__ = [
    "AttentionNetwork",
    "Critic",
    "CriticNetwork",
    "GuessingNetwork",
    "MixedNetwork",
    "MlpNetwork",
    "MonotonicMixer",
    "PicturesNetwork",
    "RecurrentNetwork",
    "SeatsNetwork",
    "StackedNetwork",
    "SumMixer",
    "TilesAttentionNetwork",
    "TilesNetwork",
    "make_network",
    "precompute",
    "prepare",
    "unroll",
]


_CELL = 0xCE11  # folded into the key of a recurrent cell


def make_network(
    settings: NetworkGroup,
    observation_space: spaces.Dict,
    action_space: spaces.Space,
    *,
    key: jax.Array,
    valued: bool = True,
) -> Any:
    """Makes the network that `settings.kind` names for one kind of agent.

    Args:
        valued: the value is read; else ``mlp`` has no stack for it.

    Raises:
        UserError: if a user's module or class cannot be found, or is no Equinox module.
    """
    built_in = {
        "attention": AttentionNetwork,
        "mlp": partial(MlpNetwork, valued=valued),
        "pictures": PicturesNetwork,
        "seats": SeatsNetwork,
        "tiles": TilesNetwork,
        "tiles_attention": TilesAttentionNetwork,
    }
    chosen: Any = built_in.get(settings.kind) or _load_class(settings.kind)
    if settings.stack > 1:
        make = partial(chosen, action_space=action_space, settings=settings, key=key)
        return StackedNetwork(make, observation_space, settings.stack)
    network = chosen(observation_space, action_space, settings, key=key)
    if settings.memory == "none":
        return network
    if settings.memory == "own":
        return _remembering(network, settings.kind)
    own = jax.random.fold_in(key, _CELL)
    return RecurrentNetwork(network, observation_space, settings.memory, settings.memory_size, key=own)


def _remembering(network: Any, kind: str) -> Any:
    """Checks that the network has its own memory."""
    if not (hasattr(network, "remember") and hasattr(network, "memory_size")):
        raise UserError(
            f"network.memory = own: {kind} has no memory of its own (remember and memory_size); set network.memory=gru"
        )
    return network


def prepare(network: Any, observation: Mapping[str, jax.Array]) -> Any:
    """Applies the network's `prepare` to a batch of observations, if it has one."""
    return network.prepare(observation) if hasattr(network, "prepare") else dict(observation)


def precompute(network: Any) -> Any:
    """The network's precomputed form, valid while its weights stay, or the network itself."""
    return network.precompute() if hasattr(network, "precompute") else network


def _load_class(name: str) -> Any:
    try:
        found = load(name, users=True)
    except (ImportError, UserError) as error:
        raise UserError(f"network.kind = {name}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, eqx.Module)):
        raise UserError(
            f"network.kind = {name}: a {type(found).__name__} is no network; give a subclass of equinox.Module"
        )
    return found

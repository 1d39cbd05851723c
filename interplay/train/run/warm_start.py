"""Weights and optimiser states from a checkpoint, and the initial weights of a run from another one's."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.pointing import Pointing
from interplay.core.world import Kind
from interplay.train.observations import find_names
from interplay.train.policy_network import PolicyNetwork, check_shapes
from interplay.train.run.checkpoint import Checkpoint
from interplay.train.run.records import spaces_of
from interplay.train.run.restoring import check_array, check_weights
from interplay.train.run.settings_file import settings_of
from interplay.train.settings import NetworkGroup

SEVERAL = 8  # most bounds written out; more become a checksum


def warm_vectors(
    checkpoint: Checkpoint,
    networks: Mapping[str, PolicyNetwork],
    populations: Sequence[str],
    network: NetworkGroup,
    say: Callable[[str], object],
) -> dict[str, Any]:
    """Initial weights of a new run: of the kinds with the same name, or of the only kind.

    Args:
        populations: of the new run; each takes the weights of the same name, of the only population, or of a league's first learner.
        say: called with one line per kind that the other run lacks, and per copy of `present_player`.

    Returns:
        Kind name -> (Q, P) float32 parameters, without kinds that the other run lacks.
    """
    pairs = _check(checkpoint, networks, network)
    for name in networks:
        if name not in pairs:
            say(f"{checkpoint.path} has no kind {name}; its weights are new")
    common = {name: networks[name] for name in pairs}
    learners = tuple(settings_of(checkpoint.path, acts=False).league.learners)
    wanted = [name if len(populations) > 1 else None for name in populations]
    if learners:
        pool, own = checkpoint.arrays["pool"], [n if n in learners else learners[0] for n in populations]
        wanted = [present_player(pool, learners, name) for name in own]
        for name, player in dict(zip(own, wanted, strict=True)).items():
            if player != name:
                say(f"{checkpoint.path}: {name} has restarted since; its newest copy {player} is taken")
    each = [_tensors(pairs, weights_of(checkpoint, name)) for name in wanted]
    return read_stacks(common, each)


def present_player(pool: Mapping[str, np.ndarray], learners: Sequence[str], learner: str) -> str:
    """The player that a learner's name means: itself, or its newest copy in the first period after a restart.

    Args:
        pool: the arrays of a league (`League.save`).
        learners: of the league.
    """
    q = learners.index(learner)
    numbers = pool["number"][pool["owner"] == q]
    return learner if pool["age"][q] or not len(numbers) else f"{learner}-{numbers.max():04d}"


def weights_of(checkpoint: Checkpoint, population: str | None) -> dict[str, np.ndarray]:
    """The weights of a population in a checkpoint.

    Args:
        population: its name; None: the only one.
    """
    found = {
        stem.removeprefix("policy-"): tensors
        for stem, tensors in checkpoint.arrays.items()
        if stem.startswith("policy-")
    }
    if len(found) == 1:
        return next(iter(found.values()))
    if population is None or population not in found:
        wanted = "one set of weights" if population is None else f"a population {population}"
        raise UserError(
            f"{checkpoint.path} has the populations {', '.join(found)}; {wanted} is needed here, "
            "begin with another run"
        )
    return found[population]


def _check(
    checkpoint: Checkpoint, networks: Mapping[str, PolicyNetwork], network: NetworkGroup
) -> dict[str, str]:
    """Kind of the new run -> kind of the other one, with equal spaces and networks."""
    saved = spaces_of(checkpoint)
    if saved is None:
        raise UserError(
            f"{checkpoint.path} does not hold the spaces of its agents; resume that run for an update "
            "(`interplay resume RUN --steps N`) and start from its new checkpoint"
        )
    pairs = _pairs(list(networks), list(saved))
    if not pairs:
        raise UserError(
            f"{checkpoint.path} has the kinds {', '.join(saved)}, this world {', '.join(networks)}; "
            "begin with a run that has a kind of the same name"
        )
    theirs = settings_of(checkpoint.path, acts=False).network
    for name, source in pairs.items():
        owner = f"{checkpoint.path}: kind {name}"
        _check_spaces(owner, saved[source], describe_spaces([networks[name].kind])[name])
        _check_network(owner, networks[name].space, theirs, network)
    return pairs


def _tensors(pairs: Mapping[str, str], weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The tensors of common kinds, renamed to the new run's kinds."""
    return {
        f"{name}/{key.removeprefix(f'{source}/')}": array
        for name, source in pairs.items()
        for key, array in weights.items()
        if key.startswith(f"{source}/")
    }


def describe_spaces(kinds: Iterable[Kind]) -> dict[str, dict[str, str]]:
    """Kind name -> its spaces as text, for a checkpoint's record; equal spaces have equal texts.

    Example:
        >>> describe_spaces([Kind("frog", (0,), spaces.Dict(x=spaces.Box(0, 1, (2,))), spaces.Discrete(3))])
        {'frog': {'observation': 'x: Box 0.0..1.0 (2,) float32', 'action': 'Discrete 0..2'}}
    """
    return {
        kind.name: {"observation": _text(kind.observation_space), "action": _text(kind.action_space)}
        for kind in kinds
    }


def _pairs(mine: list[str], theirs: list[str]) -> dict[str, str]:
    if len(mine) == len(theirs) == 1:
        return {mine[0]: theirs[0]}
    return {name: name for name in mine if name in theirs}


def _check_spaces(owner: str, theirs: Mapping[str, str], mine: Mapping[str, str]) -> None:
    for part, text in mine.items():
        if theirs[part] != text:
            raise UserError(
                f"{owner}: the {part} space was {theirs[part]}, this world has {text}; "
                "set the world's options so that they agree, or begin with another run"
            )


def _check_network(owner: str, space: spaces.Dict, theirs: NetworkGroup, mine: NetworkGroup) -> None:
    was, now = theirs.model_dump(mode="json"), mine.model_dump(mode="json")
    if not find_names(space, theirs) and not find_names(space, mine):
        was["discrete"] = now["discrete"]
    other = [name for name in now if was[name] != now[name]]
    if other:
        wanted = ", ".join(f"{name} = {_toml(now[name])}" for name in other)
        cure = " ".join(f"network.{name}={_toml(was[name])}" for name in other)
        raise UserError(f"{owner}: its network differs from {wanted}; set {cure}")


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace(" ", "")


def _text(space: spaces.Space[Any]) -> str:
    if isinstance(space, spaces.Dict):
        return "; ".join(f"{key}: {_text(part)}" for key, part in sorted(space.spaces.items()))
    if isinstance(space, spaces.Box):
        return f"Box {_number(space.low)}..{_number(space.high)} {space.shape} {space.dtype}"
    if isinstance(space, spaces.Discrete):
        return f"Discrete {int(space.start)}..{int(space.start) + int(space.n) - 1}"
    if isinstance(space, spaces.MultiDiscrete):
        tables = space.tables if isinstance(space, Pointing) else {}
        aims = "".join(f", {head} points at {key}" for head, key in sorted(tables.items()))
        return f"MultiDiscrete {_number(space.nvec)} from {_number(space.start)} {space.shape}{aims}"
    return " ".join(str(space).split())


def _number(bounds: np.ndarray) -> str:
    """Bounds as text: one number if all are equal, else a list, else a checksum."""
    if bounds.size and (bounds == bounds.flat[0]).all():
        return str(bounds.flat[0].item())
    if bounds.size <= SEVERAL:
        return str(bounds.tolist())
    return f"#{zlib.crc32(np.ascontiguousarray(bounds).tobytes()):08x}"


def policy_stem(population: str) -> str:
    """The file name, without ending, of a population's weights in a checkpoint."""
    return f"policy-{population}"


def read_stacks(
    networks: Mapping[str, PolicyNetwork], tensors: Sequence[Mapping[str, np.ndarray]]
) -> dict[str, Any]:
    """Stacked parameters, kind name -> (Q, P), from the named tensors of Q populations."""
    each = [read_vectors(networks, one) for one in tensors]
    return {name: np.stack([vectors[name] for vectors in each]) for name in networks}


def read_vectors(
    networks: Mapping[str, PolicyNetwork], tensors: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """One population's parameters, kind name -> (P,) float32, from a checkpoint's named tensors."""
    vectors = {}
    for name, network in networks.items():
        expected = {
            f"{name}/{tensor}": array.shape for tensor, array in network.split(network.first[0]).items()
        }
        check_shapes(expected, tensors)
        own = {tensor: tensors[f"{name}/{tensor}"] for tensor in network.names}
        vectors[name] = network.join(check_weights(f"checkpoint: kind {name}", own))
    return vectors


def read_moments(name: str, moments: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """A kind's optimiser state in the form of `moments`, from arrays by ``kind/number``."""
    leaves, tree = jax.tree.flatten(moments)
    for i, leaf in enumerate(leaves):
        key = f"{name}/{i}"
        check_array(key, arrays.get(key), leaf.shape, leaf.dtype, "checkpoint: optimiser")
    return jax.tree.unflatten(tree, [jnp.array(arrays[f"{name}/{i}"]) for i in range(len(leaves))])

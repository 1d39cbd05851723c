"""Measurements of an update's samples for `rules`: inputs, masks, actions, value targets and rewards.

A measurement reads at most `ROWS` rows of a shard, evenly spread over those of the learner, so that its cost is bounded. Shards are
gathered and combined in their order, so the numbers are the same for any number of workers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.train.observations import Rows
from interplay.train.parallel.exchange import reduce_in_pieces

if TYPE_CHECKING:
    from interplay.train.distributions import Distribution
    from interplay.train.factored.recorder import TeamRecorder
    from interplay.train.parallel.exchange import Exchange
    from interplay.train.policy_network import PolicyNetwork
    from interplay.train.shard import Shard
    from interplay.train.update import Worker

ROWS = 2048  # most rows of a kind that a shard measures in an update
NUMBERS = 2**16  # most numbers of their observations, but at least `FEWEST` rows
FEWEST = 16
CASES = 32  # least rewards of a slot in an update for a comparison of sizes
SLOTS = 64  # most slots of a world for a comparison of rewards
_GOLDEN = 0.6180339887498949  # its multiples modulo 1 are evenly spread for any period of the rows


class Sample(NamedTuple):
    """Some acting rows of a kind; N of them.

    Attributes:
        rows: name of a dtype -> (N, numbers), observations.
        mask: (N, choices) bool, or None.
        action: (N, columns).
        population: (N,).
        weight: (N,), how many of the update's acting rows each stands for.
    """

    rows: Rows
    mask: np.ndarray | None
    action: np.ndarray
    population: np.ndarray
    weight: np.ndarray


class Counts(NamedTuple):
    """Sums over the sampled rows of a shard, by their weights.

    Attributes:
        numbers: of actions in a Box.
        clipped: of them beyond the Box.
        masked: rows with an action mask.
        single: of them with one legal choice in every head, and no Box.
        targets, target, target_squared: number, sum and sum of squares of value targets, of all rows.
    """

    numbers: float
    clipped: float
    masked: float = 0.0
    single: float = 0.0
    targets: float = 0.0
    target: float = 0.0
    target_squared: float = 0.0


def measure(worker: Worker) -> dict[str, Any]:
    """The measurements of an update, the same for every worker; call it between `learn` and `finish` of the shards."""
    first = worker.shards[0]
    leaves = [name for kind in first.networks for name in _leaf_names(first, kind)]
    count, slots = len(worker.learner.populations.names), len(first.world.agents)
    widths = (len(Counts._fields), 1, 3 * len(leaves), 2 * count, 2 * slots if slots <= SLOTS else 0)
    before = worker.exchange.rank * len(worker.shards)
    own = {before + at: _measure_shard(shard, count, slots) for at, shard in enumerate(worker.shards)}
    table = _gather(own, worker.settings.train.shards, sum(widths), worker.exchange)
    sums, reward, inputs, entropy, paid = np.split(table, np.cumsum(widths)[:-1], axis=1)
    numbers: dict[str, Any] = {
        **_read_counts(Counts(*sums.sum(axis=0))),
        "reward_abs_max": float(reward.max()),
    }
    numbers |= _read_entropy(entropy.sum(axis=0).reshape(2, count), worker.learner.populations.names)
    one_policy = count == 1 and len(first.networks) == 1 and not worker.settings.opponents
    if one_policy and slots <= SLOTS:
        numbers |= _read_slots(*paid.sum(axis=0).reshape(2, slots))
    largest = inputs.max(axis=0).reshape(-1, 3)
    for column, name in enumerate(("input_abs_max", "input_range", "input_offset")):
        found = {leaf: float(row[column]) for leaf, row in zip(leaves, largest, strict=True)}
        if found := {leaf: number for leaf, number in found.items() if number >= 0.0}:
            numbers[name] = found
    return numbers | {"episodes_ended": worker.episodes}


def spread(count: int, most: int) -> np.ndarray:
    """Up to `most` distinct, evenly spread indices below `count`; so is every prefix.

    Example:
        >>> spread(3, 8).tolist(), spread(100, 4).tolist()
        ([0, 1, 2], [0, 61, 23, 85])
    """
    if count <= most:
        return np.arange(count)
    return (np.arange(most) * _GOLDEN % 1.0 * count).astype(np.int64)


def count_clipped(distribution: Distribution, action: np.ndarray) -> np.ndarray:
    """Counts each row's numbers beyond their Box: (N, columns) -> (N,)."""
    at, clipped = 0, np.zeros(len(action), np.int64)
    for part in distribution.parts:
        if part.units is not None:
            clipped += part.units.beyond(action[:, at : at + part.columns]).sum(axis=1)
        at += part.columns
    return clipped


def count_choices(distribution: Distribution, mask: np.ndarray) -> np.ndarray:
    """Legal choices of every head: (N, choices) bool -> (N, heads) int64."""
    sizes = [size for part in distribution.parts for size in part.choices]
    starts = np.cumsum([0, *sizes[:-1]])
    return np.add.reduceat(mask, starts, axis=1, dtype=np.int64)


# -- one shard ----------------------------------------------------------------------------------------


def _measure_shard(shard: Shard, count: int, slots: int) -> np.ndarray:
    """One row of the table: `Counts`, largest reward, three numbers per leaf, entropy by population, rewards by slot."""
    sums = np.zeros(len(Counts._fields))
    entropy, inputs = np.zeros((2, count)), []
    for name, network in shard.networks.items():
        found = _sample(shard, name)
        sums += _count(network, found)
        inputs.append(_extremes(network, found.rows))
        entropy += _most_entropy(network, found, count)
        ready = shard.ready.get(name)
        if ready is not None:
            sums += np.array([0.0, 0.0, 0.0, 0.0, *_powers(ready.target)])
    reward = shard.collector.buffer.reward[shard.collector.buffer.earlier :]
    largest = max(float(reward.max()), -float(reward.min()))
    paid = [np.count_nonzero(reward, axis=(0, 1)), np.square(reward, dtype=np.float64).sum(axis=(0, 1))]
    return np.concatenate([sums, [largest], *inputs, entropy.ravel(), *(paid if slots <= SLOTS else [])])


def _sample(shard: Shard, name: str) -> Sample:
    """Some of the update's acting rows, of the rollout or of the replay."""
    if shard.collector.recorder is not None:
        return _sample_replay(shard.collector.recorder, shard.networks[name], name)
    pending = shard.collector.pending[name]
    acts = pending.acts[pending.kept : pending.count]
    index = pending.kept + spread(len(acts), ROWS)
    index = index[pending.acts[index]]
    mask = None if pending.seen.mask is None else pending.seen.mask[index]
    rows = {dtype: array[index] for dtype, array in pending.seen.rows.items()}
    weight = _weight(acts, len(index))
    return Sample(rows, mask, pending.action[index], pending.population[index], weight)


def _weight(acts: np.ndarray, count: int) -> np.ndarray:
    """(count,), equal weights of the sampled rows that add up to all acting ones."""
    return np.full(count, np.count_nonzero(acts) / max(count, 1))


def _sample_replay(recorder: TeamRecorder, network: PolicyNetwork, name: str) -> Sample:
    parts = [
        (team_group, replay)
        for team_group, replay in zip(recorder.team_groups, recorder.replays, strict=True)
        if team_group.kind == name and replay.there
    ]
    if not parts:
        return Sample(network.layout.allocate(0), None, np.zeros((0, 1)), np.zeros(0, np.int64), np.zeros(0))
    rows, masks, actions, population, weights = [], [], [], [], []
    for team_group, replay in parts:
        ring = replay.ring
        shape = ring.acts.shape
        places = np.unravel_index(
            spread(replay.there * shape[1] * shape[2], ROWS), (replay.there, *shape[1:])
        )
        places = tuple(axis[ring.acts[places]] for axis in places)
        rows.append({dtype: array[places] for dtype, array in ring.rows.items()})
        masks.append(None if ring.mask is None else ring.mask[places])
        actions.append(ring.action[places])
        population.append(np.full(len(places[0]), team_group.population))
        weights.append(_weight(ring.acts[: replay.there], len(places[0])))
    joined = {dtype: np.concatenate([part[dtype] for part in rows]) for dtype in rows[0]}
    some = [mask for mask in masks if mask is not None]
    mask = np.concatenate(some) if len(some) == len(masks) else None
    return Sample(joined, mask, *map(np.concatenate, (actions, population, weights)))


def _count(network: PolicyNetwork, found: Sample) -> np.ndarray:
    distribution, rows = network.distribution, found.weight.sum()
    boxes = rows * distribution.deviations, found.weight @ count_clipped(distribution, found.action)
    if found.mask is None or not (distribution.masked and distribution.choices):
        return np.array(Counts(*boxes))
    single = (count_choices(distribution, found.mask) == 1).all(axis=1) & (distribution.deviations == 0)
    return np.array(Counts(*boxes, rows, found.weight @ single))


def _most_entropy(network: PolicyNetwork, found: Sample, count: int) -> np.ndarray:
    """(2, Q), rows and the sum of their greatest possible entropy in nats; infinite for actions with a Box."""
    if network.always_greedy:
        return np.zeros((2, count))
    rows = np.bincount(found.population, found.weight, count)
    if network.distribution.deviations:
        return np.stack([rows, np.where(rows > 0, np.inf, 0.0)])
    sizes = [size for part in network.distribution.parts for size in part.choices]
    if found.mask is None or not network.distribution.masked:
        return np.stack([rows, rows * np.log(sizes).sum()])
    most = np.log(np.maximum(count_choices(network.distribution, found.mask), 1)).sum(axis=1)
    return np.stack([rows, np.bincount(found.population, found.weight * most, count)])


def _extremes(network: PolicyNetwork, rows: Rows) -> np.ndarray:
    """(3 leaves,): each leaf's greatest absolute number, column range and column mean in deviations; -1 if not measured.

    Pictures that a network reads raw, codes and normalised leaves have a range alone.
    """
    some = next(iter(rows.values()), np.zeros((0, 0)))
    width = max(sum(network.layout.widths.values()), 1)
    rows = {dtype: array[: max(NUMBERS // width, FEWEST)] for dtype, array in rows.items()}
    found = network.layout.extremes(rows) if len(some) else {}
    widest = network.layout.widest(rows) if len(some) else {}
    normalised = () if network.normaliser is None else network.normaliser.keys
    triples: list[float] = []
    for key in network.space.spaces:
        low, high, offset = found.get(key, (np.zeros(0),) * 3)
        if key in normalised or not low.size:
            triples += [-1.0, widest.get(key, -1.0), -1.0]
        else:
            triples += [np.abs([low, high]).max(), widest[key], offset.max()]
    return np.array(triples)


def _powers(target: np.ndarray) -> tuple[float, float, float]:
    wide = target.astype(np.float64)
    return float(len(wide)), float(wide.sum()), float(wide @ wide)


def _leaf_names(shard: Shard, kind: str) -> list[str]:
    prefix = f"{kind}/" if len(shard.networks) > 1 else ""
    return [prefix + key for key in shard.networks[kind].space.spaces]


# -- all shards ---------------------------------------------------------------------------------------


def _gather(own: Mapping[int, np.ndarray], shards: int, width: int, exchange: Exchange) -> np.ndarray:
    """(shards, width), the rows of all workers' shards."""
    table = np.zeros((shards, width))
    for index, row in own.items():
        table[index] = row
    return reduce_in_pieces(table.ravel(), exchange).reshape(table.shape)


def _read_counts(sums: Counts) -> dict[str, float]:
    numbers: dict[str, float] = {}
    if sums.numbers:
        numbers["clipped_actions"] = float(sums.clipped / sums.numbers)
    if sums.masked:
        numbers["one_choice"] = float(sums.single / sums.masked)
    if sums.targets:
        mean, square = sums.target / sums.targets, sums.target_squared / sums.targets
        numbers["target_rms"] = float(np.sqrt(square))
        numbers["target_std"] = float(np.sqrt(max(square - mean * mean, 0.0)))
    return numbers


def _read_entropy(sums: np.ndarray, names: Sequence[str]) -> dict[str, float]:
    """The mean greatest entropy, also by population; left out where Boxes are among the actions."""
    found = {"entropy_max": sums.sum(axis=1)}
    if len(names) > 1:
        found |= {f"entropy_max[{name}]": own for name, own in zip(names, sums.T, strict=True)}
    return {key: float(most / rows) for key, (rows, most) in found.items() if rows and np.isfinite(most)}


def _read_slots(count: np.ndarray, squares: np.ndarray) -> dict[str, float]:
    """Ratio of the largest to the smallest slot's root mean square of rewards that are not 0."""
    some = count >= CASES
    if np.count_nonzero(some) < 2:
        return {}
    sizes = np.sqrt(squares[some] / count[some])
    return {"reward_ratio": float(sizes.max() / sizes.min())}

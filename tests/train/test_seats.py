"""The network of seats: the same to whoever sits where, deaf to what is not there, quick to compare words."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from interplay.core.errors import UserError
from interplay.core.world import Kind
from interplay.train.distributions import Distribution
from interplay.train.networks import make_network
from interplay.train.networks.werewolf import boards, innermost, relations
from interplay.train.policy_network import PolicyNetwork
from interplay.train.populations import Populations
from interplay.train.settings import NetworkGroup, PopulationGroup, TrainSettings, WorldChoice
from tests.train.blocks import act_greedily
from tests.train.round_table import Game, exchange, exchange_logits, observe, on_device, spaces_of

pytestmark = pytest.mark.slow

GAMES = {
    "plain": Game(),
    "silent": Game(n=5, words=0, role=False, pack=False),
    "history": Game(n=6, words=2, symbols=3, history=3),
    "ballots": Game(n=5, names=3, symbols=2, rounds=3),
    "everything": Game(
        n=7, words=2, symbols=4, names=2, history=2, claims=True, rounds=2, extra=True, revealed=True
    ),
}
CROWD = Game(n=40, words=1, symbols=2)


def network_of(game: Game, noise: float = 0.3, **group: Any) -> Any:
    """With noise on every parameter: at first logits are so small that little could go wrong with them."""
    settings = NetworkGroup(**{"kind": "seats", "width": 16, "tail": 16} | group)
    network = make_network(settings, *spaces_of(game), key=jax.random.key(1))
    numbers, rest = eqx.partition(network, eqx.is_inexact_array)
    leaves, tree = jax.tree.flatten(numbers)
    rng = np.random.default_rng(2)
    leaves = [leaf + noise * rng.normal(size=leaf.shape).astype(np.float32) for leaf in leaves]
    return eqx.combine(jax.tree.unflatten(tree, leaves), rest)


def call(network: Any, seen: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    logits, value = compiled(network, on_device(seen))
    return np.asarray(logits), np.asarray(value)


@eqx.filter_jit
def compiled(network: Any, seen: dict[str, jax.Array]) -> Any:
    return network(seen)


def board_of(seen: dict[str, np.ndarray], whose: str) -> list[str]:
    return [key for key in seen if key.startswith(f"{whose}_") and not key.endswith("_phase")]


def scramble(
    seen: dict[str, np.ndarray], keys: list[str], rows: np.ndarray, seed: int = 9
) -> dict[str, np.ndarray]:
    """Other numbers in some rows of some fields: every row gets those of the row before it, plus noise by shuffling."""
    rng = np.random.default_rng(seed)
    out = dict(seen)
    for key in keys:
        out[key] = seen[key].copy()
        flat = out[key][rows]
        out[key][rows] = rng.permutation(flat.ravel()).reshape(flat.shape)
    return out


@pytest.mark.parametrize("name", [*GAMES, "crowd"])
def test_exchanging_seats_exchanges_their_logits_and_nothing_else(name: str) -> None:
    game = GAMES.get(name, CROWD)
    network, seen = network_of(game, 0.1), observe(game, 16)
    places = np.random.default_rng(3).permutation(game.n)
    logits, value = call(network, seen)
    turned, turned_value = call(network, exchange(game, seen, places))
    assert logits.shape == (16, sum(game.choices))
    assert np.ptp(logits[:, : game.n], axis=1).min() > 0.05  # seats are told apart
    np.testing.assert_allclose(turned, exchange_logits(game, logits, places), rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(turned_value, value, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", ["history", "everything"])
def test_boards_that_are_not_there_are_not_read(name: str) -> None:
    game = GAMES[name]
    network, seen = network_of(game), observe(game, 16)
    seen["past_phase"][:] = np.abs(seen["past_phase"])
    unused = np.zeros((16, game.history), bool)
    unused[:8, 1:] = True
    seen["past_phase"][unused] = -1
    keys = board_of(seen, "past")
    before, after = call(network, seen), call(network, scramble(seen, keys, unused))
    np.testing.assert_array_equal(before[0], after[0])
    np.testing.assert_array_equal(before[1], after[1])
    assert not np.allclose(before[0], call(network, scramble(seen, keys, ~unused))[0], atol=1e-3)


def test_a_pack_board_is_read_by_who_sees_one() -> None:
    game = GAMES["plain"]
    network, seen = network_of(game), observe(game, 16)
    asleep = np.arange(16) < 8
    seen["pack_phase"][:] = np.where(asleep, -1, 1)
    before = call(network, seen)
    after = call(network, scramble(seen, board_of(seen, "pack"), np.ones(16, bool)))
    np.testing.assert_array_equal(before[0][asleep], after[0][asleep])
    assert np.abs(before[0][~asleep] - after[0][~asleep]).max(axis=1).min() > 1e-3


@pytest.mark.parametrize("key", ["phase", "day", "role", "pack", "private_info", "revealed", "last_eaten"])
def test_every_field_is_read(key: str) -> None:
    game = GAMES["everything"]
    network, seen = network_of(game), observe(game, 16)
    other = observe(game, 16, seed=1)[key]
    changed = (other != seen[key]).reshape(16, -1).any(axis=1)
    moved = np.abs(call(network, seen)[0] - call(network, {**seen, key: other})[0]).max(axis=1)
    assert changed.any()
    assert (moved[changed] > 1e-5).all()


def test_the_dead_may_only_pass_and_teach_nothing_infinite() -> None:
    game = GAMES["plain"]
    network, seen = network_of(game), observe(game, 16)
    seen["status_map"][:] = 0
    for key in ("public_targets", "public_signals", "pack_targets", "pack_signals", "pack_phase"):
        seen[key][:] = -1
    distribution = Distribution(spaces_of(game)[1])
    mask = np.zeros((16, sum(game.choices)), bool)
    mask[:, [game.n, game.n + 1]] = True
    action = jnp.broadcast_to(jnp.array([float(game.n), 0.0]), (16, 2))

    def loss(network: Any) -> Any:
        logits, value = network(on_device(seen))
        said = distribution.log_prob(logits, action, jnp.asarray(mask))
        return said.sum() + value.sum(), (said, distribution.greedy(logits, jnp.asarray(mask)))

    (said, greedy), gradient = eqx.filter_jit(eqx.filter_grad(loss, has_aux=True))(network)[::-1]
    np.testing.assert_allclose(said, 0.0, atol=1e-6)
    np.testing.assert_array_equal(greedy, action)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def test_a_game_without_words_is_learnt_too() -> None:
    game = GAMES["silent"]
    network, seen = network_of(game), on_device(observe(game, 8))

    def loss(network: Any) -> Any:
        logits, value = network(seen)
        return (logits**2).sum() + (value**2).sum()

    gradient = eqx.filter_jit(eqx.filter_grad(loss))(network)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))
    assert np.abs(gradient.point.weight).max() > 0


def test_who_named_whom_and_whose_words_agree() -> None:
    game = GAMES["everything"]
    table = boards.find_table(*spaces_of(game))
    seen = observe(game, 5)
    relate = jax.jit(lambda seen: relations.pair_features(table, boards.read_seen(table, seen)))
    got = np.asarray(relate(on_device(seen)))
    got = got.reshape(-1, table.phases, game.n, game.n, 5)
    assert len(got) == relations.count_pair_features(table)
    expected = np.zeros_like(got)
    for row in range(5):
        newer: dict[int, int] = {}
        slots = [("past", t) for t in range(game.history)] + [("pack", None)]
        for whose, t in slots:
            board = {key: seen[f"{whose}_{key}"][row] for key in ("targets", "signals", "claims", "phase")}
            board = {key: leaf if t is None else leaf[t] for key, leaf in board.items()}
            phase = int(board["phase"])
            if phase < 0:
                continue
            weight = 0.5 ** newer.get(phase, 0)
            newer[phase] = newer.get(phase, 0) + 1
            for i in range(game.n):
                for j in range(game.n):
                    names = list(board["targets"][i])
                    named = 1 - names.index(j) / game.names if j in names else 0
                    about = float(board["claims"][i, 1] == j)
                    words = [np.append(board["signals"][k], board["claims"][k, [0, 2]]) for k in (i, j)]
                    alike = (words[0] == words[1]) & (words[0] >= 0)
                    expected[[0, 1], phase, i, j, row] += weight * np.array([named, about])
                    expected[[2, 3], phase, j, i, row] += weight * np.array([named, about])
                    expected[[4, 5], phase, i, j, row] += weight * np.array([alike.all(), alike.mean()])
    np.testing.assert_allclose(got, expected, atol=1e-6)


def test_said_numbers_are_as_many_as_counted() -> None:
    for game in (*GAMES.values(), CROWD):
        table = boards.find_table(*spaces_of(game))
        say = jax.jit(lambda seen, table=table: relations.seat_features(table, boards.read_seen(table, seen)))
        said = say(on_device(observe(game, 3)))  # compiled whole: piece by piece takes ten times as long
        assert said.shape == (relations.count_seat_features(table), table.boards, game.n, 3)
        assert 0 <= float(said.min()) <= float(said.max()) <= 40


@pytest.mark.parametrize("n", [3, 40])
def test_written_out_gradients_are_those_of_the_plain_formulas(n: int) -> None:
    rng = np.random.default_rng(0)
    a, b, p = (
        jnp.asarray(rng.normal(size=shape), jnp.float32)
        for shape in ((2, 4, n, 5), (2, 4, n, 5), (2, n, n, 5))
    )
    weight, bias = jnp.asarray(rng.normal(size=(6, 3)), jnp.float32), jnp.arange(3.0)
    dense = eqx.tree_at(
        lambda d: (d.weight, d.bias), innermost.Dense(6, 3, 1.0, key=jax.random.key(0)), (weight, bias)
    )
    pairs = [
        (innermost.match, lambda a, b: jnp.einsum("hdib,hdjb->hijb", a, b), (a, b)),
        (innermost.weigh, lambda p, b: jnp.einsum("hijb,hdjb->hdib", p, b), (p, b)),
        (lambda a: innermost.total(a, 2), lambda a: a.sum(2), (a,)),
        (lambda a: innermost.spread(a, 1, n), lambda a: jnp.repeat(a[:, None], n, axis=1), (a,)),
        (innermost.keep, lambda a: a * 1.0, (a,)),
        (
            lambda a, b: innermost.across(dense, a[0], b[0, :2]),
            lambda a, b: (
                jnp.einsum("io,inb->onb", weight, jnp.concatenate([a[0], b[0, :2]])) + bias[:, None, None]
            ),
            (a, b),
        ),
    ]
    for ours, plain, arguments in pairs:
        which = tuple(range(len(arguments)))

        def squares(f: Any, *x: Any) -> Any:
            return (f(*x) ** 2).sum()

        np.testing.assert_allclose(ours(*arguments), plain(*arguments), rtol=1e-4, atol=1e-4)
        mine = jax.grad(lambda *x, f=ours: squares(f, *x), which)(*arguments)
        theirs = jax.grad(lambda *x, f=plain: squares(f, *x), which)(*arguments)
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


def test_gradients_of_a_layer_s_weights() -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=(4, 3, 5)), jnp.float32)
    dense = innermost.Dense(4, 2, 1.0, key=jax.random.key(0))
    plain = lambda d: ((jnp.einsum("io,inb->onb", d.weight, x) + d.bias[:, None, None]) ** 3).sum()  # noqa: E731
    mine = jax.grad(lambda d: (innermost.across(d, x[:1], x[1:]) ** 3).sum())(dense)
    theirs = jax.grad(plain)(dense)
    np.testing.assert_allclose(mine.weight, theirs.weight, rtol=1e-4)
    np.testing.assert_allclose(mine.bias, theirs.bias, rtol=1e-4)


def learn(game: Game, draw: Any, steps: int, settings: NetworkGroup) -> float:
    """Share of right names after so many steps of Adam on batches of 128."""
    network = make_network(settings, *spaces_of(game), key=jax.random.key(0))
    numbers, rest = eqx.partition(network, eqx.is_inexact_array)
    optimiser = optax.adam(3e-3)
    state = optimiser.init(numbers)

    def logits(numbers: Any, seen: Any) -> jax.Array:
        return eqx.combine(numbers, rest)(seen)[0][:, : game.n]

    @jax.jit
    def step(numbers: Any, state: Any, seen: Any, name: jax.Array) -> Any:
        loss = lambda numbers: optax.softmax_cross_entropy_with_integer_labels(  # noqa: E731
            logits(numbers, seen), name
        ).mean()
        updates, state = optimiser.update(jax.grad(loss)(numbers), state)
        return optax.apply_updates(numbers, updates), state

    for i in range(steps):
        seen, name = draw(i)
        numbers, state = step(numbers, state, on_device(seen), jnp.asarray(name))
    seen, name = draw(10_000)
    return float((np.asarray(logits(numbers, on_device(seen))).argmax(axis=1) == name).mean())


def draw_stranger(game: Game, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """All say one word, another every time, but one."""
    rng, seen, rows = np.random.default_rng(seed), observe(game, 128, seed), np.arange(128)
    seen["public_phase"][:] = 2
    common = rng.integers(0, game.symbols, (128, 1))
    name = (seen["own_id"] + rng.integers(1, game.n, 128)) % game.n
    seen["public_signals"][:, :, 0] = common
    seen["public_signals"][rows, name, 0] = (common[:, 0] + rng.integers(1, game.symbols, 128)) % game.symbols
    return seen, name


def draw_silent(game: Game, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """All but one said word 1 in yesterday's talk; in all others they say anything."""
    rng, seen, rows = np.random.default_rng(seed), observe(game, 128, seed), np.arange(128)
    seen["day"][:] = 3
    seen["past_phase"][:], seen["past_day"][:] = [2, 3, 2, 3], [3, 2, 2, 1]
    name = rng.integers(0, game.n, 128)
    seen["past_signals"][:, 2, :, 0] = 1
    seen["past_signals"][rows, 2, name, 0] = (1 + rng.integers(1, game.symbols, 128)) % game.symbols
    return seen, name


def test_it_learns_to_name_whose_word_is_not_mine() -> None:
    game = Game()
    settings = NetworkGroup(kind="seats", activation="relu")
    assert learn(game, lambda seed: draw_stranger(game, seed), 60, settings) > 0.95


def test_it_learns_to_name_who_did_not_say_a_word_yesterday() -> None:
    game = Game(history=4)
    settings = NetworkGroup(kind="seats", activation="relu", layers=1)
    assert learn(game, lambda seed: draw_silent(game, seed), 120, settings) > 0.95


def test_blocks_of_populations_are_computed_with_their_own_weights() -> None:
    game, counts = GAMES["history"], (11, 5)
    kind = Kind("agent", tuple(range(game.n)), *spaces_of(game))
    settings = TrainSettings(
        world=WorldChoice(id="werewolf"),
        population=PopulationGroup(block=4),
        network=NetworkGroup(kind="seats", width=8, tail=8, layers=1),
    )
    names = ("villager", "werewolf")
    networks = PolicyNetwork(kind, settings, jax.random.key(0), Populations(names, None))
    seen, rows = observe(game, sum(counts)), networks.layout.allocate(sum(counts) + networks.block)
    assert set(rows) == {"int16"}
    networks.layout.write(seen, None, {"int16": rows["int16"][: sum(counts)]})
    (said,) = act_greedily(networks, rows, None, counts)
    for population, own in ((0, slice(0, 11)), (1, slice(11, 16))):
        network = networks._network(jnp.asarray(networks.first[population]))
        logits, value = call(network, {key: leaf[own] for key, leaf in seen.items()})
        np.testing.assert_allclose(said[own, -1], value, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(said[own, 0], logits[:, : game.n + 1].argmax(axis=1))


def without(game: Game, key: str) -> Any:
    observation, actions = spaces_of(game)
    del observation.spaces[key]
    return observation, actions


def test_refusals_are_one_line() -> None:
    observation, actions = spaces_of(GAMES["plain"])
    settings = NetworkGroup(kind="seats")
    key = jax.random.key(0)
    one_block = type(observation)({**observation.spaces, "targets": observation["public_targets"]})
    strange = type(observation)({**observation.spaces, "weather": observation["day"]})
    cases = [
        (one_block, actions, settings, "one block of targets.*board=split"),
        (strange, actions, settings, "does not read weather"),
        (*without(GAMES["plain"], "pack_targets"), settings, "no pack_targets"),
        (observation, type(actions)([4, 9]), settings, r"\[4, 9\] choices, 1 names of 10 have to come first"),
        (observation, actions, settings.model_copy(update={"input_scale": True}), "input_scale=false"),
    ]
    for space, action_space, group, message in cases:
        with pytest.raises(UserError, match=message) as caught:
            make_network(group, space, action_space, key=key)
        assert "\n" not in str(caught.value)

"""Trained policies asked by the names of agents, and about single observations."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv
from pettingzoo.classic import tictactoe_v3

import interplay
from interplay.connect.resolved import resolve_world
from interplay.core.errors import UserError
from interplay.core.world import Kind
from interplay.train.play.by_name import mark_of
from interplay.train.play.forms import leaf_of
from tests.train.test_exporting import CASES, made, seen_in

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["mlp", "gru", "attention"])
@pytest.mark.parametrize("form", [{}, {"mask_in_observation": True}])
def test_asked_by_names_it_does_what_it_does_in_a_batch(name, form):
    world_id, network = CASES[name]
    alone, batch = made(world_id, network)
    asked, _ = made(world_id, network)
    asked.greedy = alone.greedy = False
    alone.start(batch, seed=0)
    del asked.world
    env = interplay.make(world_id, **form)
    observations, infos = env.reset(seed=5)
    step = batch.reset(seeds=5)
    told = () if form else (infos,)
    for _ in range(30):
        actions = asked.act(observations, *told)
        chosen = alone.act(step)
        assert list(actions) == [a for a in env.agents if step.acting[0, env.possible_agents.index(a)]]
        for agent, action in actions.items():
            assert env.action_space(agent).contains(action)
            slot = env.possible_agents.index(agent)
            assert np.array_equal(action, chosen[0, slot])
        observations, _, _, _, infos = env.step(actions)
        told = () if form else (infos,)
        step = batch.step(chosen)
        if step.over.any():
            break


def test_a_strangers_environment_is_asked_in_its_own_forms():
    policy, _ = made("tests.connect.foreign_envs:Market", {"kind": "mlp"})
    del policy.world
    from tests.connect.foreign_envs import Market

    env = Market()
    observations, infos = env.reset(seed=1)
    for _ in range(8):
        actions = policy.act(observations, infos)
        assert set(actions) == set(observations)
        for agent, action in actions.items():
            assert env.action_space(agent).contains(action), (agent, action)
        observations, *_, infos = env.step(actions)


@pytest.mark.parametrize("name", ["mlp", "gru"])
def test_a_copy_plays_on_alike_with_a_memory_of_its_own(name):
    world_id, network = CASES[name]
    policy, world = made(world_id, network)
    policy.greedy = False
    policy.start(world, seed=3)
    steps = [world.reset(seeds=5)]
    first = policy.act(steps[0])
    steps.append(world.step(first))
    twin = copy.deepcopy(policy)
    wanted = [policy.act(steps[1]) for _ in range(3)]  # the twin is where the policy was
    assert all(np.array_equal(twin.act(steps[1]), action) for action in wanted)


def test_memory_goes_on_until_it_is_told_to_forget():
    policy, world = made(*CASES["gru"])
    policy.networks["agent"]  # has a memory
    observation, mask = seen_in(world, 3)
    agent = world.agents[0]
    infos = {} if mask is None else {agent: {"action_mask": mask[0]}}
    seen = {agent: {key: leaf[0] for key, leaf in observation.items()}}
    policy.act(seen, infos)
    first = {kind: array.copy() for kind, array in policy._memory.items()}
    policy.act(seen, infos)
    assert not np.array_equal(first["agent"], policy._memory["agent"])
    policy.forget()
    policy.act(seen, infos)
    assert np.array_equal(first["agent"], policy._memory["agent"])


PAIR = "survival/1v1-heals-low"
REMEMBERING = {
    "gru": {"kind": "attention", "memory": "gru"},
    "lstm": {"kind": "attention", "memory": "lstm"},
    "frames": {"kind": "mlp", "stack": 3},
}


def asked(policy, world, turns, seed=0):
    """Logits would be enough, but actions are what is given: (turns, agents) by name, of those listed in each turn."""
    observation, mask = seen_in(world, 2 * len(turns), seed)
    return [
        (
            {name: {key: leaf[2 * t + i] for key, leaf in observation.items()} for i, name in here},
            {name: {"action_mask": mask[2 * t + i]} for i, name in here} if mask is not None else {},
        )
        for t, here in enumerate(turns)
    ]


@pytest.mark.parametrize("network", REMEMBERING.values(), ids=list(REMEMBERING))
def test_who_is_not_asked_keeps_its_memory(network):
    """Asked in turn and asked all at once, agents remember the same."""
    together, world = made(PAIR, network)
    in_turn, _ = made(PAIR, network)
    kind = world.kinds[0].name
    everybody = list(enumerate(world.agents[:2]))
    for seen, infos in asked(together, world, [everybody] * 4):
        actions = together.act(seen, infos)
        alone = {}
        for name in reversed(list(seen)):
            alone |= in_turn.act({name: seen[name]}, {name: infos.get(name, {})})
        assert {name: alone[name].tolist() for name in seen} == {n: a.tolist() for n, a in actions.items()}
        assert np.allclose(together._memory[kind], in_turn._memory[kind], atol=1e-6)
    assert np.abs(in_turn._memory[kind]).max(axis=2).all()


@pytest.mark.parametrize("network", REMEMBERING.values(), ids=list(REMEMBERING))
def test_a_life_ends_by_its_name(network):
    policy, world = made(PAIR, network)
    fresh, _ = made(PAIR, network)
    kind, (one, two) = world.kinds[0].name, world.agents[:2]
    ((seen, infos),) = asked(policy, world, [[(0, one), (1, two)]])
    for _ in range(2):
        policy.act(seen, infos)
    fresh.act(seen, infos)
    policy.forget(one)
    policy.act({one: seen[one]}, infos)
    first, kept = fresh._memory[kind][0], policy._memory[kind][0]
    assert np.allclose(kept[0], first[0], atol=1e-6)
    assert np.abs(kept[1] - first[1]).max() > 1e-3
    for each in (policy, fresh):  # and from there on it remembers
        each.act({one: seen[one]}, infos)
    assert np.allclose(policy._memory[kind][0, 0], fresh._memory[kind][0, 0], atol=1e-6)
    with pytest.raises(UserError, match="unknown agent"):
        made("tests.connect.foreign_envs:Market", {"kind": "mlp"})[0].forget("nobody")


def test_a_call_draws_one_key():
    policy, world = made(*CASES["mlp"])
    twin, _ = made(*CASES["mlp"])
    observation, _ = seen_in(world, 2)
    one, two = world.agents[:2]
    seen = {name: {key: leaf[i] for key, leaf in observation.items()} for i, name in enumerate((one, two))}
    policy.act(seen)
    twin.next_seed()
    assert policy.rng.integers(2**32) == twin.rng.integers(2**32)


@pytest.mark.parametrize("name", ["mlp", "gru", "frames"])
def test_one_network_moves_more_agents_than_it_was_trained_with(name):
    """An agent of another name gets what a known one gets, memory included, and ends by its name."""
    policy, world = made(*CASES[name])
    known = world.agents[0]
    observation, mask = seen_in(world, 12)
    for row in range(12):
        one = {key: leaf[row] for key, leaf in observation.items()}
        info = {} if mask is None else {"action_mask": mask[row]}
        if row == 8:
            for agent in (known, "bird_7", "bird_8"):
                policy.forget(agent)
        names = [known, "bird_7"] if row < 5 else ["bird_8", "bird_7", known]
        actions = policy.act(dict.fromkeys(names, one), dict.fromkeys(names, info))
        assert list(actions) == names
        if row < 5 or row >= 8:
            assert len({str(action) for action in actions.values()}) == 1
        assert np.array_equal(policy.look(one, agent="bird_7").logits, policy.look(one).logits)
    further = policy._names()._further
    before = further._memory.copy()
    policy.forget("bird_7")
    changed = (further._memory != before).any(axis=1)
    assert changed.tolist() == [
        bool(before.size) and row == further._row["bird_7"] for row in range(len(before))
    ]


def test_the_mark_of_an_agent_is_that_of_its_place_in_its_kind():
    kind = Kind("guide", (1, 3), spaces.Dict(), spaces.Discrete(2))
    marks = np.array([[0, 1], [1, 0]], np.float32)
    policy = SimpleNamespace(
        networks={"guide": SimpleNamespace(marks=marks)}, world=SimpleNamespace(agents=["a", "b", "c", "d"])
    )
    assert [mark_of(policy, kind, agent).tolist() for agent in "bd"] == [[0, 1], [1, 0]]


def test_networks_of_several_say_which_moves_an_agent():
    policy, _ = made("tests.connect.foreign_envs:Market", {"kind": "mlp"})
    with pytest.raises(UserError, match="look"):
        policy.act({"nobody": {}})


NESTED = spaces.Dict(
    observation=spaces.Dict(
        place=spaces.Tuple((spaces.Discrete(6), spaces.Box(0, 1, (2,), np.float32))),
        far=spaces.Dict({"a.b": spaces.Box(0, 1, (), np.float32)}),
    ),
    action_mask=spaces.MultiBinary(3),
)


class Nested(ParallelEnv):
    """Observations of two levels beside a mask, as classic games of PettingZoo and our own adapter give them."""

    def __init__(self):
        self.metadata = {"name": "nested"}
        self.possible_agents = ["a", "b"]

    def observation_space(self, agent):
        return NESTED

    def action_space(self, agent):
        return spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        every = np.ones(3, np.int8)
        seen = {agent: NESTED.sample() | {"action_mask": every} for agent in self.agents}
        return seen, {agent: {} for agent in self.agents}


def test_nested_observations_beside_a_mask_are_read():
    world = resolve_world(lambda: Nested()).make(num_worlds=1, seed=0, first_world=0)
    policy, _ = made("given/nested", {"kind": "mlp"}, world=world)
    names = list(world.kinds[0].observation_space.spaces)
    seen = {"place": (4, np.array([0.25, 0.5], np.float32)), "far": {"a.b": 0.75}}
    flat = dict(zip(names, (0.75, 4, seen["place"][1]), strict=True))
    assert names == ["observation.far.a.b", "observation.place.0", "observation.place.1"]
    for mask in np.eye(3, dtype=np.int8):
        whole = {"observation": seen, "action_mask": mask}
        assert policy.act({"b": whole}) == {"b": int(mask.argmax())}
        assert np.array_equal(policy.look(whole).logits, policy.look(flat, mask).logits)
    many = {"observation": {"place": (np.array([4, 4]), np.full((2, 2), 0.5)), "far": {"a.b": np.ones(2)}}}
    assert policy.look(many).logits.shape == (2, 3)
    with pytest.raises(UserError, match=r"place\.1"):
        policy.act({"a": {"observation": {**seen, "place": (4,)}, "action_mask": mask}})


def test_our_own_mask_in_the_observation_is_read_from_an_environment_of_ones_own():
    def make():
        return interplay.make("werewolf/6", mask_in_observation=True)

    world = resolve_world(lambda: make()).make(num_worlds=1, seed=0, first_world=0)
    policy, _ = made("given/werewolf", {"kind": "mlp"}, world=world)
    env = make()
    observations, infos = env.reset(seed=1)
    for agent, action in policy.act(observations, infos).items():
        assert observations[agent]["action_mask"][int(action[0])]
        assert policy.look(observations[agent]).action.shape == action.shape


@pytest.mark.parametrize(
    ("space", "number"),
    [
        (spaces.Box(0, 255, (), np.uint8), 0.7),
        (spaces.Box(0, 255, (), np.uint8), 300),
        (spaces.Box(0, 255, (), np.uint8), -1),
        (spaces.Discrete(4), 2.7),
        (spaces.Box(-np.inf, np.inf, (), np.float32), 1e300),
    ],
)
def test_numbers_that_their_space_cannot_hold_are_refused(space, number):
    assert leaf_of({"x": space.sample()}, "x", space, "a") is not None
    with pytest.raises(UserError, match=r"a has 'x'.*cannot hold"):
        leaf_of({"x": number}, "x", space, "a")


@pytest.mark.parametrize("name", ["mlp", "attention", "box actions", "tiles, attention"])
def test_a_look_agrees_with_what_is_known(name):
    policy, world = made(*CASES[name])
    kind = world.kinds[0]
    agent = world.agents[kind.slots[0]]
    observation, mask = seen_in(world, 20)
    look = policy.look(observation, mask, agent=agent)
    population = np.zeros(20, np.int64)
    assert np.allclose(look.value, policy.values(observation, population, kind.name), atol=1e-6)
    assert np.allclose(look.probabilities, policy.probabilities(observation, mask, kind=kind.name), atol=1e-6)
    single = policy.look(
        {key: leaf[3] for key, leaf in observation.items()}, None if mask is None else mask[3], agent=agent
    )
    assert np.allclose(single.logits, look.logits[3], atol=1e-5)
    assert kind.action_space.contains(single.action) or isinstance(single.action, dict)
    if look.logits.size:
        at = 0
        for part in policy.networks[kind.name].distribution.parts:
            for count in part.choices:
                head = np.exp(
                    look.logits[:, at : at + count]
                    - look.logits[:, at : at + count].max(axis=1, keepdims=True)
                )
                assert np.allclose(
                    look.probabilities[:, at : at + count], head / head.sum(axis=1, keepdims=True), atol=1e-5
                )
                at += count
    if mask is not None:
        assert (look.probabilities[~mask] == 0).all()


@pytest.mark.parametrize("additive", [False, True])
def test_attention_is_what_the_network_sums_with(additive):
    """Summed by a slow twin with the attention that is shown, the encoder's result comes out."""
    policy, world = made("survival/2v2-all-low", {"kind": "attention", "attention_mask_additive": additive})
    observation, mask = seen_in(world, 30)
    look = policy.look(observation, mask)
    own = policy.networks[world.kinds[0].name]
    network = own.of_population(policy.inference[world.kinds[0].name], 0)
    encoder = network.encoder
    leaves = own.layout.shown({key: leaf.astype(np.float32) for key, leaf in observation.items()})
    encoded = np.asarray(encoder(network.prepare(leaves)))
    assert look.attention.shape == (30, 4, len(look.attended), len(look.attended))
    assert np.allclose(look.attention.sum(axis=-1), 1, atol=1e-5)
    width = encoder.mix_bias.size // 3
    names = [entity.key for entity in encoder.layout.types]
    for row in range(30):
        values, visible = [], []
        for key in names:
            layer = encoder.types[key]
            embedded = np.tanh(observation[key][row] @ np.asarray(layer.weight) + np.asarray(layer.bias))
            values += list(embedded @ np.asarray(encoder.mix_weight)[:, 2 * width :])
            visible += list(observation[f"{key}_mask"][row] == 0)
        values = np.array([*values, np.zeros(width)]) + np.asarray(encoder.mix_bias)[2 * width :]
        visible = np.array([*visible, True])
        if not additive:
            assert (look.attention[row][:, visible][:, :, ~visible] == 0).all()
        heads = values.reshape(len(values), 4, -1)
        summed = np.einsum("hij,jhd->hd", look.attention[row][:, visible], heads).reshape(-1)
        pooled = summed / len(values) @ np.asarray(encoder.out.weight) + visible.mean() * np.asarray(
            encoder.out.bias
        )
        assert np.allclose(pooled, encoded[row, width:], atol=1e-4)


def test_wrong_questions_are_one_line():
    policy, world = made(*CASES["mlp"])
    observation, _ = seen_in(world, 2)
    one = {key: leaf[0] for key, leaf in observation.items()}
    key = next(iter(one))
    for seen, words in (
        ({world.agents[0]: {}}, f"has no {key!r}"),
        ({world.agents[0]: {**one, key: np.zeros(99)}}, "shape"),
    ):
        with pytest.raises(UserError, match=words):
            policy.act(seen)
    with pytest.raises(UserError, match="leave memory out"):
        policy.look(one, memory=np.zeros(3))


def test_a_missing_mask_is_no_permission():
    world = resolve_world(tictactoe_v3.env()).make(num_worlds=1, seed=0, first_world=0)
    policy, _ = made("given/tictactoe_v3", {"kind": "mlp"}, world=world)
    board = np.zeros((3, 3, 2), np.int8)
    taken = np.array([0, 0, 1, 0, 1, 0, 0, 0, 0], np.int8)
    with pytest.raises(UserError, match="illegal actions but no mask"):
        policy.act({"player_1": {"observation": board}})
    for _ in range(5):
        beside = policy.act({"player_1": {"observation": board, "action_mask": taken}})
        told = policy.act({"player_1": {"observation": board}}, {"player_1": {"action_mask": taken}})
        assert beside["player_1"] in (2, 4)
        assert told["player_1"] in (2, 4)


def test_who_moves_an_agent_that_changes_cannot_be_told_by_name():
    batch = interplay.make_world("dilemma/fixed", num_worlds=2)
    batch.reset()
    policy, _ = made("dilemma/fixed", {"kind": "mlp"}, world=batch)
    with pytest.raises(UserError, match="batch of 2 worlds"):
        policy.act({batch.agents[0]: {}})
    lives, _ = made("mmo/forage", {"kind": "tiles"})
    with pytest.raises(UserError, match=r"slots of .* respawn"):
        lives.act({"anybody": {}})


def test_a_look_reads_the_mask_in_the_observation_and_refuses_others():
    policy, world = made(*CASES["attention"])
    observation, _ = seen_in(world, 4)
    kind = world.kinds[0]
    name, width = world.agents[kind.slots[0]], policy.networks[kind.name].distribution.choices
    mask = np.arange(4 * width).reshape(4, width) % 5 > 0
    told = policy.look(observation, mask, agent=name)
    for beside in ({**observation, "action_mask": mask}, {"observation": observation, "action_mask": mask}):
        assert np.array_equal(policy.look(beside, agent=name).logits, told.logits)
    assert np.array_equal(
        policy.look(observation, mask[1], agent=name).logits[2:],
        policy.look(observation, np.tile(mask[1], (4, 1)), agent=name).logits[2:],
    )
    one = {key: leaf[2] for key, leaf in observation.items()}
    single = policy.look({**one, "action_mask": mask[2]}, agent=name)
    assert np.allclose(single.logits, told.logits[2], atol=1e-5)
    for wrong in (True, np.ones((4, 1), bool), {"action": mask}, mask[:3], np.ones(width + 1), "yes"):
        with pytest.raises(UserError, match=rf"mask that does not fit .*\(4, {width}\) or \({width},\)"):
            policy.look(observation, wrong, agent=name)
    with pytest.raises(UserError, match="mask that does not fit"):
        policy.look(one, mask[2, 1:], agent=name)


def test_a_mask_counts_where_the_run_had_none():
    policy, world = made(*CASES["mlp"])
    observation, _ = seen_in(world, 1)
    name, one = world.agents[0], {key: leaf[0] for key, leaf in observation.items()}
    for choice in (0, 1):
        mask = np.eye(2, dtype=np.int8)[choice]
        assert policy.act({name: one}, {name: {"action_mask": mask}}) == {name: choice}
        assert policy.act({name: {**one, "action_mask": mask}}) == {name: choice}
    assert policy.act({name: one}, {name: {"acting": False}}) == {}
    with pytest.raises(UserError, match=f"{name} has a mask that does not fit"):
        policy.act({name: one}, {name: {"action_mask": np.ones(3)}})


@pytest.mark.parametrize("number", [np.nan, np.inf, "a", None])
def test_what_is_not_finite_is_refused(number):
    policy, world = made(*CASES["mlp"])
    observation, _ = seen_in(world, 2)
    key = next(iter(observation))
    odd = {**observation, key: np.full(observation[key].shape, number)}
    for ask in (
        policy.look,
        lambda seen: policy.act({world.agents[0]: {k: leaf[0] for k, leaf in seen.items()}}),
    ):
        with pytest.raises(UserError, match=f"has {key!r} with values"):
            ask(odd)


def test_what_is_no_question_is_one_line():
    policy, world = made(*CASES["mlp"])
    del policy.world
    with pytest.raises(UserError, match=r"ndarray; pass \{agent: observation\}"):
        policy.act(np.zeros(3))
    with pytest.raises(UserError, match=r"call start\(world\) first"):
        policy.act(world.reset())

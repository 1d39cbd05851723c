"""Exported networks say what the trained ones say, in NumPy and in ONNX, for every kind that can be exported."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv

import interplay
from interplay.connect.resolved import resolve_world
from interplay.core.errors import UserError
from interplay.core.settings import build
from interplay.train.export import plain
from interplay.train.export.files import as_json, make_program
from interplay.train.export.plain import PlainPolicy
from interplay.train.learner import Learner
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.policy_network import PolicyNetwork
from interplay.train.populations import find_populations
from interplay.train.settings import TrainSettings

pytestmark = pytest.mark.slow

ROWS = 1_000
CLOSE = 1e-5
RECALL, DUEL = "matrix/recall", "survival/1v1-heals-low"
CASES = {
    "mlp": ("dilemma/fixed", {"kind": "mlp"}),
    "gru": (RECALL, {"kind": "mlp", "memory": "gru", "activation": "relu"}),
    "lstm": (RECALL, {"kind": "mlp", "memory": "lstm", "probability_floor": 0.01}),
    "frames": (RECALL, {"kind": "mlp", "stack": 4, "input_scale": True}),
    "attention": (DUEL, {"kind": "attention"}),
    "attention, additive mask, own value": (
        "survival/2v2-all-low",
        {"kind": "attention", "attention_mask_additive": True, "separate_value": True},
    ),
    "attention with memory": (DUEL, {"kind": "attention", "memory": "gru", "input_scale": True}),
    "attention without entities": ("dilemma/fixed", {"kind": "attention"}),
    "box actions": ("tests.connect.foreign_envs:Market", {"kind": "mlp"}),
    "one-hots and a table": ("tests.train.named:Named", {"kind": "mlp"}),
    "tables with frames": ("tests.train.named:Named", {"kind": "mlp", "discrete": "embedding", "stack": 2}),
    "tables with memory": (
        "tests.train.named:Named",
        {"kind": "attention", "discrete": "embedding", "memory": "gru"},
    ),
    "tiles": ("mmo/forage", {"kind": "tiles"}),
    "tiles, separate heads": ("mmo/forage", {"kind": "tiles", "separate_heads": True}),
    "tiles, attention": ("mmo/forage", {"kind": "tiles_attention"}),
    "seats": ("werewolf/9", {"kind": "seats"}),
    "seats that speak": ("werewolf/9-l1s9", {"kind": "seats"}),
    "pictures": ("pong/2p-pictures", {"kind": "pictures", "channels": (4, 4, 4), "hidden": (8,)}),
}


def made(world_id, network, seed=0, world=None):
    """A policy whose weights were moved away from where training begins, and its world."""
    world = world or interplay.make_world(world_id, num_worlds=1, seed=seed)
    world.reset()
    settings = build(TrainSettings, {"world": {"id": world_id}, "network": network}, "test")
    learner = Learner(world.kinds, settings, find_populations(settings.population, world), None)
    rng = np.random.default_rng(seed)
    for name, vectors in learner.vectors.items():
        moved = np.asarray(vectors) + 0.1 * rng.normal(size=np.shape(vectors))
        learner.vectors[name] = moved.astype(np.float32)
    arrays = next(array for stem, array in learner.save().items() if stem.startswith("policy"))
    policy = TrainedPolicy(settings, ["pop0"], [arrays], greedy=True, name=world_id)
    policy.start(world)
    return policy, world


def seen_in(world, rows, seed=0):
    """Observations of the first kind, as play shows them, and masks; (rows, ...) each."""
    kind = world.kinds[0]
    player = interplay.make_policy(world.id, "random") if ":" not in world.id else None
    leaves, masks = {key: [] for key in kind.observation_space.spaces}, []
    rng = np.random.default_rng(seed)
    if player is None:
        parts = kind.observation_space.spaces
        for part in parts.values():
            part.seed(seed)
        return {key: np.stack([part.sample() for _ in range(rows)]) for key, part in parts.items()}, None
    player.start(world, seed)
    step = world.reset()
    while sum(map(len, next(iter(leaves.values())))) < rows:
        seen, legal = world.by_kind(step.observation)[kind.name], world.by_kind(step.action_mask)[kind.name]
        for key, parts in leaves.items():
            parts.append(seen[key][0].copy())
        if legal:
            masks.append(np.concatenate([part[0] for part in legal.values()], axis=-1))
        step = world.step(player.act(step))
        if step.over.any():
            step = world.reset()
            player.forget(np.ones(1, bool))
    order = rng.permutation(rows)
    found = {key: np.concatenate(parts)[:rows][order] for key, parts in leaves.items()}
    return found, np.concatenate(masks)[:rows][order] if masks else None


@pytest.mark.parametrize("name", CASES)
def test_every_kind_says_the_same_in_numpy_and_onnx(tmp_path, name):
    says_the_same(*made(*CASES[name]), tmp_path)


@pytest.mark.parametrize("kind", ["tiles", "tiles_attention"])
def test_heads_that_point_say_the_same_too(tmp_path, kind):
    world = interplay.make_world(
        "mmo/combat", num_worlds=1, targeting="learned", rows=6, npop=1, slots=16, interior=16
    )
    says_the_same(*made("mmo/combat", {"kind": kind}, world=world), tmp_path)


def says_the_same(policy, world, tmp_path):
    """Logits, probabilities, values and memory of a policy and of what is exported of it."""
    agent = world.agents[world.kinds[0].slots[0]]
    observation, mask = seen_in(world, ROWS)
    network = policy.networks[world.kinds[0].name]
    given = dict(observation)
    memory = None
    if network.memory:
        memory = given["memory"] = (
            np.random.default_rng(1).normal(size=(ROWS, network.memory)).astype(np.float32)
        )
    if mask is not None:
        given["action_mask"] = mask
    truth = policy.look(observation, mask, memory, agent)
    files = [policy.export(tmp_path / f"policy{suffix}", agent) for suffix in (".onnx", ".npz")]
    session = onnxruntime.InferenceSession(str(files[0]))
    feeds = {own.name: np.asarray(given[own.name]) for own in session.get_inputs()}
    kinds = {own.name: plain.load(files[1]).inputs[own.name][1] for own in session.get_inputs()}
    names = [own.name.removesuffix("_next") for own in session.get_outputs()]
    by_onnx = dict(
        zip(names, session.run(None, {k: a.astype(kinds[k]) for k, a in feeds.items()}), strict=True)
    )
    answers = [policy.to_numpy(agent)(given), plain.load(files[1])(given), by_onnx]
    space, rows = network.distribution.space, np.zeros((ROWS, network.distribution.columns))
    first = space.start if isinstance(space, spaces.Discrete) else 0
    boxes = any(not part.choices for part in network.distribution.parts)
    for said in answers:
        assert set(said) >= {"action", "value"}
        assert said["action"].dtype == (np.float32 if boxes else np.int64)
        assert said["action"].shape == ((ROWS,) if isinstance(space, spaces.Discrete) else rows.shape)
        if not boxes and not isinstance(space, spaces.Dict):
            mine = said["action"].reshape(ROWS, -1)
            same = mine == np.reshape(truth.action - first, (ROWS, -1))
            assert (same | tied(network, truth.logits, mine)).mean() > 0.99
        for key in ("logits", "probabilities", "mean", "deviation", "value", "memory"):
            if key in said:
                assert np.abs(said[key] - getattr(truth, key)).max() <= CLOSE, key
            else:
                assert np.size(getattr(truth, key) if getattr(truth, key) is not None else ()) == 0, key
        if "probabilities" in said:
            assert (
                np.allclose(
                    said["probabilities"].sum(axis=1), len(network.distribution.parts[0].choices), atol=1e-4
                )
                or ":" in world.id
            )


def tied(network, logits, action):
    """(rows, heads) bool, where a choice is as likely as the likeliest: seats of which nobody knows anything are."""
    ends = np.cumsum(network.distribution.parts[0].choices)
    heads = np.split(logits, ends[:-1], axis=1)
    taken = [
        np.take_along_axis(head, one[:, None], 1)[:, 0] for head, one in zip(heads, action.T, strict=True)
    ]
    return np.stack([head.max(axis=1) - own <= CLOSE for head, own in zip(heads, taken, strict=True)], axis=1)


def test_memory_is_handed_from_call_to_call():
    policy, world = made(*CASES["gru"])
    observation, mask = seen_in(world, 40)
    alone = policy.to_numpy()
    memory, kept = None, {}
    for row in range(40):
        one = {key: leaf[row] for key, leaf in observation.items()}
        look = policy.look(one, None if mask is None else mask[row], memory)
        memory = look.memory
        said = alone({**{key: leaf[None] for key, leaf in one.items()}, **kept})
        kept = {"memory": said["memory"]}
        assert np.abs(said["logits"][0] - look.logits).max() <= CLOSE
        assert said["action"][0] == look.action
    assert np.abs(memory).max() > 0.1


WIDE = spaces.Dict(
    near=spaces.Discrete(5, start=2),
    far=spaces.Box(-1, 1, (2,), np.float64),
    view=spaces.Box(0, 255, (2, 2), np.uint8),
    flags=spaces.MultiBinary(3),
)


class Wide(ParallelEnv):
    """Leaves of all the dtypes that spaces have, and every sort of action at once."""

    def __init__(self):
        self.metadata = {"name": "wide"}
        self.possible_agents = ["a", "b"]

    def observation_space(self, agent):
        return WIDE

    def action_space(self, agent):
        return spaces.Dict(
            go=spaces.Discrete(3, start=-1),
            push=spaces.Box(-0.2, 0.3, (2,), np.float32),
            count=spaces.Box(0, 5000, (1,), np.int64),
            level=spaces.Box(100, 120, (1,), np.int64),
        )

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        return {agent: WIDE.sample() for agent in self.agents}, {agent: {} for agent in self.agents}


def test_files_take_the_space_s_dtypes_and_give_the_policy_s_action(tmp_path):
    world = resolve_world(lambda: Wide()).make(num_worlds=1, seed=0, first_world=0)
    policy, _ = made("given/wide", {"kind": "mlp"}, world=world)
    WIDE.seed(3)
    points = [WIDE.sample() for _ in range(64)]
    given = {key: np.stack([point[key] for point in points]) for key in WIDE.spaces}
    onnx, npz = (policy.export(tmp_path / f"p{suffix}") for suffix in (".onnx", ".npz"))
    session = onnxruntime.InferenceSession(str(onnx))
    truth = policy.look(given).action
    rows = np.concatenate([truth["count"], truth["go"][:, None] + 1, truth["level"], truth["push"]], axis=1)
    assert (rows[:, 2] >= 100).all()
    assert policy.networks["agent"].distribution.parts[0].key == "count"
    for said in (session.run(["action"], given)[0], plain.load(npz)(given)["action"]):
        assert np.allclose(said, rows, atol=1e-4)
    assert (rows[:, 3:] >= np.float32(-0.2)).all()
    assert (rows[:, 3:] <= np.float32(0.3)).all()
    meta = session.get_modelmeta().custom_metadata_map
    assert "near int64()" in meta["inputs"]
    assert "far float64(2,)" in meta["inputs"]


def test_numbers_of_rows_are_free(tmp_path):
    policy, world = made(*CASES["attention"])
    observation, mask = seen_in(world, 7)
    session = onnxruntime.InferenceSession(str(policy.export(tmp_path / "a.onnx")))
    given = {**observation, "action_mask": mask} if mask is not None else observation
    feeds = {own.name: np.asarray(given[own.name]) for own in session.get_inputs()}
    for rows in (1, 3, 7):
        few = {key: leaf[:rows] for key, leaf in given.items()}
        whole = policy.to_numpy()(given)["logits"][:rows]
        assert np.allclose(policy.to_numpy()(few)["logits"], whole, atol=CLOSE)
        said = session.run(["logits"], {key: leaf[:rows] for key, leaf in feeds.items()})[0]
        assert np.allclose(said, whole, atol=CLOSE)


def test_the_file_is_read_where_nothing_of_the_package_is(tmp_path):
    policy, world = made(*CASES["mlp"])
    file = policy.export(tmp_path / "policy.npz")
    (tmp_path / "plain.py").write_text(Path(plain.__file__).read_text())
    observation, _ = seen_in(world, 2)
    np.savez(tmp_path / "seen.npz", **observation)
    code = (
        "import sys, numpy as np; from plain import load; seen = dict(np.load('seen.npz'));"
        f"print(load({file.name!r})(seen)['logits'].tolist());"
        "assert not {m for m in sys.modules if m.partition('.')[0] in ('jax', 'interplay')}"
    )
    said = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.'); {code}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert np.allclose(json.loads(said), policy.look(observation).logits, atol=CLOSE)
    assert importlib.util.find_spec("plain") is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "is missing"),
        ({"strange": np.zeros(1)}, "unknown input 'strange'"),
    ],
)
def test_wrong_inputs_are_named(given, words):
    policy, _ = made(*CASES["mlp"])
    with pytest.raises(ValueError, match=words):
        policy.to_numpy()(given)


def test_a_wrong_step_would_be_seen():
    """The comparison above can fail: one operation exchanged for another is more than `CLOSE` away."""
    policy, world = made(*CASES["attention"])
    observation, mask = seen_in(world, 50)
    given = dict(observation) if mask is None else {**observation, "action_mask": mask}
    truth = policy.look(observation, mask).value
    program = make_program(policy, None)
    planted = 0
    for number, step in enumerate(program.steps):
        if step.op in ("add", "tanh", "multiply", "where") and planted < 40:
            written = as_json(program)
            steps = [list(one) for one in written["steps"]]
            first = len(step.inputs) - 1
            steps[number][0], steps[number][1] = "identity", [step.inputs[first]]
            wrong = PlainPolicy({**written, "steps": steps}, program.constants)
            try:
                planted += not np.allclose(wrong(given)["value"], truth, atol=CLOSE)
            except ValueError:
                planted += 1  # shapes do not fit any more
    assert planted >= 10


def test_what_cannot_be_exported_is_refused_in_one_line(tmp_path, monkeypatch):
    policy, _ = made(*CASES["mlp"])
    say = PolicyNetwork.forward
    with monkeypatch.context() as patch:
        patch.setattr(PolicyNetwork, "forward", lambda *given: jax.tree.map(jnp.sort, say(*given)))
        with pytest.raises(UserError, match=r"cannot be exported .*; .*play it with interplay"):
            policy.export(tmp_path / "sorted.onnx")
    assert not list(tmp_path.iterdir())
    with pytest.raises(UserError, match=r"\.onnx or \.npz"):
        policy.export(tmp_path / "policy.pt")
    for suffix in (".npz", ".onnx"):
        with pytest.raises(UserError, match=r"there is no folder .*nodir; make it first"):
            policy.export(tmp_path / "nodir" / f"policy{suffix}")


def test_without_onnx_the_cure_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    policy, _ = made(*CASES["mlp"])
    with pytest.raises(UserError, match=r'pip install "interplay\[onnx\]"'):
        policy.export(tmp_path / "policy.onnx")


def test_nothing_in_a_file_is_executed(tmp_path):
    file = tmp_path / "policy.npz"
    np.savez(file, program=np.array([{"format": 1}], dtype=object))
    with pytest.raises(ValueError, match="Object arrays cannot be loaded"):
        plain.load(file)
    np.savez(file, program=np.frombuffer(b'{"format": 2}', np.uint8))
    with pytest.raises(ValueError, match="export it again"):
        plain.load(file)

"""The experiment dictionary: every key understood, nothing swallowed."""

from __future__ import annotations

import pytest
from gymnasium.spaces import Discrete

from interplay.core.errors import UserError
from interplay.experiment.assignment import assign, learners, mapping_of
from interplay.experiment.params import read_params
from interplay.experiment.worlds import Maker, manager_of
from interplay.sim.managers import AllStepManager
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.experiment.corridors import changed, corridor, params, spaces

MULTI = "ray_tune.config.multiagent."
REFUSED = [  # what stands where, and the key in the error
    ("experimnt", 1, "'experimnt'.*'experiment"),
    ("experiment.titel", 1, "'titel'.*'title"),
    ("ray_tune.stopp", 1, "'stopp'.*'stop"),
    ("ray_tune.stop.episode_total", 1, "'episode_total'.*'episodes_total"),
    ("ray_tune.config.num_worker", 1, "'num_worker'.*'num_workers"),
    (f"{MULTI}policy_mapping", 1, "'policy_mapping'.*'policy_mapping_fn"),
    ("ray_tune.config.lr", 1, "'lr'"),
    ("experiment.title", 3, "experiment.title = 3"),
    ("experiment.sim_creator", None, "experiment.sim_creator"),
    ("ray_tune.backend", "torch", "'rllib'"),
    (f"{MULTI}policies", {}, "policies = {}"),
    (f"{MULTI}policies_to_train", "even", "policies_to_train = 'even'"),
]


@pytest.mark.parametrize(("path", "value", "key"), REFUSED)
def test_a_refusal_names_its_key(path, value, key):
    """6.3: anything else is refused with the nearest known key."""
    with pytest.raises(UserError, match=rf"^params: .*{key}"):
        read_params(changed(params(), path, value))


def test_title_and_sim_creator_are_required():
    """6.3"""
    for wrong in ({}, {"experiment": {"title": "x"}}, {"experiment": {"sim_creator": corridor}}):
        with pytest.raises(UserError, match="missing"):
            read_params(wrong)
    assert read_params({"experiment": {"title": "x", "sim_creator": corridor}}).tune == {}


def test_everything_that_a_manager_is_in_gives_the_manager():
    """F19: a plain manager, a connector around it, one around that."""

    class Connector:
        def __init__(self, sim):
            self.sim = sim

    manager = corridor()
    assert manager_of(manager) is manager
    assert manager_of(Connector(manager)) is manager
    assert manager_of(Connector(Connector(manager))) is manager
    for wrong in (None, MultiCorridor(), Connector(3)):
        with pytest.raises(UserError, match="sim_creator"):
            manager_of(wrong)


def test_one_simulation_for_all_is_copied_and_not_changed():
    manager = corridor()
    shared = params()
    shared["experiment"] = {"title": "x", "sim_creator": lambda config=None: manager}
    experiment = read_params(shared)
    first, second = Maker(experiment, limited=True), Maker(experiment, limited=True)  # as two shards have
    made = [first(), second(), second(), first()]
    assert len({id(one.sim) for one in made}) == 4
    assert [one.time_limit for one in made] == [30] * 4
    assert manager.time_limit is None
    made[1].reset(seed=1)
    assert not hasattr(made[0].agents["agent0"], "position")


def test_the_simulations_own_limit_may_be_lower():
    own = params()
    own["experiment"] = {
        "title": "x",
        "sim_creator": lambda config: AllStepManager(MultiCorridor(), time_limit=7),
    }
    assert Maker(read_params(own), limited=True)().time_limit == 7


def test_env_config_is_the_argument_of_sim_creator():
    """6.3"""
    given = changed(params(), "ray_tune.config.env_config", {"end": 7, "num_agents": 2})
    assert len(Maker(read_params(given))().agents) == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda agent_id: agent_id.upper(),
        lambda agent_id, episode: agent_id.upper(),
        lambda agent_id, episode, worker, **kwargs: agent_id.upper(),
        lambda agent_id, episode=None, *, worker: agent_id.upper(),
        lambda *args: args[0].upper(),
        str.upper,
    ],
)
def test_mappings_take_what_they_can(function):
    """Section 3, row 8"""
    given = changed(params(), "ray_tune.config.multiagent.policy_mapping_fn", function)
    mapping = mapping_of(read_params(given))
    assert mapping("agent1") == mapping("agent1", "episode", worker=3) == "AGENT1"


def test_policies_are_assigned_and_checked():
    agents = corridor().agents
    experiment = read_params(params())
    assert assign(experiment, agents) == {"agent0": "even", "agent1": "odd", "agent2": "even"}
    seen, acts = spaces()
    for path, value, words in (
        ("policy_mapping_fn", lambda agent: "third", "'third' for agent0"),
        ("policies", {"even": (None, seen, acts, {}), "odd": (None, acts, acts, {})}, "observation space"),
        (
            "policies",
            {"even": (None, seen, acts, {}), "odd": (None, seen, Discrete(7), {})},
            "action space of agent1",
        ),
        ("policies", {"even": (None, seen, acts, {}), "odd": (int, seen, acts, {})}, "rllib"),
        ("policies", {"even": (seen, acts), "odd": (seen, acts)}, "observation space, action space"),
        ("policy_mapping_fn", None, "no policy_mapping_fn"),
    ):
        with pytest.raises(UserError, match=words):
            assign(read_params(changed(params(), f"ray_tune.config.multiagent.{path}", value)), agents)


def test_one_policy_needs_no_mapping_and_idle_ones_are_named():
    seen, acts = spaces()
    given = changed(params(), "ray_tune.config.multiagent", {"policies": {"all": (None, seen, acts, {})}})
    assert set(assign(read_params(given), corridor().agents).values()) == {"all"}
    three = {name: (None, seen, acts, {}) for name in ("even", "odd", "spare")}
    with pytest.warns(UserWarning, match="spare"):
        assign(
            read_params(changed(params(), "ray_tune.config.multiagent.policies", three)), corridor().agents
        )


def test_policies_to_train():
    experiment = read_params(params())
    assigned = assign(experiment, corridor().agents)
    assert learners(experiment, assigned) == ()
    for value, expected in ((["odd"], ("odd",)), (["odd", "even"], ("even", "odd"))):
        given = changed(params(), "ray_tune.config.multiagent.policies_to_train", value)
        assert learners(read_params(given), assigned) == expected
    for value in (["third"], []):
        with pytest.raises(UserError, match="policies_to_train"):
            learners(
                read_params(changed(params(), "ray_tune.config.multiagent.policies_to_train", value)),
                assigned,
            )


def test_policies_that_nobody_plays_are_not_trained():
    seen, acts = spaces()
    three = {name: (None, seen, acts, {}) for name in ("even", "odd", "spare")}
    given = changed(params(), "ray_tune.config.multiagent.policies", three)
    with pytest.warns(UserWarning, match="spare"):
        assigned = assign(read_params(given), corridor().agents)

    def wanted(*names):
        return read_params(changed(given, "ray_tune.config.multiagent.policies_to_train", list(names)))

    assert learners(wanted("spare", "odd"), assigned) == ("odd",)
    with pytest.raises(UserError, match="leaves nothing to train"):
        learners(wanted("spare"), assigned)

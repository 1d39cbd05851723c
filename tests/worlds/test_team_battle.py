"""Team battle, sentence by sentence (specification 9.2), and as a registered world."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.evaluate import play
from interplay.gridworld.actors import BinaryAttackActor, MoveActor
from interplay.gridworld.dones import ActiveDone, OneTeamRemainingDone
from interplay.gridworld.observers import PositionCenteredEncodingObserver
from interplay.gridworld.rewards import AttackReward
from interplay.gridworld.smart import reason_against
from interplay.gridworld.states import HealthState, PositionState
from interplay.registry import make_policy
from interplay.worlds import BattleAgent, TeamBattleSim
from interplay.worlds.team_battle.config import VARIANTS, TeamBattleSettings
from interplay.worlds.team_battle.world import battle, manager
from tests.worlds.lockstep import march_together

pytestmark = pytest.mark.slow

ID = "gridworld/team-battle"
STILL = np.zeros(2, int)


def line(*encodings, cols=5, **kwargs):
    """Fighters side by side in the first row of a grid, all teams against all."""
    fighters = {
        f"a{i}": BattleAgent(id=f"a{i}", encoding=team, initial_position=np.array([0, i]), initial_health=1)
        for i, team in enumerate(encodings)
    }
    teams = set(encodings)
    foes = {team: teams - {team} for team in teams}
    sim = TeamBattleSim.build_sim(2, cols, agents=fighters, attack_mapping=foes, **kwargs)
    sim.reset()
    return sim


def act(attack=0, move=STILL):
    return {"attack": attack, "move": np.array(move)}


def test_the_reference_setting():
    """9.2: 8 x 8, 24 agents, agent i of encoding i mod 4 + 1, one start for each team."""
    sim = battle(TeamBattleSettings())
    sim.reset()
    starts = {1: (1, 1), 2: (1, 6), 3: (6, 1), 4: (6, 6)}
    assert (sim.grid.rows, sim.grid.cols, len(sim.agents)) == (8, 8, 24)
    for number, agent in enumerate(sim.agents.values()):
        assert agent.encoding == number % 4 + 1
        assert tuple(agent.position) == starts[agent.encoding]
        ranges = agent.view_range, agent.move_range, agent.attack_range
        assert (*ranges, agent.attack_strength, agent.attack_accuracy) == (3, 1, 1, 1, 1)
    assert sim.actors[0].attack_mapping == {team: {1, 2, 3, 4} - {team} for team in range(1, 5)}
    assert sim.grid.overlapping == {team: {team} for team in range(1, 5)}


def test_the_listings_components_are_the_default():
    """Section 3, row 26."""
    sim = line(1, 2)
    kinds = [[type(part) for part in group] for group in (sim.states, sim.actors, sim.observers, sim.dones)]
    assert kinds == [
        [PositionState, HealthState],
        [BinaryAttackActor, MoveActor],
        [PositionCenteredEncodingObserver],
        [OneTeamRemainingDone],
    ]


def test_components_can_be_others():
    """Section 3, row 26: the release's form, sets of classes."""
    sim = line(
        1, 2, states={PositionState, HealthState}, dones={ActiveDone}, rewards=[(AttackReward, {"kill": 5})]
    )
    sim.step({"a0": act(attack=1)})
    assert sim.get_reward("a0") == 5
    assert not sim.get_all_done()


def test_a_kill_a_failed_attack_and_a_failed_move():
    sim = line(1, 2, 1, cols=6)
    sim.step({"a0": act(attack=1, move=[-1, 0]), "a2": act(attack=0, move=[1, 0])})
    assert sim.get_reward("a0") == pytest.approx(1 - 0.1 - 0.01)
    assert sim.get_reward("a1") == -1
    assert sim.get_reward("a2") == pytest.approx(-0.01)
    sim = line(1, 2, 2)
    sim.step({"a2": act(attack=1)})
    assert sim.get_reward("a2") == pytest.approx(-0.1 - 0.01), "its team-mate is no target"


def test_who_died_earlier_in_the_step_does_nothing_but_pays():
    sim = line(1, 2, 1)
    sim.step({"a0": act(attack=1), "a1": act(attack=1, move=[1, 0])})
    assert [sim.agents[name].active for name in sim.agents] == [True, False, True]
    assert sim.get_reward("a1") == pytest.approx(-1 - 0.01)
    assert tuple(sim.agents["a1"].position) == (0, 1), "it did not move"


def test_all_attacks_come_before_all_moves():
    sim = line(1, 1, 2, 2)
    # a1 steps away from a2 first in the order of actions, and is hit all the same.
    sim.step({"a1": act(move=[1, -1]), "a2": act(attack=1)})
    assert not sim.agents["a1"].active
    # a0's victim leaves its cell before anybody moves: a1 can go there.
    sim = line(1, 1, 2)
    sim.step({"a1": act(attack=1, move=[0, 1]), "a0": act()})
    assert tuple(sim.agents["a1"].position) == (0, 2)


def test_the_last_team_ends_it():
    """D3."""
    sim = line(1, 1, 2)
    assert not sim.get_all_done()
    sim.step({"a1": act(attack=1)})
    assert [sim.get_done(name) for name in sim.agents] == [False, False, True]
    assert sim.get_all_done()


@pytest.mark.parametrize("options", [{}, {"strength": 0.4, "accuracy": 0.7, "start": "anywhere"}])
def test_kernels_and_simulation_agree(options):
    """Section 7, batching: 5,000 world steps each."""
    settings = TeamBattleSettings(time_limit=60, **options)
    assert reason_against(battle(settings), manager(settings)) == ""
    assert march_together(lambda: manager(settings), steps=5_000) > 40


def test_kernels_and_simulation_agree_on_the_large_board_too():
    """Section 7, batching: 1,000 world steps of 200 agents, episodes cut six times."""
    settings = TeamBattleSettings(**{**VARIANTS["team-battle-50"], "time_limit": 40})
    assert march_together(lambda: manager(settings), steps=1_000) == 24


def test_the_hunter_beats_random_play():
    world = interplay.make_world(ID, num_worlds=16)
    lengths, returns = {}, {}
    for name in ("hunter", "random"):
        table = play(world, make_policy(ID, name), episodes=16)
        lengths[name], returns[name] = table["episode_length"].mean(), table["episode_return"].mean()
    assert lengths["hunter"] < lengths["random"] / 2
    assert returns["hunter"] > returns["random"] + 0.5


def test_with_strength_0_nobody_dies():
    """T15; section 10: the benchmark's setting."""
    world = interplay.make_world("gridworld/team-battle-50", strength=0.0)
    player = make_policy("gridworld/team-battle-50", "hunter")
    step = world.reset()
    player.start(world)
    for _ in range(20):
        step = world.step(player.act(step))
    assert step.acting.all()
    assert step.acting.shape == (1, 200)

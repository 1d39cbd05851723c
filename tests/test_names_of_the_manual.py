"""The manual's names can be imported from the packages of the specification, and take the manual's argument names."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from interplay.core.errors import MissingExtraError

# Specification 1.
NAMES = {
    "interplay.sim": """PrincipleAgent ObservingAgent ActingAgent Agent is_agent AgentBasedSimulation
        DynamicOrderSimulation Box check_space make_dict""",
    "interplay.sim.managers": "SimulationManager TurnBasedManager AllStepManager DynamicOrderManager",
    "interplay.sim.wrappers": """Wrapper SARWrapper RavelDiscreteWrapper FlattenWrapper FlattenActionWrapper
        SuperAgentWrapper CommunicationHandshakeWrapper""",
    "interplay.sim.wrappers.ravel_discrete_wrapper": "ravel unravel ravel_space check_space",
    "interplay.sim.wrappers.flatten_wrapper": "flatdim flatten unflatten flatten_space",
    "interplay.gridworld": "GridWorldSimulation GridWorldBaseComponent SmartGridWorldSimulation registry register",
    "interplay.gridworld.agents": """GridWorldAgent GridObservingAgent MovingAgent OrientationAgent AttackingAgent
        AmmoAgent""",
    "interplay.gridworld.grid": "Grid",
    "interplay.gridworld.states": """StateBaseComponent PositionState MazePlacementState
        TargetBarriersFreePlacementState HealthState AmmoState OrientationState""",
    "interplay.gridworld.actors": """ActorBaseComponent MoveActor CrossMoveActor DriftMoveActor AttackActorBaseComponent
        BinaryAttackActor EncodingBasedAttackActor SelectiveAttackActor RestrictedSelectiveAttackActor ActionResult""",
    "interplay.gridworld.observers": """ObserverBaseComponent AbsolutePositionObserver AbsoluteEncodingObserver
        PositionCenteredEncodingObserver StackedPositionCenteredEncodingObserver AmmoObserver""",
    "interplay.gridworld.dones": """DoneBaseComponent ActiveDone OneTeamRemainingDone TargetAgentOverlapDone
        TargetAgentInactiveDone TargetEncodingInactiveDone""",
    "interplay.gridworld.rewards": "RewardBaseComponent StepPenalty MoveReward AttackReward TargetReward",
    "interplay.gridworld.wrappers": """ComponentWrapper ActorWrapper ObserverWrapper RavelActionWrapper
        ExclusiveChannelActionWrapper""",
    "interplay.gridworld.maze": "generate_maze",
    "interplay.gridworld.sight": "create_grid_and_mask",
    "interplay.connect": """GymWrapper GymABS gym_to_simulation MultiAgentWrapper MultiAgentABS
        multi_agent_to_simulation OpenSpielWrapper OpenSpielListWrapper""",
    "interplay.connect.gymnasium": "GymWrapper GymABS gym_to_simulation",
    "interplay.connect.rllib": "MultiAgentWrapper MultiAgentABS multi_agent_to_simulation",
    "interplay.connect.openspiel": "OpenSpielWrapper OpenSpielListWrapper",
    "interplay.train": """MultiPolicyTrainer SinglePolicyTrainer DebugTrainer OnPolicyMonteCarloTrainer Policy RandomPolicy
        QTablePolicy EpsilonSoftPolicy generate_episode off_policy""",
    "interplay.cli": "debug train visualize analyze",
    "interplay.worlds": """MultiCorridor TeamBattleSim BattleAgent MazeNavigationSim MazeNavigationAgent
        MultiMazeNavigationSim MultiMazeNavigationAgent BroadcastSim BroadcastingAgent BlockingAgent BroadcastingState
        BroadcastingActor BroadcastObserver AverageMessageDone ReachTheTargetSim RunningAgent PacmanSim PacmanSimSimple
        PacmanAgent TrafficCorridorSimulation TrafficAgent ForagingSim HunterForagerSim ResourceAgent ForagerAgent
        HunterAgent PredatorPreyResourcesSim PreyAgent PredatorAgent EmptyABS MultiAgentSim MultiAgentGymSpacesSim
        MultiAgentContinuousGymSpaceSim MultiAgentSameSpacesSim MultiAgentGridSim""",
    "interplay.worlds.reach_the_target": """ReachTheTargetSim RunningAgent TargetAgent BarrierAgent TargetDone
        OnlyAgentLeftDone""",
    "interplay.worlds.pacman": "PacmanSim PacmanSimSimple PacmanAgent FoodAgent BaddieAgent WallAgent",
    "interplay.worlds.traffic_corridor": "TrafficCorridorSimulation TrafficAgent TargetAgent WallAgent",
}

# Manual, chapter 7: what a constructor or function is called with; wrong values may be refused, names may not.
ARGUMENTS = """
interplay.sim:PrincipleAgent id seed
interplay.sim:ObservingAgent observation_space null_observation
interplay.sim:ActingAgent action_space null_action
interplay.sim:Agent observation_space null_observation action_space null_action id seed
interplay.sim:AgentBasedSimulation agents
interplay.sim:DynamicOrderSimulation agents
interplay.sim.managers:SimulationManager sim
interplay.sim.managers:SimulationManager.reset
interplay.sim.managers:SimulationManager.step action_dict
interplay.sim.managers:TurnBasedManager sim
interplay.sim.managers:AllStepManager sim randomize_action_input
interplay.sim.managers:DynamicOrderManager sim
interplay.sim.wrappers:Wrapper sim
interplay.sim.wrappers:SARWrapper sim
interplay.sim.wrappers:SARWrapper.wrap_observation from_agent observation
interplay.sim.wrappers:SARWrapper.wrap_action from_agent action
interplay.sim.wrappers:SARWrapper.wrap_reward reward
interplay.sim.wrappers:RavelDiscreteWrapper sim
interplay.sim.wrappers:FlattenWrapper sim
interplay.sim.wrappers:SuperAgentWrapper sim super_agent_mapping
interplay.connect.gymnasium:GymWrapper sim
interplay.connect.rllib:MultiAgentWrapper sim
interplay.connect.openspiel:OpenSpielWrapper sim discounts
interplay.gridworld:GridWorldSimulation grid
interplay.gridworld:GridWorldSimulation.build_sim rows cols
interplay.gridworld:GridWorldSimulation.build_sim_from_array array object_registry extra_agents
interplay.gridworld:GridWorldSimulation.build_sim_from_file file_name object_registry extra_agents
interplay.gridworld:GridWorldSimulation.build_sim_from_grid grid extra_agents
interplay.gridworld:GridWorldSimulation.render fig gridlines background_color
interplay.gridworld:SmartGridWorldSimulation states observers dones
interplay.gridworld:GridWorldBaseComponent agents grid
interplay.gridworld:register component
interplay.gridworld.grid:Grid rows cols overlapping
interplay.gridworld.grid:Grid.place agent ndx
interplay.gridworld.grid:Grid.query agent ndx
interplay.gridworld.grid:Grid.remove agent ndx
interplay.gridworld.agents:GridWorldAgent initial_position blocking encoding render_shape render_color initial_health
interplay.gridworld.agents:GridObservingAgent view_range
interplay.gridworld.agents:MovingAgent move_range
interplay.gridworld.agents:OrientationAgent initial_orientation
interplay.gridworld.agents:AttackingAgent attack_range attack_strength attack_accuracy simultaneous_attacks
interplay.gridworld.agents:AmmoAgent initial_ammo
interplay.gridworld.states:PositionState no_overlap_at_reset randomize_placement_order agents grid
interplay.gridworld.states:MazePlacementState target_agent barrier_encodings free_encodings cluster_barriers scatter_free_agents
interplay.gridworld.states:TargetBarriersFreePlacementState target_agent barrier_encodings free_encodings cluster_barriers scatter_free_agents
interplay.gridworld.states:HealthState agents grid
interplay.gridworld.states:AmmoState agents grid
interplay.gridworld.states:OrientationState agents grid
interplay.gridworld.actors:MoveActor agents grid
interplay.gridworld.actors:MoveActor.process_action agent action_dict
interplay.gridworld.actors:CrossMoveActor.process_action agent action_dict
interplay.gridworld.actors:CrossMoveActor.grid_action cross_action
interplay.gridworld.actors:DriftMoveActor.process_action agent action_dict
interplay.gridworld.actors:BinaryAttackActor attack_mapping stacked_attacks
interplay.gridworld.actors:BinaryAttackActor.process_action attacking_agent action_dict
interplay.gridworld.actors:EncodingBasedAttackActor attack_mapping stacked_attacks
interplay.gridworld.actors:SelectiveAttackActor attack_mapping stacked_attacks
interplay.gridworld.actors:RestrictedSelectiveAttackActor attack_mapping stacked_attacks
interplay.gridworld.observers:AmmoObserver agents grid
interplay.gridworld.observers:AmmoObserver.get_obs agent
interplay.gridworld.observers:AbsolutePositionObserver.get_obs agent
interplay.gridworld.observers:AbsoluteEncodingObserver.get_obs agent
interplay.gridworld.observers:PositionCenteredEncodingObserver observe_self
interplay.gridworld.observers:PositionCenteredEncodingObserver.get_obs agent
interplay.gridworld.observers:StackedPositionCenteredEncodingObserver.get_obs agent
interplay.gridworld.dones:ActiveDone agents grid
interplay.gridworld.dones:ActiveDone.get_done agent
interplay.gridworld.dones:ActiveDone.get_all_done
interplay.gridworld.dones:OneTeamRemainingDone agents grid
interplay.gridworld.dones:TargetAgentOverlapDone target_mapping
interplay.gridworld.dones:TargetAgentInactiveDone target_mapping
interplay.gridworld.wrappers:ComponentWrapper agents grid
interplay.gridworld.wrappers:ActorWrapper component
interplay.gridworld.wrappers:ActorWrapper.process_action agent action_dict
interplay.gridworld.wrappers:RavelActionWrapper component
interplay.gridworld.wrappers:RavelActionWrapper.check_space space
interplay.gridworld.wrappers:RavelActionWrapper.wrap_space space
interplay.gridworld.wrappers:RavelActionWrapper.wrap_point space point
interplay.gridworld.wrappers:RavelActionWrapper.unwrap_point space point
interplay.gridworld.wrappers:ExclusiveChannelActionWrapper component
interplay.gridworld.wrappers:ExclusiveChannelActionWrapper.wrap_point space point
interplay.train:MultiPolicyTrainer sim policies policy_mapping_fn
interplay.train:MultiPolicyTrainer.compute_actions obs
interplay.train:MultiPolicyTrainer.generate_episode horizon render log
interplay.train:MultiPolicyTrainer.train iterations
interplay.train:SinglePolicyTrainer sim policy
interplay.train:OnPolicyMonteCarloTrainer sim policy
interplay.train:OnPolicyMonteCarloTrainer.train iterations gamma
interplay.train:DebugTrainer policies name output_dir
interplay.train:DebugTrainer.train iterations render
"""


@pytest.mark.parametrize("package", NAMES)
def test_section_1_every_name_is_in_its_package(package):
    module, missing = _module(package), []
    for name in NAMES[package].split():
        try:
            getattr(module, name)
        except MissingExtraError:
            continue  # its own room's row says that it was skipped
        except AttributeError:
            missing.append(name)
    assert missing == []


@pytest.mark.parametrize("line", ARGUMENTS.strip().splitlines(), ids=lambda line: line.split()[0])
def test_the_manuals_argument_names_are_keywords(line):
    """Chapter 7; named by the function, or by a base's constructor that the class hands its keywords on to."""
    path, *names = line.split()
    module, _, attribute = path.partition(":")
    thing = _module(module)
    for part in attribute.split("."):
        thing = getattr(thing, part)
    constructors = [vars(kind).get("__init__") for kind in getattr(thing, "__mro__", ())]
    named = {name for function in filter(callable, constructors or [thing]) for name in _keywords(function)}
    assert [name for name in names if name not in named] == []


def _module(name):
    try:
        return import_module(name)
    except MissingExtraError as error:
        pytest.skip(str(error))


def _keywords(function):
    if function is object.__init__:
        return set()
    parameters = inspect.signature(function).parameters.values()
    return {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}

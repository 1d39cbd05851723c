"""Actors: what agents can do (manual 3.2.2 to 3.2.4 and 3.2.12; specification 2.8)."""

from interplay.gridworld.actors.actor import ActionResult, ActorBaseComponent, BoardActor
from interplay.gridworld.actors.attack import (
    AttackActorBaseComponent,
    BinaryAttackActor,
    EncodingBasedAttackActor,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from interplay.gridworld.actors.move import CrossMoveActor, DriftMoveActor, MoveActor

__all__ = [
    "ActionResult",
    "ActorBaseComponent",
    "AttackActorBaseComponent",
    "BinaryAttackActor",
    "BoardActor",
    "CrossMoveActor",
    "DriftMoveActor",
    "EncodingBasedAttackActor",
    "MoveActor",
    "RestrictedSelectiveAttackActor",
    "SelectiveAttackActor",
]

"""Instruments for worlds of many lives: who lives how long, where, how, and what was seen of the ground.

Recorders look on while `watching.watch` plays, and read `tick.Tick`s; a world announces what makes them of its state
(`World.instruments`). Instruments that need one world stand in its folder (`mmo`).
"""

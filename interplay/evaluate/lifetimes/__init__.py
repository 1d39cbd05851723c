"""Instruments for worlds of many lives: lengths, places and causes of death of lives, and coverage of the ground.

`tick.watch` plays a world and feeds `tick.Tick`s to recorders; `World.instruments` names the function that reads them from the
world's state. Instruments for a single world are in its folder (`mmo`, `survival_world`).
"""

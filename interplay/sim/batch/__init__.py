"""Many environments as one batch: how their data is laid out, who steps them, in this process or in several of their own.

`interplay.sim.adapt` makes worlds of simulations with it, `interplay.connect.parallel_world` of other people's environments.
"""

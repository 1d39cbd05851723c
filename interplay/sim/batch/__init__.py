"""Many environments as one batch: the layout of their data, and the pools that step them, in this process or in several of their own.

`interplay.sim.adapt` makes worlds of simulations with it, `interplay.connect.parallel_world` of other people's environments.
"""

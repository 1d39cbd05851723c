"""Many environments as one batch: the layout of their data, and the pools that step them.

`interplay.sim.adapt` makes worlds of simulations with it, `interplay.connect.parallel_world` of other libraries' environments.
"""

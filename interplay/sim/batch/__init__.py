"""Many environments as one batch: its data layout and the pools that step it.

`interplay.sim.adapt` makes worlds of simulations with it, `interplay.connect.parallel_world` of other libraries' environments.
"""

"""A walker among buildings and fences, in a program of its own (manual 4.2): a 2100 x 2100 continuous navigation problem.

`program` is the external simulator, `simulation` drives it, `proxy` is the same map as a grid of 20 x 20 cells.
"""

"""Experiments: a simulation and its training in one dictionary, to debug, train, watch and analyse.

The four functions are offered by `interplay.cli`. Source: manual 2.2 to 2.6; specification section 6.
"""

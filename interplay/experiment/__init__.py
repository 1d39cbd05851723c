"""Experiments: a simulation and how it is trained, in one dictionary; debugged, trained, watched and analysed with it.

The four functions are offered by `interplay.cli`. Source: manual 2.2 to 2.6; specification section 6.
"""

"""Simulations in which next to nothing happens, to try managers, wrappers and connectors on (specification 9.7)."""

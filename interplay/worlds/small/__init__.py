"""Trivial simulations to test managers, wrappers and connectors (specification 9.7)."""

"""Interfaces for one side of a battle: what it sees as a picture, and orders by cell (specification games 4.4 and interfaces 10)."""

"""Interfaces for one side of a battle: pictures of its view, and orders by cell (specification games 4.4 and interfaces 10)."""

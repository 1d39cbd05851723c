"""Pictures and text of a game, from a spectator's knowledge."""

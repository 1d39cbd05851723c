"""Pictures and words of a game, made of what a spectator may know."""

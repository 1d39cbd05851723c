"""The other players of a run: past selves, opponents, leagues; alternation, and ratings."""

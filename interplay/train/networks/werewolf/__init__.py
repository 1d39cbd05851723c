"""The network of seats, for werewolf."""

"""What instruments for talk know of werewolf: how its boards are read, and what its players believe."""

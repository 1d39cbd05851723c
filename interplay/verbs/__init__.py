"""What a user does, one file per deed: the command line and Python call the same functions."""

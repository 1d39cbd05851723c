"""Several processes of one run: started, watched, and adding their vectors up in one order."""

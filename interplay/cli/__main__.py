"""`python -m interplay.cli` for where the console script is not on the path."""

from interplay.cli.main import main

main()

"""`python -m interplay` for where the console script is not on the path."""

from interplay.cli.main import main

if __name__ == "__main__":
    main()

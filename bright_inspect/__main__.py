"""Lets ``python -m bright_inspect`` do what the command does."""

from bright_inspect.cli import main

if __name__ == "__main__":
    main()

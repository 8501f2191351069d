"""``python -m tradmem``: the command line, where its script is not on the path."""

from tradmem.cli import main

if __name__ == "__main__":
    main()

"""``python -m tradmem`` is ``tradmem``."""

from tradmem.cli import main

if __name__ == "__main__":
    main()

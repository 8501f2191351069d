"""Numbers of things in words."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 entry``, ``1,000 entries``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"

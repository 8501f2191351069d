"""Which of the five ratings a text gives, if it clearly gives one."""

from tradmem.model import Rating


def parse_rating(text: str) -> Rating | None:
    """."""
    return None

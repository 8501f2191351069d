"""Which of the five ratings a text gives, if it clearly gives one."""

from tradmem.rating.parse import parse_rating

__all__ = ["parse_rating"]

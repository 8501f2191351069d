"""The charts of the report, as specifications that the page draws."""

from typing import Any

from tradmem.study.report.data import Subject


def charts_of(subject: Subject) -> list[dict[str, Any]]:
    """The charts that there is something to draw for, each with its title and what it shows."""
    del subject
    return []

"""Functions that another process can import."""

import os

from tests.study.worlds import by_chance


def failing(moment):
    raise RuntimeError("out of\nideas")


def dying(moment):
    os._exit(1)


def chance(moment):
    return by_chance(moment)

"""Embedders for tests: words by their letters, without a model."""

import numpy as np

from tradmem.errors import ModelError
from tradmem.lessons.embed import unit


class Letters:
    """A vector of how often each letter stands in a text; the same text, the same vector."""

    model = "letters"
    longest = 500
    batch = 7
    is_costly = False

    def __init__(self):
        self.seen = []

    def embed(self, texts):
        self.seen += texts
        counts = ([text.lower().count(chr(97 + n)) for n in range(26)] for text in texts)
        return [unit(np.array(count, dtype=np.float32)) for count in counts]


class Broken(Letters):
    """One that gives nothing until it is mended."""

    is_mended = False

    def embed(self, texts):
        if not self.is_mended:
            raise ModelError("unreachable", "nobody there")
        return super().embed(texts)

"""What goes over the wire: how much at most, and how texts are made to fit it."""

import re

MOST_BYTES = 1_000_000  # of a request
# Every escape of JSON, of which the halves of a pair are looked at together.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def whole(text: str) -> str:
    """JSON whose texts hold no half of a character, which a model may write."""
    return _ESCAPE.sub(lambda found: "\\ufffd" if found["half"] else found[0], text)


def sendable(text: str) -> str:
    """A text that UTF-8 can carry."""
    return text.encode("utf-8", "replace").decode()

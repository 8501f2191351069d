"""Texts and values as they may be shown: an address without the password in it."""

import re

# The password of an address: what stands before its last @, whatever it holds, and in its
# query, however its name is written.
_PASSWORD = re.compile(
    r"(?<=://)([^/@:?#]*):\S*(?=@)"
    r"|(?<=[?&])((?:[^=&]*(?:pass|token|secret|key|%)[^=&]*)=)[^&]*",
    re.IGNORECASE,
)


def without_password(text: str) -> str:
    """A text without the passwords of the addresses in it."""
    return _PASSWORD.sub(
        lambda hit: f"{hit[1]}:***" if hit[1] is not None else f"{hit[2]}***", text
    )


def shown(value: object) -> str:
    """A value that cannot be, as a message may repeat it."""
    return without_password(repr(value))

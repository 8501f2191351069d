"""Text on its way into a log and out again: exact, and never mistaken for structure."""

import re

SECTIONS = ("DECISION", "REFLECTION", "NOTE")
DELIMITER = "<!-- ENTRY_END -->"
LEDGER_OPEN = "<!-- tradmem:"

_SECTION = r"(?:DECISION|REFLECTION|NOTE)"
_COMMENT = r"!-- (?:ENTRY_END|tradmem:)"
_LINE = r"\[[0-9]{4}-[0-9]{2}-[0-9]{2} \||<<<<<<< |>>>>>>> "
_TO_ESCAPE = re.compile(rf"{_SECTION}\\*(?=:)|<\\*(?={_COMMENT})|(?={_LINE})")
_TO_UNESCAPE = re.compile(rf"({_SECTION}\\*)\\(?=:)|(<\\*)\\(?={_COMMENT})|\\(?={_LINE})")
# The expressions above try every position; almost every text holds none of these and skips them.
_HINTS = (*SECTIONS, "!-- ", "[", "<<<<<<< ", ">>>>>>> ")

_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """A text as a log keeps it.

    CRLF and CR become LF, white-space-only lines at either end go, NUL and lone
    surrogates become U+FFFD. Everything else stays to the letter.
    """
    if "\0" in text or not text.isascii():
        text = _NOT_TEXT.sub("\ufffd", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text and not (text[0].isspace() or text[-1].isspace()):
        return text
    lines = text.split("\n")
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return "\n".join(lines[start:end])


def escape(text: str) -> str:
    """The text with one backslash more wherever it could be read as structure."""
    return _TO_ESCAPE.sub(r"\g<0>\\", text) if _suspicious(text) else text


def unescape(text: str) -> str:
    """The inverse of :func:`escape`."""
    if "\\" not in text:
        return text
    return _TO_UNESCAPE.sub(lambda m: (m[1] or "") + (m[2] or ""), text)


def _suspicious(text: str) -> bool:
    return any(hint in text for hint in _HINTS)

"""What OpenAI-compatible servers send back, read into kinds of faults and plain values."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from tradmem.lessons.reflect import FaultKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The body of a chat completion.

    Attributes:
        text: the message's text, its parts joined; None if there is none.
        refusal: the model's words where it refused.
        finish: why it stopped.
        prompt_tokens: sent, as the server counted.
        completion_tokens: received, as the server counted.
        cost: in US dollars, where the server says it.
    """

    text: str | None
    refusal: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A status of 400 or more, or what stands for one.

    Attributes:
        status: as HTTP would have it.
        kind: the kind of fault.
        detail: what the server said.
        wait: seconds that it asks to wait.
        about_format: whether it may be the way of asking for JSON that it did not take.
    """

    status: int
    kind: FaultKind
    detail: str
    wait: float | None = None
    about_format: bool = False


def read_body(body: str) -> Answer | Problem:
    """The answer in the body of a 200; some servers put an error there, or a web page."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        detail = "something else than JSON; is the base URL right?"
        return Problem(status=200, kind=FaultKind.SERVER_ERROR, detail=detail)
    if data.get("error"):
        error = _object(data["error"])
        code = str(error.get("code") or error.get("type") or "")
        status = int(code) if code.isdecimal() else 500
        return problem(status, code, str(error.get("message") or data["error"]))
    choices = data.get("choices")
    choice = _object(choices[0] if isinstance(choices, list) and choices else None)
    message, used = _object(choice.get("message")), _object(data.get("usage"))
    return Answer(
        text=_text(message.get("content")),
        refusal=_text(message.get("refusal")) or "",
        finish=str(choice.get("finish_reason") or ""),
        prompt_tokens=_count(used.get("prompt_tokens")),
        completion_tokens=_count(used.get("completion_tokens")),
        cost=_dollars(used.get("cost")),
    )


def problem(
    status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
) -> Problem:
    """An error of a server, by its status, its code and its words."""
    kind = _kind(status, f"{code} {detail}")
    about_format = status in _FORMAT_STATUSES or bool(_ABOUT_FORMAT.search(f"{code} {detail}"))
    return Problem(
        status=status,
        kind=kind,
        detail=detail,
        wait=_retry_after(headers or {}),
        about_format=about_format and not kind.fatal and not _TOO_LONG.search(detail),
    )


_FORMAT_STATUSES = frozenset({400, 415, 422, 501})
_ABOUT_FORMAT = re.compile(r"response_format|json_schema|json_object|(?i:structured output)")
_TOO_LONG = re.compile(r"(?i)context.{0,10}length|maximum context|too long|too large")
_NO_MODEL = re.compile(
    r"(?i)model_not_found|invalid model|not a valid model|model\b.{0,80}\b(?:not exist|not found)"
)
_MODERATED = re.compile(r"(?i)moderat|flagged|content.policy|safety")
_NO_CREDIT = re.compile(r"(?i)insufficient_quota|insufficient (?:credit|balance|fund)")
_KINDS = {
    401: FaultKind.UNAUTHORISED,
    402: FaultKind.NO_CREDIT,
    403: FaultKind.UNAUTHORISED,
    404: FaultKind.UNKNOWN_MODEL,
    408: FaultKind.TIMED_OUT,
    409: FaultKind.SERVER_ERROR,
    425: FaultKind.SERVER_ERROR,
    429: FaultKind.RATE_LIMITED,
}
_BAD_REQUEST, _FORBIDDEN, _SERVER = 400, 403, 500


def _kind(status: int, said: str) -> FaultKind:
    if _NO_CREDIT.search(said):
        return FaultKind.NO_CREDIT
    if status in (_BAD_REQUEST, _FORBIDDEN) and _MODERATED.search(said):
        return FaultKind.REFUSED
    if status == _BAD_REQUEST and _NO_MODEL.search(said):
        return FaultKind.UNKNOWN_MODEL
    other = FaultKind.SERVER_ERROR if status >= _SERVER else FaultKind.BAD_REQUEST
    return _KINDS.get(status, other)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, from any of the headers in use; None if it does not."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, OverflowError):
                continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(content: Any) -> str | None:
    """The text of a message's content, which may come in parts."""
    if isinstance(content, str) or content is None:
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _dollars(value: Any) -> float | None:
    """A cost, if it can be one; a NaN would make every limit void."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < float("inf") else None

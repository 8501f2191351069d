"""What can go wrong, as one tree.

    TradmemError
    ├── UsageError       the call is wrong: an impossible ticker, date or setting
    │   └── LookAhead    the call asks for what was not known yet
    ├── ConflictError    the key is taken by another text, and may not be revised
    ├── UnknownEntry     no entry has this id
    ├── LogError         the log cannot be read or written
    │   └── LogBusy      another process holds the log for longer than the time-out
    ├── PriceError       a price source did not answer; ``kind`` says why
    └── ModelError       a language model did not answer; ``kind`` says why

Expected situations (an outcome that is not due, a bar that has not come) are
values, not exceptions. Every message is one line: what happened, to which
thing, what to do.
"""

from enum import StrEnum


class TradmemError(Exception):
    """The root of every exception that tradmem raises on purpose."""


class UsageError(TradmemError, ValueError):
    """The call cannot be carried out as it stands; the caller has to change it."""


class LookAhead(UsageError):  # noqa: N818 - the name says what was attempted
    """Something was asked for that was not known at the instant in question."""


class ConflictError(TradmemError):
    """A decision with this key stands already, with another text or rating."""


class UnknownEntry(TradmemError, LookupError):  # noqa: N818
    """No entry has this id."""


class LogError(TradmemError):
    """The log cannot be read or written; nothing was changed."""


class LogBusy(LogError):  # noqa: N818
    """Another process holds the log's lock; nothing was changed."""


class PriceFault(StrEnum):
    """Why a price source gave no bars."""

    RATE_LIMITED = "rate limited"
    UNREACHABLE = "unreachable"
    SERVER_ERROR = "server error"
    NOT_HELD = "not in this source"  # which says nothing of whether it trades
    UNKNOWN_SYMBOL = "unknown symbol"
    NO_BARS = "no bars in span"

    @property
    def passing(self) -> bool:
        """Whether asking again later can help; such a fault never ends a wait."""
        return self not in (self.UNKNOWN_SYMBOL, self.NO_BARS)


class PriceError(TradmemError):
    """A price source gave no bars for a symbol.

    Attributes:
        kind: why.
        symbol: what was asked for.
    """

    def __init__(self, kind: PriceFault, symbol: str, detail: str = "") -> None:
        self.kind = kind
        self.symbol = symbol
        self.detail = detail
        super().__init__(kind, symbol, detail)  # the arguments, so that a copy can be made of them

    def __str__(self) -> str:
        return f"no prices for {self.symbol}: {self.kind}" + _in_brackets(self.detail)


class ModelError(TradmemError):
    """A language model gave no usable answer.

    Attributes:
        kind: a short fixed word for the reason, such as ``"unauthorised"``.
        fatal: whether asking again in this run is pointless.
    """

    def __init__(self, kind: str, detail: str = "", *, fatal: bool = False) -> None:
        self.kind = kind
        self.detail = detail
        self.fatal = fatal
        super().__init__(kind, detail)

    def __str__(self) -> str:
        return f"the model gave no answer: {self.kind}" + _in_brackets(self.detail)


def _in_brackets(detail: str) -> str:
    return f" ({detail})" if detail else ""

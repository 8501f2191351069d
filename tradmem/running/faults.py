"""What keeps a ticker from being decided: whether it passes, and what a person can do."""

from tradmem.errors import LogBusy, LogError, ModelError, PriceError, PriceFault, TradmemError
from tradmem.lessons.reflect import FaultKind

_STATUSES = frozenset({408, 409, 425, 429, *range(500, 600)})  # of HTTP, that pass
# Other libraries' errors that pass, by the names of their classes: none of them is ours to load.
_NAMES = frozenset({"TransportError", "APIConnectionError", "RateLimitError", "APITimeoutError"})

AGAIN = "run again later: what is decided stays, and only what is missing is decided"


def is_passing(error: BaseException) -> bool:
    """Whether the same may go well a moment later."""
    if isinstance(error, PriceError):
        return error.kind.passing and error.kind is not PriceFault.NOT_HELD
    if isinstance(error, ModelError):
        return error.kind in list(FaultKind) and FaultKind(error.kind).passing
    if isinstance(error, TradmemError):
        return isinstance(error, LogBusy)
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    status = getattr(error, "status_code", None)
    return status in _STATUSES or any(kind.__name__ in _NAMES for kind in type(error).__mro__)


def advice(error: BaseException) -> str:
    """What a person can do about it; empty where the error itself says it."""
    if is_passing(error):
        return AGAIN
    if isinstance(error, PriceError):
        return _PRICES.get(error.kind, AGAIN)
    if isinstance(error, ModelError):
        return _MODELS.get(error.kind, "" if error.fatal else AGAIN)
    if isinstance(error, LogError):
        return ""
    return "" if isinstance(error, TradmemError) else "look into the graph; --debug shows where"


_PRICES = {
    PriceFault.NOT_HELD: "take a source that has it, or take the ticker off the watchlist",
    PriceFault.UNKNOWN_SYMBOL: "correct the ticker, or give it an alias",
    PriceFault.NO_BARS: "see whether it still trades under this ticker",
}
_MODELS: dict[str, str] = {
    FaultKind.REFUSED: "read the exchange, or ask another model",
    FaultKind.UNREADABLE: "run again, or ask another model",
    FaultKind.OVER_BUDGET: "raise the limit, or run again tomorrow",
}

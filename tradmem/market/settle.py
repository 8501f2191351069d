"""The outcomes of many decisions from one call to a price source."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from math import isfinite
from operator import attrgetter

from tradmem.clock import utc
from tradmem.errors import PriceError, PriceFault, TradmemError
from tradmem.market.outcome import answer
from tradmem.market.prices import Bars, PriceSource, Span
from tradmem.market.question import (
    Question,
    Unsettled,
    Why,
    Window,
    history_start,
    not_due,
    window_of,
)
from tradmem.market.symbols import Aliases, Benchmarks, benchmark_of
from tradmem.model import Outcome


def settle(
    questions: Iterable[Question],
    source: PriceSource,
    *,
    as_of: datetime,
    benchmarks: Benchmarks = None,
    aliases: Aliases = None,
) -> list[Outcome | Unsettled]:
    """The outcome of each decision as of an instant, or why there is none yet.

    Nothing is asked of the source for what is not due, and everything else in one call,
    with one span per symbol. Whatever the source does is an answer, never an exception.

    Args:
        questions: one whose benchmark is None gets the one that :func:`benchmark_of` names.
        source: where the closes come from.
        as_of: aware UTC.
        benchmarks: see :func:`tradmem.market.symbols.benchmark_of`.
        aliases: see :func:`tradmem.market.symbols.yahoo_symbol`.

    Returns:
        One answer per question, in their order.

    Raises:
        UsageError: ``as_of`` has no time zone.
    """
    as_of = utc(as_of)
    asked = [_with_benchmark(question, benchmarks, aliases) for question in questions]
    windows = [window_of(question, aliases) for question in asked]
    early = [not_due(window, as_of) for window in windows]
    spans: dict[str, Span] = {}
    for question, window, pending in zip(asked, windows, early, strict=True):
        if pending is None:
            _widen(spans, question, window, as_of)
    found = fetch(source, spans)
    return [
        pending or _answer(question, window, found, as_of)
        for question, window, pending in zip(asked, windows, early, strict=True)
    ]


def _answer(
    question: Question, window: Window, found: Mapping[str, Bars | PriceError], as_of: datetime
) -> Outcome | Unsettled:
    bars = found[question.ticker]
    benchmark = found.get(question.benchmark or "")
    try:
        result = answer(question, bars, benchmark, as_of=as_of, window=window)
        if isinstance(result, Outcome):
            _check_finite(result)
    except Exception as error:  # noqa: BLE001 - bars are foreign data, and their fault a value
        reason = f"the bars of {question.ticker} cannot be read: {error}"
        return Unsettled(kind=Why.FAILED, reason=" ".join(reason.split()), due=window.due)
    return result


def _check_finite(outcome: Outcome) -> None:
    numbers = _numbers_of(outcome)
    if all(map(isfinite, [value for value in numbers if value is not None])):
        return
    for name, value in zip(_NUMBERS, numbers, strict=True):
        if value is not None and not isfinite(value):
            raise ValueError(f"{name} is {value}")


_NUMBERS = tuple(field.name for field in fields(Outcome) if "float" in str(field.type))
_numbers_of = attrgetter(*_NUMBERS)


def _with_benchmark(question: Question, benchmarks: Benchmarks, aliases: Aliases) -> Question:
    chosen = benchmark_of(question.ticker, question.benchmark or benchmarks, aliases)
    ticker = question.ticker.upper()
    if (chosen, ticker) == (question.benchmark, question.ticker):
        return question
    return Question(
        ticker=ticker,
        decided_at=question.decided_at,
        horizon=question.horizon,
        benchmark=chosen,
        accepted_at=question.accepted_at,
    )


def _widen(spans: dict[str, Span], question: Question, window: Window, as_of: datetime) -> None:
    """Let the spans hold what one due question needs, and nothing that is not final."""
    start, limit = history_start(question), min(as_of, window.wait_ends)
    for symbol, listing in (
        (question.ticker, window.own),
        (question.benchmark, window.benchmark),
    ):
        if symbol and listing:
            end = listing.calendar.last_final(limit)
            known = spans.get(symbol)
            if known is None:
                spans[symbol] = Span(start, end)
            elif start < known.start or end > known.end:
                spans[symbol] = Span(min(start, known.start), max(end, known.end))


def fetch(source: PriceSource, spans: Mapping[str, Span]) -> Mapping[str, Bars | PriceError]:
    """One call to the source; whatever goes wrong in it is each symbol's passing fault."""
    if not spans:
        return {}
    answers: Mapping[str, object] = {}
    kind, detail = PriceFault.UNREACHABLE, "the source left it out of its answer"
    try:
        answers = dict(source.fetch(spans))
    except PriceError as error:
        # Raised for one symbol, it says nothing lasting of the others.
        kind = error.kind if error.kind.passing else kind
        detail = error.detail if error.kind.passing else str(error)
    except TradmemError as error:
        detail = str(error)
    except Exception as error:  # noqa: BLE001 - a source is foreign code, and its fault a value
        detail = f"{type(error).__name__}: {error}"
    return {
        symbol: found
        if isinstance(found := answers.get(symbol), Bars | PriceError)
        else PriceError(kind, symbol, detail)
        for symbol in spans
    }

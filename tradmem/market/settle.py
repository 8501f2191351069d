"""The outcomes of many decisions from one call to a price source."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from tradmem.errors import PriceError, PriceFault
from tradmem.market.outcome import answer
from tradmem.market.prices import Bars, PriceSource, Span
from tradmem.market.question import Question, Unsettled, Window, history_start, not_due, window_of
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
    """
    asked = [_with_benchmark(question, benchmarks, aliases) for question in questions]
    windows = [window_of(question, aliases) for question in asked]
    early = [not_due(window, as_of) for window in windows]
    spans: dict[str, Span] = {}
    for question, window, pending in zip(asked, windows, early, strict=True):
        if pending is None:
            _widen(spans, question, window, as_of)
    found = fetch(source, spans)
    return [
        pending
        or answer(
            question,
            found[question.ticker],
            found[question.benchmark] if question.benchmark else None,
            as_of=as_of,
            aliases=aliases,
            window=window,
        )
        for question, window, pending in zip(asked, windows, early, strict=True)
    ]


def _with_benchmark(question: Question, benchmarks: Benchmarks, aliases: Aliases) -> Question:
    chosen = benchmark_of(question.ticker, question.benchmark or benchmarks, aliases)
    ticker = question.ticker.upper()
    if (chosen, ticker) == (question.benchmark, question.ticker):
        return question
    return replace(question, benchmark=chosen, ticker=ticker)


def _widen(spans: dict[str, Span], question: Question, window: Window, as_of: datetime) -> None:
    """Let the spans hold what one due question needs, and nothing that is not final."""
    start, limit = history_start(question), min(as_of, window.wait_ends)
    for symbol, listing in (
        (question.ticker, window.own),
        (question.benchmark, window.benchmark),
    ):
        if symbol and listing:
            end = listing.calendar.last_final(limit)
            known = spans.get(symbol, Span(start, end))
            spans[symbol] = Span(min(start, known.start), max(end, known.end))


def fetch(source: PriceSource, spans: Mapping[str, Span]) -> Mapping[str, Bars | PriceError]:
    """One call to the source; whatever goes wrong in it is each symbol's passing fault."""
    if not spans:
        return {}
    answers: Mapping[str, object] = {}
    fault = "the source left it out of its answer"
    try:
        answers = dict(source.fetch(spans))
    except PriceError as error:
        return {symbol: PriceError(error.kind, symbol, error.detail) for symbol in spans}
    except Exception as error:  # noqa: BLE001 - a source is foreign code, and its fault a value
        fault = f"{type(error).__name__}: {error}"
    return {
        symbol: found
        if isinstance(found := answers.get(symbol), Bars | PriceError)
        else PriceError(PriceFault.UNREACHABLE, symbol, fault)
        for symbol in spans
    }

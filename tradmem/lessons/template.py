"""The words of a lesson that is written from the facts alone.

Every sentence is chosen by the facts and none by chance: the same outcome gives
the same words, so that equal lessons are recognised as equal. No sentence names
a cause that the figures do not show.
"""

from tradmem.model import Entry, Outcome, Rating, Verdict, default_band

WELL, FAR = 1.5, 3.0  # multiples of the band, which is 0.43 standard deviations of the move


def lesson_text(entry: Entry) -> str:
    """Two to four sentences on a settled entry: verdict, context, caveat, what to do next time."""
    outcome = entry.outcomes[0]
    verdict = outcome.verdict(entry.rating, entry.ticker)
    band = band_of(entry)
    parts = [_finding(entry, outcome, verdict, band)]
    context = _context(entry.ticker, outcome)
    if context:
        parts.append(context)
    caveat = _caveat(outcome)
    if caveat:
        parts.append(caveat)
    parts.append(_advice(entry.rating, outcome.judged, verdict, band))
    return " ".join(parts)


def band_of(entry: Entry) -> float:
    """The band that judges a settled entry, as a fraction: its own, or else the default."""
    outcome = entry.outcomes[0]
    return default_band(entry.ticker, outcome.sessions) if outcome.band is None else outcome.band


ZERO = "+0.0%"


def percent(fraction: float, digits: int = 1) -> str:
    """A signed percentage as the tag line writes it: ``+4.5%``; zero is ``+0.0%``."""
    text = f"{fraction:+.{digits}%}"
    return "+" + text[1:] if text[0] == "-" and not text.strip("-0.%") else text


def digits_apart(judged: float, band: float) -> int:
    """As few decimals as show that a return is not its band, and that the band is not zero."""
    for digits in (1, 2, 3):
        edge = f"{band:.{digits}%}"
        if edge != f"{abs(judged):.{digits}%}" and edge.strip("0.%"):
            return digits
    return 4


def _size(judged: float, band: float) -> int:
    """0, 1 or 2: just, well or far outside the band."""
    move = abs(judged)
    return (move >= WELL * band) + (move >= FAR * band)


def _finding(entry: Entry, outcome: Outcome, verdict: Verdict | None, band: float) -> str:
    """What was called, what came, and how code judged it."""
    judged = outcome.judged
    digits = digits_apart(judged, band)
    sessions = _sessions(outcome.sessions)
    if outcome.alpha is None:
        figure = f"return {percent(judged, digits)} over {sessions}"
    else:
        benchmark = outcome.benchmark or "the benchmark"
        figure = f"alpha {percent(judged, digits)} against {benchmark} over {sessions}"
    if abs(judged) <= band:
        place = f"inside the \u00b1{band:.{digits}%} band"
    else:
        distance = ("just ", "well ", "far ")[_size(judged, band)]
        side, edge = ("above", band) if judged > 0 else ("below", -band)
        place = f"{distance}{side} the band's {percent(edge, digits)}"
    if verdict is None:
        return f"The decision on {entry.ticker} carried no rating to judge: {figure}, {place}."
    word = "neither right nor wrong" if verdict is Verdict.NEUTRAL else verdict.value
    return f"The {entry.rating} on {entry.ticker} was {word}: {figure}, {place}."


def _context(ticker: str, outcome: Outcome) -> str:
    """The ticker's own move beside the benchmark's, or why there is no such comparison."""
    raw, alpha, market = outcome.raw_return, outcome.alpha, outcome.benchmark_return
    if alpha is None:
        missing = "no_benchmark" in outcome.flags
        why = "The benchmark had no usable price" if missing else "There is no benchmark for it"
        return f"{why}, so the market's part is still in that return."
    name, own = outcome.benchmark or "the benchmark", percent(raw)
    against = raw > 0 > alpha or raw < 0 < alpha
    if market is None:
        part = ", so the market made the difference" if against and own != ZERO else ""
        return f"{ticker} itself returned {own}{part}."
    others = percent(market)
    if against and own not in (others, ZERO):
        verb, part = ("rose", "gain") if raw > 0 else ("fell", "loss")
        moves = f"{ticker} {verb} ({own}) but {name} {verb} more ({others})"
        return f"{moves}: the {part} was the market's."
    if (raw > 0 > market or raw < 0 < market) and ZERO not in (own, others):
        return f"It moved against the market: {ticker} {own}, {name} {others}."
    return f"{ticker} itself returned {own}, {name} {others}."


def _caveat(outcome: Outcome) -> str:
    """The one thing that most limits what the figures say; empty if nothing does."""
    held, planned = outcome.sessions, outcome.horizon
    if "stopped" in outcome.flags:
        span = f" after {held} of {planned} planned sessions" if held < planned else ""
        return f"Prices ended{span}, so the last close stands for the exit."
    if held != planned:
        return f"It was held for {_sessions(held)} instead of the planned {planned}."
    if outcome.band is None:
        return "No band came with the figures, so a default stands in and the verdict is rough."
    if not outcome.flags:
        return ""
    return next((text for flag, text in _CAVEATS.items() if flag in outcome.flags), "")


def _sessions(count: int) -> str:
    return "1 session" if count == 1 else f"{count} sessions"


def _advice(rating: Rating | None, judged: float, verdict: Verdict | None, band: float) -> str:
    """What to do next time, by rating, verdict and size of the move."""
    if rating is None or verdict is None:
        return "Next time, end the decision with one of the five ratings, so that it can be judged."
    if rating is Rating.HOLD:
        if verdict is Verdict.RIGHT:
            return _HOLD_RIGHT[abs(judged) > band * 2 / 3]
        lean, full = ("an Overweight", "a Buy") if judged > 0 else ("an Underweight", "a Sell")
        return _HOLD_WRONG[_size(judged, band)].format(lean=lean, full=full)
    if verdict is Verdict.NEUTRAL:
        gain = rating.direction * judged
        return _NEUTRAL[rating][(gain > -band / 3) + (gain > band / 3)]
    return (_RIGHT if verdict is Verdict.RIGHT else _WRONG)[rating][_size(judged, band)]


def _full(words: tuple[str, str, str], full: str, lean: str) -> tuple[str, str, str]:
    first, second, third = (text.format(full=full, lean=lean) for text in words)
    return (first, second, third)


_CAVEATS = {
    "currency": "The benchmark is in another currency, so exchange rates are in that alpha.",
    "asynchronous": "The benchmark keeps other hours, so some of that alpha may be timing.",
    "default_band": "The band is a default for want of history, so the verdict is rough.",
}
_FULL_RIGHT = (
    "Next time, {full} on such a case can stand, but a margin this thin earns no more conviction.",
    "Next time the same reasons come together, {full} is worth repeating.",
    "Next time the same reasons come together, repeat it, but do not plan on a move of this size.",
)
_LEAN_RIGHT = (
    "Next time, keep to {lean} on such a case: a margin this thin does not ask for {full}.",
    "Next time the same reasons come together, lean the same way, and say what would earn {full}.",
    "Next time the same reasons come together, ask if they carry {full}: this caught half of it.",
)
_FULL_WRONG = (
    "Next time, let one more independent reason back {full}, or begin with {lean}.",
    "Next time on such a case, start from Hold and let the reasons earn {full}.",
    "Next time, reread this decision before {full} on the same reasons; name what would end it.",
)
_LEAN_WRONG = (
    "Next time, let reasons of this weight stay at Hold.",
    "Next time on such a case, start from Hold, and name beforehand what would end {lean}.",
    "Next time, do not lean this way on the same reasons alone: even half of {full} cost much.",
)
_FULL_NEUTRAL = (
    "Next time, ask what is to move the price while it is held; here it drifted the other way.",
    "Next time, ask what is to move the price while it is held before going beyond {lean}.",
    "Next time, do not count this in favour of {full}: it drifted that way by too little to tell.",
)
_LEAN_NEUTRAL = (
    "Next time, a Hold may say as much: here it drifted the other way, by too little to tell.",
    "Next time, a Hold may say as much: nothing moved that a lean could have earned.",
    "Next time, do not count this in favour of {lean}: it drifted that way by too little to tell.",
)
_BUY, _SELL = ("a Buy", "an Overweight"), ("a Sell", "an Underweight")
_RIGHT = {
    Rating.BUY: _full(_FULL_RIGHT, *_BUY),
    Rating.OVERWEIGHT: _full(_LEAN_RIGHT, *_BUY),
    Rating.UNDERWEIGHT: _full(_LEAN_RIGHT, *_SELL),
    Rating.SELL: _full(_FULL_RIGHT, *_SELL),
}
_WRONG = {
    Rating.BUY: _full(_FULL_WRONG, *_BUY),
    Rating.OVERWEIGHT: _full(_LEAN_WRONG, *_BUY),
    Rating.UNDERWEIGHT: _full(_LEAN_WRONG, *_SELL),
    Rating.SELL: _full(_FULL_WRONG, *_SELL),
}
_NEUTRAL = {
    Rating.BUY: _full(_FULL_NEUTRAL, *_BUY),
    Rating.OVERWEIGHT: _full(_LEAN_NEUTRAL, *_BUY),
    Rating.UNDERWEIGHT: _full(_LEAN_NEUTRAL, *_SELL),
    Rating.SELL: _full(_FULL_NEUTRAL, *_SELL),
}
_HOLD_RIGHT = (
    "Next time, Hold again on such a case: standing aside cost nothing.",
    "Next time, Hold again on such a case, but look twice: it came near the edge of the band.",
)
_HOLD_WRONG = (
    "Next time, weigh {lean} on such a case: standing aside missed a little.",
    "Next time, look for what already spoke for {lean} or {full} when this was decided.",
    "Next time, let a Hold say what it waits for: standing aside missed a move worth {full}.",
)

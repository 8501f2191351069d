"""The parts of the page that stand in it as HTML: the figures, and what they say."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from tradmem.lessons.counting import counted
from tradmem.lessons.rates import Mean
from tradmem.lessons.track import Group, Line, TrackRecord
from tradmem.lessons.track_words import (
    CONVENTION,
    DUE,
    FATES,
    KINDS,
    NO_MEANS,
    NOTHING_YET,
    READING,
    alarm_line,
    ends,
    hits,
    interval,
    is_news,
    means,
    name_of,
    percent,
    share,
    verdict,
)

_HITS = (
    *("right", "wrong", "neutral", "hit", "interval", "worth", "shrunk"),
    *("chance", "buy"),
)
_MEANS = ("n", "score", "interval", "always Buy", "ahead", "interval")
_APART = ("decided", "right", "wrong", "hit", "without", "interval")
_FOLDED = {Group.TICKER: "By ticker", Group.AGENT: "By agent"}


def track_markup(record: TrackRecord) -> str:
    """The track record: headline figures, what they say, and tables of the rest."""
    return "\n".join(_track(record))


def paragraphs(texts: Iterable[str], kind: str = "") -> str:
    """Texts as paragraphs."""
    return "\n".join(_paragraph(text, kind) for text in texts)


def _track(record: TrackRecord) -> Iterator[str]:
    for alarm in record.alarms:
        yield _paragraph(alarm_line(alarm), "alarm")
    for place, horizon in enumerate(record.horizons):
        lines = [line for line in record.lines if line.horizon == horizon]
        body = "\n".join(_horizon(lines))
        title = f"After {counted(horizon, 'session')}"
        if place == 0:
            yield f'<section class="horizon"><h2>{title}</h2>\n{body}\n</section>'
        else:
            yield f'<details class="horizon"><summary>{title}</summary>\n{body}\n</details>'
    if not record.lines:
        yield _paragraph("There is no decision yet, so there is nothing to say.", "")


def _horizon(lines: Sequence[Line]) -> Iterator[str]:
    overall = lines[0]
    shown = [line for line in lines if is_news(line, lines)]
    judged = [line for line in shown if line.rate.n or line.track.judged]
    yield _cards(overall)
    if judged:
        yield f'<div class="words">{paragraphs(verdict(overall, lines))}</div>'
    else:
        yield _paragraph(NOTHING_YET, "words")
    yield '<div class="tables">'
    yield "<section><h3>What became of the decisions</h3>"
    yield from _grouped(list(FATES.values()), [(line, _fates(line)) for line in shown])
    if overall.attrition.open:
        yield _paragraph(DUE, "note")
    yield "</section>"
    if judged:
        yield "<section><h3>How often the calls were right</h3>"
        yield from _grouped(_HITS, [(line, hits(line)) for line in judged])
        yield f"{_paragraph(READING, 'note')}</section>"
        yield "<section><h3>Means, of one decision</h3>"
        yield from _means(shown)
        yield "</section>"
    yield from _apart(overall)
    yield "</div>"


def _means(lines: Sequence[Line]) -> Iterator[str]:
    rows = [(line, means(line)) for line in lines if line.score.value is not None]
    if not rows:
        yield _paragraph(NO_MEANS, "")
        return
    yield from _grouped(_MEANS, rows)
    yield _paragraph(CONVENTION, "note")


def _cards(line: Line) -> str:
    """The headline figures, each with how sure it is."""
    rate, attrition = line.track.hit, line.attrition
    pending = attrition.not_due + attrition.open + attrition.waiting + attrition.suspect
    hit = share(rate.value) or "none yet"
    chance = f"chance {share(line.track.chance)}" if line.track.chance is not None else ""
    buy = f"always Buy {share(line.track.always_buy)}" if line.track.always_buy is not None else ""
    worth = f"worth {counted(round(rate.n_eff), 'independent call')}" if rate.n else ""
    ratio = f"{rate.right:,} right, {rate.n - rate.right:,} wrong, {line.track.neutral:,} neutral"
    cards = [
        _card(
            "Decisions",
            f"{attrition.decided:,}",
            (
                f"{attrition.settled:,} settled",
                f"{pending:,} pending",
                f"{attrition.unresolvable:,} given up",
            ),
        ),
        _card("Hit rate", hit, (_between(interval(rate)), ratio, worth, chance, buy)),
        _card("Score of one decision", *_mean(line.score)),
        _card("Ahead of always-Buy", *_mean(line.ahead)),
    ]
    return f'<div class="cards">{"".join(cards)}</div>'


def _mean(mean: Mean) -> tuple[str, tuple[str, ...]]:
    """A mean in words; there is none of fewer than ten blocks of time."""
    blocks = f"{counted(mean.n, 'outcome')}, {counted(mean.blocks, 'block')} of time"
    if mean.value is None:
        return "none yet", (blocks,)
    return percent(mean), (_between(ends(mean)), blocks)


def _between(text: str) -> str:
    return f"95% interval {text}" if text else ""


def _card(title: str, figure: str, details: Iterable[str]) -> str:
    lines = "".join(f"<li>{escape(text)}</li>" for text in details if text)
    return (
        f'<div class="card"><h3>{escape(title)}</h3><p class="figure">{escape(figure)}</p>'
        f"<ul>{lines}</ul></div>"
    )


def _fates(line: Line) -> Sequence[str]:
    numbers = (getattr(line.attrition, name) for name in FATES)
    return [f"{number:,}" if number else "" for number in numbers]


def _apart(overall: Line) -> Iterator[str]:
    if not overall.apart:
        return
    rows = []
    for kind in overall.apart:
        alone, without = kind.alone, kind.without
        counts = (kind.decided, alone.right, alone.n - alone.right)
        rates = (share(alone.value), share(without.value), interval(without))
        rows.append((KINDS[kind.name], tuple(str(text) for text in (*counts, *rates))))
    table = _table(_APART, rows)
    yield f"<section><h3>Looked at apart, for it could flatter</h3>{table}</section>"


def _grouped(columns: Sequence[str], rows: Sequence[tuple[Line, Sequence[str]]]) -> Iterator[str]:
    """One table for all decisions and each rating; those by ticker and by agent fold."""
    first = [(name_of(ln), cells) for ln, cells in rows if ln.group not in _FOLDED]
    yield _table(columns, first)
    for group, title in _FOLDED.items():
        found = [(name_of(line), cells) for line, cells in rows if line.group is group]
        if found:
            table = _table(columns, found)
            yield f"<details><summary>{title}</summary>\n{table}\n</details>"


def _table(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A table; a column without any text in it is left out."""
    kept = [place for place in range(len(columns)) if any(cells[place] for _, cells in rows)]
    head = "".join(f'<th scope="col">{escape(columns[place])}</th>' for place in kept)
    body = "\n".join(
        f'<tr><th scope="row"><bdi>{escape(name)}</bdi></th>'
        + "".join(f"<td>{escape(cells[place])}</td>" for place in kept)
        + "</tr>"
        for name, cells in rows
    )
    return (
        f'<div class="wide"><table><thead><tr><td></td>{head}</tr>'
        f"</thead>\n<tbody>{body}</tbody></table></div>"
    )


def _paragraph(text: str, kind: str) -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"

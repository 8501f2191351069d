"""Blind replays: nothing that a model sees names a ticker, a date or a level; the record does."""

import re
from datetime import date, timedelta

import pytest

from tests.study.worlds import INDEX, SETTINGS, by_memory, prices, real_closes
from tradmem import LookAhead, RamJournal, TemplateReflector, UsageError
from tradmem.agent import build_graph
from tradmem.lessons.reflect import Lesson, lesson_hash
from tradmem.market.prices import Bars, Span
from tradmem.policies import Call, momentum_policy
from tradmem.study.mask import Mask
from tradmem.study.replay import replay

FEW = ("AAPL", "JPM", "KO")
START, END = "2008-09-02", "2008-12-31"
REAL = re.compile(
    r"AAPL|JPM|\bKO\b|GSPC|Apple|JPMorgan|Coca|(?<![\d.])200[0-9](?!\d)", re.IGNORECASE
)


def go(decide, **given):
    given.setdefault("settings", SETTINGS)
    given.setdefault("anonymise", True)
    return replay(decide, FEW, prices(), START, END, **given)


def shown_by(moment):
    """All that can be read of a moment, as text."""
    name = moment.ticker
    closes = moment.prices.closes(name)
    bars = moment.prices.fetch({name: Span(closes.dates[0], closes.dates[-1])})[name]
    return "\n".join(
        [
            *map(repr, (moment, moment.date, moment.as_of, moment.memory, moment.memories)),
            *map(repr, (moment.brief, moment.track, moment.prices, moment.prices.tickers)),
            *map(repr, (closes.dates[-30:], bars.dates[-3:], bars.symbol, bars.source)),
            *map(repr, (moment.past.entries(), moment.past.search("lesson right"))),
            *map(repr, (moment.past.recall(), moment.past.track())),
        ]
    )


def test_nothing_that_is_shown_names_a_ticker_a_date_or_a_year():
    seen = []

    def decide(moment):
        text = shown_by(moment)
        assert not (found := REAL.search(text)), text[max(found.start() - 60, 0) : found.end() + 9]
        seen.append(moment.ticker)
        return f"Buy\n\n{moment.ticker} on {moment.date}, better than Apple was."

    done = go(decide)
    assert set(seen) < {"S01", "S02", "S03", "S04"}
    assert len(set(seen)) == 3
    assert [entry.ticker for entry in done.entries()[:3]] == list(FEW)


def test_what_was_said_is_mapped_back_on_record():
    def decide(moment):
        cited = tuple(entry.id for entry in moment.memories[:2])
        return Call(
            "Buy", f"On {moment.date} {moment.ticker} leads {moment.brief.benchmark}.", cited
        )

    for entry in go(decide).entries():
        assert entry.decision == f"On {entry.date} {entry.ticker} leads {INDEX}."
        assert entry.cited == entry.recalled[:2]


def test_returns_and_the_weekday_stay_and_levels_do_not():
    def decide(moment):
        mine = moment.prices.closes(moment.ticker, 40)
        returns = [round(b / a - 1, 9) for a, b in zip(mine.values, mine.values[1:], strict=False)]
        return f"Hold\n\n{moment.date.weekday()} {returns} {round(mine.values[-1], 6)}"

    blind, plain = go(decide).entries(), go(decide, anonymise=False).entries()
    for one, other in zip(blind, plain, strict=True):
        weekday, *returns, level = one.decision.split()[1:]
        assert [weekday, *returns] == other.decision.split()[1:-1]
        assert level != other.decision.split()[-1]


def test_an_agent_that_looks_at_figures_alone_decides_as_if_it_saw():
    blind, plain = go(momentum_policy), go(momentum_policy, anonymise=False)
    ratings = [[entry.rating for entry in done.entries()] for done in (blind, plain)]
    assert ratings[0] == ratings[1]
    assert [e.outcomes for e in blind.entries()] == [e.outcomes for e in plain.entries()]
    assert [e.decision for e in blind.entries()] == [e.decision for e in plain.entries()]


def test_the_same_seed_hides_alike_and_another_otherwise():
    shown = {}
    for seed in (0, 0, 1):
        days = []
        go(lambda moment, days=days: days.append((moment.ticker, moment.date)), seed=seed)
        shown.setdefault(seed, []).append(days)
    assert shown[0][0] == shown[0][1]
    assert shown[0][0] != shown[1][0]
    assert shown[0][0][0][1] - date(2008, 9, 2) > timedelta(days=36_000)


def test_a_blind_replay_in_a_world_cut_off_is_the_same():
    cut = date(2008, 11, 10)
    whole = replay(by_memory, FEW, prices(), START, cut, settings=SETTINGS, anonymise=True)
    part = replay(by_memory, FEW, prices(cut), START, END, settings=SETTINGS, anonymise=True)
    assert whole.memory.entries() == part.memory.entries()


def test_asking_for_more_is_refused_under_other_dates_too():
    refused = []

    def decide(moment):
        later, tomorrow = moment.as_of + timedelta(seconds=1), moment.date + timedelta(days=1)
        asks = [
            lambda: moment.prices.closes(moment.ticker, end=tomorrow),
            lambda: moment.prices.fetch({moment.ticker: Span(date.min, tomorrow)}),
            lambda: moment.past.entries(as_of=later),
            lambda: moment.past.recall(as_of=tomorrow),
            lambda: moment.past.track(str(tomorrow)),
        ]
        for ask in asks:
            with pytest.raises(LookAhead):
                ask()
            refused.append(1)
        with pytest.raises(UsageError, match="is not in this replay"):
            moment.prices.closes("AAPL")
        everything = moment.prices.fetch({moment.ticker: Span(date.min, moment.date)})
        assert isinstance(everything[moment.ticker], Bars)

    go(decide)
    assert len(refused) == 5 * 54


def test_a_reflector_sees_no_more_and_its_lesson_is_mapped_back():
    told = []

    class Writer:
        related = 3

        def reflect(self, cases):
            for case in cases:
                told.append(repr(case))
                entry = case.entry
                text = f"{entry.ticker} of {entry.date} against {entry.outcome.benchmark}. Again."
                links = tuple(related.id for related in case.related[:1])
                yield Lesson(
                    text=text, model="m", sha256=lesson_hash(text, entry.ticker), links=links
                )

    done = go(by_memory, reflector=Writer())
    assert told
    assert not any(REAL.search(text) for text in told)
    settled = [entry for entry in done.entries() if entry.reflection]
    assert len(settled) == 51
    known = {entry.id for entry in done.entries()}
    for entry in settled:
        assert entry.reflection == f"{entry.ticker} of {entry.date} against {INDEX}. Again."
        assert set(entry.links) <= known
    assert any(entry.links for entry in settled)
    assert isinstance(go(by_memory).memory.reflector, TemplateReflector)


def test_a_graph_that_decides_is_handed_hidden_names_only():
    class Compiled:
        def invoke(self, state):
            assert not REAL.search(repr(state))
            return {"decision": f"Sell {state['ticker']} on {state['date']}."}

    entry = go(Compiled()).entries()[0]
    assert entry.decision == "Sell AAPL on 2008-09-02."
    with pytest.raises(UsageError, match="hand it in as decide"):
        go(None, graph=build_graph)


def test_model_prompt_and_cutoff_are_kept_with_each_decision():
    def decide(moment):
        return Call("Buy", "Up.", (), {"model": "m", "cutoff": "2008-10-31"})

    done = go(decide, memory=RamJournal())
    extras = [dict(entry.recorded.extra) for entry in done.entries()]
    assert {(e["model"], e["cutoff"], e["replay"]) for e in extras} == {
        ("m", "2008-10-31", "close")
    }
    assert len({extra["prompt"] for extra in extras}) == len(extras)


MASK = Mask(["AAPL", "F", "BRK.B", INDEX], names={"AAPL": ["the Cupertino firm"]}, seed=3)


@pytest.mark.parametrize(
    "text",
    [
        "AAPL, BRK.B and ^GSPC on 2008-10-10; F too.",
        "Buy (AAPL): entered 2008-10-10, known 2008-10-17.",
        "AAPL-2008, F,2008 and BRK.B.2008-",
    ],
)
def test_names_and_dates_come_back_as_they_were(text):
    hidden = MASK.hide(text)
    assert not REAL.search(hidden)
    assert MASK.show(hidden) == text


@pytest.mark.parametrize(
    "text",
    [
        "Apple fell in October 2008.",
        "apple fell on 10 October 2008, and on Oct 13, 2008.",
        "The Cupertino Firm in 2008; $AAPL.",
        "Sept 2008, Sept. 12, 2008 and 12 Sept 2008.",
        "AAPL's year 2008, Q3 2008, 2008-10 and FY2008.",
    ],
)
def test_companies_months_and_years_of_a_text_are_hidden_too(text):
    assert not REAL.search(MASK.hide(text).replace("FY", "FY "))


@pytest.mark.parametrize("named", [{"AAPL": "the Firm"}, {"aapl": ["the Firm"]}])
def test_a_name_of_one_s_own_is_hidden_however_it_is_handed_in(named):
    assert Mask(["AAPL"], names=named).hide("The firm rose.") == "S01 rose."


def test_words_that_merely_hold_a_ticker_stay():
    text = "If FAAPL or F1 rise, a Fed cut of 25 to 30 points, then 1,950 of 20 000 stay."
    assert MASK.hide(text) == text


def test_real_closes_are_where_the_test_thinks():
    assert date(2008, 9, 2) in real_closes()["KO"]


def test_a_refusal_tells_no_real_name_and_no_real_date():
    """Whoever is told by how much his own date was moved knows all the others."""
    refused = []

    def decide(moment):
        name, later = moment.ticker, moment.date + timedelta(days=90)
        past, closes = moment.past, moment.prices
        far, way_back = date(2300, 1, 1), date(1, 1, 1)
        for ask in (
            *(lambda day=day: closes.closes(name, end=day) for day in (later, far)),
            *(lambda day=day: closes.fetch({name: Span(moment.date, day)}) for day in (later, far)),
            *(lambda day=day: past.entries(as_of=day) for day in (later, far, str(far))),
            *(lambda day=day: past.recall(as_of=day) for day in (later, far)),
            *(lambda day=day: past.track(as_of=day) for day in (later, far)),
            *(lambda day=day: past.search("lesson", as_of=day) for day in (later, far)),
            lambda: past.entries(as_of=moment.as_of + timedelta(seconds=1)),
        ):
            with pytest.raises(LookAhead) as found:
                ask()
            refused.append((str(found.value), moment.date, later))
        assert not past.entries(as_of=way_back)
        assert closes.closes(name, start=way_back) == closes.closes(name)
        assert not closes.closes(name, end=way_back).dates
        return "Hold"

    go(decide)
    for told, day, later in refused:
        shown = {int(year) for year in re.findall(r"(?<!\d)(\d{4})-\d\d-\d\d", told)}
        assert shown <= {day.year, later.year, (day - timedelta(days=9)).year, 2300}, told
        assert not REAL.search(told), told


@pytest.mark.parametrize(
    "text",
    [
        *("2007-2008", "2007/2008", "2007/08", "mid-2008", "2008Q3", "Q3-2008", "in 10.10.2008."),
        *("10/10/2008", "10-Oct-2008", "2008-style", "the 2008-2009 crisis", "FY2008", "2008-10"),
        *("10-10-2008", "1-10-2008", "2008.10.10", "c.2008", "YE2008", "2008E EPS", "FY2008A"),
        *("2008Q3E", "\u5728 2008\u5e743\u6708", "\u57282008\u5e74", "2008\ub144"),
    ],
)
def test_a_year_is_hidden_however_it_stands_beside_other_words(text):
    mask = Mask(["AAPL"])
    assert not re.search("200[0-9]", mask.hide(text))
    assert mask.show(mask.hide(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        *("$2008", "1,2008", "2008.5", "2008%", "-2008", "A2008", "20081", "2008EUR", "2008.10.5"),
        *("5-2008", "3.2008", "2008.10"),
    ],
)
def test_a_number_that_is_no_year_stays(text):
    assert Mask(["AAPL"]).hide(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("FY08", "FY 08 guidance", "FY'08", "FY08/09", "CY08", "3Q08", "Q308", "Q3'08", "Q3/08"),
        *("1H08", "H1'08", "3Q2008", "H12008", "in '08", "the '08 crash", "10/10/08", "10.10.08"),
        *("Oct-08", "Oct'08", "Q3-08 was weak", "FY2008/09", "the 2000s", "FY08E", "1Q08A"),
        *("10-10-08", "1-5-08", "YE08", "Sept-08", "Sept '08", "Dec08"),
    ],
)
def test_a_short_year_is_hidden_and_comes_back(text):
    for seed in range(20):
        mask = Mask(["AAPL"], seed=seed)
        hidden = mask.hide(text)
        assert not re.search(r"08|2000|/09", hidden)
        assert mask.show(hidden) == text


@pytest.mark.parametrize(
    "text",
    [
        "Q3 15%",
        "FY15%",
        "'25'",
        "it's 08",
        "3Q085",
        "5/10 of it",
        "X3Q08",
        "1/2/3",
        "08",
        *("v1.10.08.2", "FY08EUR", "a-10-10-08", "10-10-085", "Decade08"),
    ],
)
def test_a_short_number_that_is_no_year_stays(text):
    assert Mask(["AAPL"]).hide(text) == text


@pytest.mark.parametrize(
    ("tickers", "text", "left"),
    [
        (["AAPL", "JPM"], "aapl, $jpm and Jpm.", ", $ and ."),
        (["BRK.B", "7203.T", "BTC-USD"], "brk.b 7203.t btc-usd", "  "),
        (["COST", "F", "ALL"], "$cost and $f, at all cost: F, COST", "$ and $, at all cost: , "),
        ([INDEX], "the S&P 500, the s&p500 and S&P 500's high", "the , the  and 's high"),
        (["SPY", "^DJI"], "SPY follows the S&P 500; the Dow", " follows the ; the "),
    ],
)
def test_tickers_in_small_letters_and_names_of_indices_are_hidden(tickers, text, left):
    hidden = Mask(tickers).hide(text)
    assert re.sub(r"S\d\d", "", hidden) == left

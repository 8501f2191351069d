"""Replays: the loop as it would have gone, and nothing of what came later."""

import gc
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.study.worlds import INDEX, SETTINGS, by_chance, by_memory, names, prices, real_closes
from tradmem import (
    FramePrices,
    LookAhead,
    MarkdownJournal,
    Memory,
    RamJournal,
    Settings,
    UsageError,
)
from tradmem.agent import build_graph
from tradmem.market.calendars import calendar_of
from tradmem.market.history import Leg
from tradmem.market.prices import Bars, Span
from tradmem.policies import Call, momentum_policy
from tradmem.study.replay import replay
from tradmem.study.world import World, _Tape

START, END = "2008-01-02", "2008-06-30"
FEW = ("AAPL", "JPM", "XOM")


def go(decide, tickers=FEW, source=None, start=START, end=END, **given):
    given.setdefault("settings", SETTINGS)
    return replay(decide, tickers, source or prices(), start, end, **given)


def log_of(path):
    archives = sorted((path.parent / "archive").glob("*.md"))
    return [file.read_bytes() for file in (path, *archives)]


class Clock:
    now = None

    def __call__(self):
        return self.now


def by_hand(path, decide_text, settings):
    """The same loop with the memory's own calls, one date at a time."""
    clock, calendar = Clock(), calendar_of("SPY")
    memory = Memory(MarkdownJournal(path), prices=prices(), settings=settings, clock=clock)
    week = None
    for day in real_closes()[INDEX]:
        if not START <= day.isoformat() <= END or day.isocalendar()[:2] == week:
            continue
        week = day.isocalendar()[:2]
        clock.now = calendar.final_at(day)
        memory.resolve()
        for ticker in FEW:
            seen = memory.recall(ticker)
            text = decide_text(ticker, seen.text)
            memory.record(ticker, day, text, recalled=seen, extra={"replay": "close"})
    clock.now = datetime(2008, 6, 30, 23, 59, 59, 999999, UTC)
    memory.resolve()


@pytest.mark.parametrize(
    ("budget", "holdout"), [(300, 0), (2_500, 0.6), (4_000, 0), (8_000, 0), (8_000, 0.1)]
)
def test_a_replay_writes_what_the_memory_s_own_calls_write_byte_for_byte(tmp_path, budget, holdout):
    """Whatever the budget of a recall: also where it cuts decisions, and where lessons go."""
    settings = Settings(benchmark=INDEX, budget=budget, holdout=holdout)
    shapes = ["Buy\n\nA <line>\n" * 3, "Sell\n\n" + "word " * 60]

    def decide_text(ticker, seen):
        return f"{shapes[len(seen) % 2]}\n\n{ticker} {len(seen)} {hash_of(seen)}"

    by_hand(tmp_path / "hand.md", decide_text, settings)
    done = go(
        lambda m: decide_text(m.ticker, m.memory), memory=tmp_path / "replay.md", settings=settings
    )
    assert (tmp_path / "hand.md").read_bytes() == (tmp_path / "replay.md").read_bytes()
    assert done.decided == 3 * 27
    assert any(entry.withheld for entry in done.entries()) is (holdout > 0 and budget > 300)
    if budget > 300 and not holdout:
        assert all(entry.recalled for entry in done.entries() if entry.date > date(2008, 2, 1))


def test_nothing_is_withheld_by_default_from_a_graph_that_may_keep_no_account_of_it():
    """A hold-out that the settings name is drawn there too."""
    for said, share in ((None, 0), (0.3, 0.3)):
        settings = Settings(benchmark=INDEX, holdout=said)
        done = go(momentum_policy, settings=settings, end="2008-03-31", graph=build_graph)
        assert {entry.recorded.holdout for entry in done.entries()} == {share}


@pytest.mark.parametrize(
    ("said", "sight", "share"),
    [(None, "full", 0.1), (0, "full", 0), (0.3, "full", 0.3), (0.3, "none", 0), (None, "track", 0)],
)
def test_a_replay_withholds_one_memory_in_ten_unless_the_settings_say_otherwise(said, sight, share):
    settings = Settings(benchmark=INDEX, holdout=said)
    entries = go(by_memory, settings=settings, sight=sight).entries()
    assert {entry.recorded.holdout for entry in entries} == {share}
    withheld = sum(len(entry.withheld) for entry in entries)
    shown = sum(len(entry.recalled) for entry in entries) + withheld
    assert withheld == pytest.approx(share * shown, abs=0.05 * shown)


def test_lots_differ_by_agent():
    names = ("one", "two")
    drawn = [[e.withheld for e in go(by_memory, agent=name).entries()] for name in names]
    seen = [{n for names in lots for n in names} for lots in drawn]
    assert all(seen)
    assert [bool(lots) for lots in drawn[0]] != [bool(lots) for lots in drawn[1]]


@pytest.mark.parametrize("decide_at", ["close", "before_close", "same_close"])
@pytest.mark.parametrize("cut", [date(2008, 3, 14), date(2008, 5, 6)])
def test_a_replay_to_a_date_equals_one_in_a_world_cut_off_there(tmp_path, decide_at, cut):
    """The promise of the design, for an agent that looks at all that it is shown."""
    whole, part = tmp_path / "whole.md", tmp_path / "part.md"
    go(by_memory, memory=whole, end=cut, decide_at=decide_at)
    go(by_memory, source=prices(cut), memory=part, end=END, decide_at=decide_at)
    assert log_of(whole) == log_of(part)


def test_what_a_longer_replay_had_written_by_a_date_is_what_a_shorter_one_writes(tmp_path):
    cut = date(2008, 4, 15)
    short = go(by_memory, end=cut)
    long = go(by_memory)
    as_of = datetime(2008, 4, 15, 23, 59, tzinfo=UTC)
    known = ("id", "decision", "recalled", "status", "outcomes", "reflection", "links")
    assert [[getattr(entry, name) for name in known] for entry in short.memory.entries()] == [
        [getattr(entry, name) for name in known] for entry in long.memory.entries(as_of=as_of)
    ]


@pytest.mark.parametrize(
    ("decide_at", "enters", "sees"),
    [("close", 1, 0), ("before_close", 0, -1), ("same_close", 0, 0)],
)
def test_each_instant_sees_and_enters_at_the_closes_that_it_says(decide_at, enters, sees):
    calendar, seen = calendar_of("SPY"), {}

    def decide(moment):
        seen[moment.date] = moment.prices.last(moment.ticker)
        return "Buy"

    done = go(decide, ["AAPL"], decide_at=decide_at)
    for entry in done.entries()[:-2]:
        day = entry.date
        after = calendar.first_after(day) if enters else day
        before = calendar.last_until(day - timedelta(days=1)) if sees else day
        assert (entry.outcome.entry_date, seen[day]) == (after, before)
    assert done.is_optimistic == (decide_at == "same_close")
    assert all(("late" in e.recorded.flags) == done.is_optimistic for e in done.entries())


def test_decisions_of_several_exchanges_come_in_the_order_of_their_instants():
    days = [date(2021, 1, 1) + timedelta(days=n) for n in range(60)]
    weekdays = [day for day in days if day.weekday() < 5]
    closes = {name: dict.fromkeys(weekdays, 10.0) for name in ("AAPL", "7203.T", "SAP.DE")}
    order = []

    def decide(moment):
        order.append((moment.as_of, moment.ticker))
        return "Hold"

    settings = Settings(benchmark={"*": None})
    replay(decide, closes, FramePrices(closes), days[11], days[40], every="day", settings=settings)
    assert order == sorted(order, key=lambda pair: pair[0])
    assert [ticker for _, ticker in order[:3]] == ["7203.T", "SAP.DE", "AAPL"]


def test_a_policy_of_the_agent_decides_as_the_graph_does(tmp_path):
    """One function in a replay, and the same in the compiled graph on the same dates."""
    how = {"end": "2008-03-31", "settings": Settings(benchmark=INDEX, holdout=0.1)}
    plain = go(momentum_policy, memory=tmp_path / "plain.md", **how)
    graph = go(momentum_policy, memory=tmp_path / "graph.md", graph=build_graph, **how)
    assert plain.decided == graph.decided == 42
    assert (tmp_path / "plain.md").read_bytes() == (tmp_path / "graph.md").read_bytes()


def test_a_compiled_graph_that_only_decides_is_handed_what_was_recalled():
    states = []

    class Compiled:
        def invoke(self, state):
            states.append(state)
            return {"final_trade_decision": f"Rating: Sell\n\n{state['ticker']}"}

    done = go(Compiled())
    assert {str(entry.rating) for entry in done.entries()} == {"Sell"}
    last = states[-1]
    assert set(last) == {"ticker", "date", "past_context", "recalled", "as_of"}
    assert "The Sell on" in last["past_context"]
    assert tuple(last["recalled"]) == done.entries()[-1].recalled


def test_a_replay_goes_on_where_it_was_stopped(tmp_path):
    class StopError(Exception):
        pass

    def stopping(moment):
        if moment.date >= date(2008, 4, 14) and moment.ticker == "JPM":
            raise StopError
        return by_memory(moment)

    with pytest.raises(StopError):
        go(stopping, memory=tmp_path / "log.md")
    done = go(by_memory, memory=tmp_path / "log.md")
    assert (done.resumed, done.decided) == (46, 35)
    go(by_memory, memory=tmp_path / "whole.md")
    assert log_of(tmp_path / "log.md") == log_of(tmp_path / "whole.md")
    again = go(by_memory, memory=tmp_path / "log.md")
    assert (again.resumed, again.decided) == (81, 0)


@pytest.mark.parametrize("sight", ["full", "shuffled"])
def test_a_replay_with_further_horizons_goes_on_where_it_was_stopped(tmp_path, sight):
    """Also with a shuffle, which deals every decision's content alike, settled twice or once."""

    class StopError(Exception):
        pass

    def stopping(moment):
        if moment.date >= date(2008, 5, 12):
            raise StopError
        return by_memory(moment)

    given = {"sight": sight, "settings": Settings(benchmark=INDEX, horizons=(5, 20))}
    with pytest.raises(StopError):
        go(stopping, memory=tmp_path / "log.md", **given)
    go(by_memory, memory=tmp_path / "log.md", **given)
    go(by_memory, memory=tmp_path / "whole.md", **given)
    assert log_of(tmp_path / "log.md") == log_of(tmp_path / "whole.md")


def test_a_log_of_real_decisions_is_not_replayed_into(tmp_path):
    memory = Memory.open(tmp_path / "log.md", prices=prices())
    memory.record("AAPL", "2008-01-07", "Buy")
    with pytest.raises(UsageError, match="replay into a log of its own"):
        go(by_memory, memory=tmp_path / "log.md")


def test_a_log_replayed_at_another_instant_is_not_gone_on_with(tmp_path):
    go(by_memory, memory=tmp_path / "log.md", end="2008-02-01")
    with pytest.raises(UsageError, match="one of decide_at='close'"):
        go(by_memory, memory=tmp_path / "log.md", decide_at="before_close")


def peeks(moment):
    """Every way to ask for more that what is handed out offers."""
    later = moment.as_of + timedelta(seconds=1)
    tomorrow = moment.date + timedelta(days=1)
    prices, past, ticker = moment.prices, moment.past, moment.ticker
    return [
        lambda: prices.fetch({ticker: Span(date(2000, 1, 1), tomorrow)}),
        lambda: prices.fetch({INDEX: (date(2000, 1, 1), date.max)}),
        lambda: prices.closes(ticker, end=tomorrow),
        lambda: prices.closes(INDEX.lower(), 5, end=date(2022, 1, 1)),
        lambda: past.recall(as_of=later),
        lambda: past.recall("XOM", as_of=tomorrow),
        lambda: past.recall("XOM", as_of="2030-01-01T00:00:00Z"),
        lambda: past.entries(as_of=later),
        lambda: past.entries(status="resolved", as_of=tomorrow.isoformat()),
        lambda: past.search("Buy", as_of=tomorrow),
        lambda: past.track(tomorrow),
        lambda: past.track(later.isoformat()),
    ]


def hostile(moment):
    """An agent that tries everything, and decides by whatever it gets."""
    caught = 0
    for peek in peeks(moment):
        try:
            peek()
        except LookAhead:
            caught += 1
    known = moment.prices.closes(moment.ticker)
    held = moment.prices.fetch({moment.ticker: Span(date.min, known.dates[-1])})[moment.ticker]
    told = [
        *(repr(entry) for entry in moment.past.entries()),
        *(repr(entry) for entry in moment.past.search()),
        repr(moment.past.track()),
        repr(moment.past.recall(moment.ticker)),
        repr(moment.past.get("0000")),
        repr(moment.brief),
        repr(moment.track),
        repr(moment.prices),
        repr(held),
        str(known),
    ]
    digest = sum(map(hash_of, told))
    return f"Rating: {['Buy', 'Hold', 'Sell'][digest % 3]}\n\n{caught} refused, {digest}"


def hash_of(text):
    return sum(at * byte for at, byte in enumerate(text.encode(), 1)) % 1_000_003


@pytest.mark.parametrize("decide_at", ["close", "before_close", "same_close"])
def test_an_agent_that_peeks_in_every_way_writes_the_same_in_a_world_cut_off(tmp_path, decide_at):
    cut, given = date(2008, 3, 12), {"start": "2008-02-11", "decide_at": decide_at}
    whole, part = tmp_path / "whole.md", tmp_path / "part.md"
    done = go(hostile, memory=whole, end=cut, every="day", **given)
    go(hostile, source=prices(cut), memory=part, end=END, every="day", **given)
    assert log_of(whole) == log_of(part)
    assert all("12 refused" in entry.decision for entry in done.entries())


def test_an_agent_in_a_graph_cannot_ask_its_memory_for_more(tmp_path):
    """A graph gets a memory to write to; that ends at the clock too."""

    def graph(memory):
        class Compiled:
            def invoke(self, state):
                now = memory.clock()
                told = []
                for ask in (
                    lambda: memory.prices.fetch({"AAPL": Span(date.min, date.max)}),
                    lambda: memory.resolve(as_of=date.max),
                    lambda: memory.recall(state["ticker"], date.max),
                    lambda: memory.recall(state["ticker"], now + timedelta(days=9)),
                    lambda: memory.entries(as_of=date.max),
                    lambda: memory.track(date.max),
                    lambda: memory.frame().to_csv(),
                ):
                    try:
                        told.append(repr(ask()))
                    except UsageError as error:
                        told.append(type(error).__name__)
                text = f"Buy\n\n{hash_of(repr(told))} {told[0]}"
                memory.record(state["ticker"], state["date"], text)
                return {}

        return Compiled()

    cut = date(2008, 2, 29)
    go(None, memory=tmp_path / "whole.md", end=cut, graph=graph)
    done = go(None, source=prices(cut), memory=tmp_path / "part.md", end=END, graph=graph)
    assert log_of(tmp_path / "whole.md") == log_of(tmp_path / "part.md")
    assert {entry.decision.split()[-1] for entry in done.entries()} == {"LookAhead"}


def reachable(thing):
    """Everything that an object leads to, apart from code and modules."""
    seen, left = {}, [thing]
    while left:
        item = left.pop()
        if (
            id(item) in seen
            or isinstance(item, type)
            or type(item).__name__
            in (
                *("module", "function", "builtin_function_or_method", "getset_descriptor"),
                *("member_descriptor", "wrapper_descriptor", "method_descriptor", "frame"),
            )
        ):
            continue
        seen[id(item)] = item
        if callable(item) and hasattr(item, "__closure__"):
            left += [cell.cell_contents for cell in item.__closure__ or ()]
        left += gc.get_referents(item)
    return seen.values()


def test_no_later_close_is_in_anything_that_is_handed_out():
    """Not merely refused: there is no path from the moment to a close of the future."""
    checked = 0

    def decide(moment):
        nonlocal checked
        if moment.date.day < 8:
            things = list(reachable(moment))
            assert not any(isinstance(thing, World) for thing in things)
            held = [thing.dates for thing in things if isinstance(thing, Bars | _Tape | Leg)]
            assert held
            assert all(day <= moment.date for dates in held for day in dates)
            checked += 1
        return "Buy"

    go(decide, ["AAPL"], decide_at="close")
    assert checked >= 4


def test_an_agent_that_lets_a_refusal_pass_ends_the_replay():
    with pytest.raises(LookAhead, match="not known yet"):
        go(lambda moment: moment.prices.closes("AAPL", end=date(2022, 1, 1)))


def test_a_ticker_without_closes_is_not_decided_on_and_counted():
    closes = dict(real_closes())
    closes["AAPL"] = {day: c for day, c in closes["AAPL"].items() if day >= date(2008, 3, 3)}
    closes["XOM"] = {day: c for day, c in closes["XOM"].items() if day < date(2008, 3, 3)}
    done = go(by_chance, source=FramePrices(closes))
    first = {e.ticker: e.date for e in reversed(done.entries())}
    last = {e.ticker: e.date for e in done.entries()}
    assert first["AAPL"] == date(2008, 3, 3)
    assert last["XOM"] == date(2008, 3, 10)
    assert done.left_out == {"no close in the last 10 sessions": 9 + 16}


def test_no_decision_is_no_entry():
    done = go(lambda moment: None if moment.ticker == "JPM" else "Hold")
    assert {entry.ticker for entry in done.entries()} == {"AAPL", "XOM"}
    assert done.left_out == {"no decision": 27}


def test_a_benchmark_without_closes_is_told_and_returns_are_raw():
    done = go(by_chance, settings=Settings())
    assert done.remarks == (
        "there are no closes of the benchmark SPY, so verdicts look at raw returns",
    )
    assert all(e.outcome.alpha is None for e in done.entries() if e.outcome)


def test_a_replay_ends_where_the_closes_do_and_says_so():
    done = go(by_chance, source=prices(date(2008, 4, 1)))
    assert done.end == date(2008, 4, 1)
    assert done.remarks == ("the closes end on 2008-04-01, and so does the replay",)


def test_a_span_without_any_close_has_no_decisions_and_says_why():
    done = go(by_chance, start="2030-01-01", end="2030-02-01")
    assert (done.decided, done.end) == (0, date(2030, 2, 1))
    assert done.remarks == ("there are no closes of AAPL, JPM, XOM until 2030-02-01",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tickers": []}, "no tickers"),
        ({"tickers": None}, "a list of names, not NoneType"),
        ({"tickers": ["NVDA"]}, "unknown symbol"),
        ({"tickers": ["a b"]}, "no ticker"),
        ({"start": "2009-01-01"}, "goes forwards"),
        ({"start": "yesterday"}, "no date"),
        ({"every": "fortnight"}, "every='fortnight'"),
        ({"every": 0}, "every=0"),
        ({"decide_at": "noon"}, "no decide_at"),
        ({"sight": "some"}, "no sight"),
        ({"horizon": 0}, "horizon"),
        ({"memory": 3}, "no memory"),
        ({"source": {"AAPL": {}}}, "no price source"),
        ({"decide": "Buy"}, "decides nothing"),
        ({"decide": lambda _: 1}, "has to return"),
        ({"decide": lambda _: "  "}, "has to return"),
        ({"decide": None, "graph": lambda _: 3}, "no compiled graph"),
        ({"graph": build_graph, "decide_at": "same_close"}, "same_close"),
        ({"graph": build_graph, "sight": "none"}, "sees all"),
    ],
)
def test_what_cannot_be_is_one_clear_line(given, message):
    decide = given.pop("decide", by_chance)
    with pytest.raises(Exception, match=message) as told:
        go(decide, **given)
    assert "\n" not in str(told.value)


def test_every_counts_days_weeks_months_or_sessions():
    counts = {
        every: go(by_chance, ["AAPL"], every=every).decided for every in ("day", "week", "month", 5)
    }
    assert counts == {"day": 125, "week": 27, "month": 6, 5: 25}


def test_progress_is_told_decision_by_decision():
    told = []
    go(by_chance, every="month", progress=lambda *now: told.append(now))
    assert told[0] == (1, 18, date(2008, 1, 2))
    assert told[-1] == (18, 18, date(2008, 6, 2))


def test_a_journal_in_memory_and_a_log_hold_the_same(tmp_path):
    ram = go(by_memory, memory=RamJournal())
    log = go(by_memory, memory=tmp_path / "log.md")
    keep = ("id", "rating", "decision", "recalled", "outcome", "reflection", "status", "known_at")
    assert [[getattr(e, name) for name in keep] for e in ram.entries()] == [
        [getattr(e, name) for name in keep] for e in log.entries()
    ]


def test_further_horizons_are_settled_too():
    done = go(by_chance, settings=Settings(benchmark=INDEX, horizons=(5, 20)))
    entry = done.entries()[0]
    assert [outcome.horizon for outcome in entry.outcomes] == [5, 20]
    assert entry.outcomes[1].known_on == date(2008, 2, 1)


def test_an_outcome_that_waits_longer_than_a_further_one_is_settled_too():
    """The index lacks the exit of the own horizon, so that the further one is known first."""
    closes = {name: dict(column) for name, column in real_closes().items()}
    decided, entered = date(2008, 2, 4), date(2008, 2, 5)
    leave = [day for day in closes[INDEX] if day > entered][2]
    del closes[INDEX][leave]
    settings = Settings(benchmark=INDEX, horizons=(3, 10))
    done = go(by_chance, source=FramePrices(closes), settings=settings)
    found = [entry for entry in done.entries() if entry.date == decided]
    assert len(found) == len(FEW)
    for entry in found:
        own, further = sorted(entry.outcomes, key=lambda outcome: outcome.horizon)
        column = closes[entry.ticker]
        assert own.raw_return == pytest.approx(column[leave] / column[entered] - 1)
        assert (own.alpha, own.exit_date) == (None, leave)
        assert own.known_at > further.known_at
        assert entry.reflection


def test_the_memory_s_own_settings_and_reflector_are_used():
    memory = Memory(
        RamJournal(), prices=prices(), settings=Settings(benchmark=INDEX, horizons=(3,))
    )
    done = replay(by_chance, FEW, prices(), START, END, memory=memory)
    assert done.memory.journal is memory.journal
    assert {entry.recorded.horizon for entry in done.entries()} == {3}
    assert len(names()) == 10


def test_a_call_keeps_its_citations_and_extras():
    def decide(moment):
        cited = tuple(entry.id for entry in moment.memories[:1])
        return Call("Buy", "Because.", cited, {"model": "m", "cutoff": "2008-03-01"})

    entry = go(decide).entries()[-1]
    assert entry.cited == entry.recalled[:1]
    kept = {"replay": "close", "model": "m", "cutoff": "2008-03-01"}
    assert kept.items() <= entry.recorded.extra.items()

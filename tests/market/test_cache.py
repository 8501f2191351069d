"""Prices kept in a folder: what is served again, what is asked for again, and what survives."""

import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.yahoo import YahooServer
from tradmem.errors import PriceError, PriceFault, UsageError
from tradmem.market.cache import CachedPrices
from tradmem.market.prices import Bars, PriceSource, Span
from tradmem.market.yahoo import YahooPrices

NOON = datetime(2026, 11, 10, 12, tzinfo=UTC)
OCTOBER = Span(date(2026, 10, 1), date(2026, 10, 30))
SEPTEMBER_ON = Span(date(2026, 9, 1), date(2026, 10, 30))
TO_NOVEMBER = Span(date(2026, 10, 1), date(2026, 11, 6))


class World:
    """A price source with a clock: every fetch is of a new adjustment, and asks are noted.

    A session's close is its day of the year; until ``closing`` (after the date's first
    instant in UTC) it is half of that.
    """

    def __init__(self, now: datetime = NOON, closing: timedelta = timedelta(hours=21)) -> None:
        self.now = now
        self.closing = closing
        self.asked: list[dict[str, Span]] = []
        self.answer: Callable[[str, Bars], Bars | PriceError] = lambda _, bars: bars
        self.missing: set[date] = set()

    def clock(self) -> datetime:
        return self.now

    def fetch(self, spans: Mapping[str, Span]) -> Mapping[str, Bars | PriceError]:
        self.asked.append(dict(spans))
        return {ticker: self.answer(ticker, self.bars(ticker, s)) for ticker, s in spans.items()}

    def bars(self, ticker: str, span: Span) -> Bars:
        days = [span.start + timedelta(days=n) for n in range((span.end - span.start).days + 1)]
        days = [
            day
            for day in days
            if day.weekday() < 5 and day not in self.missing and midnight(day) <= self.now
        ]
        raw = [self.close(day, self.now) for day in days]
        return Bars(
            symbol=ticker,
            dates=tuple(days),
            closes=tuple(close / len(self.asked) for close in raw),
            raw_closes=tuple(raw),
            splits={date(2026, 10, 6): 1 / 3},
            dividends={date(2026, 10, 7): 0.1 + 0.2},
            currency="GBp",
            basis="price",
            source="world",
        )

    def close(self, day: date, at: datetime) -> float:
        full = day.timetuple().tm_yday + 0.1 + 0.2
        return full if midnight(day) + self.closing <= at else full / 2


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def found(source: PriceSource, span: Span = OCTOBER, ticker: str = "VOD.L") -> Bars:
    bars = source.fetch({ticker: span})[ticker]
    assert isinstance(bars, Bars)
    return bars


def content(bars: Bars) -> dict:
    return {name: getattr(bars, name) for name in Bars.__dataclass_fields__}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def cached(world: World, tmp_path: Path) -> CachedPrices:
    return CachedPrices(world, tmp_path / "prices", clock=world.clock)


def test_bars_come_back_exactly_without_asking_again(world, cached, tmp_path) -> None:
    first = found(cached)
    again = found(CachedPrices(world, tmp_path / "prices", clock=world.clock))
    assert content(first) == content(again) == content(world.bars("VOD.L", OCTOBER))
    assert first.dividends == {date(2026, 10, 7): 0.30000000000000004}
    assert len(world.asked) == 1


def test_a_part_of_what_is_kept_is_cut_out(world, cached) -> None:
    found(cached)
    part = found(cached, Span(date(2026, 10, 7), date(2026, 10, 9)))
    assert part.dates == (date(2026, 10, 7), date(2026, 10, 8), date(2026, 10, 9))
    assert part.splits == {}
    assert len(part.dividends) == 1
    assert len(world.asked) == 1


@pytest.mark.parametrize("wanted", [SEPTEMBER_ON, TO_NOVEMBER])
def test_a_longer_span_is_asked_for_as_a_whole(world, cached, wanted) -> None:
    """Otherwise an entry of one adjustment would meet an exit of another."""
    found(cached)
    bars = found(cached, wanted)
    assert world.asked[1] == {"VOD.L": wanted}
    ratios = {close / raw for close, raw in zip(bars.closes, bars.raw_closes, strict=True)}
    assert ratios == {0.5}
    assert (bars.dates[0], bars.dates[-1]) == wanted


def test_what_was_kept_on_the_other_side_is_asked_for_too(world, cached) -> None:
    found(cached, SEPTEMBER_ON)
    found(cached, TO_NOVEMBER)
    assert world.asked[1] == {"VOD.L": Span(SEPTEMBER_ON.start, TO_NOVEMBER.end)}
    found(cached, Span(SEPTEMBER_ON.start, TO_NOVEMBER.end))
    assert len(world.asked) == 2


def test_only_what_is_missing_is_asked_for(world, cached) -> None:
    found(cached)
    answers = cached.fetch({"VOD.L": OCTOBER, "AZN.L": OCTOBER})
    assert world.asked[1] == {"AZN.L": OCTOBER}
    assert list(answers) == ["VOD.L", "AZN.L"]


def test_todays_bars_are_served_again_for_half_an_hour_and_then_refetched(world, cached) -> None:
    today = Span(OCTOBER.start, NOON.date())
    assert found(cached, today).raw_closes[-1] == world.close(NOON.date(), NOON)
    world.now += timedelta(minutes=30)
    found(cached, today)
    assert len(world.asked) == 1
    world.now += timedelta(hours=9)
    bars = found(cached, today)
    assert (bars.dates[-1], bars.raw_closes[-1]) == (NOON.date(), 314.1 + 0.2)
    assert len(world.asked) == 2


@settings(max_examples=150, deadline=None)
@given(
    closing=st.integers(min_value=-12, max_value=36),
    hours=st.lists(st.integers(min_value=0, max_value=200), min_size=2, max_size=6),
)
def test_no_half_bar_is_ever_served_as_final(closing: int, hours: list[int]) -> None:
    """Wherever a date ends on earth, and whenever one asks: two hours after it, it is whole."""
    world = World(closing=timedelta(hours=closing))
    with tempfile.TemporaryDirectory() as folder:
        cached = CachedPrices(world, folder, clock=world.clock)
        for hour in sorted(hours):
            world.now = NOON + timedelta(hours=hour)
            for end in (world.now.date(), world.now.date() - timedelta(days=1)):
                bars = found(cached, Span(OCTOBER.start, end))
                for day, close in zip(bars.dates, bars.raw_closes, strict=True):
                    if midnight(day) + world.closing + timedelta(hours=2) <= world.now:
                        assert close == world.close(day, world.now)


def test_a_bar_fetched_within_two_hours_of_its_close_is_fetched_again(tmp_path) -> None:
    """On the last place on earth a date ends 36 hours after it began in UTC."""
    world = World(midnight(date(2026, 11, 6)) + timedelta(hours=37), closing=timedelta(hours=36))
    cached = CachedPrices(world, tmp_path, clock=world.clock)
    friday, thursday = (Span(OCTOBER.start, date(2026, 11, day)) for day in (6, 5))
    found(cached, friday)
    world.now += timedelta(days=2)
    found(cached, thursday)
    assert len(world.asked) == 1
    found(cached, friday)
    assert len(world.asked) == 2


def test_a_bar_that_came_late_is_asked_for_again(world, cached) -> None:
    """The last session had no close at first: nothing after the last bar counts as covered."""
    friday = Span(OCTOBER.start, date(2026, 11, 6))
    world.missing = {friday.end}
    assert found(cached, friday).dates[-1] == date(2026, 11, 5)
    world.missing = set()
    world.now += timedelta(hours=2)
    assert found(cached, friday).dates[-1] == date(2026, 11, 6)


def test_closed_bars_are_asked_for_again_after_a_week(world, cached) -> None:
    found(cached)
    world.now += timedelta(days=7)
    found(cached)
    assert len(world.asked) == 1
    world.now += timedelta(seconds=1)
    found(cached)
    assert len(world.asked) == 2


@pytest.mark.parametrize("kind", list(PriceFault))
def test_closed_bars_are_served_at_any_age_while_the_source_fails(world, cached, kind) -> None:
    """Even of a company that the source has dropped."""
    kept = found(cached)
    world.now += timedelta(days=30)
    world.answer = lambda ticker, _: PriceError(kind, ticker)
    assert content(found(cached)) == content(kept)
    longer = cached.fetch({"VOD.L": TO_NOVEMBER})["VOD.L"]
    assert isinstance(longer, PriceError)
    assert longer.kind is kind


@pytest.mark.parametrize("kind", list(PriceFault))
def test_failures_are_not_kept(world, cached, kind) -> None:
    world.answer = lambda ticker, _: PriceError(kind, ticker)
    failed = cached.fetch({"VOD.L": OCTOBER})["VOD.L"]
    assert isinstance(failed, PriceError)
    assert failed.kind is kind
    world.answer = lambda _, bars: bars
    assert found(cached).dates
    assert len(world.asked) == 2


def test_a_damaged_file_is_fetched_again(world, cached) -> None:
    """Whichever byte is wrong, the closes served are the right ones."""
    right = content(found(cached))
    (path,) = cached.folder.glob("*.parquet")
    whole = path.read_bytes()
    damaged = [b"", whole[:100], whole[:-1], b"PAR1" * 20, whole.replace(b"GBp", b"GBP")]
    assert damaged[-1] != whole
    damaged += [
        whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :] for at in range(0, len(whole), 61)
    ]
    for count, data in enumerate(damaged):
        path.write_bytes(data)
        world.asked = []
        assert content(found(cached)) == right, f"damage {count}"
    path.write_bytes(b"")
    world.asked = []
    found(cached)
    assert len(world.asked) == 1


def test_a_folder_that_cannot_be_made_costs_one_warning(world, tmp_path, caplog) -> None:
    (tmp_path / "file").write_text("")
    cached = CachedPrices(world, tmp_path / "file" / "prices", clock=world.clock)
    with caplog.at_level(logging.WARNING):
        assert found(cached).dates == found(cached).dates
    assert len(world.asked) == 2
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "cannot keep prices in" in caplog.text


def test_a_read_only_folder_is_read(world, caplog) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        found(CachedPrices(world, folder, clock=world.clock))
        (folder / ".lock").unlink()
        folder.chmod(0o555)
        user = os.geteuid()
        if user == 0:  # whom no mode keeps from writing
            os.seteuid(65534)
        try:
            cached = CachedPrices(world, folder, clock=world.clock)
            with caplog.at_level(logging.WARNING):
                found(cached)
                assert len(world.asked) == 1
                found(cached, TO_NOVEMBER)
                found(cached, TO_NOVEMBER)
            assert len(world.asked) == 3
            assert len(caplog.records) == 1
        finally:
            os.seteuid(user)
            folder.chmod(0o755)
    finally:
        shutil.rmtree(folder)


def test_a_new_name_at_the_source_is_fetched_again(tmp_path) -> None:
    """After a change of the alias table the kept bars are those of another company."""

    class Renamed(World):
        name = "FB"

        def symbol_of(self, ticker: str) -> str:
            return self.name

    world = Renamed()
    cached = CachedPrices(world, tmp_path, clock=world.clock)
    found(cached, ticker="FB")
    world.name = "META"
    found(cached, ticker="FB")
    found(cached, ticker="FB")
    assert len(world.asked) == 2


def test_a_strange_ticker_becomes_no_path(world, cached) -> None:
    for _ in range(2):
        cached.fetch({"../X": OCTOBER})
    assert len(world.asked) == 2
    assert {path.name for path in cached.folder.iterdir()} == {".lock"}


def test_a_source_that_raises_holds_no_lock(world, cached) -> None:
    def fail(ticker: str, bars: Bars) -> Bars:
        raise ZeroDivisionError

    world.answer = fail
    with pytest.raises(ZeroDivisionError):
        found(cached)
    world.answer = lambda _, bars: bars
    assert found(CachedPrices(world, cached.folder, clock=world.clock, patience=0.0)).dates


def test_freshness_must_end_before_a_close_is_final(world, tmp_path) -> None:
    with pytest.raises(UsageError, match="under 2 hours"):
        CachedPrices(world, tmp_path, fresh=timedelta(hours=2))


CHILD = """
import json, sys, time
from datetime import date
from pathlib import Path
from tests.market.test_cache import OCTOBER, World
from tradmem.market.cache import CachedPrices

folder = Path(sys.argv[1])

class Slow(World):
    def fetch(self, spans):
        with open(folder / "asked", "a") as file:
            file.write("x")
        time.sleep(0.3)
        return super().fetch(spans)

world = Slow()
Path(folder / f"ready-{sys.argv[2]}").touch()
while len(list(folder.glob("ready-*"))) < int(sys.argv[3]):
    time.sleep(0.01)
cached = CachedPrices(world, folder / "prices", clock=world.clock)
answers = cached.fetch({"VOD.L": OCTOBER, "AZN.L": OCTOBER})
print(json.dumps([list(map(str, bars.dates)) + list(bars.closes) for bars in answers.values()]))
"""


def test_processes_that_want_the_same_ask_once(tmp_path) -> None:
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": str(root)}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path), str(n), "3"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    answers = [json.loads(child.communicate(timeout=60)[0]) for child in children]
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0][0]) == 2 * 22
    assert (tmp_path / "asked").read_text() == "x"


def test_yahoo_is_asked_once_for_what_is_over(yahoo: YahooServer, tmp_path) -> None:
    yahoo.now = NOON
    yahoo.split("AAPL", date(2026, 10, 14), 2)
    source = YahooPrices(session=yahoo.session())
    direct = source.fetch({"AAPL": OCTOBER, "^N225": OCTOBER})
    for _ in range(2):
        kept = CachedPrices(source, tmp_path, clock=lambda: NOON).fetch(
            {"AAPL": OCTOBER, "^N225": OCTOBER}
        )
        for ticker, bars in direct.items():
            assert isinstance(bars, Bars)
            assert content(bars) == content(kept[ticker])
    assert len(yahoo.requests("AAPL")) == len(yahoo.requests("^N225")) == 2
